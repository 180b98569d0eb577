//! Opening the file that is at a path now, where an older one may still be open.

use crate::client::Client;
use crate::error::trouble;
use crate::file::File;
use crate::limits::MOST_CONTROL;
use crate::refusal;
use crate::route::Route;
use crate::ticket::Ticket;
use crate::url::Url;
use crate::wire::Request;
use crate::wire::bodies::Status;
use std::sync::Arc;
use treemill_transfer::{Kind, Trouble};

impl Client {
    /// Opens the file that is at its path now. Where an older one may still be open, the server is asked what is there by
    /// a request that leaves with the opening.
    ///
    /// # Errors
    /// As [`Client::open`]; `Changed` if the server opens an older file even so.
    pub(crate) async fn open_newest(&self, url: &Url, route: &Route) -> Result<Arc<File>, Trouble> {
        for _ in 0..2 {
            let asked = self.held.has_had(url).then(|| self.ask_status(url));
            let file = Arc::new(self.open_by(url, route.clone()).await?);
            self.held.note(url, &file);
            let now = match asked.flatten() {
                Some(asked) => status(asked).await,
                None => None,
            };
            match now {
                Some(now) if file.is_at(&url.server) && file.is_other(&now, &url.server) => {
                    self.held.close_others(url, &now, &url.server).await;
                }
                _ => return Ok(file),
            }
        }
        let what = "the server opens an older file than the one that is there now, because another \
                    program still has it open";
        let error = trouble(Kind::Changed, what);
        Err(error.at(&url.server).of(&url.path))
    }

    /// Asks what is at a path, of a server that has it itself and is connected.
    fn ask_status(&self, url: &Url) -> Option<Ticket> {
        let session = self.made(url)?;
        let path = Route::new(url).path();
        let tells = !session.is_manager() && !session.is_proxy();
        tells.then(|| session.submit(Request::Stat { path }, MOST_CONTROL))
    }
}

/// What the server has said; `None` if it has refused to.
async fn status(asked: Ticket) -> Option<Status> {
    let body = asked.answer().await.and_then(refusal::data).ok()?;
    Status::decode(&body).ok()
}
