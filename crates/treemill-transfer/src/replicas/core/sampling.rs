//! Whether sources have the same file: what was seen of each, and what of those that have another one. Knows no requests
//! but those for samples and checksums.

use super::{Core, Inner};
use crate::replicas::agreement::{self, Look};
use crate::replicas::limits::FIRST;
use crate::replicas::members::Number;
use crate::replicas::opening::{self, Opener};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use treemill_source::{Bytes, Source, SourceError, Ticket};

impl Core {
    /// The sample of the source that was opened first, which is asked for now if it was not before.
    pub(super) fn sample(self: &Arc<Self>) -> &[Ticket] {
        if let Some(here) = self.sample.get() {
            return here;
        }
        let tickets = self.first.1.submit(agreement::sample(self.size));
        if self.sample.set(tickets).is_ok() {
            for ticket in self.sample.get().into_iter().flatten() {
                let core = Arc::downgrade(self);
                ticket.on_ready(move |_| {
                    if let Some(core) = core.upgrade() {
                        core.settle_first();
                    }
                });
            }
        }
        self.sample.get().map_or(&[], Vec::as_slice)
    }

    /// Opens a source, on a thread that may wait. What it is compared by comes meanwhile from the one that was opened first.
    pub(super) fn open_to_compare(
        self: &Arc<Self>,
        opener: &Opener,
    ) -> Result<(Arc<dyn Source>, Look), SourceError> {
        self.ensure_sample();
        let opened = std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().name("replica-checksum".to_owned());
            // Without a thread other things are compared.
            let _ = thread.spawn_scoped(scope, || self.ask_checksums());
            opening::open(opener)
        });
        if opened.is_ok() {
            self.wait_for_first();
        }
        opened
    }

    /// Asks for the sample, unless it is known what is in it.
    fn ensure_sample(self: &Arc<Self>) {
        if !self.is_settled() {
            self.sample();
        }
    }

    fn is_settled(&self) -> bool {
        self.inner().reference.is_some()
    }

    /// Bytes of a source have come: keeps what of them others must agree in, if it is the one that was opened first.
    pub(super) fn came(self: &Arc<Self>, number: Number, range: &Range<u64>, bytes: &Bytes) {
        if number != self.first.0 {
            return;
        }
        let mut inner = self.inner();
        let gathered = inner.gathered.as_mut();
        let Some(bytes) = gathered.and_then(|gathered| gathered.came(range, bytes)) else {
            return;
        };
        inner.gathered = None;
        drop(inner);
        self.settle_with(bytes);
    }

    /// A source that was not named is no use if it cannot be compared with the one that was opened first.
    pub(super) fn comparable(
        &self,
        number: Number,
        opened: Result<(Arc<dyn Source>, Look), SourceError>,
    ) -> Result<(Arc<dyn Source>, Look), SourceError> {
        let (source, look) = opened?;
        if self.finder.is_some() && number != self.first.0 && !self.is_settled() {
            let what = "it cannot be compared with the file that is open, whose server is silent";
            return Err(SourceError::new(source.name(), what));
        }
        Ok((source, look))
    }

    pub(super) fn leave_out(self: &Arc<Self>, number: Number, why: &str) {
        let mut inner = self.inner();
        let place = inner.name_of(number);
        inner.reason(number, &SourceError::new(&place, why));
        drop(inner);
        let message = format!("{}: {place} is left out: {why}", self.name);
        self.act(|state, now| state.left_out(number, now));
        (self.warn)(&message);
    }

    /// How what was seen differs from what was seen first, if it does.
    pub(super) fn settle(&self, look: Look) -> Option<String> {
        let size = self.size;
        let mut inner = self.inner();
        if look.size != size {
            let of_size = Look {
                place: inner.name_of(self.first.0),
                size,
                ..look.clone()
            };
            return agreement::difference(&of_size, &look);
        }
        agreement::difference(inner.reference.get_or_insert_with(|| look.clone()), &look)
    }

    /// Looks at the sample of the first source, when it is here.
    pub(super) fn settle_first(self: &Arc<Self>) {
        let Some(tickets) = self.sample.get() else {
            return;
        };
        let here = tickets.iter().map(|ticket| ticket.wait_for(Duration::ZERO));
        let Some(Ok(bytes)) = here.collect::<Option<Result<Vec<Bytes>, _>>>() else {
            return;
        };
        self.settle_with(bytes);
    }

    /// Looks at the sample of the first source.
    fn settle_with(self: &Arc<Self>, bytes: Vec<Bytes>) {
        let inner = self.inner();
        let look = Look {
            place: inner.name_of(self.first.0),
            size: self.size,
            bytes,
            identity: self.first.1.identity(),
            checksums: inner.checksums.clone(),
        };
        drop(inner);
        if let Some(why) = self.settle(look) {
            self.leave_out(self.first.0, &why);
        }
    }

    /// Asks for the checksums of the first source. May wait for its server.
    fn ask_checksums(&self) {
        let checksums = self.first.1.checksums();
        let mut inner = self.inner();
        let place = inner.name_of(self.first.0);
        if let Some(reference) = inner.reference.as_mut().filter(|look| look.place == place) {
            reference.checksums = checksums.clone();
        }
        inner.checksums = checksums;
    }

    /// Waits for the sample of the first source, but not for long.
    fn wait_for_first(self: &Arc<Self>) {
        if self.is_settled() {
            return;
        }
        for ticket in self.sample() {
            if ticket.wait_for(FIRST).is_none() {
                return;
            }
        }
    }
}

impl Inner {
    fn name_of(&self, number: Number) -> String {
        let opener = self.openers.get(number);
        opener.map(|opener| opener.name.clone()).unwrap_or_default()
    }
}
