//! Blocks of XZ, after a header that is right about the sizes.
#![no_main]

mod common;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| common::block(b"XZ\x00", data));
