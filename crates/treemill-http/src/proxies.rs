//! The proxies that the environment names for requests: which one an address goes through, for messages. What
//! [`hyper_util`](reqwest) makes of the variables is its own; `*` among those that go without a proxy is ours, since it takes
//! that for the name of a host, and never for an address.

use reqwest::Url;

/// Whether no request goes through a proxy: `no_proxy` has a `*`.
pub(crate) fn are_off() -> bool {
    let said = set("no_proxy")
        .or_else(|| set("NO_PROXY"))
        .unwrap_or_default();
    said.split(',').any(|host| host.trim() == "*")
}

/// The proxy for requests to an address, without its login, and the variable that names it; `None` if there is none. Where
/// `no_proxy` says that the host is reached without, the caller knows better.
pub(crate) fn of(url: &Url) -> Option<(String, &'static str)> {
    let own = match url.scheme() {
        "https" => ["https_proxy", "HTTPS_PROXY"],
        _ => ["http_proxy", "HTTP_PROXY"],
    };
    let mut names = own.into_iter().chain(["all_proxy", "ALL_PROXY"]);
    let (value, name) = names.find_map(|name| Some((set(name)?, name)))?;
    let is_left_out = are_off() || is_direct(url);
    (!is_left_out).then(|| (shown(&value), name))
}

/// Whether `no_proxy` names the host of an address, or a domain that it is in.
fn is_direct(url: &Url) -> bool {
    let said = set("no_proxy")
        .or_else(|| set("NO_PROXY"))
        .unwrap_or_default();
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    let mut named = said
        .split(',')
        .map(|name| name.trim().trim_start_matches('.'));
    named.any(|name| {
        let is_below = |before: &str| before.ends_with('.');
        !name.is_empty() && (host == name || host.strip_suffix(name).is_some_and(is_below))
    })
}

fn set(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
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
