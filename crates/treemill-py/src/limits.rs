//! The crate's policy in numbers.

use std::time::Duration;

/// The least round trip of a file that Python reads: what comes from memory is asked for ahead, too.
pub const BRIDGE_ROUND_TRIP: Duration = Duration::from_millis(1);

/// How often it is looked whether the user has pressed Ctrl-C, or the run was stopped, while a server is waited for.
pub const LOOKED_EVERY: Duration = Duration::from_millis(100);

/// The time that the allocator keeps pages that were freed, in milliseconds (docs/decisions/0008-allocator.md).
pub const KEPT_PAGES: core::ffi::c_long = 100;

/// Rows from which on it pays to fit a function to arguments that are the same in all rows.
pub const SPECIALISED_ROWS: usize = 1000;
