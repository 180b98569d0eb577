//! The proxies that the environment names for requests: which one an address goes through, for messages. What
//! [`hyper_util`](reqwest) makes of the variables is its own; `*` among those that go without a proxy is ours, since it takes
//! that for the name of a host, and never for an address.

use reqwest::Url;
use std::fmt;

const NAMES: [&str; 8] = [
    "http_proxy",
    "HTTP_PROXY",
    "https_proxy",
    "HTTPS_PROXY",
    "all_proxy",
    "ALL_PROXY",
    "no_proxy",
    "NO_PROXY",
];

/// What the environment says of proxies, at one moment: users of notebooks name theirs after the first request has failed.
#[derive(Clone, PartialEq, Eq, Default)]
pub(crate) struct Proxies([Option<String>; NAMES.len()]);

impl fmt::Debug for Proxies {
    /// The names that are set: what they are set to may have a login.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let set = NAMES
            .iter()
            .zip(&self.0)
            .filter(|(_, value)| value.is_some());
        f.debug_set().entries(set.map(|(name, _)| name)).finish()
    }
}

impl Proxies {
    /// What it says now.
    pub(crate) fn named() -> Self {
        let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        Proxies(NAMES.map(set))
    }

    /// Whether no request goes through a proxy: `no_proxy` has a `*`.
    pub(crate) fn are_off(&self) -> bool {
        self.direct().split(',').any(|host| host.trim() == "*")
    }

    /// The proxy for requests to an address, without its login, and the variable that names it; `None` if there is none. Where
    /// `no_proxy` says that the host is reached without, the caller knows better.
    pub(crate) fn of(&self, url: &Url) -> Option<(String, &'static str)> {
        let own = match url.scheme() {
            "https" => ["https_proxy", "HTTPS_PROXY"],
            _ => ["http_proxy", "HTTP_PROXY"],
        };
        let mut names = own.into_iter().chain(["all_proxy", "ALL_PROXY"]);
        let (value, name) = names.find_map(|name| Some((self.value(name)?, name)))?;
        let is_left_out = self.are_off() || self.is_direct(url);
        (!is_left_out).then(|| (shown(value), name))
    }

    /// Whether `no_proxy` names the host of an address, or a domain that it is in.
    fn is_direct(&self, url: &Url) -> bool {
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let said = self.direct().split(',');
        let mut named = said.map(|name| name.trim().trim_start_matches('.'));
        named.any(|name| {
            let is_below = |before: &str| before.ends_with('.');
            !name.is_empty() && (host == name || host.strip_suffix(name).is_some_and(is_below))
        })
    }

    /// The hosts that are reached without a proxy.
    fn direct(&self) -> &str {
        let said = self.value("no_proxy").or_else(|| self.value("NO_PROXY"));
        said.unwrap_or_default()
    }

    fn value(&self, name: &str) -> Option<&str> {
        let mut all = NAMES.iter().zip(&self.0);
        let (_, value) = all.find(|(own, _)| **own == name)?;
        value.as_deref()
    }
}

/// An address without its login.
fn shown(proxy: &str) -> String {
    let (scheme, rest) = proxy.split_once("://").unwrap_or(("http", proxy));
    let host = rest.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{}", host.trim_end_matches('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proxy_is_shown_without_its_login() {
        let all = ["http://me:secret@proxy:3128/", "proxy:3128", "socks5://p:1"].map(shown);
        assert_eq!(
            all,
            ["http://proxy:3128", "http://proxy:3128", "socks5://p:1"]
        );
    }
}
