//! Streamer information that was parsed lately, by its bytes: files of one production describe the same classes in the
//! same bytes, and to parse them takes longer than all else of opening a small file. Knows no file.

use crate::limits::{DESCRIPTION_BYTES, DESCRIPTIONS};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use treemill_format::streamer::StreamerInfos;

/// One record as it is stored, and what it says.
struct Known {
    /// The lengths of its key and of the unpacked object.
    lengths: (usize, usize),
    packed: Vec<u8>,
    infos: Arc<StreamerInfos>,
}

/// The last ones, the most recent last.
static KNOWN: LazyLock<Mutex<Vec<Known>>> = LazyLock::new(Mutex::default);

/// What a record says that was parsed before. `lengths`: those of its key and of the object that `packed`, its bytes after
/// the key, are unpacked to.
pub(crate) fn find(lengths: (usize, usize), packed: &[u8]) -> Option<Arc<StreamerInfos>> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let is_it = |each: &Known| each.lengths == lengths && each.packed == packed;
    let place = known.iter().rposition(is_it)?;
    let found = known.remove(place);
    let infos = Arc::clone(&found.infos);
    known.push(found);
    Some(infos)
}

/// Keeps what a record says, unless it is too long to be kept.
pub(crate) fn keep(lengths: (usize, usize), packed: &[u8], infos: &Arc<StreamerInfos>) {
    if packed.len() > DESCRIPTION_BYTES {
        return;
    }
    let added = Known {
        lengths,
        packed: packed.to_vec(),
        infos: Arc::clone(infos),
    };
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    known.push(added);
    let gone = (known.len() > DESCRIPTIONS).then(|| known.remove(0));
    drop(known);
    drop(gone); // outside the lock: it may hold thousands of descriptions
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn records_are_told_apart_by_all_their_bytes_and_the_last_ones_stay() {
        let record = |n: usize| [b"record".as_slice(), &n.to_be_bytes()].concat();
        let infos: Vec<_> = (0..=DESCRIPTIONS)
            .map(|_| Arc::new(StreamerInfos::default()))
            .collect();
        for (n, each) in infos.iter().enumerate() {
            keep((n % 2, 9), &record(n), each);
            let found = find((n % 2, 9), &record(n)).unwrap();
            assert!(Arc::ptr_eq(&found, each));
            assert!(find((7, 9), &record(n)).is_none(), "another key");
            assert!(find((n % 2, 8), &record(n)).is_none(), "another length");
        }
        assert!(find((0, 9), &record(0)).is_none(), "the oldest has left");
        keep(
            (9, 9),
            &vec![1; DESCRIPTION_BYTES + 1],
            infos.first().unwrap(),
        );
        assert!(find((9, 9), &vec![1; DESCRIPTION_BYTES + 1]).is_none());
    }
}
