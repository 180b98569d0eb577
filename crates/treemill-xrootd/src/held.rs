//! The files that a process has open, by their places. A server that has a file open gives it to all who open its path, even
//! if another file has taken that path: the older one must be closed before the newer one can be read.

use crate::file::File;
use crate::limits::{CLOSING, MOST_HELD};
use crate::ticket::Ticket;
use crate::url::{Server, Url};
use crate::wire::bodies::Status;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Instant;

/// A server and a path, without what tells users apart.
type Place = (Server, String);

/// The open files of clients that share them.
#[derive(Default)]
pub struct Held(Mutex<HashMap<Place, Vec<Weak<File>>>>);

fn place(url: &Url) -> Place {
    (url.server.clone(), url.path.clone())
}

impl Held {
    fn with<T>(&self, work: impl FnOnce(&mut HashMap<Place, Vec<Weak<File>>>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn note(&self, url: &Url, file: &Arc<File>) {
        self.with(|places| {
            if places.len() >= MOST_HELD {
                places.retain(|_, files| files.iter().any(|file| file.strong_count() > 0));
            }
            let files = places.entry(place(url)).or_default();
            files.retain(|file| file.strong_count() > 0);
            files.push(Arc::downgrade(file));
        });
    }

    /// Whether the file was opened before, and may be open.
    pub(crate) fn has_had(&self, url: &Url) -> bool {
        self.with(|places| places.contains_key(&place(url)))
    }

    /// Closes the open files that are others than the one at their path, of which `server` says this now. Ends when they are
    /// closed.
    pub(crate) async fn close_others(&self, url: &Url, now: &Status, server: &Server) {
        let closing: Vec<Ticket> = {
            let open: Vec<Arc<File>> = self.with(|places| {
                let files = places.get(&place(url)).into_iter().flatten();
                files.filter_map(Weak::upgrade).collect()
            });
            let others = open.iter().filter(|file| file.is_other(now, server));
            others.filter_map(|file| file.shut()).collect()
        };
        let begun = Instant::now();
        for ticket in closing {
            // A server that says nothing has lost the file, or will be found silent by what is asked next.
            let left = CLOSING.saturating_sub(begun.elapsed());
            let _ = ticket.answer_within(left).await;
        }
    }
}
