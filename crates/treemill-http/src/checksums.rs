//! The checksums of an open file: what the answer that opened it has told, or what its server says when it is asked. What
//! headers mean is decided by `digest`.

use crate::address::Address;
use crate::carrier::{Ask, File};
use crate::digest;
use reqwest::Method;
use reqwest::header::HeaderMap;
use std::sync::OnceLock;
use tokio::time::timeout;
use treemill_source::{Checksums, WantedChecksums};
use treemill_transfer::{CHECKSUM_PATIENCE, Trouble, wait};

/// What is known of the checksums of a file.
#[derive(Debug)]
pub(crate) struct Known {
    told: Checksums,
    is_asked: bool,
    answer: OnceLock<Checksums>,
}

impl Known {
    /// What is known by the headers of the answer that opened the file.
    pub(crate) fn new(headers: &HeaderMap, wanted: WantedChecksums) -> Self {
        let told = digest::told(headers);
        let is_wanted = match wanted {
            WantedChecksums::Told => false,
            WantedChecksums::Stored => !digest::is_computed(headers),
            WantedChecksums::Computed => true,
        };
        Known {
            is_asked: is_wanted && told.is_empty(),
            told,
            answer: OnceLock::new(),
        }
    }

    /// The checksums of the file at `address`, for which its server is asked once, if it is asked at all. Waits for the
    /// answer.
    pub(crate) fn checksums(&self, address: &Address) -> Checksums {
        let known = match self.is_asked {
            true => self.answer.get_or_init(|| ask(address.clone())),
            false => &self.told,
        };
        known.clone()
    }
}

/// Asks the file's own server, by a request that brings no byte of it; a server to which that one redirects reads may know
/// less. It does not come with the request that opens the file, because some servers would compute the checksum before
/// they open.
fn ask(address: Address) -> Checksums {
    let asking = async move {
        let file = File::new(address);
        let ask = Ask {
            method: Method::HEAD,
            headers: digest::wanted(),
            body: "",
        };
        let reply = file.send(&ask).await?;
        Ok::<_, Trouble>(match reply.response.status().is_success() {
            true => digest::told(reply.response.headers()),
            false => Checksums::default(),
        })
    };
    let in_time = async move {
        let answer = timeout(CHECKSUM_PATIENCE, asking).await;
        answer.unwrap_or_else(|_| Ok(Checksums::default()))
    };
    wait(in_time).unwrap_or_default()
}
