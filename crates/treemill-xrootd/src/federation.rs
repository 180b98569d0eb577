//! What a manager does not say by itself: what a folder holds on all of its servers, and which servers have a file. Knows
//! no sockets.

use crate::client::Client;
use crate::error::trouble;
use crate::limits::{LISTED_AT_ONCE, MOST_DEPTH, MOST_SERVERS};
use crate::url::{Server, Url};
use crate::wire::bodies::{Entry, Location};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry as Place;
use treemill_transfer::{Kind, Trouble};

impl Client {
    /// What a folder holds: of a manager, what it holds on all servers that the manager knows, each name once.
    ///
    /// # Errors
    /// As [`Client::open`]. If one of a manager's servers cannot be asked, since a part of a listing looks like all of it.
    pub fn dirlist(&self, url: &Url) -> Result<Vec<Entry>, Trouble> {
        let mut names = BTreeMap::new();
        let mut missing = None;
        for found in self.list_all(url, 0)? {
            match found {
                Ok(entries) => entries.into_iter().for_each(|entry| add(&mut names, entry)),
                Err(error) if error.kind == Kind::Missing => missing = Some(error),
                Err(error) => return Err(error),
            }
        }
        match missing {
            Some(error) if names.is_empty() => Err(error),
            _ => Ok(names.into_values().collect()),
        }
    }

    /// The listings of the folder's servers; those that have no such folder say so.
    fn list_all(
        &self,
        url: &Url,
        depth: usize,
    ) -> Result<Vec<Result<Vec<Entry>, Trouble>>, Trouble> {
        if !self.is_manager(url)? {
            return Ok(vec![self.list_one(url)]);
        }
        let wrong = |what: String| {
            let error = trouble(Kind::Unsupported, what);
            error.at(&url.server).of(&url.path)
        };
        if depth >= MOST_DEPTH {
            return Err(wrong(format!(
                "the redirectors refer to one another through more than {MOST_DEPTH} levels: name one of the servers that \
                 have the folder"
            )));
        }
        let servers = self.locate_all(url).map(|all| addresses(url, &all))?;
        if servers.len() > MOST_SERVERS {
            let what = format!(
                "{} servers may have the folder, which is too many to ask: name one of them",
                servers.len()
            );
            return Err(wrong(what));
        }
        let mut found = Vec::new();
        for some in servers.chunks(LISTED_AT_ONCE) {
            let listed: Result<Vec<_>, Trouble> = std::thread::scope(|scope| {
                let ask =
                    |server| scope.spawn(move || self.list_all(server, depth.saturating_add(1)));
                let asked: Vec<_> = some.iter().map(ask).collect();
                let broken = |_| {
                    Err(wrong(
                        "treemill failed while it listed the folder: please report this".to_owned(),
                    ))
                };
                asked
                    .into_iter()
                    .map(|thread| thread.join().unwrap_or_else(broken))
                    .collect()
            });
            found.extend(listed?.into_iter().flatten());
        }
        if found.is_empty() {
            let what = "no server has this folder";
            let error = trouble(Kind::Missing, what);
            found.push(Err(error.at(&url.server).of(&url.path)));
        }
        Ok(found)
    }

    /// The addresses of a file at the servers that a manager knows to have it; below it there may be managers, which lead
    /// to one of theirs. None if the address's server is no manager. `at_once` as for [`Client::locate`].
    ///
    /// # Errors
    /// As [`Client::open`].
    pub fn replicas(&self, url: &Url, at_once: bool) -> Result<Vec<Url>, Trouble> {
        if !self.is_manager(url)? {
            return Ok(Vec::new());
        }
        let mut places = self.locate(url, at_once)?;
        places.retain(|place| !place.is_pending);
        Ok(addresses(url, &places))
    }
}

/// The address at each of these places, in their order; those that are no servers are left out.
fn addresses(url: &Url, places: &[Location]) -> Vec<Url> {
    let mut servers: Vec<Server> = Vec::new();
    for place in places {
        if let Ok(server) = Server::parse(&place.server)
            && !servers.contains(&server)
        {
            servers.push(server);
        }
    }
    let at = |server| Url {
        server,
        ..url.clone()
    };
    servers.into_iter().map(at).collect()
}

/// A name that two servers have is there once; it is a folder if it is one on any.
fn add(names: &mut BTreeMap<String, Entry>, entry: Entry) {
    let is_folder = |entry: &Entry| entry.status.is_some_and(|status| status.is_folder());
    match names.entry(entry.name.clone()) {
        Place::Vacant(place) => {
            place.insert(entry);
        }
        Place::Occupied(mut place) => {
            if is_folder(&entry) && !is_folder(place.get()) {
                place.insert(entry);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::wire::bodies::Status;

    #[test]
    fn each_server_is_asked_once_and_by_the_same_path() {
        let url = Url::parse("roots://me@m//data/a?authz=x").unwrap();
        let place = |server: &str| Location {
            server: server.to_owned(),
            is_manager: false,
            is_pending: false,
        };
        let places = ["s1:1094", "[::1]:7", "s1", "no server", "s2:1"].map(place);
        let found = addresses(&url, &places);
        let servers: Vec<String> = found.iter().map(|url| url.server.to_string()).collect();
        assert_eq!(servers, ["s1:1094", "[::1]:7", "s2:1"]);
        assert!(found.iter().all(|found| found.is_encrypted
            && (&found.path, &found.opaque, &found.user) == (&url.path, &url.opaque, &url.user)));
    }

    #[test]
    fn names_are_there_once_and_folders_stay_folders() {
        let status = |flags| Status {
            size: 1,
            flags,
            changed: 2,
        };
        let entry = |name: &str, flags: Option<u32>| Entry {
            name: name.to_owned(),
            status: flags.map(status),
        };
        let mut names = BTreeMap::new();
        for one in [
            entry("a", Some(0)),
            entry("b", None),
            entry("a", Some(0)),
            entry("b", Some(2)),
            entry("b", Some(0)),
        ] {
            add(&mut names, one);
        }
        assert_eq!(names.len(), 2);
        assert!(names.get("b").unwrap().status.unwrap().is_folder());
    }
}
