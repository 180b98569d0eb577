//! How a file that has a path is read: as one of this machine, or as planned. Pure: the kind of its file system, what the user
//! wants and how long first reads took come in.

use crate::limits::{ENOUGH_READS, FIRST_READS, SLOW_MOUNT};
use crate::mounts::kind::Kind;
use std::collections::VecDeque;
use std::time::Duration;

/// How a file is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Range by range, when they are needed: the system's cache and read-ahead do the rest.
    Plain,
    /// Ranges are told to the kernel before they are needed, and read several at once.
    Planned,
    /// The first reads of the file system's files are measured, and decide.
    Measure,
}

/// What the user wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Switch {
    /// What is best for the file system.
    #[default]
    Automatic,
    /// All files are read as those of this machine.
    Never,
    /// All files are read as planned.
    Always,
}

impl Switch {
    /// The mode that a word in the environment means; anything else is automatic.
    #[must_use]
    pub fn of(word: &str) -> Self {
        match word.trim().to_ascii_lowercase().as_str() {
            "0" | "off" | "no" | "never" | "false" => Switch::Never,
            "1" | "on" | "yes" | "always" | "true" => Switch::Always,
            _ => Switch::Automatic,
        }
    }
}

/// How a file of such a file system is read.
///
/// ```
/// use treemill_remote::mounts::{Kind, Switch, Way, way};
///
/// assert_eq!(way(Kind::There, Switch::Automatic), Way::Planned);
/// assert_eq!(way(Kind::Here, Switch::Automatic), Way::Plain);
/// assert_eq!(way(Kind::There, Switch::Never), Way::Plain);
/// ```
#[must_use]
pub fn way(kind: Kind, switch: Switch) -> Way {
    match (switch, kind) {
        (Switch::Never, _) | (Switch::Automatic, Kind::Here) => Way::Plain,
        (Switch::Always, _) | (Switch::Automatic, Kind::There) => Way::Planned,
        (Switch::Automatic, Kind::Unknown) => Way::Measure,
    }
}

/// How long the first reads of a file system's files took lately.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstReads(VecDeque<Duration>);

impl FirstReads {
    /// A file was opened, and its first read took so long.
    pub fn took(&mut self, time: Duration) {
        self.0.push_back(time);
        if self.0.len() > FIRST_READS {
            self.0.pop_front();
        }
    }

    /// Whether most of them were slow. One slow read is a busy disk; a file that was read a moment before is in memory,
    /// and planning gains nothing.
    #[must_use]
    pub fn way(&self) -> Way {
        let slow = self.0.iter().filter(|time| **time >= SLOW_MOUNT).count();
        let is_slow = self.0.len() >= ENOUGH_READS && slow.saturating_mul(2) > self.0.len();
        if is_slow { Way::Planned } else { Way::Plain }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn words_of_the_environment() {
        assert_eq!(Switch::of(" Off"), Switch::Never);
        assert_eq!(Switch::of("always"), Switch::Always);
        assert_eq!(Switch::of(""), Switch::Automatic);
    }

    proptest! {
        #[test]
        fn only_most_reads_of_several_decide(times in prop::collection::vec(0_u64..6000, 0..40)) {
            let mut reads = FirstReads::default();
            times.iter().for_each(|time| reads.took(Duration::from_micros(*time)));
            let last = times.get(times.len().saturating_sub(FIRST_READS)..).unwrap_or_default();
            let slow = last.iter().filter(|time| **time >= 3000).count();
            let expected = last.len() >= 3 && slow.saturating_mul(2) > last.len();
            prop_assert_eq!(reads.way() == Way::Planned, expected);
        }

        #[test]
        fn a_faster_read_never_turns_planning_on(times in prop::collection::vec(0_u64..6000, 3..8), place in 0_usize..8) {
            let of = |times: &[u64]| {
                let mut reads = FirstReads::default();
                times.iter().for_each(|time| reads.took(Duration::from_micros(*time)));
                reads.way()
            };
            let mut faster = times.clone();
            let place = place.checked_rem(times.len()).unwrap_or(0);
            faster.get_mut(place).into_iter().for_each(|time| *time = time.div_euclid(2));
            prop_assert!(of(&times) == Way::Planned || of(&faster) == Way::Plain);
        }
    }
}
