//! What a server of NFS sends: records in pieces, results of operations, calls on the back channel.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "servers/nfs.rs"]
mod nfs;

fuzz_target!(|data: &[u8]| nfs::met(data));
