//! What a packet of a distant file asks for, in which order: first what its filters need of all entries, then what the
//! entries that pass them need; or both at once where that is cheaper. Pure: metadata and counts in, ranges out.

use crate::limits::{BLIND_SHARE, BLIND_SPEED, REMEMBERED_SHARE};
use crate::origin::{Origin, Origins};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use treemill_query::Rows;
use treemill_read::{Table, Want, around, wants};
use treemill_source::Costs;

/// The columns of a query over a table, by when their bytes are asked for.
#[derive(Debug)]
pub(crate) struct Stages {
    /// For each of the query's columns, whether it is asked for first.
    pub(crate) early: Vec<bool>,
    /// The table's columns that are asked for first.
    first: Vec<usize>,
    /// The others, by the number of the filter after which they are read.
    later: BTreeMap<usize, Vec<usize>>,
    share: Mutex<Share>,
}

/// How much of what is asked for later was needed so far; older packets count less.
#[derive(Debug, Default)]
struct Share {
    needed: f64,
    all: f64,
}

impl Stages {
    /// `filters`: for each of the query's columns, the number of the filter after which it is read.
    pub(crate) fn new(origins: &Origins, filters: &[usize]) -> Self {
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
        let mut first = later.remove(&0).unwrap_or_default();
        // In the order in which the query needs them.
        first.sort_by_key(|column| origins.branches.iter().position(|c| c == column));
        Stages {
            early,
            first,
            later,
            share: Mutex::default(),
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
        found.sort_by_key(|want| want.entry);
        found
    }

    /// Whether a packet whose rest has so many bytes asks for all of them at once: waiting once more costs more time
    /// than the bytes that nothing needs.
    pub(crate) fn at_once(&self, rest: u64, costs: &Costs) -> bool {
        if rest == 0 || self.first.is_empty() {
            return true;
        }
        let share = self.share.lock().unwrap_or_else(PoisonError::into_inner);
        let needed = match share.all > 0.0 {
            true => share.needed / share.all,
            false => BLIND_SHARE,
        };
        drop(share);
        let speed = costs.bytes_per_second.unwrap_or(BLIND_SPEED);
        in_float(rest) * (1.0 - needed) < speed * costs.round_trip.as_secs_f64()
    }

    /// Notes that of `all` bytes of a packet's rest so many were needed.
    pub(crate) fn note(&self, needed: u64, all: u64) {
        let mut share = self.share.lock().unwrap_or_else(PoisonError::into_inner);
        share.needed = share.needed * REMEMBERED_SHARE + in_float(needed);
        share.all = share.all * REMEMBERED_SHARE + in_float(all);
    }
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
