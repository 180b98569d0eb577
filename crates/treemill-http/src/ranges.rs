//! A file that is open: asks for its ranges in the version that was opened, and for its checksums. How requests are sent is
//! decided by `carrier`.

use crate::carrier::{File, Reply};
use crate::checksums::Known;
use crate::versions::Versions;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use treemill_source::Checksums;
use treemill_transfer::{Carrier, Part, Trouble};

/// A file that is open.
pub(crate) struct Ranges {
    pub(crate) file: File,
    pub(crate) versions: Mutex<Versions>,
    pub(crate) checksums: Known,
}

impl Ranges {
    fn versions(&self) -> std::sync::MutexGuard<'_, Versions> {
        self.versions.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Carrier for Ranges {
    type Body = Reply;

    fn server(&self) -> &str {
        &self.file.server
    }

    fn connections(&self) -> usize {
        self.file.connections()
    }

    fn distance(&self) -> Option<Duration> {
        self.file.distance()
    }

    fn checksums(&self) -> Checksums {
        self.checksums.checksums(&self.file.address)
    }

    async fn ask(&self, range: Range<u64>) -> Result<Part<Reply>, Trouble> {
        let versions = self.versions().clone();
        let (body, accepted) = self
            .file
            .range(&range, Some(&versions), treemill_transfer::WHOLE)
            .await?;
        self.versions().heard(&body.server, accepted.version);
        Ok(Part {
            start: accepted.start,
            body,
        })
    }
}
