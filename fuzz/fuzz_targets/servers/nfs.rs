//! What a server of NFS sends: records in pieces, results of operations, calls on the back channel.
//! The fuzz target of this name and a test of treemill-remote
//! (`tests/hostile.rs`) are around it.

use bytes::{BufMut, BytesMut};
use treemill_nfs::intake::{Came, Intake};
use treemill_nfs::stripes::{Stripes, devices};
use treemill_nfs::wire::apart::front;
use treemill_nfs::wire::callback::{Said, answer};
use treemill_nfs::wire::compound::Results;
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

/// Answers to READs, of 16 to 48 kB, of which some bytes of the fronts are others. They are large, so their data are repeated.
fn answers(mut data: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    while let [length, place, other, rest @ ..] = data {
        let length = 16_000 + usize::from(*length) * 128;
        let front: [u32; 20] = [7, 1, 0, 0, 0, 0, 0, 0, 2, 53, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9];
        let read = [25, 0, 0, length as u32];
        let mut record: Vec<u8> = front
            .iter()
            .chain(&read)
            .flat_map(|word| word.to_be_bytes())
            .collect();
        if let Some(byte) = record.get_mut(usize::from(*place)) {
            *byte = *other;
        }
        record.extend((0..=u8::MAX).cycle().take(length));
        let size = record.len() as u32 | 1 << 31;
        all.extend(size.to_be_bytes());
        all.extend(record);
        data = rest;
    }
    all
}

/// What comes on a connection, in pieces: no byte is there that was not sent.
fn taken(sent: &[u8], piece: usize, room: usize) {
    let mut intake = Intake::new(1 << 20);
    let (mut at, mut came) = (0, 0);
    while at < sent.len() {
        let mut target = intake.target(1 << 20);
        let count = piece.min(sent.len() - at).min(target.remaining_mut());
        assert!(count > 0);
        target.put_slice(&sent[at..at + count]);
        intake.wrote(count);
        at += count;
        let rooms = |_, bytes| (bytes <= room).then(|| BytesMut::with_capacity(bytes));
        loop {
            came += match intake.next(rooms) {
                Ok(None) => break,
                Ok(Some(Came::Record(record))) => record.len(),
                Ok(Some(Came::Apart { record, data, .. })) => record.len() + data.len(),
                Err(_) => return,
            };
        }
    }
    assert!(came <= sent.len());
}

/// Nothing of it panics.
pub fn met(data: &[u8]) {
    if let [piece, room, rest @ ..] = data {
        let (piece, room) = (1 + usize::from(*piece) * 100, usize::from(*room) * 400);
        taken(rest, piece, room);
        taken(&answers(rest.get(..24).unwrap_or(rest)), piece, room);
    }
    let bytes = Bytes::copy_from_slice(data);
    let _ = message(bytes.clone());
    let _ = front(&bytes);
    let _ = answer(CALL, &Reader::new(bytes.clone()), |_| Said::Done);
    for read in READ {
        if let Ok(mut results) = Results::new(Reader::new(bytes.clone())) {
            read(&mut results);
        }
    }
}
