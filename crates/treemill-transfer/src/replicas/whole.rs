//! A range that was wanted, put together from its parts. Knows no source.

use bytes::Bytes;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use treemill_source::{Promise, SourceError, Ticket};

/// One part's place in its range.
pub(crate) struct Place {
    whole: Arc<Whole>,
    number: usize,
}

struct Whole {
    range: Range<u64>,
    state: Mutex<State>,
}

struct State {
    parts: Vec<Bytes>,
    /// Parts that are not here.
    missing: usize,
    promise: Option<Promise>,
}

/// The places of as many parts of a range.
pub(crate) fn places(range: Range<u64>, parts: usize, promise: Promise) -> Vec<Place> {
    let whole = Arc::new(Whole {
        range,
        state: Mutex::new(State {
            parts: vec![Bytes::new(); parts],
            missing: parts,
            promise: Some(promise),
        }),
    });
    let place = |number| Place {
        whole: Arc::clone(&whole),
        number,
    };
    (0..parts).map(place).collect()
}

impl Place {
    /// The part is here. Keeps the promise if it was the last one.
    pub(crate) fn fill(self, bytes: Bytes) {
        let kept = self.whole.with(|state| {
            *state.parts.get_mut(self.number)? = bytes;
            state.missing = state.missing.saturating_sub(1);
            let promise = (state.missing == 0).then(|| state.promise.take())?;
            Some((std::mem::take(&mut state.parts), promise?))
        });
        if let Some((parts, promise)) = kept {
            promise.keep(Ok(match <[Bytes; 1]>::try_from(parts) {
                Ok([whole]) => whole,
                Err(parts) => Bytes::from(parts.concat()),
            }));
        }
    }

    /// The part is asked for: a thread that waits for a range of one part waits for this.
    pub(crate) fn count_with(&self, ticket: &Ticket) {
        self.whole.with(|state| {
            if let ([_], Some(promise)) = (state.parts.as_slice(), &state.promise) {
                promise.count_with(ticket);
            }
        });
    }

    /// The part cannot be had.
    pub(crate) fn fail(self, error: SourceError) {
        if let Some(promise) = self.whole.with(|state| state.promise.take()) {
            let range = Some(self.whole.range.clone());
            promise.keep(Err(SourceError { range, ..error }));
        }
    }
}

impl Whole {
    /// The promise is kept when nothing is locked: its ticket's caller may do anything.
    fn with<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn parts_in_any_order_make_the_range() {
        let (ticket, promise) = Ticket::new("f", 0..5);
        let mut places = places(0..5, 2, promise);
        places.pop().unwrap().fill(Bytes::from_static(b"de"));
        assert!(!ticket.is_ready());
        places.pop().unwrap().fill(Bytes::from_static(b"abc"));
        assert_eq!(ticket.wait().unwrap(), "abcde");
    }

    #[test]
    fn one_part_that_fails_is_the_ranges_error() {
        let (ticket, promise) = Ticket::new("f", 0..5);
        let mut places = places(0..5, 2, promise);
        places.pop().unwrap().fail(SourceError::new("f", "gone"));
        places.pop().unwrap().fill(Bytes::from_static(b"abc"));
        assert_eq!(
            ticket.wait().unwrap_err().to_string(),
            "f: gone (reading bytes 0..5)"
        );
    }
}
