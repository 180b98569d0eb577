//! Bytes of servers, as the fuzz targets of protocols are given them: random ones, and random ones within frames that are right.
//! Nothing panics, each request ends once at most, and no number that a server names is believed for memory that its bytes
//! do not fill. The fuzzers look longer; this is looked at each time.
#![allow(
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::pedantic
)]

#[path = "../../../fuzz/fuzz_targets/servers/dcap.rs"]
mod dcap;
#[path = "../../../fuzz/fuzz_targets/servers/http.rs"]
mod http;
#[path = "../../../fuzz/fuzz_targets/servers/nfs.rs"]
mod nfs;
#[path = "../../../fuzz/fuzz_targets/servers/xrootd.rs"]
mod xrootd;

use proptest::prelude::*;
use treemill_testing::{Counting, peak_of};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Memory beside what the bytes fill: of requests in flight, say.
const BESIDE: usize = 64 << 10;
/// The same of NFS: a connection's buffer, and answers to READs of 48 kB, which are made here.
const BESIDE_NFS: usize = 2 << 20;
/// Memory for each byte: of a listing's shortest entry, say.
const TIMES: usize = 100;

fn is_met(met: fn(&[u8]), bytes: &[u8], beside: usize) -> Result<(), TestCaseError> {
    let ((), taken) = peak_of(|| met(bytes));
    let most = beside + TIMES * bytes.len();
    prop_assert!(taken <= most, "{taken} bytes of {most}");
    Ok(())
}

/// Numbers that are large, and small ones that follow one another, are found among random bytes too seldom.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let some = prop_oneof![
        4 => prop::collection::vec(any::<u8>(), 0..40),
        2 => prop::collection::vec(0_u8..4, 0..12),
        1 => Just(vec![0xFF; 4]),
        1 => Just(vec![0x7F, 0xFF, 0xFF, 0xFF]),
        1 => any::<u8>().prop_map(|small| vec![0, 0, 0, small]),
    ];
    prop::collection::vec(some, 0..12).prop_map(|all| all.concat())
}

const WORDS: &[&str] = &[
    "bytes ",
    "0-9/",
    "18446744073709551615",
    "<a href=\"",
    "\">",
    "</a>",
    "<D:response>",
    "<D:href>",
    "/folder/",
    "</D:href>",
    "<D:getcontentlength>",
    "</D:response>",
    "<url location=\"",
    "http://host/",
    "<metalink>",
    "<file>",
    "; rel=duplicate",
    ", ",
    "=",
    "&#x41;",
    "&amp;",
    "%2F",
    "\n",
    "adler32=",
    "md5=",
];

/// Text with the words of pages and headers in it.
fn text() -> impl Strategy<Value = Vec<u8>> {
    let some = prop_oneof![
        5 => prop::sample::select(WORDS).prop_map(|word| word.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(some, 0..60).prop_map(|all| all.concat())
}

proptest! {
    #[test]
    fn servers_of_xrootd_cause_no_panic_and_take_no_memory(bytes in bytes()) {
        is_met(xrootd::met, &bytes, BESIDE)?;
    }

    #[test]
    fn servers_of_dcap_cause_no_panic_and_take_no_memory(bytes in bytes()) {
        is_met(dcap::met, &bytes, BESIDE)?;
    }

    #[test]
    fn servers_of_nfs_cause_no_panic_and_take_no_memory(bytes in bytes()) {
        is_met(nfs::met, &bytes, BESIDE_NFS)?;
    }

    #[test]
    fn servers_of_http_cause_no_panic_and_take_no_memory(bytes in prop_oneof![bytes(), text()]) {
        is_met(http::met, &bytes, BESIDE)?;
    }
}
