//! What an outcome without data, or a broken message, means to a caller. Knows no connection.

use crate::error::{Error, ErrorKind};
use crate::stream::Outcome;
use crate::wire::{WireError, codes};
use std::ops::Range;

/// The protocol's errors that say more than "the server failed".
const KINDS: [(u32, ErrorKind); 14] = [
    (codes::NOT_FOUND, ErrorKind::NotFound),
    (codes::NOT_AUTHORIZED, ErrorKind::Denied),
    (codes::AUTH_FAILED, ErrorKind::Denied),
    (codes::OVERLOADED, ErrorKind::Busy),
    (codes::IN_PROGRESS, ErrorKind::Busy),
    (codes::NO_SERVER, ErrorKind::Busy),
    (codes::NO_REPLICAS, ErrorKind::Busy),
    (codes::REQUEST_TIMED_OUT, ErrorKind::Timeout),
    (codes::TIMER_EXPIRED, ErrorKind::Timeout),
    (codes::TLS_REQUIRED, ErrorKind::TlsRequired),
    (codes::UNSUPPORTED, ErrorKind::Unsupported),
    (codes::ARGUMENT_INVALID, ErrorKind::Invalid),
    (codes::ARGUMENT_TOO_LONG, ErrorKind::Invalid),
    (codes::IS_A_FOLDER, ErrorKind::Invalid),
];

/// The data of an outcome.
///
/// # Errors
/// If it has none; a redirect counts as an error of the protocol here.
pub(crate) fn data(outcome: Outcome) -> Result<Vec<u8>, Error> {
    let (kind, what) = match outcome {
        Outcome::Data(data) => return Ok(data),
        Outcome::Pages { data, damaged } if damaged.is_empty() => return Ok(data),
        Outcome::Pages { damaged, .. } => (ErrorKind::Damaged, differing(damaged.first())),
        Outcome::Refused { code, message } => {
            let known = KINDS.iter().find(|known| known.0 == code);
            let kind = known.map_or(ErrorKind::Server, |known| known.1);
            (kind, format!("the server says: {message} (error {code})"))
        }
        Outcome::Redirect { host, .. } => (
            ErrorKind::Unsupported,
            format!("the server redirects an open session to {host}"),
        ),
        Outcome::MoreAuth(_) => (
            ErrorKind::Denied,
            "the server wants more credentials".to_owned(),
        ),
        Outcome::Busy => (
            ErrorKind::Busy,
            "the server asks for more patience than there is".to_owned(),
        ),
        Outcome::Neglected => {
            let what = "the server answers other requests, but not this one";
            (ErrorKind::Timeout, what.to_owned())
        }
    };
    Err(Error::new(kind, what))
}

/// What damaged pages mean to a caller.
pub(crate) fn differing(first: Option<&Range<u64>>) -> String {
    let at = first.map_or(0, |range| range.start);
    format!("the bytes at {at} differ from their checksums, each time they are asked for")
}

/// What bytes that are no message of the protocol mean to a caller.
pub(crate) fn broken(error: WireError) -> Error {
    let what = format!("the server breaks the protocol: {error}");
    Error::new(ErrorKind::Protocol, what).with_cause(error)
}
