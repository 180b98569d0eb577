//! The slots of a session: which are free, how many the server wants to be used, and the number of the next request in each
//! (RFC 8881, section 2.10.6). Pure.

use crate::wire::session::Slot;
use std::collections::BTreeSet;

/// The slots of a session, lowest first: a server may take back high ones that are not used.
///
/// ```
/// use treemill_nfs::slots::Slots;
///
/// let mut slots = Slots::new(2);
/// let first = slots.take().unwrap();
/// let second = slots.take().unwrap();
/// assert_eq!((first.number, first.sequence, second.number, second.highest), (0, 1, 1, 1));
/// assert!(slots.take().is_none());
/// slots.answered(first.number);
/// let again = slots.take().unwrap();
/// assert_eq!((again.number, again.sequence), (0, 2));
/// ```
#[derive(Debug)]
pub struct Slots {
    /// The number of the next request in each slot.
    sequences: Vec<u32>,
    used: BTreeSet<u32>,
    /// How many may be used.
    allowed: usize,
    /// How many requests are let through at once: as many, or more until some of them are answered.
    let_through: usize,
}

/// What becomes of the permits that requests take before they get a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// There are more of them.
    More(usize),
    /// There are fewer of them, as soon as they are free.
    Less(usize),
}

impl Slots {
    /// Slots in which nothing was asked yet.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Slots {
            sequences: vec![1; count],
            used: BTreeSet::new(),
            allowed: count,
            let_through: count,
        }
    }

    /// The server wants no slot above this one to be used; one is always. A slot that is used again later goes on with its
    /// numbers: a server that has forgotten them says so, and a new session is made.
    ///
    /// ```
    /// use treemill_nfs::slots::{Change, Slots};
    ///
    /// let mut slots = Slots::new(4);
    /// assert_eq!(slots.target(0), Change::Less(3));
    /// slots.less(3);
    /// assert_eq!(slots.target(63), Change::More(3), "no more than there were");
    /// ```
    pub fn target(&mut self, highest: u32) -> Change {
        let wanted = usize::try_from(highest)
            .unwrap_or(usize::MAX)
            .saturating_add(1);
        self.allowed = wanted.min(self.sequences.len()).max(1);
        match self.allowed.checked_sub(self.let_through) {
            Some(more) => {
                self.let_through = self.allowed;
                Change::More(more)
            }
            None => Change::Less(self.let_through.saturating_sub(self.allowed)),
        }
    }

    /// Fewer requests are let through from now on, by `count`.
    pub fn less(&mut self, count: usize) {
        self.let_through = self.let_through.saturating_sub(count);
    }

    /// A request is over: whether one less is let through from now on.
    pub fn is_over_target(&mut self) -> bool {
        let is_over = self.let_through > self.allowed;
        self.let_through = self.let_through.saturating_sub(usize::from(is_over));
        is_over
    }

    /// A slot for a request; `None` if all are in use.
    pub fn take(&mut self) -> Option<Slot> {
        let mut all = (0_u32..).zip(self.sequences.iter().take(self.allowed));
        let (number, sequence) = all.find(|(number, _)| !self.used.contains(number))?;
        self.used.insert(number);
        Some(Slot {
            number,
            sequence: *sequence,
            highest: self.used.last().copied().unwrap_or(number),
        })
    }

    /// The request in a slot was not taken by the server: the next one has its number.
    pub fn refused(&mut self, number: u32) {
        self.used.remove(&number);
    }

    /// The request in a slot was answered.
    pub fn answered(&mut self, number: u32) {
        let place = usize::try_from(number).unwrap_or(usize::MAX);
        if self.used.remove(&number)
            && let Some(sequence) = self.sequences.get_mut(place)
        {
            *sequence = sequence.wrapping_add(1);
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::unwrap_used
)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_that_was_not_taken_keeps_its_number() {
        let mut slots = Slots::new(1);
        let first = slots.take().unwrap();
        slots.refused(first.number);
        assert_eq!(slots.take(), Some(first));
    }

    proptest! {
        /// Whatever a server wants, no slot above its target is used, and each request that is let through finds a slot.
        #[test]
        fn no_slot_above_the_target_is_used(
            count in 1_usize..9, steps in proptest::collection::vec((0_usize..12, proptest::option::of(0_u32..12)), 0..200),
        ) {
            let mut slots = Slots::new(count);
            let (mut open, mut free, mut target) = (Vec::new(), count, count);
            for (step, wanted) in steps {
                if let Some(highest) = wanted {
                    target = (highest as usize + 1).min(count);
                    match slots.target(highest) {
                        Change::More(more) => free += more,
                        Change::Less(less) => {
                            let now = less.min(free);
                            slots.less(now);
                            free -= now;
                        }
                    }
                }
                if step < open.len() {
                    slots.answered(open.swap_remove(step));
                    free += usize::from(!slots.is_over_target());
                } else if free > 0 {
                    free -= 1;
                    let slot = slots.take().unwrap();
                    prop_assert!((slot.number as usize) < target);
                    open.push(slot.number);
                }
                prop_assert!(free + open.len() >= 1);
            }
            open.into_iter().for_each(|slot| {
                slots.answered(slot);
                free += usize::from(!slots.is_over_target());
            });
            prop_assert_eq!(free, target);
        }

        /// A slot has one request at a time, and its requests are numbered without a gap.
        #[test]
        fn slots_are_used_one_by_one(count in 1_usize..9, steps in proptest::collection::vec(0_usize..12, 0..200)) {
            let mut slots = Slots::new(count);
            let (mut open, mut last) = (Vec::new(), vec![0; count]);
            for step in steps {
                if step < open.len() {
                    slots.answered(open.swap_remove(step));
                    continue;
                }
                match slots.take() {
                    None => prop_assert_eq!(open.len(), count),
                    Some(slot) => {
                        prop_assert!(!open.contains(&slot.number));
                        open.push(slot.number);
                        prop_assert_eq!(Some(&slot.highest), open.iter().max());
                        let place = slot.number as usize;
                        last[place] += 1;
                        prop_assert_eq!(slot.sequence, last[place]);
                    }
                }
            }
        }
    }
}
