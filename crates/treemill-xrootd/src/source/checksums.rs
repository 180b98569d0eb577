//! The checksum of an open file: asks its server, and that of its address. Follows no redirect, since another server would
//! tell the checksum of another copy.

use super::{Core, XrootdSource};
use crate::refusal;
use crate::session::Session;
use crate::url::Url;
use crate::wire::{Request, bodies};
use std::sync::Arc;
use std::time::{Duration, Instant};
use treemill_source::{Checksums, WantedChecksums};
use treemill_transfer::{CHECKSUM_PATIENCE, wait};

impl XrootdSource {
    /// The same file, of which these checksums are wanted. Its server is asked for those only that it may compute: it does
    /// not say whether it keeps any.
    #[must_use]
    pub fn wanting(self, wanted: WantedChecksums) -> Self {
        XrootdSource { wanted, ..self }
    }

    /// What is known of its checksums, for which servers are asked once.
    pub(super) fn asked_checksums(&self) -> Checksums {
        if self.wanted != WantedChecksums::Computed {
            return Checksums::default();
        }
        let asked = || ask(&self.core);
        self.core.checksums.get_or_init(asked).clone()
    }
}

/// What servers tell in time. A manager knows the checksums of its servers' files at some sites, where the servers do not.
fn ask(core: &Core) -> Checksums {
    let began = Instant::now();
    let file = Arc::clone(&core.state().file);
    let told = ask_one(file.session(), &core.url, CHECKSUM_PATIENCE);
    if !told.is_empty() || *file.session().server() == core.url.server {
        return told;
    }
    let left = CHECKSUM_PATIENCE.saturating_sub(began.elapsed());
    let manager = core.client.made(&core.url);
    manager.map_or(told, |session| ask_one(&session, &core.url, left))
}

fn ask_one(session: &Session, url: &Url, patience: Duration) -> Checksums {
    let path = path(url);
    let asked = session.submit(Request::Checksum { path }, crate::limits::MOST_CONTROL);
    let answer = wait(async { asked.answer_within(patience).await.transpose() });
    let body = answer.ok().flatten().and_then(|it| refusal::data(it).ok());
    body.map_or_else(Checksums::default, |body| bodies::checksums(&body))
}

/// The path with its opaque part. All are asked for the same algorithm, the one that storage keeps as a rule: those of two
/// servers are to be compared.
fn path(url: &Url) -> String {
    let wanted = "cks.type=adler32";
    match url.opaque.as_str() {
        "" => format!("{}?{wanted}", url.path),
        opaque => format!("{}?{opaque}&{wanted}", url.path),
    }
}
