//! Packets of a distant file, whose bytes are asked for before they are needed. Knows leases and stages; how bytes
//! travel is the inbox's.

use super::Bound;
use crate::control::Control;
use crate::error::EngineError;
use crate::limits::MOST_PROMISED;
use crate::packet::{Blocks, PacketColumns};
use crate::stages::{bytes, shared};
use arrow_array::ArrayRef;
use std::ops::Range;
use std::sync::{Arc, PoisonError};
use treemill_query::Rows;
use treemill_read::{Ahead, Coming, Inbox, Lease, Want, once};
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
    /// The plan for a near file: nothing is asked for.
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
    /// Asks for the bytes of a packet that will be run later, without waiting. Of near files it does nothing. When the
    /// filters' bytes come, the rest is asked for, on a thread of its own.
    pub fn prefetch(self: &Arc<Self>, entries: Range<u64>, control: &Control) {
        let Some(inbox) = self.table.inbox().filter(|_| !is_off(Part::Prefetch)) else {
            return;
        };
        let is_known = |asked: &Asked| asked.entries == entries;
        let rest = self.rest();
        if rest.promised.iter().any(is_known) || rest.looking.contains(&entries) {
            return;
        }
        let others = rest.busy();
        drop(rest);
        let asked = self.ask(inbox, entries.clone(), control, others);
        let come = match asked.is_complete {
            true => None,
            false => asked.lease.as_ref().and_then(Lease::coming),
        };
        let mut rest = self.rest();
        rest.promised.push(asked);
        // A packet that went elsewhere without a word must not keep its bytes for ever.
        let forgotten = match rest.promised.len() > MOST_PROMISED {
            true => Some(rest.promised.remove(0)),
            false => None,
        };
        drop(rest);
        drop(forgotten);
        if let Some(coming) = come {
            self.look_when(coming, entries, control.shared());
        }
    }

    /// Looks at the filters of a promised packet when their bytes are here. Columns of others' are looked at by the threads
    /// that run packets: what provides them may be bound to those.
    fn look_when(self: &Arc<Self>, coming: Coming, entries: Range<u64>, control: Control) {
        if self.foreign.is_some() {
            return;
        }
        let bound = Arc::clone(self);
        coming.then(move || {
            // This thread brings bytes. Without another one the packet is looked at when it begins.
            let look = move || bound.look(&entries, &control);
            let _ = std::thread::Builder::new()
                .name("look".to_owned())
                .spawn(look);
        });
    }

    /// Looks at the filters of a packet that is still promised, and asks for what passes them.
    fn look(&self, entries: &Range<u64>, control: &Control) {
        let mut rest = self.rest();
        let place = rest
            .promised
            .iter()
            .position(|asked| asked.entries == *entries && !asked.is_complete);
        let Some(place) = place else { return };
        let mut asked = rest.promised.remove(place);
        rest.looking.push(entries.clone());
        drop(rest);
        // What is wrong with it is said when it is run.
        let is_sound = self.complete(&mut asked, control).is_ok();
        let mut rest = self.rest();
        rest.looking.retain(|looked| looked != entries);
        if is_sound {
            rest.promised.push(asked);
        }
        drop(rest);
        self.bell.notify_all();
    }

    /// Keeps what was asked for the rest of a packet that ended early, and the filters' columns of its batches.
    pub(super) fn promise(
        &self,
        entries: Range<u64>,
        lease: Option<Lease>,
        filtered: Vec<Vec<Option<ArrayRef>>>,
    ) {
        if lease.is_some() {
            self.rest().promised.push(Asked {
                entries,
                lease,
                filtered,
                is_complete: true,
            });
        }
    }

    /// Drops what was asked for by [`Bound::prefetch`], or for the rest of a packet, and will not be run here.
    pub fn forget(&self, entries: &Range<u64>) {
        drop(self.promised(entries));
    }

    /// The bytes that should be in flight or wait for their use; 0 for near files, and for those of which caches have all
    /// that the query may need, unless the pass `opens` files of which they do not have what that reads.
    #[must_use]
    pub fn ahead(&self, opens: bool) -> u64 {
        match !opens && *self.is_kept.get_or_init(|| self.keeps_all()) {
            true => 0,
            false => Ahead::bytes(&self.table),
        }
    }

    fn keeps_all(&self) -> bool {
        let Some(inbox) = self.table.inbox() else {
            return true;
        };
        let keeps = |entries: Range<u64>| {
            let mut wants = self.stages.first(&self.table, &entries);
            wants.extend(self.stages.rest(&self.table, &entries));
            inbox.keeps(wants.into_iter().map(Want::asked).collect())
        };
        let all = 0..self.table.entries();
        // The first entries tell of most files that it is not so, and are soon looked at.
        keeps(0..all.end.min(1)) && keeps(all)
    }

    /// The stored bytes that these entries need, if all pass the filters.
    #[must_use]
    pub fn bytes_of(&self, entries: &Range<u64>) -> u64 {
        let first = bytes(&self.stages.first(&self.table, entries));
        first.saturating_add(bytes(&self.stages.rest(&self.table, entries)))
    }

    fn promised(&self, entries: &Range<u64>) -> Option<Asked> {
        let mut rest = self.rest();
        while rest.looking.contains(entries) {
            // Its bytes are here, so that this takes no longer than to look at them.
            rest = self.bell.wait(rest).unwrap_or_else(PoisonError::into_inner);
        }
        let place = rest
            .promised
            .iter()
            .position(|asked| asked.entries == *entries)?;
        Some(rest.promised.remove(place))
    }

    /// Asks for what the filters need, and for the rest if that is cheaper than to ask for it later, while `others` are on
    /// their way.
    fn ask(
        &self,
        inbox: &Arc<Inbox>,
        entries: Range<u64>,
        control: &Control,
        others: usize,
    ) -> Asked {
        let lease = inbox.lease(&control.counters);
        let mut all = self.stages.first(&self.table, &entries);
        let rest = self.stages.rest(&self.table, &entries);
        let costs = self.table.source().costs();
        let is_complete =
            is_off(Part::Trigger) || self.stages.at_once(bytes(&rest), &costs, others);
        if is_complete {
            all.extend(rest);
            all = once(all);
            all.sort_by_key(|want| want.entry);
        } else {
            all = shared(all, &rest);
        }
        lease.ask(all.into_iter().map(Want::asked));
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
        let mut asked = known.unwrap_or_else(|| {
            let others = self.rest().busy().saturating_sub(1); // it runs already
            self.ask(inbox, entries, control, others)
        });
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
            .batches(asked.entries.clone(), self.options())?;
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
            lease.ask(needed.into_iter().map(Want::asked));
        }
        Ok(())
    }
}
