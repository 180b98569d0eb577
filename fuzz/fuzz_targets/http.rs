//! What servers of HTTP say: ranges, listings of WebDAV, index pages.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_http::parsing::{ContentRange, index_page, multistatus};

fuzz_target!(|data: &[u8]| {
    let text = String::from_utf8_lossy(data);
    if let Some(told) = ContentRange::parse(&text) {
        assert!(told.range.is_none_or(|range| !range.is_empty()));
    }
    // The first line is the folder's path.
    let (folder, page) = text.split_once('\n').unwrap_or(("/", &text));
    for entries in [multistatus(page, folder), index_page(page, folder)] {
        for entry in entries.unwrap_or_default() {
            assert!(!entry.name.is_empty() && !entry.name.contains('/'));
        }
    }
});
