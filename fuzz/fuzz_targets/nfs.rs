//! What a server of NFS sends: records in pieces, results of operations, calls on the back channel.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_nfs::wire::apart::front;
use treemill_nfs::wire::callback::answer;
use treemill_nfs::wire::compound::Results;
use treemill_nfs::stripes::{Stripes, devices};
use treemill_nfs::wire::layout::{Device, LayoutType};
use treemill_nfs::wire::rpc::{Procedure, message};
use treemill_nfs::wire::session::CALLBACK;
use treemill_nfs::wire::xdr::Reader;
use treemill_source::Bytes;

const CALL: Procedure = Procedure {
    program: CALLBACK,
    version: 1,
    number: 1,
};

type Read = fn(&mut Results);
const READ: [Read; 15] = [
    |results| drop(results.bound()),
    |results| drop(results.exchanged()),
    |results| drop(results.created()),
    |results| drop(results.sequenced()),
    |results| drop(results.opened()),
    |results| drop(results.attributes()),
    |results| drop(results.read(1 << 20)),
    |results| drop(results.list()),
    |results| drop(results.got_handle()),
    |results| drop(results.link()),
    |results| drop(results.complete()),
    |results| laid(results, LayoutType::Files),
    |results| laid(results, LayoutType::Flex),
    |results| drop(results.device(LayoutType::Files)),
    |results| drop(results.device(LayoutType::Flex)),
];

/// A layout is striped over servers that it may not fit.
fn laid(results: &mut Results, kind: LayoutType) {
    let Ok(layout) = results.layout(kind) else {
        return;
    };
    let device = Device {
        stripes: vec![0, 1, 1],
        servers: vec![vec![([127, 0, 0, 1], 2049).into()]; 2],
        versions: vec![(4, 1, 1 << 20)],
    };
    for segment in &layout.segments {
        for (mirror, ids) in devices(segment).iter().enumerate() {
            let found = vec![device.clone(); ids.len()];
            let Some(stripes) = Stripes::new(segment, mirror, &found) else {
                continue;
            };
            for piece in stripes.pieces(1000..5000).unwrap_or_default() {
                assert!(piece.server < stripes.places().len());
            }
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let bytes = Bytes::copy_from_slice(data);
    let _ = message(bytes.clone());
    let _ = front(&bytes);
    let _ = answer(CALL, &Reader::new(bytes.clone()), |_| true);
    for read in READ {
        if let Ok(mut results) = Results::new(Reader::new(bytes.clone())) {
            read(&mut results);
        }
    }
});
