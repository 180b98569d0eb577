//! Addresses: `root://user@host:port//path?opaque`. Knows no network; what it shows of itself has no opaque part.

use crate::error::trouble;
use std::fmt;
use std::net::{Ipv4Addr, Ipv6Addr};
use treemill_transfer::{Kind, Trouble};

/// The port of XRootD that IANA has registered.
const PORT: u16 = 1094;

/// A host and a port.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Server {
    /// A name or an IP address; one of version 6 without its brackets.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl Server {
    /// Reads `host`, `host:port`, `[::1]` or `[::1]:port`.
    ///
    /// # Errors
    /// `Invalid` if there is no host, or if the port is no number from 1 to 65535.
    pub fn parse(text: &str) -> Result<Self, Trouble> {
        let wrong = || {
            trouble(
                Kind::Invalid,
                format!("{text} does not have the form host:port, such as server.site.org:1094"),
            )
        };
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => rest.split_once(']').ok_or_else(wrong)?,
            None => text.find(':').map_or((text, ""), |at| text.split_at(at)),
        };
        let sound = |c: char| c.is_ascii_alphanumeric() || "-._:%".contains(c);
        if host.is_empty() || !host.chars().all(sound) {
            return Err(wrong());
        }
        let port = match port {
            "" => PORT,
            _ => port
                .strip_prefix(':')
                .and_then(|p| p.parse().ok())
                .filter(|&p| p > 0)
                .ok_or_else(wrong)?,
        };
        Ok(Server {
            host: as_version_4(host).unwrap_or_else(|| host.to_owned()),
            port,
        })
    }
}

/// Servers write an address of version 4 as the last four bytes of one of version 6: `[::10.0.0.1]`.
fn as_version_4(host: &str) -> Option<String> {
    let address: Ipv6Addr = host.parse().ok()?;
    let [a, b, c, d, e, mark, high, _] = address.segments();
    let is_version_4 = [a, b, c, d, e] == [0; 5] && high != 0 && matches!(mark, 0 | 0xffff);
    let [.., w, x, y, z] = address.octets();
    is_version_4.then(|| Ipv4Addr::new(w, x, y, z).to_string())
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

/// A file or folder of a server.
#[derive(Clone, PartialEq, Eq)]
pub struct Url {
    /// The server to ask first.
    pub server: Server,
    /// Whether all servers must be spoken to by TLS (`roots`).
    pub is_encrypted: bool,
    /// The user's name, if the address has one.
    pub user: Option<String>,
    /// The path as the server knows it; it starts with `/`.
    pub path: String,
    /// What follows `?`: may hold credentials, so it is never shown.
    pub opaque: String,
}

impl Url {
    /// Reads an address of scheme `root` or `xroot`, or `roots` or `xroots` for TLS.
    ///
    /// # Errors
    /// `Invalid` for other schemes, for an unreadable host or port, and for a path that does not start with `/` (an
    /// absolute path follows the server after a slash of its own: `root://host//path`).
    pub fn parse(text: &str) -> Result<Self, Trouble> {
        let shown = shown(text);
        let wrong = |why: &str| trouble(Kind::Invalid, format!("{shown}: {why}"));
        let (scheme, rest) = text
            .split_once("://")
            .ok_or_else(|| wrong("write root://host:port//path"))?;
        let is_encrypted = match scheme.to_ascii_lowercase().as_str() {
            "root" | "xroot" => false,
            "roots" | "xroots" => true,
            _ => return Err(wrong("the scheme must be root or roots")),
        };
        let (location, opaque) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = location
            .split_once('/')
            .ok_or_else(|| wrong("there is no path after the server"))?;
        let (user, server) = match authority.rsplit_once('@') {
            // A password in an address is not part of the protocol; it is dropped.
            Some((user, server)) => (user.split(':').next().map(str::to_owned), server),
            None => (None, authority),
        };
        if !path.starts_with('/') {
            return Err(wrong(
                "write two slashes before the path: root://host:port//path",
            ));
        }
        if location.chars().any(char::is_control) || opaque.chars().any(char::is_control) {
            return Err(wrong("control characters are not allowed"));
        }
        Ok(Url {
            server: Server::parse(server)?,
            is_encrypted,
            user,
            path: path.to_owned(),
            opaque: opaque.to_owned(),
        })
    }

    /// `root`, or `roots` for TLS.
    #[must_use]
    pub fn scheme(&self) -> &'static str {
        match self.is_encrypted {
            true => "roots",
            false => "root",
        }
    }

    /// The whole address, with what may be a secret: to open it, never for messages.
    ///
    /// ```
    /// let url = treemill_xrootd::Url::parse("xroots://me@host//file.root?authz=x")?;
    /// assert_eq!(url.address(), "roots://me@host:1094//file.root?authz=x");
    /// assert_eq!(treemill_xrootd::Url::parse(&url.address())?.opaque, "authz=x");
    /// # Ok::<(), treemill_xrootd::Trouble>(())
    /// ```
    #[must_use]
    pub fn address(&self) -> String {
        let scheme = self.scheme();
        let user = self.user.as_ref().map(|user| format!("{user}@"));
        let opaque = match self.opaque.as_str() {
            "" => String::new(),
            opaque => format!("?{opaque}"),
        };
        let user = user.unwrap_or_default();
        format!("{scheme}://{user}{}/{}{opaque}", self.server, self.path)
    }

    /// Another path of the same server, with the same user and opaque part.
    #[must_use]
    pub fn with_path(&self, path: &str) -> Self {
        Url {
            path: path.to_owned(),
            ..self.clone()
        }
    }
}

