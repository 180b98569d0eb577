//! What a packet of a distant file asks for, in which order: first what its filters need of all entries, then what the
//! entries that pass them need; or both at once where that is cheaper. Pure: metadata and counts in, ranges out.

use crate::limits::{BLIND_SHARE, REMEMBERED_SHARE, USELESS};
use crate::origin::{Origin, Origins};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use treemill_query::Rows;
use treemill_read::{Table, Want, around, once, wants};
use treemill_source::Costs;

/// The columns of a query over a table, by when their bytes are asked for.
#[derive(Debug)]
pub(crate) struct Stages {
    /// Whether each of the query's columns it is asked for first.
    pub(crate) early: Vec<bool>,
    /// The table's columns that are asked for first.
    first: Vec<usize>,
    /// The others, by the number of the filter after which they are read.
    later: BTreeMap<usize, Vec<usize>>,
    share: Arc<Mutex<Share>>,
}

/// How much of what a query asks for later was needed so far, in all files; older packets count less.
#[derive(Debug, Default)]
pub(crate) struct Share {
    needed: f64,
    all: f64,
}

impl Share {
    /// The part that is needed, from 0 to 1.
    fn part(&self) -> f64 {
        match self.all > 0.0 {
            true => self.needed / self.all,
            false => BLIND_SHARE,
        }
    }

    fn note(&mut self, needed: u64, all: u64) {
        self.needed = self.needed * REMEMBERED_SHARE + in_float(needed);
        self.all = self.all * REMEMBERED_SHARE + in_float(all);
    }
}

/// Whether a packet whose rest has this number of bytes asks for all of them at once, if this part of them is
/// needed: that costs less time than the round trip between the stages. That one is waited for by all packets that
/// are on their way together, `others` beside this one, so that each has its part of it.
fn is_cheaper_at_once(rest: u64, part: f64, costs: &Costs, others: usize) -> bool {
    let later = in_bytes(in_float(rest) * part);
    let own = in_float(others as u64) + 1.0;
    USELESS * (costs.trips(rest) - costs.trips(later.min(rest))) < 1.0 / own
}

impl Stages {
    /// `filters`: for each of the query's columns, the number of the filter after which it is read.
    pub(crate) fn new(origins: &Origins, filters: &[usize], share: Arc<Mutex<Share>>) -> Self {
        let mut at: BTreeMap<usize, usize> = BTreeMap::new(); // the filter of each of the table's columns
        let mut early = Vec::with_capacity(origins.columns.len());
        for (index, origin) in origins.columns.iter().enumerate() {
            let filter = filters.get(index).copied().unwrap_or(0);
            early.push(filter == 0);
            let Origin::Own(branch, _) = origin else {
                continue; // comes from elsewhere
            };
            let Some(&column) = origins.branches.get(*branch) else {
                continue;
            };
            // Members of one record are read with the first of them.
            let known = at.entry(column).or_insert(filter);
            *known = if *known == filter { filter } else { 0 };
        }
        let mut later: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (column, filter) in at {
            later.entry(filter).or_default().push(column);
        }
        let early_columns = later.remove(&0).unwrap_or_default();
        let early_columns: HashSet<usize> = early_columns.into_iter().collect();
        // In the order in which the query needs them.
        let first = origins.branches.iter().copied();
        let first = first.filter(|column| early_columns.contains(column));
        Stages {
            early,
            first: first.collect(),
            later,
            share,
        }
    }

    /// What the filters need of these entries.
    pub(crate) fn first(&self, table: &Table, entries: &Range<u64>) -> Vec<Want> {
        wants(table, &self.first, std::slice::from_ref(entries))
    }

    /// What the rest needs of these entries, if all of them pass.
    pub(crate) fn rest(&self, table: &Table, entries: &Range<u64>) -> Vec<Want> {
        let later: Vec<usize> = self.later.values().flatten().copied().collect();
        wants(table, &later, std::slice::from_ref(entries))
    }

