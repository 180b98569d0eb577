//! A file of dCache as a source, for callers that know nothing of dCap.

use crate::core::{Core, settled};
use crate::door::door;
use crate::url::{Url, shown};
use std::ops::Range;
use std::sync::Arc;
use treemill_source::{
    Costs, Identity, Info, Request, Source, SourceError, Ticket, read_by_tickets, server_of,
};
use treemill_transfer::{insist, wait_for};

/// A file of dCache. When its pool is lost, the door is asked for it again.
pub struct DcapSource {
    core: Arc<Core>,
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
        Ok(DcapSource { core })
    }
}

impl Source for DcapSource {
    fn info(&self) -> &Info {
        &self.core.info
    }

    fn costs(&self) -> Costs {
        self.core.costs()
    }

    /// The pool, which serves the bytes, and not the door.
    fn server(&self) -> String {
        let pool = self.core.pool();
        let door = || server_of(self.name()).to_owned();
        pool.map_or_else(door, |pool| format!("dcap://{pool}"))
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
        identity: settled(&name, &status),
    })
}

fn parsed(url: &str) -> Result<Url, SourceError> {
    Url::parse(url).map_err(|why| SourceError::new(shown(url), why))
}
