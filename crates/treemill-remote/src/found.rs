//! Files whose other places are found: by what their servers say, and not by what the user says. Knows no protocol.

use crate::checksums::Description;
use std::sync::Arc;
use treemill_source::{Part, Source, is_off};
use treemill_transfer::replicas::{Opener, Replicas};

/// A place of a file, and how it is opened.
pub(crate) struct Place {
    address: String,
    /// The address of the file whose server has named this one, if that server does not answer for it: then the user's
    /// token is not sent there.
    home: Option<String>,
    /// What a file there must be.
    description: Description,
}

impl Place {
    /// A place that gets what the user's own address gets.
    pub(crate) fn trusted(address: String) -> Self {
        Place {
            address,
            home: None,
            description: Description::default(),
        }
    }

    /// A place that the server of `home` has named, or a document there.
    pub(crate) fn named_by(address: String, home: &str) -> Self {
        Place {
            home: Some(home.to_owned()),
            ..Place::trusted(address)
        }
    }

    /// The same place, where another file than this cannot be opened.
    pub(crate) fn described(self, description: Description) -> Self {
        Place {
            description,
            ..self
        }
    }

    pub(crate) fn opener(self) -> Opener {
        Opener {
            name: crate::replicas::shown(&self.address),
            open: Box::new(move || {
                let source = match &self.home {
                    None => crate::open_bare(&self.address),
                    Some(home) => crate::open_found(&self.address, home),
                }?;
                self.description.check(&*source)?;
                Ok(source)
            }),
        }
    }
}

/// Looks for places; it may wait for servers.
type Finder = Box<dyn Fn() -> Vec<Place> + Send + Sync>;

/// A file that is open, and how its other places are found, if it may have some.
pub(crate) struct Open {
    pub(crate) source: Arc<dyn Source>,
    finder: Option<Finder>,
}

impl Open {
    /// A file of one place.
    pub(crate) fn only(source: Arc<dyn Source>) -> Self {
        let finder = None;
        Open { source, finder }
    }

    /// A file whose other places this finds.
    pub(crate) fn with(self, finder: impl Fn() -> Vec<Place> + Send + Sync + 'static) -> Self {
        let finder: Option<Finder> = Some(Box::new(finder));
        Open { finder, ..self }
    }

    /// The file, read from other places, too, when that is worth it. `url`: its own address.
    pub(crate) fn everywhere(self, url: &str) -> Arc<dyn Source> {
        let Some(finder) = self.finder.filter(|_| is_wanted()) else {
            return self.source;
        };
        let own = Place::trusted(url.to_owned()).opener();
        let find = move || finder().into_iter().map(Place::opener).collect();
        // The user has not named the place that is left out, and can do nothing about it.
        let quiet = Box::new(|_: &str| {});
        Arc::new(Replicas::around(self.source, own, Box::new(find), quiet))
    }
}

/// Whether places are looked for: `TREEMILL_FIND_REPLICAS=off` says no.
pub(crate) fn is_wanted() -> bool {
    let switch = std::env::var("TREEMILL_FIND_REPLICAS").unwrap_or_default();
    let is_off_by_user = ["0", "off", "no", "never", "false"].contains(&switch.as_str());
    !is_off_by_user && !is_off(Part::Multisource)
}

/// The schemes of addresses that a server may name as other places of its file, and whether they are encrypted. Files of
/// this machine and of the user's buckets are not for servers to name.
const SCHEMES: [(&str, bool); 8] = [
    ("http", false),
    ("https", true),
    ("dav", false),
    ("davs", true),
    ("root", false),
    ("xroot", false),
    ("roots", true),
    ("xroots", true),
];

/// Whether an address is one that a server may name.
pub(crate) fn may_be_named(address: &str) -> bool {
    is_encrypted(address).is_some()
}

/// Whether an address may stand for another one, which the user has written: what was asked for by TLS is not read
/// without it.
pub(crate) fn may_stand_for(address: &str, own: &str) -> bool {
    match (is_encrypted(address), is_encrypted(own)) {
        (Some(is_encrypted), Some(must_be)) => is_encrypted || !must_be,
        _ => false,
    }
}

fn is_encrypted(address: &str) -> Option<bool> {
    let (scheme, _) = address.split_once("://")?;
    let mut known = SCHEMES.iter();
    let found = known.find(|(own, _)| scheme.eq_ignore_ascii_case(own));
    found.map(|(_, is_encrypted)| *is_encrypted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_by_tls_is_not_read_without_it() {
        for (address, own, may) in [
            ("http://b/f", "http://a/f", true),
            ("ROOTS://b//f", "http://a/f", true),
            ("davs://b/f", "https://a/f", true),
            ("root://b//f", "https://a/f", false),
            ("http://b/f", "davs://a/f", false),
        ] {
            assert_eq!(may_stand_for(address, own), may, "{address} for {own}");
        }
    }

    #[test]
    fn files_of_this_machine_and_of_buckets_are_not_named_by_servers() {
        for address in [
            "/etc/passwd",
            "file:///etc/passwd",
            "s3://mine/f",
            "ftp://b/f",
            "",
        ] {
            assert!(!may_be_named(address) && !may_stand_for(address, "http://a/f"));
        }
    }
}
