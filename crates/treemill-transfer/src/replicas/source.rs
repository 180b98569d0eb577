//! The source around the others. Knows no decision: `state.rs` has them, and `core.rs` does them.

use crate::replicas::core::{Core, Warn};
use crate::replicas::limits::BLIND_ROUND_TRIP;
use crate::replicas::opening::{self, Finder, Opener};
use std::ops::Range;
use std::sync::Arc;
use treemill_source::{
    Costs, Info, Request, Source, SourceError, SourceErrorKind, Ticket, read_by_tickets, tickets,
};

/// A file that lies at several places.
///
/// ```
/// use std::sync::Arc;
/// use treemill_transfer::replicas::{Opener, Replicas};
/// use treemill_source::{Costs, Memory, Source, SourceError};
///
/// let gone = Opener {
///     name: "root://here//file.root".to_owned(),
///     open: Box::new(|| Err(SourceError::new("root://here//file.root", "the server does not answer"))),
/// };
/// let there = Opener {
///     name: "root://there//file.root".to_owned(),
///     open: Box::new(|| Ok(Arc::new(Memory::new("there", b"0123456789".to_vec(), Costs::NEAR)))),
/// };
/// let file = Replicas::open("/store/file.root", vec![gone, there], Box::new(|warning| eprintln!("{warning}")))?;
/// assert_eq!(file.name(), "/store/file.root");
/// assert_eq!(file.submit(vec![2..5])[0].wait()?, "234");
/// # Ok::<(), SourceError>(())
/// ```
pub struct Replicas {
    core: Arc<Core>,
    info: Info,
}

impl Replicas {
    /// Opens a file by the first of its replicas that can be opened: each is tried when the one before has failed, or
    /// has said nothing for a second. The second one is opened meanwhile. `name`: the file's logical name, which is that
    /// of its errors and of its identity. Waits for the bytes by which the file is known.
    ///
    /// # Errors
    /// If none can be opened: the error names each.
    pub fn open(
        name: impl Into<String>,
        openers: Vec<Opener>,
        warn: Warn,
    ) -> Result<Self, SourceError> {
        let name = name.into();
        let early = |(number, opener)| match number {
            1 => opening::begun(opener),
            _ => opener,
        };
        let openers = openers.into_iter().enumerate().map(early);
        let openers: Vec<_> = openers.map(Arc::new).collect();
        let (opened, errors) = opening::first(&openers);
        match opened {
            Some(first) => {
                let core = Core::start(name, openers, (warn, None), first, errors);
                let info = core.info();
                Ok(Replicas { core, info })
            }
            None => {
                let errors: Vec<SourceError> = errors.into_iter().map(|(_, error)| error).collect();
                Err(all_failed(&name, &errors))
            }
        }
    }

    /// Around a file that is open, and whose other replicas were not named: `finder` looks for them after some seconds
    /// or bytes, and when the file's server is late or fails. Name and identity are those of the open one; `opener` opens
    /// it again after it failed.
    #[must_use]
    pub fn around(open: Arc<dyn Source>, opener: Opener, finder: Finder, warn: Warn) -> Self {
        let info = open.info().clone();
        let (openers, how) = (vec![Arc::new(opener)], (warn, Some(finder)));
        let core = Core::start(info.name.clone(), openers, how, (0, open), Vec::new());
        Replicas { core, info }
    }

    /// The names of the replicas that are read from now: two at most.
    #[must_use]
    pub fn active(&self) -> Vec<String> {
        self.core.active_names()
    }
}

/// An error that names each replica that failed.
fn all_failed(name: &str, errors: &[SourceError]) -> SourceError {
    let reasons: Vec<String> = errors.iter().map(ToString::to_string).collect();
    let what = match reasons.as_slice() {
        [] => "no replica is named".to_owned(),
        _ => format!("no replica can be opened: {}", reasons.join("; ")),
    };
    let kind = if errors.iter().any(SourceError::is_transient) {
        SourceErrorKind::Transient
    } else if !errors.is_empty() && errors.iter().all(SourceError::is_missing) {
        SourceErrorKind::Missing
    } else {
        SourceErrorKind::Permanent
    };
    let error = SourceError::of(kind, name, what);
    match errors {
        [only] => error.with_cause(only.clone()),
        _ => error,
    }
}

impl Source for Replicas {
    fn info(&self) -> &Info {
        &self.info
    }

    /// The costs of the active sources together: the longer round trip, the sum of the speeds.
    fn costs(&self) -> Costs {
        let costs: Vec<Costs> = self.core.active().iter().map(|s| s.costs()).collect();
        let both = |one: Costs, other: Costs| Costs {
            round_trip: one.round_trip.max(other.round_trip),
            bytes_per_second: one
                .bytes_per_second
                .zip(other.bytes_per_second)
                .map(|(one, other)| one + other),
            window: one.window.saturating_add(other.window),
            range: one.range.max(other.range),
            most_bytes: one.most_bytes.min(other.most_bytes),
            due: one.due.saturating_add(other.due),
            is_lost: one.is_lost && other.is_lost,
        };
        let all = costs.into_iter().reduce(both);
        all.unwrap_or(Costs::far(BLIND_ROUND_TRIP))
    }

    fn server(&self) -> String {
        let mut servers: Vec<_> = self.core.active().iter().map(|s| s.server()).collect();
        servers.sort();
        servers.dedup();
        servers.join(" ")
    }

    fn abandon(&self, ranges: &[Range<u64>]) {
        self.core.abandon(ranges);
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let (mut wanted, mut promises) = (Vec::new(), Vec::new());
        let tickets = tickets(&self.info, ranges, |range, _, promise| {
            wanted.push(range);
            promises.push(promise);
        });
        if !wanted.is_empty() {
            self.core.want(wanted, promises);
        }
        tickets
    }
}

impl Drop for Replicas {
    fn drop(&mut self) {
        self.core.end();
    }
}
