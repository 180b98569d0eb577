//! ROOT's file format: bytes to metadata and baskets. No I/O, no threads, no async, no unsafe.
#![forbid(unsafe_code)]

pub mod basket;
pub mod compress;
pub mod error;
pub mod layout;
pub mod tree;
