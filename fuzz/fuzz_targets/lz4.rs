//! Blocks of L4, after a header that is right about the sizes.
#![no_main]

mod common;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| common::block(b"L4\x01", data));
