//! The way to a session, as a state machine: what is said to the server next, after each answer. Statuses come in, steps
//! go out. Knows no connection and no clock.

use crate::limits::MOST_STEPS;
use crate::wire::status::{Meaning, meaning};
use std::time::Duration;
use treemill_transfer::pause;

/// What is said to the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// EXCHANGE_ID. `anew`: as a client that was started anew, which drops all former state.
    Exchange {
        /// Whether with another verifier.
        anew: bool,
    },
    /// CREATE_SESSION.
    Create,
    /// OPEN of each file that was open before the server restarted.
    Reclaim,
    /// Nothing: the session can be used.
    Ready,
}

/// What to do after a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The step that `step` gives, after a wait.
    Wait(Duration),
    /// There is no hope.
    GiveUp,
}

/// The way to one session.
///
/// ```
/// use treemill_nfs::recovery::{Recovery, Step};
///
/// // A client whose connection broke makes a session, and is told that the server has restarted.
/// let mut recovery = Recovery::new(true, false);
/// assert_eq!(recovery.step(), Step::Create);
/// recovery.failed(10022);
/// let mut steps = Vec::new();
/// while recovery.step() != Step::Ready {
///     steps.push(recovery.step());
///     recovery.done();
/// }
/// assert_eq!(steps, [Step::Exchange { anew: false }, Step::Create, Step::Reclaim]);
/// ```
#[derive(Debug)]
pub struct Recovery {
    step: Step,
    /// Whether the server takes this client for one that it does not know.
    is_new: bool,
    failures: u32,
}

impl Recovery {
    /// The way to a session for a client whose number the server has given before (`is_known`), or for a new one. `is_new`: the
    /// number was given, but what was open was not claimed since.
    #[must_use]
    pub fn new(is_known: bool, is_new: bool) -> Self {
        Recovery {
            step: match is_known {
                true => Step::Create,
                false => Step::Exchange { anew: false },
            },
            is_new,
            failures: 0,
        }
    }

    /// What is said next.
    #[must_use]
    pub fn step(&self) -> Step {
        self.step
    }

    /// The step has succeeded.
    pub fn done(&mut self) {
        self.step = match self.step {
            Step::Exchange { .. } => {
                self.is_new = true;
                Step::Create
            }
            Step::Create if self.is_new => Step::Reclaim,
            Step::Create | Step::Reclaim | Step::Ready => Step::Ready,
        };
    }

    /// The step has failed with this status.
    pub fn failed(&mut self, status: u32) -> Then {
        self.failures = self.failures.saturating_add(1);
        if self.failures > MOST_STEPS {
            return Then::GiveUp;
        }
        let next = match (self.step, meaning(status)) {
            (step, Meaning::Later) => Some(step),
            // The client's number is not known any more.
            (Step::Create | Step::Reclaim, Meaning::Client) => Some(Step::Exchange { anew: false }),
            // The number of the next session is lost: only a client that begins anew can know it.
            (Step::Create, Meaning::Session) => Some(Step::Exchange { anew: true }),
            (Step::Reclaim, Meaning::Session) => Some(Step::Create),
            _ => None,
        };
        let Some(next) = next else {
            return Then::GiveUp;
        };
        let is_same = next == self.step;
        self.step = next;
        Then::Wait(match is_same || self.failures > 2 {
            true => pause(self.failures),
            false => Duration::ZERO,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_broken_connection_takes_one_step() {
        let mut recovery = Recovery::new(true, false);
        recovery.done();
        assert_eq!(recovery.step(), Step::Ready);
    }

    #[test]
    fn a_lost_count_begins_anew() {
        let mut recovery = Recovery::new(true, false);
        assert_eq!(recovery.failed(10063), Then::Wait(Duration::ZERO));
        assert_eq!(recovery.step(), Step::Exchange { anew: true });
    }

    #[test]
    fn what_nothing_helps_against_is_given_up() {
        assert_eq!(Recovery::new(false, false).failed(10021), Then::GiveUp);
        assert_eq!(Recovery::new(false, false).failed(10016), Then::GiveUp);
    }

    proptest! {
        /// Whatever a server answers, it ends: ready only after CREATE_SESSION, and after what was open is claimed where
        /// the client was new.
        #[test]
        fn it_ends(
            is_known in any::<bool>(),
            answers in proptest::collection::vec(
                proptest::option::of(prop_oneof![Just(10008_u32), Just(10013), Just(10022), Just(10052), Just(10063), 0_u32..100]),
                200,
            ),
        ) {
            let (mut recovery, mut said) = (Recovery::new(is_known, false), Vec::new());
            let mut ended = false;
            for answer in answers {
                if recovery.step() == Step::Ready {
                    ended = true;
                    break;
                }
                said.push((recovery.step(), answer.is_none()));
                match answer {
                    None => recovery.done(),
                    Some(status) => ended = recovery.failed(status) == Then::GiveUp,
                }
                if ended {
                    break;
                }
            }
            prop_assert!(ended);
            if recovery.step() == Step::Ready {
                let created = said.iter().rposition(|(step, good)| *step == Step::Create && *good);
                prop_assert!(created.is_some());
                let exchanged = said.iter().rposition(|(step, _)| matches!(step, Step::Exchange { .. }));
                if let Some(exchanged) = exchanged {
                    prop_assert!(created > Some(exchanged));
                    prop_assert_eq!(said.last(), Some(&(Step::Reclaim, true)));
                }
            }
        }
    }
}
