//! Addresses of files: `nfs://host[:port]/path?vers=4.1`. Knows no network.

use crate::limits::PORT;
use treemill_source::SourceError;

/// What may be written for `vers`, and the minor version that it is.
const VERSIONS: [(&str, u32); 2] = [("4.1", 1), ("4.2", 2)];

/// A server, and the version that it is spoken to in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Server {
    /// A name or an address.
    pub(crate) host: String,
    /// The port of NFS.
    pub(crate) port: u16,
    /// The minor version of NFSv4.
    pub(crate) minor: u32,
    /// Whether it is known as a data server, which another one has named.
    pub(crate) is_data: bool,
}

impl std::fmt::Display for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.host.contains(':') {
            true => write!(f, "nfs://[{}]:{}", self.host, self.port),
            false => write!(f, "nfs://{}:{}", self.host, self.port),
        }
    }
}

/// The address of a file or folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) server: Server,
    /// The names on the way to it, from the server's root.
    pub(crate) names: Vec<String>,
    /// The address without its query, as messages show it.
    pub(crate) name: String,
}

impl Address {
    /// Reads an address. The path is taken as it is, without an encoding of its own; `.` and `..` are followed.
    pub(crate) fn parse(text: &str) -> Result<Self, SourceError> {
        let (head, query) = text.split_once('?').unwrap_or((text, ""));
        let wrong = |what: &str| SourceError::new(shown(head), what);
        let (scheme, rest) = head.split_once("://").unwrap_or(("", head));
        if !scheme.eq_ignore_ascii_case("nfs") {
            return Err(wrong("it is not a URL with nfs"));
        }
        let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
        if place.contains('@') {
            return Err(wrong(
                "an nfs:// address cannot have a user name or a password: treemill sends the server the numbers of \
                 your user (AUTH_SYS)",
            ));
        }
        let (host, port) = host_and_port(place).ok_or_else(|| {
            wrong("it has no host, or no port that is a number: write nfs://host:2049/path")
        })?;
        let minor = version(query).map_err(|what| wrong(&what))?;
        Ok(Address {
            server: Server {
                host: host.to_owned(),
                port,
                minor,
                is_data: false,
            },
            names: names(path.split('/')),
            name: head.to_owned(),
        })
    }
}

/// Names on the way, after `.` and `..`.
pub(crate) fn names<'a>(parts: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names = Vec::new();
    for part in parts {
        match part {
            "" | "." => {}
            ".." => {
                names.pop();
            }
            name => names.push(name.to_owned()),
        }
    }
    names
}

fn host_and_port(place: &str) -> Option<(&str, u16)> {
    let (host, port) = match place.strip_prefix('[') {
        Some(rest) => {
            let (host, after) = rest.split_once(']')?;
            (host, after.strip_prefix(':'))
        }
        None => match place.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (place, None),
        },
    };
    let port = port.map_or(Some(PORT), |port| port.parse().ok())?;
    (!host.is_empty()).then_some((host, port))
}

fn version(query: &str) -> Result<u32, String> {
    let mut minor = 1;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        if key != "vers" {
            return Err(format!("nfs:// has no option {key}=, but only vers="));
        }
        let known = VERSIONS.iter().find(|(text, _)| *text == value);
        minor = known
            .ok_or_else(|| format!("treemill does not support vers={value}, but only 4.1 and 4.2"))?
            .1;
    }
    Ok(minor)
}

/// An address without what stands before an @.
fn shown(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else {
        return text.rsplit('@').next().unwrap_or_default().to_owned();
    };
    let (place, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = place.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/{path}")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn hosts_ports_versions_and_paths_are_told_apart() {
        let address = Address::parse("nfs://host:3049/export/a b//./x/../f.root?vers=4.2").unwrap();
        assert_eq!(address.server.to_string(), "nfs://host:3049");
        assert_eq!(address.server.minor, 2);
        assert_eq!(address.names, ["export", "a b", "f.root"]);
        assert_eq!(address.name, "nfs://host:3049/export/a b//./x/../f.root");
        let plain = Address::parse("NFS://[::1]/f").unwrap();
        assert_eq!(plain.server.to_string(), "nfs://[::1]:2049");
        assert_eq!(plain.server.minor, 1);
        assert!(Address::parse("nfs://host").unwrap().names.is_empty());
    }

    #[test]
    fn what_is_wrong_is_said_without_secrets() {
        for (text, what) in [
            ("nfs://u:secret@host/f", "a password"),
            ("nfs:///f", "no host"),
            ("nfs://h:port/f", "no port"),
            ("nfs://h/f?vers=3", "does not support vers=3"),
            ("nfs://h/f?rsize=5", "has no option rsize="),
            ("root://h/f", "not a URL with nfs"),
        ] {
            let error = Address::parse(text).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(nfs)?(://)?[a-z\\[\\]:@./?=0-9]{0,30}") {
            let _ = Address::parse(&text);
        }
    }
}
