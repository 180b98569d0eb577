//! One request in flight: what has come of its answer, and until when it may take. Knows no other request.

use super::pages::Pages;
use crate::limits;
use crate::wire::{Paged, WireError};
use bytes::BytesMut;
use std::time::Duration;

/// What a request waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// Its answer.
    Sent,
    /// The time at which it is sent again.
    Waiting(Duration),
    /// An answer that the server promised by this time.
    Promised(Duration),
    /// Nothing: it has ended for its caller, and what still comes of its answer is dropped.
    Abandoned,
}

#[derive(Debug)]
pub(super) struct Flight {
    /// How many requests were sent up to it.
    pub(super) number: u64,
    request: Vec<u8>,
    pub(super) data: BytesMut,
    /// The pages that it asks for, if it does.
    pub(super) pages: Option<Pages>,
    /// Bytes of data that the answer may have in all.
    pub(super) most: usize,
    pub(super) phase: Phase,
    /// Whether it asks for bytes of a file.
    pub(super) is_read: bool,
    /// Whether its answer is short, and must be whole soon after it has begun: bytes that drip are no progress.
    pub(super) is_short: bool,
    has_begun: bool,
    /// When it last made progress.
    pub(super) touched: Duration,
    /// When its patience ends, if a server has asked for some.
    patient_until: Option<Duration>,
}

impl Flight {
    pub(super) fn new(number: u64, request: Vec<u8>, most: usize, now: Duration) -> Self {
        let (data, phase, patient_until) = (BytesMut::new(), Phase::Sent, None);
        Flight {
            number,
            request,
            data,
            pages: None,
            most,
            phase,
            is_read: false,
            is_short: false,
            has_begun: false,
            touched: now,
            patient_until,
        }
    }

    /// Whether `more` bytes of data may come.
    pub(super) fn allow(&self, more: usize) -> Result<(), WireError> {
        let total = self.data.len().saturating_add(more);
        if total <= self.most {
            return Ok(());
        }
        let most = self.most;
        Err(WireError::new(format!(
            "a response has {total} bytes where at most {most} are possible"
        )))
    }

    /// A body of `bytes` begins, which `allow` has allowed. Memory is taken for it, and if others follow, for some of these:
    /// to make room as they come would copy them again and again.
    pub(super) fn expect(&mut self, bytes: usize, is_last: bool) {
        let all = match is_last {
            true => bytes,
            false => bytes
                .saturating_mul(limits::BODIES)
                .min(self.most.saturating_sub(self.data.len())),
        };
        if self.phase != Phase::Abandoned
            && self.data.capacity().saturating_sub(self.data.len()) < bytes
        {
            self.data.reserve(all.max(bytes));
        }
    }

    /// Bytes of its answer have come.
    pub(super) fn touch(&mut self, now: Duration) {
        if !(self.is_short && self.has_begun) {
            self.touched = now;
        }
        self.has_begun = true;
    }

    pub(super) fn append(&mut self, bytes: &[u8], now: Duration) -> Result<(), WireError> {
        self.touch(now);
        if self.phase == Phase::Abandoned {
            return Ok(());
        }
        self.phase = Phase::Sent;
        self.data.extend_from_slice(bytes);
        Ok(())
    }

    /// A response with pages begins.
    pub(super) fn begin(&mut self, paged: &Paged) -> Result<(), WireError> {
        let unasked = || WireError::new("it sends checksums that treemill did not ask for");
        let pages = self.pages.as_mut().ok_or_else(unasked)?;
        if self.phase == Phase::Abandoned {
            return Ok(());
        }
        pages.begin(paged)
    }

    /// Bytes of a response with pages.
    pub(super) fn append_pages(&mut self, bytes: &[u8], now: Duration) -> Result<(), WireError> {
        self.touch(now);
        if self.phase == Phase::Abandoned {
            return Ok(());
        }
        self.phase = Phase::Sent;
        match &mut self.pages {
            Some(pages) => pages.take(bytes, &mut self.data),
            None => Ok(()),
        }
    }

    /// The request is to be sent again after some seconds; false if the patience, which the first wait begins, ends before.
    pub(super) fn wait(&mut self, seconds: u32, patience: Duration, now: Duration) -> bool {
        let end = self.patience_ends(patience, now);
        // A wait of nothing, again and again, ends as well.
        let until = now.saturating_add(Duration::from_secs(u64::from(seconds.max(1))));
        if self.phase == Phase::Abandoned || until > end {
            return false;
        }
        self.restart(Phase::Waiting(until));
        true
    }

    /// The answer comes within some seconds. That is the longest that the server may need, and mostly much more than it
    /// needs (XRootD's says ten minutes for any checksum), so a promise is taken whatever it says: patience ends by the clock.
    pub(super) fn promise(&mut self, seconds: u32, patience: Duration, now: Duration) {
        self.patience_ends(patience, now);
        if self.phase != Phase::Abandoned {
            let until = now.saturating_add(Duration::from_secs(u64::from(seconds.max(1))));
            self.restart(Phase::Promised(until));
        }
    }

    fn patience_ends(&mut self, patience: Duration, now: Duration) -> Duration {
        let end = now.saturating_add(patience);
        *self.patient_until.get_or_insert(end)
    }

    /// The whole answer is still to come.
    fn restart(&mut self, phase: Phase) {
        self.phase = phase;
        self.has_begun = false;
        self.data.clear();
        if let Some(pages) = &mut self.pages {
            pages.restart();
        }
    }

    /// Whether its answer is promised for later.
    pub(super) fn is_promised(&self, now: Duration) -> bool {
        matches!(self.phase, Phase::Promised(until) if now < until)
    }

    /// Whether its patience has ended before the answer that was promised.
    pub(super) fn is_impatient(&self, now: Duration) -> bool {
        matches!(self.phase, Phase::Promised(_)) && self.patient_until.is_some_and(|end| end <= now)
    }

    /// The bytes to send again, if it is time.
    pub(super) fn resume(&mut self, now: Duration) -> Option<Vec<u8>> {
        match self.phase {
            Phase::Waiting(until) if until <= now => {
                self.phase = Phase::Sent;
                self.touched = now;
                Some(self.request.clone())
            }
            _ => None,
        }
    }

    /// Whether an answer has been due for `limit` without progress.
    pub(super) fn overdue(&self, now: Duration, limit: Duration) -> bool {
        let since = match self.phase {
            Phase::Sent => self.touched,
            Phase::Promised(until) => until,
            Phase::Waiting(_) | Phase::Abandoned => return false,
        };
        now.saturating_sub(since) >= limit
    }
}
