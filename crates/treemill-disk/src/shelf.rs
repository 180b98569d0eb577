//! What is kept of one file: an index in memory of the records of its segments. Threads share it; processes share the
//! segments.

use crate::Place;
use crate::limits::{MOST_BYTES, SEGMENT_BYTES, SWEEPS};
use crate::record::{HEAD, Head};
use crate::sweep;
use std::collections::HashMap;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use treemill_source::{Bytes, Identity};

/// The ranges of one state of one file that are kept on disk.
pub struct Shelf {
    place: Place,
    /// The beginning of the segments' names.
    stem: String,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    records: HashMap<(u64, u64), Record>,
    /// The segment that this process appends to, and its length.
    own: Option<(Arc<File>, u64)>,
    /// Segments that this process has begun.
    begun: u32,
    /// Bytes written since the folder was looked at.
    written: u64,
    /// Whether writing has failed: then nothing more is written.
    is_full: bool,
}

/// Where a range lies.
#[derive(Clone)]
struct Record {
    segment: Arc<File>,
    /// Of the record's head.
    offset: u64,
}

impl Shelf {
    pub(crate) fn open(place: Place, identity: &Identity) -> io::Result<Self> {
        let stem = stem(identity);
        let mut state = State::default();
        for entry in std::fs::read_dir(&place.folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str());
            if name.is_some_and(|name| name.starts_with(&stem) && name.ends_with(sweep::ENDING)) {
                // Another process may remove it at any moment.
                let _ = index(&path, &mut state.records);
            }
        }
        Ok(Shelf {
            place,
            stem,
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
        if length == 0 || length > MOST_BYTES.min(self.place.limit / 4) || self.has(range) {
            return;
        }
        let mut state = self.state();
        if state.is_full || range.end.checked_sub(range.start) != Some(length) {
            return;
        }
        match self.append(&mut state, range, bytes) {
            Ok(record) => {
                state.records.insert((range.start, range.end), record);
                state.written = state.written.saturating_add(length);
                if state.written > self.place.limit / SWEEPS {
                    state.written = 0;
                    drop(state);
                    sweep::sweep(&self.place.folder, self.place.limit);
                }
            }
            Err(_) => state.is_full = true,
        }
    }

    fn append(&self, state: &mut State, range: &Range<u64>, bytes: &[u8]) -> io::Result<Record> {
        let (segment, offset) = match state.own.take() {
            Some((segment, length)) if length < SEGMENT_BYTES => (segment, length),
            _ => {
                state.begun = state.begun.saturating_add(1);
                (Arc::new(self.begin(state.begun)?), 0)
            }
        };
        let mut record = Vec::with_capacity(bytes.len().saturating_add(HEAD));
        record.extend_from_slice(&Head::of(range.start, bytes).encode());
        record.extend_from_slice(bytes);
        (&*segment).write_all(&record)?;
        let next = offset.saturating_add(record.len() as u64);
        state.own = Some((Arc::clone(&segment), next));
        Ok(Record { segment, offset })
    }

    /// A new segment, with a name that no other process gives.
    fn begin(&self, number: u32) -> io::Result<File> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_nanos());
        let process = std::process::id();
        let name = format!("{}-{process}-{now:x}-{number}{}", self.stem, sweep::ENDING);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true).mode(0o600);
        options.open(self.place.folder.join(name))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl std::fmt::Debug for Shelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shelf")
            .field("stem", &self.stem)
            .finish_non_exhaustive()
    }
}

/// Makes a folder that only its owner may use, unless it is there.
pub(crate) fn make_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)?;
    let probe: PathBuf = folder.join(format!(".probe-{}", std::process::id()));
    File::create(&probe)?;
    std::fs::remove_file(probe)
}

/// The beginning of the names of a file's segments.
fn stem(identity: &Identity) -> String {
    let mut stem = String::from("file");
    let numbers = identity.place.iter().chain(&identity.state);
    for number in numbers.chain(std::iter::once(&identity.size)) {
        stem.push_str(&format!("-{number:x}"));
    }
    stem
}

/// Adds the records of a segment, and notes that it is used.
fn index(path: &Path, records: &mut HashMap<(u64, u64), Record>) -> io::Result<()> {
    let segment = Arc::new(OpenOptions::new().read(true).append(true).open(path)?);
    segment.set_modified(SystemTime::now())?;
    let length = segment.metadata()?.len();
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
    let mut head = [0; HEAD];
    record
        .segment
        .read_exact_at(&mut head, record.offset)
        .ok()?;
    let head = Head::decode(&head).filter(|head| head.range == *range)?;
    let mut bytes = vec![0; usize::try_from(length).ok()?];
    let at = record.offset.checked_add(HEAD as u64)?;
    record.segment.read_exact_at(&mut bytes, at).ok()?;
    head.agrees(&bytes).then(|| Bytes::from(bytes))
}
