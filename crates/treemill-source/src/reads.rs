//! A record of reads of distant sources: ranges, when they were asked for and how long they took. Off until
//! [`record_reads`] is called, and bounded. Knows no server and no file but their names.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// One range of a read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// The number of the vectored read that it was a part of.
    pub read: u64,
    /// The server, without credentials.
    pub server: Arc<str>,
    /// The file, without credentials.
    pub file: Arc<str>,
    /// The bytes.
    pub range: Range<u64>,
    /// When it was asked for, since recording began.
    pub sent: Duration,
    /// How long it took.
    pub took: Duration,
    /// Whether it came.
    pub is_here: bool,
}

struct Log {
    began: Instant,
    most: usize,
    reads: Vec<Recorded>,
    dropped: u64,
}

static LOG: Mutex<Option<Log>> = Mutex::new(None);
static IS_ON: AtomicBool = AtomicBool::new(false);
static READS: AtomicU64 = AtomicU64::new(0);

fn log() -> MutexGuard<'static, Option<Log>> {
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Records the next `most` ranges; 0: none. What was recorded before is forgotten.
pub fn record_reads(most: usize) {
    *log() = (most > 0).then(|| Log {
        began: Instant::now(),
        most,
        reads: Vec::new(),
        dropped: 0,
    });
    IS_ON.store(most > 0, Ordering::Relaxed);
}

/// What was recorded, in the order in which it came, and how many ranges came after the record was full. Recording goes on.
#[must_use]
pub fn recorded_reads() -> (Vec<Recorded>, u64) {
    let log = log();
    log.as_ref()
        .map_or_else(Default::default, |log| (log.reads.clone(), log.dropped))
}

/// A vectored read that is recorded.
#[derive(Debug, Clone)]
pub(crate) struct Recording {
    read: u64,
    server: Arc<str>,
    file: Arc<str>,
    sent: Instant,
}

impl Recording {
    /// Begins to record a read; `None` while nothing is recorded.
    pub(crate) fn begin(server: &Arc<str>, file: &str) -> Option<Self> {
        IS_ON.load(Ordering::Relaxed).then(|| Recording {
            read: READS.fetch_add(1, Ordering::Relaxed),
            server: Arc::clone(server),
            file: file.into(),
            sent: Instant::now(),
        })
    }

    /// Notes that a range of the read came, or that it will not.
    pub(crate) fn came(&self, range: Range<u64>, is_here: bool) {
        let Some(log) = &mut *log() else { return };
        if log.reads.len() >= log.most {
            log.dropped = log.dropped.saturating_add(1);
            return;
        }
        log.reads.push(Recorded {
            read: self.read,
            server: Arc::clone(&self.server),
            file: Arc::clone(&self.file),
            range,
            sent: self.sent.saturating_duration_since(log.began),
            took: self.sent.elapsed(),
            is_here,
        });
    }
}
