//! Servers of a test's own: real ones in `nginx.rs`, scripted ones in `scripted.rs`, for faults that real ones do not
//! show. Know nothing of the client.
#![allow(
    dead_code,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

pub mod authority;
pub mod nginx;
pub mod scripted;
pub mod xrootd;

/// Bytes that differ everywhere, so that a wrong place shows.
pub fn bytes(len: usize) -> Vec<u8> {
    (0..len as u64)
        .map(|i| (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 56) as u8)
        .collect()
}
