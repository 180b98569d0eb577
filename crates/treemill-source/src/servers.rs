//! What each server was asked for in this process, and how long it took. Knows no protocol and no file; names of servers have
//! no credentials.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a server was asked for, since the process began or between two looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerCounts {
    /// Files that were opened there.
    pub files: u64,
    /// Messages: many ranges may be asked for by one.
    pub messages: u64,
    /// Ranges.
    pub requests: u64,
    /// Bytes that came.
    pub bytes: u64,
    /// Ranges that did not come.
    pub errors: u64,
    /// How often a thread waited for bytes of this server. A range that is asked for at several servers counts with the
    /// first one; one that comes in pieces of several counts with none.
    pub waits: u64,
    /// The time that threads have waited, all together.
    pub waited: Duration,
    /// How long the server had something to do.
    pub busy: Duration,
}

impl ServerCounts {
    /// What was counted after `before`.
    #[must_use]
    pub fn since(&self, before: &ServerCounts) -> ServerCounts {
        ServerCounts {
            files: self.files.saturating_sub(before.files),
            messages: self.messages.saturating_sub(before.messages),
            waits: self.waits.saturating_sub(before.waits),
            requests: self.requests.saturating_sub(before.requests),
            bytes: self.bytes.saturating_sub(before.bytes),
            errors: self.errors.saturating_sub(before.errors),
            waited: self.waited.saturating_sub(before.waited),
            busy: self.busy.saturating_sub(before.busy),
        }
    }
}

/// How often threads have waited, and for how long.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    count: AtomicU64,
    nanoseconds: AtomicU64,
}

impl Waits {
    pub(crate) fn add(&self, time: Duration) {
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        self.count.fetch_add(1, Ordering::Relaxed);
        self.nanoseconds.fetch_add(time, Ordering::Relaxed);
    }
}

/// Scheme, host and port of an address without credentials; of a path what all paths have in common.
///
/// ```
/// assert_eq!(treemill_source::server_of("root://host:1094//store/f.root"), "root://host:1094");
/// ```
#[must_use]
pub fn server_of(name: &str) -> &str {
    let Some((scheme, rest)) = name.split_once("://") else {
        return "this machine";
    };
    let host = rest.split('/').next().unwrap_or_default();
    let length = scheme.len().saturating_add(3).saturating_add(host.len());
    name.get(..length).unwrap_or(scheme)
}

/// The counts of one server.
#[derive(Debug)]
pub(crate) struct Server {
    pub(crate) name: Arc<str>,
    pub(crate) waits: Arc<Waits>,
    live: Mutex<Live>,
}

#[derive(Debug, Default)]
struct Live {
    counts: ServerCounts,
    in_flight: u64,
    /// The time since which something has been in flight.
    since: Option<Instant>,
}

static SERVERS: Mutex<BTreeMap<Arc<str>, Arc<Server>>> = Mutex::new(BTreeMap::new());

fn all() -> MutexGuard<'static, BTreeMap<Arc<str>, Arc<Server>>> {
    SERVERS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What each server was asked for in this process so far, by its name.
#[must_use]
pub fn servers() -> BTreeMap<Arc<str>, ServerCounts> {
    let all = all();
    let counts = all
        .values()
        .map(|one| (Arc::clone(&one.name), one.counts()));
    counts.collect()
}

/// Counts the messages to a server, for what knows of each when it sends it.
///
/// ```
/// use treemill_source::{Messages, servers};
///
/// Messages::to("https://host").sent();
/// assert_eq!(servers()["https://host"].messages, 1);
/// ```
#[derive(Debug, Clone)]
pub struct Messages(Arc<Server>);

impl Messages {
    /// The server of this name, as [`Observed`](crate::Observed) has it.
    #[must_use]
    pub fn to(server: &str) -> Self {
        Messages(Server::named(server))
    }

    /// The server that the file's address begins with.
    #[must_use]
    pub fn about(file: &str) -> Self {
        Messages::to(server_of(file))
    }

    /// A message that asks for bytes is sent.
    pub fn sent(&self) {
        self.0.sent(0, 1);
    }
}

impl Server {
    /// The server of this name.
    pub(crate) fn named(name: &str) -> Arc<Server> {
        let mut all = all();
        if let Some(server) = all.get(name) {
            return Arc::clone(server);
        }
        let name: Arc<str> = name.into();
        let server = Arc::new(Server {
            name: Arc::clone(&name),
            waits: Arc::default(),
            live: Mutex::default(),
        });
        all.insert(name, Arc::clone(&server));
        server
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> ServerCounts {
        let live = self.live();
        let now = live.since.map_or(Duration::ZERO, |since| since.elapsed());
        ServerCounts {
            waits: self.waits.count.load(Ordering::Relaxed),
            waited: Duration::from_nanos(self.waits.nanoseconds.load(Ordering::Relaxed)),
            busy: live.counts.busy.saturating_add(now),
            ..live.counts
        }
    }

    pub(crate) fn opened(&self) {
        let counts = &mut self.live().counts;
        counts.files = counts.files.saturating_add(1);
    }

    /// Notes that ranges are asked for, by a number of messages, as far as it is known.
    pub(crate) fn sent(&self, ranges: u64, messages: u64) {
        let live = &mut *self.live();
        live.counts.messages = live.counts.messages.saturating_add(messages);
        live.counts.requests = live.counts.requests.saturating_add(ranges);
        live.in_flight = live.in_flight.saturating_add(ranges);
        if ranges > 0 {
            live.since.get_or_insert_with(Instant::now);
        }
    }

    /// Notes that a range came, and its size in bytes; `None`: that it will not come.
    pub(crate) fn came(&self, bytes: Option<u64>) {
        let live = &mut *self.live();
        match bytes {
            Some(bytes) => live.counts.bytes = live.counts.bytes.saturating_add(bytes),
            None => live.counts.errors = live.counts.errors.saturating_add(1),
        }
        live.in_flight = live.in_flight.saturating_sub(1);
        if live.in_flight == 0
            && let Some(since) = live.since.take()
        {
            live.counts.busy = live.counts.busy.saturating_add(since.elapsed());
        }
    }
}
