//! Which bytes some entries of some columns need: baskets of trees, pages of RNTuples. Pure: metadata in, ranges out.

use crate::limits::{GAP_ROWS, NESTED_MARGIN};
use crate::rntuple::{NTupleFile, clusters, stretches};
use crate::{Table, TreeFile};
use std::collections::HashMap;
use std::ops::Range;
use treemill_format::rntuple::{Cluster, Columns};

/// A basket or a page: the first entry that needs it, and its bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// The first of the entries asked for that lies in it.
    pub entry: u64,
    /// Its place in the file.
    pub bytes: Range<u64>,
    /// How many of the columns asked for take it: fields of an RNTuple may share columns, such as the ends of lists.
    pub uses: u32,
}

impl Want {
    /// What a lease is asked for.
    #[must_use]
    pub fn asked(self) -> (Range<u64>, u32) {
        (self.bytes, self.uses)
    }
}

/// What columns need for ranges of entries, which ascend and are disjoint: each basket or page once, in the order of
/// entries, and columns that come first before others. Baskets in the tree's own record need nothing.
#[must_use]
pub fn wants(table: &Table, columns: &[usize], entries: &[Range<u64>]) -> Vec<Want> {
    let mut found = Vec::new();
    for &column in columns {
        match table {
            Table::Tree(file) => of_branch(file, column, entries, &mut found),
            Table::NTuple(file) => of_field(file, column, entries, &mut found),
        }
    }
    let mut found = once(found);
    found.sort_by_key(|want| want.entry); // stable: columns stay in their order
    found
}

/// Wants of several columns, each basket or page once, where it came first.
#[must_use]
pub fn once(wants: Vec<Want>) -> Vec<Want> {
    let mut places: HashMap<(u64, u64), usize> = HashMap::with_capacity(wants.len());
    let mut found: Vec<Want> = Vec::with_capacity(wants.len());
    for want in wants {
        let place = *places
            .entry((want.bytes.start, want.bytes.end))
            .or_insert(found.len());
        match found.get_mut(place) {
            Some(known) => {
                known.uses = known.uses.saturating_add(want.uses);
                known.entry = known.entry.min(want.entry);
            }
            None => found.push(want),
        }
    }
    found
}

/// What as many of these columns need for a range of entries as have `most` bytes together: those with the fewest bytes
/// first, since one of them is as likely to be needed as any other one.
#[must_use]
pub fn lightest(table: &Table, columns: &[usize], entries: &Range<u64>, most: u64) -> Vec<Want> {
    let length = |want: &Want| want.bytes.end.saturating_sub(want.bytes.start);
    let each = columns.iter().map(|&column| {
        let wants = wants(table, &[column], std::slice::from_ref(entries));
        let bytes = wants.iter().map(length).fold(0, u64::saturating_add);
        (bytes, wants)
    });
    let mut each: Vec<_> = each.collect();
    each.sort_by_key(|(bytes, _)| *bytes);
    let mut held = 0_u64;
    let fitting = each.into_iter().take_while(|(bytes, _)| {
        held = held.saturating_add(*bytes);
        held <= most
    });
    once(fitting.flat_map(|(_, wants)| wants).collect())
}

/// Ranges of entries that hold those at `rows`, which ascend and are counted from entry `first`. They are joined where
/// readers decode what lies between them.
#[must_use]
pub fn around(table: &Table, first: u64, rows: &[u32]) -> Vec<Range<u64>> {
    let gap = match table {
        Table::Tree(_) => 1,
        Table::NTuple(_) => GAP_ROWS,
    };
    stretches(first, rows, gap).0
}

fn of_branch(file: &TreeFile, branch: usize, entries: &[Range<u64>], found: &mut Vec<Want>) {
    let Some(branch) = file.tree().branches.get(branch) else {
        return;
    };
    let mut next = 0; // baskets before it are wanted or passed
    for range in entries {
        let rest = branch.baskets.get(next..).unwrap_or_default();
        let skipped = rest.partition_point(|basket| basket.entries.end <= range.start);
        next = next.saturating_add(skipped);
        for basket in branch.baskets.get(next..).unwrap_or_default() {
            if basket.entries.start >= range.end {
                break;
            }
            if !basket.entries.is_empty() && !range.is_empty() {
                found.push(Want {
                    entry: basket.entries.start.max(range.start),
                    bytes: basket.bytes.clone(),
                    uses: 1,
                });
            }
            next = next.saturating_add(1);
        }
    }
}

fn of_field(file: &NTupleFile, field: usize, entries: &[Range<u64>], found: &mut Vec<Want>) {
    let Ok(shape) = file.shape(field) else {
        return; // an error that is reported when the field is read
    };
    let mut columns = Vec::new();
    shape.visit_columns(&mut |column| columns.push(column));
    for range in entries {
        for (index, within) in clusters(file.ntuple(), range) {
            let Some(cluster) = file.ntuple().clusters.get(index) else {
                continue;
            };
            for column in &columns {
                of_column(file, column, cluster, &within, found);
            }
        }
    }
}

/// Pages of a field's column for the entries `within` a cluster. Below lists it is not known before their ends are read
/// which elements belong to the entries: those at about the same part of the cluster are meant.
fn of_column(
    file: &NTupleFile,
    columns: &Columns,
    cluster: &Cluster,
    within: &Range<u64>,
    found: &mut Vec<Want>,
) {
    let all = cluster.entries.end.saturating_sub(cluster.entries.start);
    let width = columns.representations.first().map_or(0, Vec::len);
    for nth in 0..width {
        // An error in a column is reported when it is read.
        let Ok(located) = file.ntuple().locate(columns, nth, cluster) else {
            continue;
        };
        let elements = part(located.elements, all, within, columns.per_entry.is_some());
        let mut start = located.zeros;
        for page in located.pages {
            let end = start.saturating_add(u64::from(page.elements));
            if start < elements.end && elements.start < end {
                let before = entries_before(start, located.elements, all);
                let entry = cluster
                    .entries
                    .start
                    .saturating_add(before.max(within.start));
                found.push(Want {
                    entry,
                    bytes: page.bytes(),
                    uses: 1,
                });
            }
            start = end;
        }
    }
}

/// The elements that belong to entries `within` a cluster of `all` entries.
fn part(elements: u64, all: u64, within: &Range<u64>, is_exact: bool) -> Range<u64> {
    let scaled = |entry: u64| {
        let product = u128::from(elements).saturating_mul(u128::from(entry));
        u64::try_from(product.checked_div(u128::from(all)).unwrap_or(0)).unwrap_or(u64::MAX)
    };
    let margin = match is_exact {
        true => 0,
        false => elements / NESTED_MARGIN,
    };
    let start = match within.start {
        0 => 0,
        start => scaled(start).saturating_sub(margin),
    };
    let end = match within.end {
        end if end >= all => elements,
        end => scaled(end).saturating_add(margin).min(elements),
    };
    start..end
}

/// About how many entries lie before an element.
fn entries_before(element: u64, elements: u64, all: u64) -> u64 {
    let product = u128::from(element).saturating_mul(u128::from(all));
    u64::try_from(product.checked_div(u128::from(elements)).unwrap_or(0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn parts_of_a_cluster_are_within_it_and_cover_it(
            elements in 0_u64..10_000, all in 1_u64..1000, cut in 0_u64..1000, exact: bool,
        ) {
            let cut = cut.min(all);
            let (first, second) = (part(elements, all, &(0..cut), exact), part(elements, all, &(cut..all), exact));
            prop_assert!(first.start == 0 && second.end == elements);
            prop_assert!(first.end >= second.start, "{first:?} {second:?}");
        }
    }
}
