//! Which server to ask next for one request: redirects, and servers that failed (`tried=`, with reasons in `triedrc=`).
//! Knows no connection.

use crate::error::trouble;
use crate::limits;
use crate::url::{Server, Url};
use std::time::Duration;
use treemill_transfer::{Kind, Trouble};

/// Why a server is to be left out, in the words that managers know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    /// It does not have the file.
    Missing,
    /// It does not bring bytes, or brings wrong ones. dCache leaves servers out for this and for the first reason only.
    Io,
    /// It has refused for a reason of its own.
    Server,
}

impl Reason {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Missing => Reason::Missing,
            Kind::Silent
            | Kind::Unreachable
            | Kind::Reset
            | Kind::Lost
            | Kind::Damaged
            | Kind::Untrusted => Reason::Io,
            _ => Reason::Server,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Reason::Missing => "enoent",
            Reason::Io => "ioerr",
            Reason::Server => "srverr",
        }
    }
}

/// The way of one request from server to server.
#[derive(Debug, Clone)]
pub struct Route {
    path: String,
    opaque: String,
    is_encrypted: bool,
    /// The server to ask now.
    at: Server,
    /// What the redirect to `at` adds to the opaque part.
    extra: String,
    /// What the last redirect gives to the login at `at`.
    token: String,
    /// The server that redirected last, with what the redirect to it added.
    manager: Option<(Server, String)>,
    /// Hosts that failed.
    tried: Vec<(String, Reason)>,
    hops: usize,
    distance: Duration,
}

impl Route {
    /// A way that starts at the address's own server.
    #[must_use]
    pub fn new(url: &Url) -> Self {
        Route {
            path: url.path.clone(),
            opaque: url.opaque.clone(),
            is_encrypted: url.is_encrypted,
            at: url.server.clone(),
            extra: String::new(),
            token: String::new(),
            manager: None,
            tried: Vec::new(),
            hops: 0,
            distance: Duration::ZERO,
        }
    }

    /// The same way, with hosts that a manager shall not name: they did not bring what was asked of them.
    #[must_use]
    pub fn avoiding(mut self, hosts: &[String]) -> Self {
        let hosts = hosts.iter().take(limits::MOST_TRIED);
        self.tried = hosts.map(|host| (host.clone(), Reason::Io)).collect();
        self
    }

    /// The same way, over servers only that take at least this to connect to.
    #[must_use]
    pub fn beyond(self, distance: Duration) -> Self {
        Route { distance, ..self }
    }

    /// How long it takes to connect to the servers of the way, at least.
    #[must_use]
    pub fn distance(&self) -> Duration {
        self.distance
    }

    /// The server to ask now.
    #[must_use]
    pub fn server(&self) -> &Server {
        &self.at
    }

    /// Whether it must be spoken to by TLS. Once this is so, it stays so.
    #[must_use]
    pub fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// The token for a login at that server.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// The path to ask for, with its opaque part and the hosts that failed, with the reason of each.
    #[must_use]
    pub fn path(&self) -> String {
        let tried = if self.tried.is_empty() {
            String::new()
        } else {
            let (hosts, reasons): (Vec<&str>, Vec<&str>) = self
                .tried
                .iter()
                .map(|(host, reason)| (host.as_str(), reason.word()))
                .unzip();
            format!("tried={}&triedrc={}", hosts.join(","), reasons.join(","))
        };
        let parts: Vec<&str> = [self.opaque.as_str(), &self.extra, &tried]
            .into_iter()
            .map(|part| part.trim_matches('&'))
            .filter(|part| !part.is_empty())
            .collect();
        if parts.is_empty() {
            return self.path.clone();
        }
        format!("{}?{}", self.path, parts.join("&"))
    }

