//! Packets of a distant file, whose bytes are asked for before they are needed. Knows leases and stages; how bytes
//! travel is the inbox's.

use super::Bound;
use crate::control::Control;
use crate::error::EngineError;
use crate::limits::MOST_PROMISED;
use crate::packet::{Blocks, PacketColumns};
use crate::stages::bytes;
use arrow_array::ArrayRef;
use std::ops::Range;
use std::sync::Arc;
use treemill_query::Rows;
use treemill_read::{Ahead, Inbox, Lease, Options};
use treemill_source::{Part, is_off};

/// A packet whose bytes were asked for.
pub(crate) struct Asked {
    pub(super) entries: Range<u64>,
    /// What was asked for; `None` while a reader has it, and of near files.
    pub(super) lease: Option<Lease>,
    /// The filters' columns of each batch, once they have been looked at.
    pub(super) filtered: Vec<Vec<Option<ArrayRef>>>,
    /// Whether the rest is asked for, too.
    is_complete: bool,
}

impl Asked {
    /// Of a near file: nothing is asked for.
    fn nothing(entries: Range<u64>) -> Self {
        Asked {
            entries,
            lease: None,
            filtered: Vec::new(),
            is_complete: true,
        }
    }
}

impl Bound {
    /// Asks for the bytes of a packet that will be run later, without waiting. Of near files it does nothing.
    pub fn prefetch(&self, entries: Range<u64>, control: &Control) {
        let Some(inbox) = self.table.inbox().filter(|_| !is_off(Part::Prefetch)) else {
            return;
        };
        let is_known = |asked: &Asked| asked.entries == entries;
        if self.rest().promised.iter().any(is_known) {
            return;
        }
        let asked = self.ask(inbox, entries, control);
        let mut rest = self.rest();
        rest.promised.push(asked);
        // A packet that went elsewhere without a word must not keep its bytes for ever.
        let forgotten = match rest.promised.len() > MOST_PROMISED {
            true => Some(rest.promised.remove(0)),
            false => None,
        };
        drop(rest);
        drop(forgotten);
    }

    /// Drops what was asked for by [`Bound::prefetch`] and will not be run here.
    pub fn forget(&self, entries: &Range<u64>) {
        drop(self.promised(entries));
    }

    /// The bytes that should be in flight or wait for their use; 0 for near files.
    #[must_use]
    pub fn ahead(&self) -> u64 {
        Ahead::bytes(&self.table)
    }

    /// The stored bytes that these entries need, if all pass the filters.
    #[must_use]
    pub fn bytes_of(&self, entries: &Range<u64>) -> u64 {
        let first = bytes(&self.stages.first(&self.table, entries));
        first.saturating_add(bytes(&self.stages.rest(&self.table, entries)))
    }

    fn promised(&self, entries: &Range<u64>) -> Option<Asked> {
        let mut rest = self.rest();
        let place = rest
            .promised
            .iter()
            .position(|asked| asked.entries == *entries)?;
        Some(rest.promised.remove(place))
    }

    /// Asks for what the filters need, and for the rest if that is cheaper than to ask for it later.
    fn ask(&self, inbox: &Arc<Inbox>, entries: Range<u64>, control: &Control) -> Asked {
        let lease = inbox.lease(&control.counters);
        let mut all = self.stages.first(&self.table, &entries);
        let rest = self.stages.rest(&self.table, &entries);
        let costs = self.table.source().costs();
        let is_complete = is_off(Part::Trigger) || self.stages.at_once(bytes(&rest), &costs);
        if is_complete {
            all.extend(rest);
            all.sort_by_key(|want| want.entry);
        }
        lease.ask(all.into_iter().map(|want| want.bytes));
        Asked {
            entries,
            lease: Some(lease),
            filtered: Vec::new(),
            is_complete,
        }
    }

    /// What was asked for a packet that is to be run now, completed; meanwhile the rest of a later one is asked for.
    ///
    /// # Errors
    /// As [`Bound::run`].
    pub(super) fn asked(
        &self,
        entries: Range<u64>,
        control: &Control,
    ) -> Result<Asked, EngineError> {
        let Some(inbox) = self.table.inbox() else {
            return Ok(Asked::nothing(entries));
        };
        let known = self.promised(&entries);
        let mut asked = known.unwrap_or_else(|| self.ask(inbox, entries, control));
        self.complete(&mut asked, control)?;
        let next = self.ready();
        if let Some(mut next) = next {
            // What is wrong with it is said when it is run.
            if self.complete(&mut next, control).is_ok() {
                self.rest().promised.insert(0, next);
            }
        }
        Ok(asked)
    }

    /// A promised packet whose filters can be looked at without waiting.
    fn ready(&self) -> Option<Asked> {
        let mut rest = self.rest();
        let is_ready =
            |asked: &Asked| !asked.is_complete && asked.lease.as_ref().is_some_and(Lease::is_here);
        let place = rest.promised.iter().position(is_ready)?;
        Some(rest.promised.remove(place))
    }

    /// Looks at the filters, and asks for what the entries that pass them need.
    fn complete(&self, asked: &mut Asked, control: &Control) -> Result<(), EngineError> {
        if asked.is_complete {
            return Ok(());
        }
        asked.is_complete = true;
        let mut state = self.state(control)?;
        state.reader.take_over(asked.lease.take());
        let mut batches = state
            .reader
            .batches(asked.entries.clone(), Options::default())?;
        let mut blocks = Blocks::new(self.origins.blocks());
        let mut passed: Vec<(Range<u64>, Vec<Rows>)> = Vec::new();
        while let Some(batch) = batches.look_at_next() {
            if control.stopped() {
                break;
            }
            let entries = batch.entries();
            let mut columns = PacketColumns {
                batch,
                table: &self.table,
                foreign: self.foreign.as_ref(),
                rescue: None,
                origins: &self.origins,
                blocks: &mut blocks,
                stop: asked.entries.end,
                early: Some(&self.stages.early),
            };
            let rows = self.query.survivors(&mut columns);
            asked.filtered.push(columns.batch.into_columns());
            passed.push((entries, rows));
        }
        asked.lease = state.reader.take_over(None);
        self.keep(state, 0);
        let needed = self.stages.survivors(&self.table, &passed);
        let all = self.stages.rest(&self.table, &asked.entries);
        self.stages.note(bytes(&needed), bytes(&all));
        if let Some(lease) = &asked.lease {
            lease.ask(needed.into_iter().map(|want| want.bytes));
        }
        Ok(())
    }
}
