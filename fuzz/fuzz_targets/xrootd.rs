//! What a server of XRootD sends: bytes of a connection on which requests are in flight, and the bodies of answers.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "servers/xrootd.rs"]
mod xrootd;

fuzz_target!(|data: &[u8]| xrootd::met(data));
