//! What is kept of one file: an index in memory of the records of its segments, the user's own ones and those of another
//! account. Threads share it; processes share the segments.

use crate::cache::Places;
use crate::cache::buffers::Buffer;
use crate::cache::place::{Place, stem};
use crate::cache::record::{HEAD, Head};
use crate::cache::sweep;
use crate::limits::{MOST_BYTES, SEGMENT_BYTES};
use crate::{Bytes, Identity};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

/// The ranges of one state of one file that are kept on disk.
pub struct CachedRanges {
    /// Where more is kept, if it is, and the folder of the file's segments there.
    own: Option<(Arc<Place>, PathBuf)>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: HashMap<(u64, u64), Record>,
    own: Own,
}

/// The segment that this process appends to.
#[derive(Default)]
enum Own {
    /// The process has none yet.
    #[default]
    None,
    /// The segment is open and has this length.
    Segment(Arc<File>, u64),
    /// Writing has failed: nothing more is written.
    Refused,
}

impl State {
    fn append(
        &mut self,
        place: &Place,
        folder: &Path,
        range: &Range<u64>,
        bytes: &[u8],
    ) -> io::Result<Record> {
        let (segment, offset) = match &self.own {
            Own::Segment(segment, length) if *length < SEGMENT_BYTES => {
                (Arc::clone(segment), *length)
            }
            _ => (Arc::new(place.begin(folder, "data")?.1), 0),
        };
        let mut record = Vec::with_capacity(bytes.len().saturating_add(HEAD));
        record.extend_from_slice(&Head::of(range.start, bytes).encode());
        record.extend_from_slice(bytes);
        (&*segment).write_all(&record)?;
        let next = offset.saturating_add(record.len() as u64);
        self.own = Own::Segment(Arc::clone(&segment), next);
        Ok(Record { segment, offset })
    }
}

/// Where a range lies.
#[derive(Clone)]
struct Record {
    segment: Arc<File>,
    /// Where the record's head lies.
    offset: u64,
}

/// The segments in a file's folder; none if it is not there. A folder for each file, because to look for one file's among
/// those of thousands would take longer than to read them.
fn segments(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if sweep::is_segment(&path) {
            found.push(path);
        }
    }
    Ok(found)
}

/// Whether something may be kept of a file.
pub(crate) fn is_there(places: &Places, identity: &Identity) -> bool {
    let own = places.own.as_ref().map(|place| &place.folder);
    let folders = own.into_iter().chain(&places.shared);
    let mut of_file = folders.map(|folder| segments(&folder.join(stem(identity))));
    of_file.any(|found| found.is_ok_and(|paths| !paths.is_empty()))
}

impl CachedRanges {
    pub(crate) fn open(places: Places, identity: &Identity) -> io::Result<Self> {
        let stem = stem(identity);
        let mut state = State::default();
        let shared = places.shared.map(|folder| segments(&folder.join(&stem)));
        for path in shared.into_iter().flatten().flatten() {
            // It may not be this user's to read.
            let _ = File::open(path).and_then(|it| index(it, &mut state.records));
        }
        let own = places.own.map(|place| {
            let folder = place.folder.join(&stem);
            (place, folder)
        });
        let of_own = own.as_ref().map(|(_, folder)| segments(folder));
        for path in of_own.transpose()?.into_iter().flatten() {
            // Another process may remove it at any moment.
            let _ = used(&path).and_then(|it| index(it, &mut state.records));
        }
        Ok(CachedRanges {
            own,
            state: Mutex::new(state),
        })
    }

    /// Whether a range is kept. Its bytes may turn out to be damaged.
    #[must_use]
    pub fn has(&self, range: &Range<u64>) -> bool {
        self.state().records.contains_key(&(range.start, range.end))
    }

    /// The bytes of a range, if they are kept and whole.
    #[must_use]
    pub fn get(&self, range: &Range<u64>) -> Option<Bytes> {
        let key = (range.start, range.end);
        let record = self.state().records.get(&key)?.clone();
        let found = read(&record, range);
        if found.is_none() {
            self.state().records.remove(&key);
        }
        found
    }

    /// Keeps the bytes of a range. What goes wrong only means that they are not kept.
    pub fn put(&self, range: &Range<u64>, bytes: &[u8]) {
        let length = bytes.len() as u64;
        let Some((place, folder)) = &self.own else {
            return;
        };
        if length == 0 || length > MOST_BYTES.min(place.limit / 4) || self.has(range) {
            return;
        }
        if place.is_full() {
            return;
        }
        let mut state = self.state();
        if matches!(state.own, Own::Refused) || range.end.checked_sub(range.start) != Some(length) {
            return;
        }
        match state.append(place, folder, range, bytes) {
            Ok(record) => {
                state.records.insert((range.start, range.end), record);
                drop(state);
                place.wrote(length);
            }
            Err(_) => state.own = Own::Refused,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for CachedRanges {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CachedRanges")
            .field("own", &self.own)
            .finish_non_exhaustive()
    }
}

/// The user's own segment, of which is noted that it is used.
fn used(path: &Path) -> io::Result<File> {
    let segment = OpenOptions::new().read(true).append(true).open(path)?;
    segment.set_modified(SystemTime::now())?;
    Ok(segment)
}

/// Adds the records of a segment.
fn index(segment: File, records: &mut HashMap<(u64, u64), Record>) -> io::Result<()> {
    let length = segment.metadata()?.len();
    let segment = Arc::new(segment);
    let mut offset = 0_u64;
    loop {
        let mut head = [0; HEAD];
        if segment.read_exact_at(&mut head, offset).is_err() {
            return Ok(()); // the end
        }
        let Some(head) = Head::decode(&head) else {
            return Ok(());
        };
        let bytes = head.range.end.saturating_sub(head.range.start);
        let next = offset.saturating_add(HEAD as u64).saturating_add(bytes);
        if bytes == 0 || next > length {
            return Ok(()); // written in part
        }
        let record = Record {
            segment: Arc::clone(&segment),
            offset,
        };
        records.insert((head.range.start, head.range.end), record);
        offset = next;
    }
}

/// The bytes of a record, if they are whole and of this range.
fn read(record: &Record, range: &Range<u64>) -> Option<Bytes> {
    let length = range.end.checked_sub(range.start)?;
    if length > MOST_BYTES {
        return None;
    }
    let length = HEAD.checked_add(usize::try_from(length).ok()?)?;
    let mut buffer = Buffer::new(length);
    let segment = &record.segment;
    segment.read_exact_at(buffer.as_mut(), record.offset).ok()?;
    let all = buffer.into_bytes();
    let head = Head::decode(all.first_chunk()?).filter(|head| head.range == *range)?;
    let bytes = all.slice(HEAD..);
    head.agrees(&bytes).then_some(bytes)
}
