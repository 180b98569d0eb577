//! Addresses: `dcap://host:port/path`. Knows no network.

use crate::limits::PORT;
use std::fmt;

/// A file at a door.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// The door, as `host:port`.
    pub door: String,
    /// The path as the door knows it; it starts with `/`.
    pub path: String,
}

impl Url {
    /// Reads an address of scheme `dcap`.
    ///
    /// ```
    /// use treemill_dcap::Url;
    ///
    /// let url = Url::parse("dcap://door.site.org/pnfs/site.org/file.root")?;
    /// assert_eq!(url.to_string(), "dcap://door.site.org:22125/pnfs/site.org/file.root");
    /// assert!(Url::parse("dcap://door.site.org:0/file").is_err());
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// In words: another scheme, no host, a port that is no number from 1 to 65535, no path, and characters in it for which
    /// the door's language has no way of writing.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| Err(format!("{why}; write dcap://host:port/path"));
        let Some((scheme, rest)) = text.split_once("://") else {
            return wrong("this is not an address");
        };
        if !scheme.eq_ignore_ascii_case("dcap") {
            return wrong("the scheme must be dcap");
        }
        let Some((authority, path)) = rest.split_once('/') else {
            return wrong("there is no path after the door");
        };
        if authority.contains('@') {
            return wrong("a dcap:// address cannot have a user name");
        }
        let Some(door) = door(authority) else {
            return wrong("the door's host or port cannot be read");
        };
        if path
            .chars()
            .any(|c| c.is_control() || matches!(c, '"' | '\\'))
        {
            return wrong("a path may have no quotes, backslashes or control characters");
        }
        let path = format!("/{}", path.trim_start_matches('/'));
        Ok(Url { door, path })
    }
}

/// `host:port`, from `host`, `host:port`, `[::1]` or `[::1]:port`.
fn door(authority: &str) -> Option<String> {
    let end = authority.rfind(']').map_or(0, |at| at.saturating_add(1));
    let (host, port) = match authority.get(end..)?.rfind(':') {
        Some(at) => authority.split_at_checked(end.saturating_add(at))?,
        None => (authority, ""),
    };
    let sound = |c: char| c.is_ascii_alphanumeric() || "-._:%[]".contains(c);
    if host.is_empty() || !host.chars().all(sound) {
        return None;
    }
    let port = match port.strip_prefix(':') {
        Some(port) => port.parse().ok().filter(|&port| port > 0)?,
        None => PORT,
    };
    Some(format!("{host}:{port}"))
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dcap://{}{}", self.door, self.path)
    }
}

/// An address for messages, even if it cannot be read: without what may be a credential.
#[must_use]
pub fn shown(text: &str) -> String {
    match Url::parse(text) {
        Ok(url) => url.to_string(),
        Err(_) => "dcap://…".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn doors_are_read_with_and_without_ports() {
        for (text, read) in [
            ("dcap://h/f", Ok("dcap://h:22125/f")),
            ("DCAP://h:1//pnfs/f", Ok("dcap://h:1/pnfs/f")),
            ("dcap://[::1]:9/f", Ok("dcap://[::1]:9/f")),
            ("dcap://[::1]/f", Ok("dcap://[::1]:22125/f")),
            ("dcap://h:70000/f", Err("the door's host")),
            ("dcap:///f", Err("the door's host")),
            ("dcap://h", Err("no path")),
            ("dcap://me:secret@h/f", Err("a user name")),
            ("dcap://h/a\"b", Err("no quotes")),
            ("dcap://h/a\nb", Err("no quotes")),
            ("gsidcap://h/f", Err("must be dcap")),
        ] {
            match (Url::parse(text), read) {
                (Ok(url), Ok(expected)) => assert_eq!(url.to_string(), expected),
                (Err(why), Err(expected)) => assert!(why.contains(expected), "{text}: {why}"),
                (found, _) => assert!(found.is_err(), "{text}: {found:?}"),
            }
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_again(text in "dcap://[a-z:@/\\[\\]0-9\"]{0,20}") {
            if let Ok(url) = Url::parse(&text) {
                prop_assert_eq!(Url::parse(&url.to_string()), Ok(url));
            } else {
                prop_assert_eq!(shown(&text), "dcap://…");
            }
        }
    }
}
