//! Against the HTTP plug-in of a real xrootd: ranges and listings. Skipped, saying so, where there is none.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

mod common;

use common::bytes;
use common::xrootd::Xrootd;
use treemill_http::{Entry, exists, list, open, stat};
use treemill_source::Source;

#[test]
fn ranges_and_listings_of_xrootd() {
    let content = bytes(10_000_000);
    let files: [(&str, &[u8]); 4] = [
        ("empty", b""),
        ("d/f.root", &content),
        ("d/a b&c.root", b"0123456789"),
        ("d/sub/x", b"1"),
    ];
    let Some(server) = Xrootd::start("ranges", &files) else {
        return;
    };
    let at = |scheme: &str, path: &str| format!("{scheme}://127.0.0.1:{}/{path}", server.port);
    let source = open(&at("http", "d/f.root")).unwrap();
    assert_eq!(source.size(), content.len() as u64);
    let mut ranges: Vec<_> = (0..500_u64).map(|i| i * 19_000..i * 19_000 + 77).collect();
    ranges.extend([0..10_000_000, 9_999_999..10_000_000]);
    for (range, ticket) in ranges.iter().zip(source.submit(ranges.clone())) {
        let expected = &content[range.start as usize..range.end as usize];
        assert!(ticket.wait().unwrap() == expected, "{range:?}");
    }
    // It announces as many bytes as it is asked for, also beyond the end.
    let short = open(&at("http", "d/a%20b&c.root")).unwrap();
    assert_eq!(short.submit(vec![0..10])[0].wait().unwrap(), "0123456789");
    assert_eq!(open(&at("http", "empty")).unwrap().size(), 0);
    let entry = |name: &str, is_folder| Entry {
        name: name.into(),
        is_folder,
        written: Some(name.into()),
    };
    let expected = [
        entry("a b&c.root", false),
        entry("f.root", false),
        entry("sub", true),
    ];
    for scheme in ["http", "dav"] {
        assert_eq!(list(&at(scheme, "d")).unwrap(), expected, "{scheme}");
        assert_eq!(list(&at(scheme, "d/")).unwrap(), expected, "{scheme}");
        assert!(
            list(&at(scheme, "none")).unwrap_err().is_missing(),
            "{scheme}"
        );
    }
    assert_eq!(stat(&at("dav", "d/a%20b&c.root")).unwrap().size, 10);
    assert!(exists(&at("dav", "d/f.root")).unwrap() && !exists(&at("dav", "d/none")).unwrap());
    let error = open(&at("http", "d/none")).unwrap_err();
    assert!(error.is_missing(), "{error:?}");
}
