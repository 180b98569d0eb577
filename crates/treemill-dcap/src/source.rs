//! A file of dCache as a source, for callers that know nothing of dCap.

use crate::core::Core;
use crate::door::door;
use crate::url::{Url, shown};
use crate::words::Status;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use treemill_source::{
    Costs, Identity, Request, SETTLED, Source, SourceError, Ticket, read_by_tickets,
};
use treemill_transfer::{insist, wait_for};

/// A file of dCache. When its pool is lost, the door is asked for it again.
pub struct DcapSource {
    core: Arc<Core>,
    identity: Option<Identity>,
}

/// What a door says of a file or folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// Bytes of a file.
    pub size: u64,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// The file's state; `None` if it was changed too lately to tell.
    pub identity: Option<Identity>,
}

impl DcapSource {
    /// Opens the file at `url`: `dcap://door:port/path`.
    ///
    /// ```no_run
    /// use treemill_dcap::DcapSource;
    /// use treemill_source::Source;
    ///
    /// let source = DcapSource::open("dcap://door.site.org:22125/pnfs/site.org/file.root")?;
    /// let tickets = source.submit(vec![0..100, 5000..6000]); // one request, one round trip
    /// assert_eq!(tickets[0].wait()?.len(), 100);
    /// # Ok::<(), treemill_source::SourceError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such file, or the door does not open it; it names door and file.
    pub fn open(url: &str) -> Result<Self, SourceError> {
        wait_for(&shown(url), DcapSource::opened(url))
    }

    /// Opens like [`DcapSource::open`], as a task of the runtime.
    ///
    /// # Errors
    /// As [`DcapSource::open`].
    pub async fn opened(url: &str) -> Result<Self, SourceError> {
        let url = parsed(url)?;
        let name = url.to_string();
        let core = Core::open(url).await;
        let core = core.map_err(|trouble| trouble.error(&name, None))?;
        let identity = settled(&name, &core.status, SystemTime::now());
        Ok(DcapSource { core, identity })
    }

    /// The pool that serves the file now, as `host:port`; `None` while there is none.
    #[must_use]
    pub fn pool(&self) -> Option<String> {
        self.core.pool()
    }
}

impl Source for DcapSource {
    fn name(&self) -> &str {
        &self.core.name
    }

    fn size(&self) -> u64 {
        self.core.status.size
    }

    fn costs(&self) -> Costs {
        self.core.costs()
    }

    fn identity(&self) -> Option<Identity> {
        self.identity
    }

    fn is_lost(&self) -> bool {
        self.core.is_lost()
    }

    fn abandon(&self, ranges: &[Range<u64>]) {
        self.core.abandon(ranges);
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        self.core.submit(ranges)
    }
}

/// Asks a door for the state of a file or folder.
///
/// # Errors
/// As [`DcapSource::open`].
pub fn stat(url: &str) -> Result<State, SourceError> {
    wait_for(&shown(url), state(url))
}

/// Asks like [`stat`], as a task of the runtime.
///
/// # Errors
/// As [`DcapSource::open`].
pub async fn state(url: &str) -> Result<State, SourceError> {
    let url = parsed(url)?;
    let name = url.to_string();
    let asking = insist(&url.door, || async {
        door(&url.door).await?.stat(&name).await
    });
    let status = asking.await;
    let status = status.map_err(|trouble| trouble.error(&name, None))?;
    Ok(State {
        size: status.size,
        is_folder: status.is_folder,
        identity: settled(&name, &status, SystemTime::now()),
    })
}

fn parsed(url: &str) -> Result<Url, SourceError> {
    Url::parse(url).map_err(|why| SourceError::new(shown(url), why))
}

/// The file's identity, unless it changed so lately that it may change again within its time's second.
fn settled(name: &str, status: &Status, now: SystemTime) -> Option<Identity> {
    let seconds = Some(status.changed).filter(|&time| time > 0 && !status.is_folder)?;
    let changed = UNIX_EPOCH.checked_add(Duration::from_secs(seconds))?;
    let age = now.duration_since(changed).ok()?;
    let state = format!("changed {seconds}");
    (age >= SETTLED).then(|| Identity::of_remote(name, status.size, &state))
}
