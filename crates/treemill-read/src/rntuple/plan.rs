//! Plans which parts of which pages hold given elements. Pure: no I/O, no
//! state.

use crate::faults::{malformed, unsupported};
use crate::limits::ZEROS;
use std::ops::Range;
use treemill_format::error::Result;
use treemill_format::rntuple::{Located, NTuple};

/// A part of a column's elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    /// This many zeros.
    Zeros(usize),
    /// Elements `wanted` of page number `page` of the column in the cluster.
    Page { page: usize, wanted: Range<usize> },
}

/// Ranges of entries that hold those at `rows` (ascending, counted from entry `first`), joined if they are less
/// than `gap` apart; and each row's place in the concatenated ranges.
pub(crate) fn stretches(first: u64, rows: &[u32], gap: u32) -> (Vec<Range<u64>>, Vec<u32>) {
    let mut ranges: Vec<Range<u64>> = Vec::new();
    let mut places: Vec<u32> = Vec::with_capacity(rows.len());
    let mut length = 0_u32;
    let mut before: Option<u32> = None;
    for &row in rows {
        let entry = first.saturating_add(u64::from(row));
        let end = entry.saturating_add(1);
        let step = before.map(|before| row.saturating_sub(before));
        match (ranges.last_mut(), step) {
            (Some(range), Some(step)) if step <= gap => {
                range.end = end;
                length = length.saturating_add(step);
            }
            _ => {
                ranges.push(entry..end);
                length = length.saturating_add(1);
            }
        }
        places.push(length.saturating_sub(1));
        before = Some(row);
    }
    (ranges, places)
}

/// The parts that make up the elements `range`, counted from the cluster's start.
///
/// # Errors
/// `Malformed` if the column has fewer elements in the cluster; `Unsupported` if more of them
/// are zero and not stored than a file of `file_size` bytes makes likely.
pub(super) fn parts(
    located: &Located<'_>,
    range: &Range<u64>,
    file_size: u64,
) -> Result<Vec<Part>> {
    if range.end > located.elements || range.start > range.end {
        return Err(malformed(
            0,
            format!(
                "elements {}..{} are needed of a column that has {} in this cluster",
                range.start, range.end, located.elements
            ),
        ));
    }
    let mut parts = Vec::new();
    let zeros = located.zeros.min(range.end).saturating_sub(range.start);
    if zeros > file_size.max(ZEROS) {
        let what = format!("{zeros} values from before their field was added in one batch");
        return Err(unsupported(what));
    }
    if zeros > 0 {
        parts.push(Part::Zeros(index(zeros)));
    }
    let mut start = located.zeros;
    for (page, description) in located.pages.iter().enumerate() {
        if start >= range.end {
            break;
        }
        let end = start.saturating_add(u64::from(description.elements));
        let wanted = range.start.max(start)..range.end.min(end);
        if !wanted.is_empty() {
            parts.push(Part::Page {
                page,
                wanted: index(wanted.start.saturating_sub(start))
                    ..index(wanted.end.saturating_sub(start)),
            });
        }
        start = end;
    }
    Ok(parts)
}

fn index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

/// The clusters that hold entries of `range`, with those entries counted from the cluster's start.
pub(crate) fn clusters(ntuple: &NTuple, range: &Range<u64>) -> Vec<(usize, Range<u64>)> {
    let first = ntuple
        .clusters
        .partition_point(|c| c.entries.end <= range.start);
    let later = ntuple.clusters.iter().enumerate().skip(first);
    later
        .take_while(|(_, cluster)| cluster.entries.start < range.end)
        .map(|(i, cluster)| {
            let base = cluster.entries.start;
            let start = range.start.max(base).saturating_sub(base);
            let end = range.end.min(cluster.entries.end).saturating_sub(base);
            (i, start..end)
        })
        .filter(|(_, entries)| !entries.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_rows_are_read_with_those_between_them() {
        assert_eq!(
            stretches(100, &[2, 3, 7, 20], 4),
            (vec![102..108, 120..121], vec![0, 1, 5, 6])
        );
        assert_eq!(stretches(0, &[], 4), (vec![], vec![]));
        assert_eq!(
            stretches(5, &[1, 900, 4000], 899),
            (vec![6..906, 4005..4006], vec![0, 899, 900])
        );
    }
}