    /// Follows a redirect; without a port, `host` is a URL.
    ///
    /// # Errors
    /// `Protocol` after too many redirects, and if the target is no server.
    pub fn redirected(
        &mut self,
        host: &str,
        port: Option<u16>,
        opaque: &str,
        token: &str,
    ) -> Result<(), Trouble> {
        let wrong = |what: String| trouble(Kind::Malformed, what).at(&self.at);
        self.hops = self.hops.saturating_add(1);
        if self.hops > limits::MOST_REDIRECTS {
            return Err(wrong(format!(
                "the servers have redirected treemill more than {} times",
                limits::MOST_REDIRECTS
            )));
        }
        let bad = |_| {
            wrong(format!(
                "the server redirects treemill to {host}, which is not the address of a server"
            ))
        };
        let (server, extra) = match port {
            Some(port) => {
                let host = host.trim_start_matches('[').trim_end_matches(']');
                let named = if host.contains(':') {
                    format!("[{host}]")
                } else {
                    host.to_owned()
                };
                (
                    Server {
                        port,
                        ..Server::parse(&named).map_err(bad)?
                    },
                    opaque.to_owned(),
                )
            }
            None => {
                let url = Url::parse(host).map_err(bad)?;
                self.path = url.path;
                self.is_encrypted |= url.is_encrypted;
                (url.server, url.opaque)
            }
        };
        let from = std::mem::replace(&mut self.at, server);
        self.manager = Some((from, std::mem::replace(&mut self.extra, extra)));
        token.clone_into(&mut self.token);
        Ok(())
    }

    /// The server failed with an error of this kind: whether the one that redirected to it can be asked for another. It is,
    /// from now on.
    pub fn failed(&mut self, kind: Kind) -> bool {
        if self.tried.len() >= limits::MOST_TRIED {
            return false;
        }
        let Some((manager, extra)) = self.manager.take() else {
            return false;
        };
        let host = std::mem::replace(&mut self.at, manager).host;
        self.extra = extra;
        self.token.clear();
        self.tried.push((host, Reason::of(kind)));
        true
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn route() -> Route {
        Route::new(&Url::parse("root://m//a?x=1").unwrap())
    }

    #[test]
    fn redirect_adds_its_opaque_part_and_its_token() {
        let mut route = route();
        route.redirected("s1", Some(7), "&y=2", "t").unwrap();
        assert_eq!(
            (route.server().to_string(), route.path()),
            ("s1:7".into(), "/a?x=1&y=2".into())
        );
        assert_eq!(route.token(), "t");
    }

    #[test]
    fn failed_servers_are_named_to_their_manager() {
        let mut route = route();
        assert!(!route.failed(Kind::Busy));
        for (server, kind) in [
            ("s1", Kind::Lost),
            ("s2", Kind::Busy),
            ("s3", Kind::Missing),
            ("s4", Kind::Untrusted),
        ] {
            route.redirected(server, Some(7), "y=2", "").unwrap();
            assert!(route.failed(kind));
            assert_eq!(route.server().to_string(), "m:1094");
        }
        let tried = "/a?x=1&tried=s1,s2,s3,s4&triedrc=ioerr,srverr,enoent,ioerr";
        assert_eq!(route.path(), tried);
        assert!(!route.failed(Kind::Busy));
    }

    #[test]
    fn hosts_that_lost_a_file_are_named_with_a_reason() {
        let route = route().avoiding(&["s1".into(), "s2".into()]);
        assert_eq!(route.path(), "/a?x=1&tried=s1,s2&triedrc=ioerr,ioerr");
    }

    #[test]
    fn circles_end() {
        let mut route = route();
        let ends = (0..100).find(|_| route.redirected("m", Some(1094), "", "").is_err());
        assert_eq!(ends, Some(limits::MOST_REDIRECTS));
    }

    #[test]
    fn urls_and_addresses_are_targets() {
        let mut route = route();
        route.redirected("root://s:5//b?z=3", None, "", "").unwrap();
        assert_eq!(
            (route.server().to_string(), route.path()),
            ("s:5".into(), "/b?x=1&z=3".into())
        );
        route.redirected("[::1]", Some(9), "", "").unwrap();
        assert_eq!(route.server().to_string(), "[::1]:9");
        assert!(route.redirected("http://s", None, "", "").is_err());
        assert!(!route.is_encrypted());
        route.redirected("roots://s//b", None, "", "").unwrap();
        route.redirected("root://s//b", None, "", "").unwrap();
        assert!(route.is_encrypted(), "no redirect leads back out of TLS");
        assert!(route.redirected("", Some(1), "", "").is_err());
    }
}
