//! What a server's answer means: its status and headers against what was asked. Pure.

use crate::version::Version;
use reqwest::StatusCode;
use reqwest::header::{
    CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, HeaderName, RETRY_AFTER,
};
use std::ops::Range;
use std::time::Duration;
use treemill_transfer::{Kind, Trouble};

/// The value of a `Content-Range` header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContentRange {
    /// The bytes of the body; `None` if no range could be given. They may lie beyond the file's end: XRootD 5 repeats
    /// what it was asked for.
    pub range: Option<Range<u64>>,
    /// Bytes of the file, if they are told.
    pub size: Option<u64>,
}

impl ContentRange {
    /// Reads `bytes 0-99/1000`, `bytes 0-99/*` or `bytes */1000`.
    ///
    /// ```
    /// let read = treemill_http::parsing::ContentRange::parse("bytes 0-99/1000").unwrap();
    /// assert_eq!((read.range, read.size), (Some(0..100), Some(1000)));
    /// ```
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (unit, rest) = text.trim().split_once(' ')?;
        let (range, size) = rest.trim().split_once('/')?;
        let size = match size.trim() {
            "*" => None,
            size => Some(number(size)?),
        };
        let range = match range.trim() {
            "*" => None,
            range => {
                let (first, last) = range.split_once('-')?;
                let (first, end) = (number(first)?, number(last)?.checked_add(1)?);
                (first < end).then_some(())?;
                Some(first..end)
            }
        };
        let sound = range.is_some() || size.is_some();
        (unit.eq_ignore_ascii_case("bytes") && sound).then_some(ContentRange { range, size })
    }
}

/// Digits only: a number may have no sign here.
fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// The bytes of an answer that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Accepted {
    /// Where in the file the body begins.
    pub(crate) start: u64,
    /// Bytes of the file, if they are told.
    pub(crate) size: Option<u64>,
    /// Whether the server has sent the whole file.
    pub(crate) is_whole: bool,
    /// Whether more bytes are announced than the file has, which never come.
    pub(crate) is_beyond: bool,
    /// The file's version.
    pub(crate) version: Version,
}

/// What is known of a file once it is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) size: u64,
    pub(crate) version: Version,
    /// Whether the server that answers has told this version. Another one may have tags and times of its own.
    pub(crate) is_its: bool,
}

impl Known {
    /// Whether an answer is of another file, or of another version of it.
    fn differs(&self, accepted: &Accepted) -> bool {
        let has_changed = match self.is_its {
            true => self.version.has_changed(&accepted.version),
            false => self.version.is_older_than(&accepted.version),
        };
        has_changed || accepted.size.is_some_and(|size| size != self.size)
    }
}

/// Judges the answer to a request for `range`. A file of more than `most_whole` bytes may not come whole. `server` is for
/// messages.
pub(crate) fn judge(
    status: StatusCode,
    headers: &HeaderMap,
    range: &Range<u64>,
    known: Option<&Known>,
    most_whole: u64,
    server: &str,
) -> Result<Accepted, Trouble> {
    let wrong = |what: String| Trouble::new(Kind::Permanent, format!("the server {server} {what}"));
    let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let told = text(CONTENT_RANGE).and_then(ContentRange::parse);
    let packed =
        text(CONTENT_ENCODING).filter(|coding| *coding != "identity" && status.is_success());
    if let Some(coding) = packed {
        return Err(wrong(format!(
            "has compressed the file ({coding}), which treemill did not ask for"
        )));
    }
    let version = Version::of(headers);
    let accepted = match status {
        StatusCode::PARTIAL_CONTENT => {
            let Some(ContentRange {
                range: Some(sent),
                size,
            }) = told
            else {
                return Err(wrong("does not say which range it sends".to_owned()));
            };
            if sent.start != range.start || sent.end > range.end {
                return Err(wrong(format!(
                    "sends bytes {}..{} instead of {}..{}",
                    sent.start, sent.end, range.start, range.end
                )));
            }
            let is_beyond = size.is_some_and(|size| sent.end > size);
            if is_beyond && known.is_some() {
                return Err(changed());
            }
            Accepted {
                start: sent.start,
                size,
                is_whole: false,
                is_beyond,
                version,
            }
        }
        StatusCode::OK => {
            let size = text(CONTENT_LENGTH).and_then(number);
            if known.map_or(size.unwrap_or(0), |known| known.size) > most_whole {
                return Err(wrong(
                    "does not send parts of a file, but the whole file: copy the file, or read it from another \
                     server".to_owned(),
                ));
            }
            Accepted {
                start: 0,
                size,
                is_whole: true,
                is_beyond: false,
                version,
            }
        }
        // No byte can be sent of a file that has none.
        StatusCode::RANGE_NOT_SATISFIABLE
            if known.is_none() && told.as_ref().and_then(|t| t.size) == Some(0) =>
        {
            Accepted {
                start: 0,
                size: Some(0),
                is_whole: false,
                is_beyond: false,
                version,
            }
        }
        StatusCode::RANGE_NOT_SATISFIABLE if known.is_some() => return Err(changed()),
        _ => return Err(refused(status, headers, server)),
    };
    match known {
        Some(known) if known.differs(&accepted) => Err(changed()),
        // By its size alone it is known that another server has the same file.
        Some(known) if !known.is_its && accepted.size.is_none() => Err(wrong(
            "does not say how long the file is, so that treemill cannot compare it with the file that it opened on \
             another server".to_owned(),
        )),
        _ => Ok(accepted),
    }
}

fn changed() -> Trouble {
    Trouble::new(Kind::Changed, "the file changed while treemill read it")
}

/// What a status means that brings no bytes. `server` is for the message.
#[must_use]
pub fn refused(status: StatusCode, headers: &HeaderMap, server: &str) -> Trouble {
    let kind = match status.as_u16() {
        401 | 403 => Kind::Denied,
        404 | 410 => Kind::Missing,
        429 | 503 => Kind::Busy,
        408 | 425 | 500 | 502 | 504 => Kind::Transient,
        _ => Kind::Permanent,
    };
    let what = match status.as_u16() {
        404 | 410 => format!("no such file: the server {server} answers {status}"),
        401 => format!(
            "the server {server} asks for credentials, or refuses those that it got ({status}): check that you have a \
             valid token or proxy certificate. treemill sends tokens only to https:// and davs:// addresses"
        ),
        403 => format!("the server {server} does not allow this request ({status})"),
        412 => return changed(),
        _ => format!("the server {server} answers {status}"),
    };
    let asked = || headers.get(RETRY_AFTER)?.to_str().ok().and_then(number);
    Trouble {
        after: asked().map(Duration::from_secs),
        ..Trouble::new(kind, what)
    }
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
