//! Which version of a file an answer is of: entity tag and time of change. Pure.

use reqwest::header::{DATE, ETAG, HeaderMap, HeaderName, LAST_MODIFIED};
use std::time::SystemTime;
use treemill_source::SETTLED;

/// What a server says of a file's version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Version {
    tag: Option<String>,
    modified: Option<String>,
    /// When the answer was sent, by the server's clock.
    told: Option<SystemTime>,
    /// Whether the last change was long enough before this answer, by the server's clock.
    settled: bool,
}

impl Version {
    /// The version that an answer's headers tell.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let text = |name: HeaderName| Some(headers.get(name)?.to_str().ok()?.to_owned());
        let modified = text(LAST_MODIFIED);
        let time = |text: &String| httpdate::parse_http_date(text).ok();
        let told = text(DATE).as_ref().and_then(time);
        let age = || {
            let changed = modified.as_ref().and_then(time)?;
            told?.duration_since(changed).ok()
        };
        let settled = age().is_some_and(|age| age >= SETTLED);
        Version {
            tag: text(ETAG),
            modified,
            told,
            settled,
        }
    }

    /// The entity tag that names these very bytes.
    pub(crate) fn strong_tag(&self) -> Option<&str> {
        self.tag.as_deref().filter(|tag| tag.starts_with('"'))
    }

    /// The file's state, if the server is certain of it.
    pub(crate) fn state(&self) -> Option<String> {
        match self.strong_tag() {
            Some(tag) => Some(format!("tag {tag}")),
            None => self
                .modified
                .as_ref()
                .filter(|_| self.settled)
                .map(|time| format!("time {time}")),
        }
    }

    /// When the file was changed last.
    pub(crate) fn modified(&self) -> Option<SystemTime> {
        httpdate::parse_http_date(self.modified.as_deref()?).ok()
    }

    /// Whether an answer is of another version than the one that was opened, or does not say so any more. A server
    /// that names the bytes by a strong tag may tell other times for other replicas.
    pub(crate) fn has_changed(&self, now: &Version) -> bool {
        if self.strong_tag().is_some() {
            return self.tag != now.tag;
        }
        self.tag != now.tag || self.modified != now.modified
    }

    /// Whether an answer of another server is of a file that was changed after this answer.
    pub(crate) fn is_older_than(&self, other: &Version) -> bool {
        let times = self.told.zip(other.modified());
        times.is_some_and(|(told, changed)| told < changed)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn version(pairs: &[(&str, &str)]) -> Version {
        let pair = |(name, value): &(&str, &str)| {
            (name.parse::<HeaderName>().unwrap(), value.parse().unwrap())
        };
        Version::of(&pairs.iter().map(pair).collect())
    }

    const OLD: (&str, &str) = ("last-modified", "Sun, 22 Nov 2026 10:00:00 GMT");
    const NOW: (&str, &str) = ("date", "Mon, 23 Nov 2026 10:00:00 GMT");

    impl Version {
        pub(crate) fn tagged(tag: &str) -> Self {
            version(&[("etag", tag)])
        }
    }

    #[test]
    fn a_change_after_an_answer_is_seen_at_another_server() {
        let opened = version(&[OLD, NOW]);
        assert!(!opened.is_older_than(&version(&[OLD])) && !opened.is_older_than(&version(&[])));
        let later = ("last-modified", "Mon, 23 Nov 2026 10:00:01 GMT");
        assert!(opened.is_older_than(&version(&[later])));
        assert!(
            !version(&[OLD]).is_older_than(&version(&[later])),
            "no time was told"
        );
    }

    #[test]
    fn only_what_is_certain_identifies() {
        assert_eq!(version(&[]).state(), None);
        assert_eq!(version(&[("etag", "W/\"1\"")]).state(), None);
        assert_eq!(
            version(&[OLD]).state(),
            None,
            "the server tells no time of its own"
        );
        assert_eq!(
            version(&[OLD, ("date", OLD.1)]).state(),
            None,
            "just written"
        );
        let time = version(&[("etag", "W/\"1\""), OLD, NOW]);
        assert!(time.state().unwrap().contains("22 Nov"));
        assert_eq!(time.strong_tag(), None);
        let tag = version(&[("etag", "\"1\""), OLD, NOW]);
        assert_eq!(tag.state().unwrap(), "tag \"1\"");
        assert!(tag.modified().is_some());
    }

    #[test]
    fn another_tag_or_none_is_a_change() {
        let tagged = version(&[("etag", "\"1\""), OLD]);
        assert!(!tagged.has_changed(&version(&[("etag", "\"1\""), NOW])));
        assert!(tagged.has_changed(&version(&[("etag", "\"2\""), OLD])));
        assert!(tagged.has_changed(&version(&[OLD])));
        let timed = version(&[OLD]);
        assert!(timed.has_changed(&version(&[("last-modified", NOW.1)])));
        assert!(!timed.has_changed(&version(&[OLD, NOW])));
    }
}
