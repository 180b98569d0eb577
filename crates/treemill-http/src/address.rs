//! Addresses of files: what a URL says, what is asked for, and what may be shown. Knows no network.

use treemill_source::SourceError;
use url::Url;

/// Schemes of users, and the protocol that each one is.
const SCHEMES: [(&str, &str); 4] = [
    ("http", "http"),
    ("https", "https"),
    ("dav", "http"),
    ("davs", "https"),
];

/// Parameters of a query that authorise or expire, in small letters: they do not say which file it is.
const PASSING: [&str; 24] = [
    "access_token",
    "authz",
    "token",
    "awsaccesskeyid",
    "expires",
    "signature",
    "googleaccessid",
    "key-pair-id",
    "policy",
    "sig",
    "se",
    "sp",
    "sv",
    "sr",
    "st",
    "spr",
    "skoid",
    "sktid",
    "skt",
    "ske",
    "sks",
    "skv",
    "jwt",
    "apikey",
];

/// Beginnings of such parameters.
const PASSING_FAMILIES: [&str; 3] = ["x-amz-", "x-goog-", "xrd."];

/// The address of a file or folder.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Address {
    /// What is asked for, with its query and without user and password.
    pub(crate) url: Url,
    /// User and password, if the URL has them.
    pub(crate) login: Option<(String, String)>,
    /// The URL in messages: without query, user and password, with the user's own scheme.
    pub(crate) name: String,
    /// Which file it is, the same for all users.
    pub(crate) place: String,
    /// Whether the scheme says that it is a server of WebDAV.
    pub(crate) is_dav: bool,
    /// Whether the user has named the server. One that only another server has named gets no login and no token.
    pub(crate) is_named: bool,
}

impl Address {
    /// Reads a URL that the server of `home` has named. A login in it is not the user's.
    pub(crate) fn found(text: &str, home: &str) -> Result<Self, SourceError> {
        let address = Self::parse(text)?;
        let home = Self::parse(home).ok();
        let is_named = home.is_some_and(|home| home.url.origin() == address.url.origin());
        Ok(Address {
            is_named,
            login: None,
            ..address
        })
    }

    /// Reads a URL of the user's.
    pub(crate) fn parse(text: &str) -> Result<Self, SourceError> {
        let wrong = |what: &str| SourceError::new(shown(text), what);
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| wrong("it is not a URL"))?;
        let scheme = scheme.to_ascii_lowercase();
        let known = SCHEMES.iter().find(|(own, _)| *own == scheme);
        let (own, protocol) =
            known.ok_or_else(|| wrong("it is not a URL with http, https, dav or davs"))?;
        let mut url = Url::parse(&format!("{protocol}://{rest}"))
            .map_err(|e| wrong(&format!("it is not a URL: {e}")))?;
        let login = (!url.username().is_empty() || url.password().is_some()).then(|| {
            let plain = |text: &str| {
                percent_encoding::percent_decode_str(text)
                    .decode_utf8_lossy()
                    .into_owned()
            };
            (
                plain(url.username()),
                plain(url.password().unwrap_or_default()),
            )
        });
        // Neither can fail: the URL has a host.
        let _ = url.set_username("");
        let _ = url.set_password(None);
        url.set_fragment(None);
        let name = named(&url, own);
        let place = lasting(&url);
        Ok(Address {
            url,
            login,
            name,
            place,
            is_dav: own.starts_with("dav"),
            is_named: true,
        })
    }
}

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)
    }
}

/// What may be shown of a URL that another server gave: scheme, host and port.
pub(crate) fn server(url: &Url) -> String {
    url.origin().ascii_serialization()
}

fn named(url: &Url, scheme: &str) -> String {
    let mut shown = url.clone();
    shown.set_query(None);
    let text = shown.as_str();
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    format!("{scheme}://{rest}")
}

/// The URL without what passes; for a digest, never shown.
fn lasting(url: &Url) -> String {
    let passing = |name: &str| {
        let name = name.to_ascii_lowercase();
        PASSING.contains(&name.as_str()) || PASSING_FAMILIES.iter().any(|f| name.starts_with(f))
    };
    let mut lasting = url.clone();
    let kept = url.query_pairs().filter(|(name, _)| !passing(name));
    let kept: Vec<_> = kept.collect();
    lasting.set_query(None);
    if !kept.is_empty() {
        lasting.query_pairs_mut().extend_pairs(kept);
    }
    lasting.into()
}

/// What may be shown of a text that is no URL.
fn shown(text: &str) -> String {
    let text = text.split(['?', '#']).next().unwrap_or_default();
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), text),
    };
    let (host, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}{host}{path}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_secret_is_shown() {
        let address =
            Address::parse("davs://me:pass%40word@host:8443/a/b.root?authz=Bearer%20abc&run=3#x")
                .unwrap();
        assert_eq!(address.name, "davs://host:8443/a/b.root");
        assert_eq!(
            address.url.as_str(),
            "https://host:8443/a/b.root?authz=Bearer%20abc&run=3"
        );
        assert_eq!(address.login, Some(("me".into(), "pass@word".into())));
        assert_eq!(address.place, "https://host:8443/a/b.root?run=3");
        assert_eq!(format!("{address:?}"), address.name);
        assert!(address.is_dav);
    }

    #[test]
    fn a_server_that_another_one_names_is_not_the_users() {
        let is_named = |found: &str| {
            let address = Address::found(found, "davs://door:8443/store/f.root").unwrap();
            assert_eq!(address.login, None);
            address.is_named
        };
        assert!(is_named("https://door:8443/mirror/f.root"));
        for other in [
            "https://door/f.root",
            "http://door:8443/f.root",
            "https://me:secret@pool:8443/f.root",
        ] {
            assert!(!is_named(other), "{other}");
        }
        let of_xrootd = Address::found("https://door/f", "root://door//f").unwrap();
        assert!(!of_xrootd.is_named);
    }

    #[test]
    fn what_is_no_url_is_shown_without_what_may_be_secret() {
        for (text, shown) in [
            ("ftp://me:secret@host/file?token=secret", "ftp://host/file"),
            ("https://me:secret@/file", "https:///file"),
            ("/data/file.root", "/data/file.root"),
        ] {
            let error = Address::parse(text).unwrap_err();
            assert_eq!(error.name, shown);
            assert!(!error.to_string().contains("secret"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics_and_no_password_is_shown(path in "[a-z/@:?#%]{0,12}", any in ".{0,40}") {
            let _ = Address::parse(&any);
            let shown = match Address::parse(&format!("https://me:SECRET@host/{path}?token=SECRET")) {
                Ok(address) => address.name,
                Err(error) => error.to_string(),
            };
            prop_assert!(!shown.contains("SECRET"), "{}", shown);
        }
    }
}