/// An address without its user, password and opaque part, for messages, even if it is none that can be read.
///
/// ```
/// let shown = treemill_xrootd::shown("root://me:secret@host/one-slash?authz=secret");
/// assert_eq!(shown, "root://host/one-slash");
/// ```
#[must_use]
pub fn shown(text: &str) -> String {
    let place = text.split('?').next().unwrap_or_default();
    let (scheme, rest) = place.split_once("://").unwrap_or(("", place));
    let rest = rest.rsplit('@').next().unwrap_or_default();
    if scheme.is_empty() {
        return rest.to_owned();
    }
    format!("{scheme}://{rest}")
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = self.scheme();
        write!(f, "{scheme}://{}/{}", self.server, self.path)
    }
}

impl fmt::Debug for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parts_are_found() {
        let url = Url::parse("root://me@[::1]:1095//a/b.root?x=1&authz=t").unwrap();
        assert_eq!(
            url.server,
            Server {
                host: "::1".into(),
                port: 1095
            }
        );
        assert_eq!(url.user.as_deref(), Some("me"));
        for (text, host) in [
            ("[::10.1.2.3]:7", "10.1.2.3"),
            ("[::ffff:10.1.2.3]", "10.1.2.3"),
            ("[fe80::1]", "fe80::1"),
        ] {
            assert_eq!(Server::parse(text).unwrap().host, host);
        }
        assert_eq!(
            (url.path.as_str(), url.opaque.as_str()),
            ("/a/b.root", "x=1&authz=t")
        );
        assert_eq!(url.to_string(), "root://[::1]:1095//a/b.root");
        assert_eq!(Url::parse("xroot://h//a").unwrap().server.port, 1094);
        assert!(!url.is_encrypted);
        let url = Url::parse("xroots://h//a").unwrap();
        assert_eq!(
            (url.is_encrypted, url.to_string().as_str()),
            (true, "roots://h:1094//a")
        );
    }

    #[test]
    fn wrong_addresses_say_why() {
        let cases = [
            ("http://h//a", "scheme"),
            ("root://h/a", "two slashes"),
            ("root://h", "no path"),
            ("root://h:0//a", "host:port"),
            ("root://h:x//a", "host:port"),
            ("root://[::1//a", "host:port"),
            ("root:////a", "host:port"),
            ("/a", "root://"),
        ];
        for (text, why) in cases {
            let error = Url::parse(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "(root://)?\\PC{0,40}") {
            if let Ok(url) = Url::parse(&text) {
                let again = Url::parse(&url.to_string()).unwrap();
                prop_assert_eq!((again.server, again.path), (url.server, url.path));
            }
        }
    }
}