    /// What the rest needs of the entries that pass: for each batch its entries, and what passes each filter.
    pub(crate) fn survivors(
        &self,
        table: &Table,
        batches: &[(Range<u64>, Vec<Rows>)],
    ) -> Vec<Want> {
        let mut found = Vec::new();
        for (filter, columns) in &self.later {
            let ranges = batches
                .iter()
                .flat_map(|(entries, rows)| match rows.get(*filter) {
                    Some(Rows::Some(rows)) => around(table, entries.start, rows),
                    Some(Rows::All) | None => vec![entries.clone()],
                });
            found.extend(wants(table, columns, &ranges.collect::<Vec<_>>()));
        }
        let mut found = once(found);
        found.sort_by_key(|want| want.entry);
        found
    }

    /// Whether a packet whose rest has this number of bytes asks for all of them at once, while `others` are on
    /// their way: waiting once more would cost more time than the bytes that nothing needs.
    pub(crate) fn at_once(&self, rest: u64, costs: &Costs, others: usize) -> bool {
        if rest == 0 || self.first.is_empty() {
            return true;
        }
        is_cheaper_at_once(rest, self.share().part(), costs, others)
    }

    /// Notes how many of the `all` bytes of a packet's rest were needed.
    pub(crate) fn note(&self, needed: u64, all: u64) {
        self.share().note(needed, all);
    }

    fn share(&self) -> MutexGuard<'_, Share> {
        self.share.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What is asked for first, if the rest is asked for later: a page that the rest takes, too, stays until it has.
pub(crate) fn shared(mut first: Vec<Want>, rest: &[Want]) -> Vec<Want> {
    let uses: HashMap<_, u32> = rest
        .iter()
        .map(|want| ((want.bytes.start, want.bytes.end), want.uses))
        .collect();
    for want in &mut first {
        let more = uses.get(&(want.bytes.start, want.bytes.end));
        want.uses = want.uses.saturating_add(more.copied().unwrap_or(0));
    }
    first
}

/// The bytes of all wants.
pub(crate) fn bytes(wants: &[Want]) -> u64 {
    let length = |want: &Want| want.bytes.end.saturating_sub(want.bytes.start);
    wants.iter().map(length).fold(0, u64::saturating_add)
}

#[allow(clippy::cast_precision_loss)]
fn in_float(bytes: u64) -> f64 {
    bytes as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn in_bytes(bytes: f64) -> u64 {
    bytes as u64 // saturates
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::time::Duration;

    fn costs(window: u64, bytes_per_second: Option<f64>) -> Costs {
        Costs {
            window,
            bytes_per_second,
            ..Costs::far(Duration::from_millis(137))
        }
    }

    proptest! {
        /// What is cheaper at once stays so if more is needed, and if fewer packets are on their way.
        #[test]
        fn the_rule_is_monotonous(
            rest in 1_u64..1 << 36, part in 0.0..1.0, more in 0.0..1.0, window in 14_600_u64..16 << 20,
            speed in prop::option::of(1e5..1e9), others in 0_usize..20,
        ) {
            let costs = costs(window, speed);
            let is_cheaper = |rest, part, others| is_cheaper_at_once(rest, part, &costs, others);
            prop_assert!(is_cheaper(rest, 1.0, others), "all of it is needed");
            if is_cheaper(rest, part, others) {
                prop_assert!(is_cheaper(rest, part + (1.0 - part) * more, others));
                prop_assert!(is_cheaper(rest, part, others / 2));
            }
        }
    }

    /// A connection over an ocean that is new, one of 20 MB/s, and one of 1 GB/s; of 3 MB a tenth is needed.
    #[test]
    fn a_round_trip_is_weighed_against_bytes() {
        let new = costs(4 * 14_600, None);
        assert!(!is_cheaper_at_once(3_000_000, 0.1, &new, 0));
        assert!(
            is_cheaper_at_once(20_000, 0.1, &new, 0),
            "a third of a window"
        );
        let slow = costs(3 << 20, Some(20e6));
        assert!(is_cheaper_at_once(1_000_000, 0.1, &slow, 0), "50 ms");
        let others = 4; // the packets wait together
        assert!(!is_cheaper_at_once(1_000_000, 0.1, &slow, others));
        let fast = costs(100 << 20, Some(1e9));
        assert!(is_cheaper_at_once(3_000_000, 0.1, &fast, others));
    }
}
