//! What object_store's errors mean. Pure.

use crate::limits::MOST_MESSAGE;
use std::error::Error;
use treemill_transfer::{Kind, Trouble};

/// A trouble that has to pass through object_store as an error.
#[derive(Debug, thiserror::Error)]
#[error("{}", .0.what)]
pub(crate) struct Passed(pub(crate) Trouble);

/// What an error of object_store's means.
pub(crate) fn trouble(error: &object_store::Error) -> Trouble {
    use object_store::Error as E;
    if let Some(Passed(trouble)) = inner(error) {
        return trouble.clone();
    }
    let (kind, what) = match error {
        E::NotFound { .. } => (
            Kind::Missing,
            "no such object, or no such bucket".to_owned(),
        ),
        E::Precondition { .. } | E::NotModified { .. } => (
            Kind::Changed,
            "the object changed while treemill read it".to_owned(),
        ),
        _ => (Kind::Permanent, shown(&root(error))),
    };
    Trouble::new(kind, what)
}

fn inner(error: &object_store::Error) -> Option<&Passed> {
    let mut at: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(cause) = at {
        if let Some(passed) = cause.downcast_ref() {
            return Some(passed);
        }
        at = cause.source();
    }
    None
}

/// The innermost cause.
fn root(error: &object_store::Error) -> String {
    let mut text = error.to_string();
    let mut at = error.source();
    while let Some(cause) = at {
        text = cause.to_string();
        at = cause.source();
    }
    text
}

/// A message without what may be secret: the queries of its URLs. One line, and not long.
fn shown(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let word = |word: &str| match word.split_once('?') {
        Some((before, _)) if word.contains("://") => format!("{before}?…"),
        _ => word.to_owned(),
    };
    let words: Vec<String> = line.split(' ').map(word).collect();
    words.join(" ").chars().take(MOST_MESSAGE).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn generic(source: impl Error + Send + Sync + 'static) -> object_store::Error {
        object_store::Error::Generic {
            store: "S3",
            source: Box::new(source),
        }
    }

    #[test]
    fn what_was_decided_below_passes_through() {
        let below = Trouble::new(Kind::Transient, "the server is busy");
        assert_eq!(trouble(&generic(Passed(below.clone()))), below);
    }

    #[test]
    fn queries_are_not_shown() {
        let text = "GET https://account/c/f?sig=secret&se=1 failed\nsecret too";
        let other = trouble(&generic(std::io::Error::other(text)));
        assert_eq!(
            (other.what.as_str(), other.kind),
            ("GET https://account/c/f?… failed", Kind::Permanent)
        );
    }
}
