//! The errors of this crate's decoders and metadata readers, in one set of words for trees and RNTuples.

use arrow_schema::ArrowError;
use treemill_format::error::FormatError;

/// Bytes that break a rule, at this offset of the data.
pub(crate) fn malformed(at: usize, what: impl Into<String>) -> FormatError {
    FormatError::Malformed {
        what: what.into(),
        at: at as u64,
    }
}

/// Bytes that may be right, but that this version does not decode.
pub(crate) fn unsupported(what: impl Into<String>) -> FormatError {
    FormatError::Unsupported { what: what.into() }
}

/// More items than a list's 32-bit offsets can count.
pub(crate) fn too_many() -> FormatError {
    unsupported("more than 2^31 items in one batch")
}

/// A column of one layout was given another: a mistake of this crate, reported without a panic.
pub(crate) fn mismatch() -> FormatError {
    malformed(0, "the column was made for another layout")
}

/// Pieces that do not fit together, as Arrow says: a mistake of this crate, reported without a panic.
pub(crate) fn broken(error: ArrowError) -> FormatError {
    malformed(0, format!("the decoded column is wrong: {error}"))
}
