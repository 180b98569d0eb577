//! The crate's policy in numbers. Knows no code that obeys it.

use std::time::Duration;
pub(crate) use treemill_transfer::patience::dcap::*;
pub(crate) use treemill_transfer::wide::{
    BUFFER, LARGE, MOST_MESSAGE, STREAM_PART as PART, VECTOR_BYTES,
};

/// The port of a dCap door, unless the address says another one.
pub(crate) const PORT: u16 = 22125;

/// Bounds one line of a door, in bytes.
pub(crate) const MOST_LINE: usize = 64 << 10;

/// Bounds a message of a pool, in bytes: the length of its text is a number of 16 bits.
pub(crate) const MOST_FRAME: usize = 64 << 10;

/// Bounds the ranges of one vectored read: 12 bytes each must fit a pool's buffer for commands, which had 8 KB before it had
/// 16 KB.
pub(crate) const RANGES: usize = 512;

/// The time that one more range costs in a vectored read, beside its bytes: 16 bytes on the wire and a call at the pool,
/// whose readahead has what lies near. So nothing between ranges is read with them.
pub(crate) const RANGE: Duration = Duration::ZERO;

/// How often one range may be refused, or its connection be ended because of it.
pub(crate) const MOST_TRIES: u32 = 2;

/// How often a connection is looked at while no bytes come.
pub(crate) const TICK: Duration = Duration::from_secs(2);
