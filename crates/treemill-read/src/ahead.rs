//! Bytes of a distant table that some reader will need, asked for before there is one. Knows columns and entries; how bytes
//! travel is the inbox's.

use crate::{Counters, Lease, Table, Want, lightest, wants};
use std::ops::Range;
use std::sync::Arc;
use treemill_source::{Part, is_off};

/// What was asked for. Readers take it from there; dropped, what none has taken is not wanted any more.
#[derive(Debug)]
pub struct Ahead {
    _lease: Lease,
}

impl Ahead {
    /// Asks for what these columns need for a range of entries, without waiting. `None` for a near table.
    #[must_use]
    pub fn of(
        table: &Table,
        columns: &[usize],
        entries: &Range<u64>,
        counters: &Arc<Counters>,
    ) -> Option<Self> {
        Ahead::asked(table, counters, || {
            wants(table, columns, std::slice::from_ref(entries))
        })
    }

    /// Asks for what the lightest of these columns need, up to a number of bytes: for entries of which it is not
    /// known which columns they will need.
    #[must_use]
    pub fn of_lightest(
        table: &Table,
        columns: &[usize],
        entries: &Range<u64>,
        most: u64,
        counters: &Arc<Counters>,
    ) -> Option<Self> {
        Ahead::asked(table, counters, || lightest(table, columns, entries, most))
    }

    fn asked(
        table: &Table,
        counters: &Arc<Counters>,
        wants: impl FnOnce() -> Vec<Want>,
    ) -> Option<Self> {
        let inbox = table.inbox().filter(|_| !is_off(Part::Prefetch))?;
        let lease = inbox.proxy(counters);
        lease.ask(wants().into_iter().map(Want::asked));
        Some(Ahead { _lease: lease })
    }

    /// The bytes that should be in flight or wait for their use; 0 for a near table.
    #[must_use]
    pub fn bytes(table: &Table) -> u64 {
        match table.inbox() {
            Some(_) if !is_off(Part::Prefetch) => table.source().costs().ahead(),
            _ => 0,
        }
    }
}

/// The stored bytes that entries of these columns need.
#[must_use]
pub fn stored_bytes(table: &Table, columns: &[usize], entries: &Range<u64>) -> u64 {
    let all = wants(table, columns, std::slice::from_ref(entries));
    let lengths = all
        .iter()
        .map(|want| want.bytes.end.saturating_sub(want.bytes.start));
    lengths.fold(0, u64::saturating_add)
}
