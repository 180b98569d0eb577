//! What servers of HTTP say: ranges, listings of WebDAV, index pages, other places of files, checksums.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "servers/http.rs"]
mod http;

fuzz_target!(|data: &[u8]| http::met(data));
