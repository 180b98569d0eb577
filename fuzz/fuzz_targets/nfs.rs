//! What a server of NFS sends: records in pieces, results of operations, calls on the back channel.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_nfs::wire::callback::answer;
use treemill_nfs::wire::compound::Results;
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
const READ: [Read; 10] = [
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
];

fuzz_target!(|data: &[u8]| {
    let bytes = Bytes::copy_from_slice(data);
    let _ = message(bytes.clone());
    let _ = answer(CALL, &Reader::new(bytes.clone()), |_| true);
    for read in READ {
        if let Ok(mut results) = Results::new(Reader::new(bytes.clone())) {
            read(&mut results);
        }
    }
});
