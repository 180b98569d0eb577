//! What servers of HTTP say: ranges, listings of WebDAV, index pages, other places of files, checksums.
//! The fuzz target of this name and a test of treemill-remote
//! (`tests/hostile.rs`) are around it.

use treemill_http::parsing::{ContentRange, digests, index_page, multistatus};
use treemill_http::{Links, metalink};

/// Nothing of it panics.
pub fn met(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    if let Some(told) = ContentRange::parse(&text) {
        assert!(told.range.is_none_or(|range| !range.is_empty()));
    }
    if let Some(file) = metalink(&text) {
        assert!(file.urls.len() <= 32);
    }
    let mut links = Links::default();
    if let Ok(base) = "https://host/store/f.root".parse() {
        links.add(&text, &base);
    }
    assert!(links.duplicates().iter().all(|url| url.contains(':')));
    digests(&text, &mut treemill_source::Checksums::default());
    // The first line is the folder's path.
    let (folder, page) = text.split_once('\n').unwrap_or(("/", &text));
    let listed = [true, false].map(|is_literal| multistatus(page, folder, is_literal));
    for entries in listed.into_iter().chain([index_page(page, folder)]) {
        for entry in entries.unwrap_or_default() {
            assert!(!entry.name.is_empty() && !entry.name.contains('/'));
        }
    }
}
