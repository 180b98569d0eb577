//! Blocks of ZS, after a header that is right about the sizes, and the fronts of long ones.
#![no_main]

mod common;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    common::block(b"ZS\x01", data);
    common::front(b"ZS\x01", data);
});
