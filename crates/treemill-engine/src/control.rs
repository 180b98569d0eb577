//! What a running query and its watchers share: a stop flag and counters, readable at any time.

use std::sync::Arc;
use treemill_read::Counters;

/// Stop flag and counters of one run, given to every packet of it.
#[derive(Debug, Default)]
pub struct Control {
    /// What readers count.
    pub counters: Arc<Counters>,
}

impl Control {
    /// The same control, for a thread of its own.
    pub(crate) fn shared(&self) -> Self {
        Control {
            counters: Arc::clone(&self.counters),
        }
    }

    /// The control of one worker of the run: the run counts what the worker counts, and stops with it.
    #[must_use]
    pub fn part(&self) -> Self {
        Control {
            counters: Arc::new(Counters::part_of(&self.counters)),
        }
    }

    /// Asks every packet that runs to end at its next batch, or in half a second if it waits for a distant source.
    pub fn stop(&self) {
        self.counters.stop();
    }

    /// Whether `stop` was called.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.counters.is_stopped()
    }
}
