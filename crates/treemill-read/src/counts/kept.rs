//! List ends that a file's readers leave for later ones. Bounded over all files together, because datasets keep
//! many of them open.

use super::slot::Run;
use crate::limits::KEPT_ENTRIES;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Entries whose ends are kept, of all files.
static ENTRIES: AtomicU64 = AtomicU64::new(0);

/// Runs by counter and first entry.
type Runs = BTreeMap<(usize, u64), Run>;

/// The list ends of one file.
#[derive(Debug, Default)]
pub(crate) struct Kept(Mutex<Runs>);

impl Kept {
    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a run of a counter if there is room and it is new. Earlier runs stay: the next pass begins with
    /// the first entries again.
    pub(super) fn keep(&self, counter: usize, run: &Run) {
        let mut runs = self.runs();
        if find(&runs, counter, run.entries.start).is_some() {
            return;
        }
        let room =
            |held: u64| Some(held.saturating_add(run.len())).filter(|&all| all <= KEPT_ENTRIES);
        if ENTRIES
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, room)
            .is_ok()
        {
            runs.insert((counter, run.entries.start), run.clone());
        }
    }

    /// The runs of a counter that these entries lie in, as far as they are known.
    pub(super) fn of(&self, counter: usize, entries: &Range<u64>) -> Vec<Run> {
        let runs = self.runs();
        let mut found: Vec<Run> = Vec::new();
        let mut at = entries.start;
        while at < entries.end
            && let Some(run) = find(&runs, counter, at)
        {
            at = run.entries.end;
            found.push(run.clone());
        }
        found
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let all = self.runs().values().map(Run::len).sum();
        ENTRIES.fetch_sub(all, Ordering::Relaxed);
    }
}

/// The run that holds an entry.
fn find(runs: &Runs, counter: usize, entry: u64) -> Option<&Run> {
    let (_, run) = runs.range((counter, 0)..=(counter, entry)).next_back()?;
    run.entries.contains(&entry).then_some(run)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(entries: Range<u64>) -> Run {
        let ends: Vec<i32> =
            (0..=i32::try_from(entries.end.saturating_sub(entries.start)).unwrap_or(0)).collect();
        Run {
            entries,
            ends: ends.into(),
            by: Some(1),
        }
    }

    #[test]
    fn runs_are_found_by_counter_and_entries() {
        let kept = Kept::default();
        for entries in [0..10, 10..20, 30..40] {
            kept.keep(5, &run(entries));
        }
        kept.keep(5, &run(12..18));
        kept.keep(6, &run(20..30));
        let starts = |counter, entries: Range<u64>| -> Vec<u64> {
            let found = kept.of(counter, &entries);
            found.iter().map(|run| run.entries.start).collect()
        };
        assert_eq!(starts(5, 3..15), [0, 10]);
        assert_eq!(
            starts(5, 15..35),
            [10],
            "none knows the entry 20 of this counter"
        );
        assert_eq!(starts(6, 20..25), [20]);
        assert!(starts(6, 0..5).is_empty() && starts(7, 0..5).is_empty());
        let before = ENTRIES.load(Ordering::Relaxed);
        assert!(before >= 4 * 11);
        drop(kept);
        assert!(ENTRIES.load(Ordering::Relaxed) <= before);
    }
}
