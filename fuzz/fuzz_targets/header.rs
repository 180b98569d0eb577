//! The file's header, and the key and directory that lie after it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_format::header::FileHeader;
use treemill_format::key::Key;
use treemill_format::reader::Reader;

fuzz_target!(|data: &[u8]| {
    let _ = FileHeader::parse(data, data.len() as u64);
    let _ = FileHeader::parse(data, u64::MAX);
    let _ = Key::parse(&mut Reader::new(data));
});
