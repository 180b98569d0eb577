//! The slots of a session: which are free, and the number of the next request in each (RFC 8881, section 2.10.6). Pure.

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
}

impl Slots {
    /// So many slots, in which nothing was asked.
    #[must_use]
    pub fn new(count: usize) -> Self {
        Slots {
            sequences: vec![1; count],
            used: BTreeSet::new(),
        }
    }

    /// A slot for a request; `None` if all are in use.
    pub fn take(&mut self) -> Option<Slot> {
        let mut all = (0_u32..).zip(&self.sequences);
        let (number, sequence) = all.find(|(number, _)| !self.used.contains(number))?;
        self.used.insert(number);
        Some(Slot {
            number,
            sequence: *sequence,
            highest: self.used.last().copied().unwrap_or(number),
        })
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
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
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
