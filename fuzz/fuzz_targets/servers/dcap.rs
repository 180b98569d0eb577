//! What servers of dCap send: a door's lines, and a pool's bytes on a connection on which requests are in flight.
//! The fuzz target of this name and a test of treemill-remote
//! (`tests/hostile.rs`) are around it.

use treemill_dcap::frames::{ACKNOWLEDGED, FINISHED, code};
use treemill_dcap::mover::{Mover, Outcome};
use treemill_dcap::pieces::{Asked, Wants, cut, pack};
use treemill_dcap::words::reply;

/// Nothing of it panics.
pub fn met(data: &[u8]) {
    let _ = reply(&String::from_utf8_lossy(data));
    let Some((&kind, data)) = data.split_first() else {
        return;
    };
    let all = asked();
    let bytes = if kind % 2 == 0 {
        data.to_vec()
    } else {
        answers(&all, data)
    };
    converse(all, &bytes, usize::from(kind / 2).max(1));
}

fn asked() -> Vec<Asked> {
    let mut wants = Wants::default();
    let ranges = [0..40, 100..112, 1 << 33..(1 << 33) + 9, 50..60];
    let vector = pack(
        ranges
            .iter()
            .flat_map(|range| cut(&mut wants, range, ()))
            .collect(),
        true,
    );
    let alone = pack(cut(&mut wants, &(7..31), ()), false);
    [vec![Asked::Size], vector.clone(), alone, vector].concat()
}

/// Bytes as what follows answers that are right: a first message, the mark of data, then the input's.
fn answers(all: &[Asked], data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let message = |kind: i32, command: i32, rest: &[u8]| {
        let numbers = [12 + rest.len() as i32, kind, command, 0].map(i32::to_be_bytes);
        [&numbers.concat(), rest].concat()
    };
    let parts = data.chunks(data.len().div_ceil(all.len()).max(1));
    for (asked, part) in all.iter().zip(parts) {
        match asked {
            Asked::Size => bytes.extend(message(ACKNOWLEDGED, code(asked), &[0; 16])),
            asked => {
                bytes.extend(message(ACKNOWLEDGED, code(asked), &[]));
                bytes.extend([0, 0, 0, 4, 0, 0, 0, 8]);
                bytes.extend(part);
                bytes.extend(message(FINISHED, code(asked), &[]));
            }
        }
    }
    bytes
}

/// Each request ends once at most, in its order, and with as many bytes as were asked for.
fn converse(all: Vec<Asked>, bytes: &[u8], piece: usize) {
    let mut mover = Mover::default();
    all.iter().cloned().for_each(|asked| mover.sent(asked));
    let mut due = all.into_iter();
    for piece in bytes.chunks(piece) {
        let taken = mover.take(piece);
        while let Some((asked, outcome)) = mover.answer() {
            assert_eq!(due.next().as_ref(), Some(&asked));
            if let Outcome::Data(parts) = outcome {
                let mut pairs = asked.pieces().iter().zip(&parts);
                assert!(pairs.all(|(piece, part)| piece.size() == part.len()));
                assert_eq!(asked.pieces().len(), parts.len());
            }
        }
        if taken.is_err() {
            return;
        }
    }
}
