//! The checksum of a file that a real `xrootd` computes. Skipped, with the reason printed, where there is none.
#![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]

#[allow(dead_code)]
mod common;

use common::{Xrootd, content};
use std::sync::Arc;
use treemill_source::{Checksums, Source, WantedChecksums};
use treemill_xrootd::{Client, Options, XrootdSource};

#[test]
fn a_server_is_asked_for_a_checksum_only_if_it_may_compute_it() {
    let (bytes, lines) = (content(5000), "xrootd.chksum max 2 adler32\n");
    let Some(server) = Xrootd::start_with("checksums", &[("a.root", &bytes)], lines) else {
        return;
    };
    let client = Arc::new(Client::new(Options::default()));
    let open = || XrootdSource::open(&client, &server.address("/a.root")).unwrap();
    assert!(open().checksums().is_empty());
    let told = open().wanting(WantedChecksums::Computed).checksums();
    let (mut low, mut high) = (1_u32, 0_u32);
    for byte in &bytes {
        low = low.wrapping_add(u32::from(*byte)) % 65_521;
        high = high.wrapping_add(low) % 65_521;
    }
    let mut expected = Checksums::default();
    expected.add("adler32", &format!("{high:04x}{low:04x}"));
    assert_eq!(told, expected);
}
