//! A tree's record together with the streamer info that it is read by: a u16 says where one ends.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_format::parse_tree;
use treemill_format::streamer::StreamerInfos;

fuzz_target!(|data: &[u8]| {
    let Some((len, rest)) = data.split_first_chunk::<2>() else {
        return;
    };
    let len = usize::from(u16::from_be_bytes(*len)).min(rest.len());
    let (infos, object) = rest.split_at(len);
    let infos = StreamerInfos::parse(infos, 64).unwrap_or_default();
    let _ = parse_tree("TTree", object, 64, &infos);
});
