//! The crate's policy in numbers. Knows no code that obeys it.

use std::time::Duration;

/// The port of a dCap door, unless the address says another one.
pub(crate) const PORT: u16 = 22125;

/// Bounds one line of a door, in bytes.
pub(crate) const MOST_LINE: usize = 64 << 10;

/// Bounds the characters of a server's message that an error repeats.
pub(crate) const MOST_MESSAGE: usize = 500;

/// Bounds a message of a pool, in bytes: the length of its text is a number of 16 bits.
pub(crate) const MOST_FRAME: usize = 64 << 10;

/// Bounds the ranges of one vectored read: 12 bytes each must fit a pool's buffer for commands, which had 8 KB before it had
/// 16 KB.
pub(crate) const RANGES: usize = 512;

/// Bounds the bytes that one vectored read asks for: its first bytes are of use only when its last ones are here.
pub(crate) const VECTOR_BYTES: u64 = 8 << 20;

/// Ranges above this, in bytes, are read alone: one more request costs little beside them, and they stream.
pub(crate) const LARGE: u64 = 1 << 20;

/// Bounds one read of a large range, in bytes: what has come is kept if the connection breaks later.
pub(crate) const PART: u64 = 2 << 20;

/// The time that one more range costs in a vectored read, beside its bytes: 16 bytes on the wire and a call at the pool,
/// whose readahead has what lies near. So nothing between ranges is read with them.
pub(crate) const RANGE: Duration = Duration::ZERO;

/// Bounds the seconds in which a door must name a pool. A file that is on tape only takes longer; it is staged meanwhile, and
/// the next attempt finds it.
pub(crate) const OPENING_SECONDS: u64 = 30;

/// How much longer than that a door may take to say that it has not.
pub(crate) const OPENING_GRACE: Duration = Duration::from_secs(5);

/// How often one range may be refused, or its connection be ended because of it.
pub(crate) const MOST_TRIES: u32 = 2;

/// How often a connection is looked at while no bytes come.
pub(crate) const TICK: Duration = Duration::from_secs(2);

/// The reader's buffer of a data connection, in bytes: a pool's usual block.
pub(crate) const BUFFER: usize = 256 << 10;
