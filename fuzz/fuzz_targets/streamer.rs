//! The list of streamer info, uncompressed.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_format::streamer::StreamerInfos;

fuzz_target!(|data: &[u8]| {
    let _ = StreamerInfos::parse(data, 64);
});
