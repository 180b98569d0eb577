//! What servers of dCap send: a door's lines, and a pool's bytes on a connection on which requests are in flight.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "servers/dcap.rs"]
mod dcap;

fuzz_target!(|data: &[u8]| dcap::met(data));
