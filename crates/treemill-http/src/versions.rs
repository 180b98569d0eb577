//! What each server has said of one file's version. A server that redirects may send each request to another one, and these
//! have tags and times of their own for the same bytes. Pure.

use crate::answer::Known;
use crate::limits::MOST_VERSIONS;
use crate::version::Version;
use std::collections::HashMap;

/// The versions of a file that is open, by the servers that have told them.
#[derive(Debug, Clone)]
pub(crate) struct Versions {
    size: u64,
    /// The server that the file was opened at.
    first: String,
    opened: Version,
    others: HashMap<String, Version>,
}

impl Versions {
    /// The versions of a file that was opened at this server.
    pub(crate) fn new(size: u64, server: &str, opened: Version) -> Self {
        Versions {
            size,
            first: server.to_owned(),
            opened,
            others: HashMap::new(),
        }
    }

    /// What a server has said.
    fn told(&self, server: &str) -> Option<&Version> {
        match server == self.first {
            true => Some(&self.opened),
            false => self.others.get(server),
        }
    }

    /// The tag by which a server knows the bytes: none but its own.
    pub(crate) fn tag(&self, server: &str) -> Option<&str> {
        self.told(server)?.strong_tag()
    }

    /// What an answer of a server is compared with.
    pub(crate) fn known(&self, server: &str) -> Known {
        let told = self.told(server);
        Known {
            size: self.size,
            version: told.unwrap_or(&self.opened).clone(),
            is_its: told.is_some(),
        }
    }

    /// An answer of a server was accepted.
    pub(crate) fn heard(&mut self, server: &str, version: Version) {
        if self.told(server).is_none() && self.others.len() < MOST_VERSIONS {
            self.others.insert(server.to_owned(), version);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_server_has_its_own_tag() {
        let mut versions = Versions::new(5, "http://one", Version::tagged("\"1\""));
        assert_eq!(versions.tag("http://one"), Some("\"1\""));
        assert_eq!(versions.tag("http://two"), None);
        assert!(versions.known("http://one").is_its && !versions.known("http://two").is_its);
        versions.heard("http://two", Version::tagged("\"2\""));
        versions.heard("http://two", Version::tagged("\"3\""));
        versions.heard("http://one", Version::tagged("\"4\""));
        let tags = ["http://one", "http://two"].map(|server| versions.tag(server));
        assert_eq!(tags, [Some("\"1\""), Some("\"2\"")], "the first ones");
        assert!(versions.known("http://two").is_its);
    }

    #[test]
    fn no_number_of_servers_takes_all_memory() {
        let mut versions = Versions::new(5, "http://one", Version::tagged("\"1\""));
        for number in 0..MOST_VERSIONS + 10 {
            versions.heard(&format!("http://{number}"), Version::tagged("\"2\""));
        }
        assert_eq!(versions.others.len(), MOST_VERSIONS);
        assert!(!versions.known("http://new").is_its);
    }
}
