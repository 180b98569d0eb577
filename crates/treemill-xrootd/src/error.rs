//! What can go wrong, in words that have no credentials. Knows no protocol.

use crate::limits;
use treemill_transfer::{CROWDED, Kind, Trouble};

/// An error of this kind, whose words may have come from a server.
pub(crate) fn trouble(kind: Kind, what: impl AsRef<str>) -> Trouble {
    Trouble::new(kind, clean(what.as_ref()))
}

/// Adds why a connection may be lost before the login.
pub(crate) fn before_login(mut error: Trouble) -> Trouble {
    if error.kind == Kind::Lost {
        error.kind = Kind::Reset;
        error.what.push_str(CROWDED);
    }
    error
}

/// Adds that the server, which demands TLS, does none.
pub(crate) fn without_tls(mut error: Trouble) -> Trouble {
    error.kind = Kind::Unsupported;
    error.what.push_str(
        ", but does not offer TLS: ask its administrators, or use another address of the site",
    );
    error
}

/// Whether a manager that has named the server may know another one that does better: what it knows of its servers'
/// files may be out of date, and each server has a certificate of its own.
pub(crate) fn may_be_elsewhere(kind: Kind) -> bool {
    kind.is_transient() || matches!(kind, Kind::Missing | Kind::Untrusted)
}

/// A message without control characters, of bounded length, and without the opaque parts of paths: servers repeat
/// the paths that they were asked for, and tokens travel in those parts.
fn clean(message: &str) -> String {
    let words = message.split_whitespace().map(|word| {
        let shown = word.split('?').next().unwrap_or_default();
        match shown
            .to_ascii_lowercase()
            .find("authz=")
            .and_then(|at| shown.get(..at))
        {
            Some(before) => before.to_owned(),
            None => shown.to_owned(),
        }
    });
    let all = words.collect::<Vec<_>>().join(" ");
    all.chars()
        .filter(|c| !c.is_control())
        .take(limits::MOST_MESSAGE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_hide_opaque_parts_and_control_characters() {
        let error = trouble(
            Kind::Permanent,
            "cannot open /a?authz=secret now\n\u{7}&authz=secret x",
        )
        .at("h:1094")
        .of("/a?authz=secret");
        assert_eq!(
            error.to_string(),
            "cannot open /a now & x (server h:1094, file /a)"
        );
        assert!(!format!("{error:?}").contains("secret"));
    }
}
