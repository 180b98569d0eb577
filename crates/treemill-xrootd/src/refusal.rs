//! What an outcome without data, or a broken message, means to a caller. Knows no connection.

use crate::error::trouble;
use crate::stream::Outcome;
use crate::wire::{WireError, codes};
use bytes::BytesMut;
use std::ops::Range;
use treemill_transfer::{Kind, Trouble};

/// The protocol's errors that say more than "the server failed".
const KINDS: [(u32, Kind); 14] = [
    (codes::NOT_FOUND, Kind::Missing),
    (codes::NOT_AUTHORIZED, Kind::Denied),
    (codes::AUTH_FAILED, Kind::Denied),
    (codes::OVERLOADED, Kind::Busy),
    (codes::IN_PROGRESS, Kind::Busy),
    (codes::NO_SERVER, Kind::Busy),
    (codes::NO_REPLICAS, Kind::Busy),
    (codes::REQUEST_TIMED_OUT, Kind::Silent),
    (codes::TIMER_EXPIRED, Kind::Silent),
    (codes::TLS_REQUIRED, Kind::TlsRequired),
    (codes::UNSUPPORTED, Kind::Unsupported),
    (codes::ARGUMENT_INVALID, Kind::Invalid),
    (codes::ARGUMENT_TOO_LONG, Kind::Invalid),
    (codes::IS_A_FOLDER, Kind::Invalid),
];

/// The data of an outcome.
///
/// # Errors
/// If it has none; a redirect counts as an error of the protocol here.
pub(crate) fn data(outcome: Outcome) -> Result<BytesMut, Trouble> {
    let (kind, what) = match outcome {
        Outcome::Data(data) => return Ok(data),
        Outcome::Pages { data, damaged } if damaged.is_empty() => return Ok(data),
        Outcome::Pages { damaged, .. } => (Kind::Damaged, differing(damaged.first())),
        Outcome::Refused { code, message } => {
            let known = KINDS.iter().find(|known| known.0 == code);
            let kind = known.map_or(Kind::Permanent, |known| known.1);
            (kind, format!("the server says: {message} (error {code})"))
        }
        Outcome::Redirect { host, .. } => (
            Kind::Unsupported,
            format!(
                "the server redirects an open session to {host}, which treemill does not follow"
            ),
        ),
        Outcome::MoreAuth(_) => (
            Kind::Denied,
            "the server asks for a further step of authentication, which treemill does not support"
                .to_owned(),
        ),
        Outcome::Busy => (
            Kind::Busy,
            "the server asks treemill to wait longer than treemill waits: try again later"
                .to_owned(),
        ),
        Outcome::Neglected => {
            let what = "the server answers other requests, but not this one";
            (Kind::Silent, what.to_owned())
        }
    };
    Err(trouble(kind, what))
}

/// What damaged pages mean to a caller.
pub(crate) fn differing(first: Option<&Range<u64>>) -> String {
    let at = first.map_or(0, |range| range.start);
    format!("the bytes at {at} differ from their checksums each time that treemill asks for them")
}

/// What bytes that are no message of the protocol mean to a caller.
pub(crate) fn broken(error: WireError) -> Trouble {
    let what = format!("the server breaks the protocol: {error}");
    trouble(Kind::Malformed, what).with_cause(error)
}
