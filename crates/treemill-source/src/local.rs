//! Files of this machine, by positioned reads: threads share one descriptor without a lock.

use crate::limits::{SETTLED, TOLD_AT_BEGIN, TOLD_AT_END};
use crate::{Costs, Identity, Info, Request, Source, SourceError, SourceErrorKind};
use std::fs::{File, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use xxhash_rust::xxh3::Xxh3;

/// An open file.
#[derive(Debug)]
pub struct Local {
    info: Info,
    file: File,
}

impl Local {
    /// Opens `path` for reading.
    ///
    /// # Errors
    /// If there is no such regular file, or it may not be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, SourceError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let fail = |what: String| SourceError::new(&name, what);
        let failed = |error: std::io::Error| {
            let kind = match error.kind() {
                ErrorKind::NotFound => SourceErrorKind::Missing,
                ErrorKind::PermissionDenied => SourceErrorKind::Denied,
                _ => SourceErrorKind::Permanent,
            };
            SourceError::of(kind, &name, in_words(&error)).with_cause(error)
        };
        // Looked at before opening: to open a pipe would wait for its other end.
        let metadata = std::fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            return Err(fail("is a directory, not a file".to_owned()));
        }
        if !metadata.is_file() {
            return Err(fail("is not a regular file".to_owned()));
        }
        let file = File::open(path).map_err(failed)?;
        // The metadata of the open file: the path may lead to another file by now.
        let metadata = file.metadata().map_err(failed)?;
        let info = Info {
            identity: settled(&metadata, SystemTime::now()),
            ..Info::new(name, metadata.len())
        };
        Ok(Local { info, file })
    }

    /// What the file is that this path leads to now; `None` if there is none. If it was changed a moment ago, it may change
    /// again and stay the same in this.
    #[must_use]
    pub fn state_at(path: impl AsRef<Path>) -> Option<Identity> {
        Some(state(&std::fs::metadata(path).ok()?))
    }

    /// The identity of the file that this path leads to now; `None` if there is none, or if it was changed a moment ago.
    #[must_use]
    pub fn identity_at(path: impl AsRef<Path>) -> Option<Identity> {
        settled(&std::fs::metadata(path).ok()?, SystemTime::now())
    }

    /// What the file is that this path leads to now, and a digest of its first and last bytes, which ROOT writes each time that
    /// something in it changes; `None` if it is no regular file that may be read. See `state_at` for one that was changed a
    /// moment ago.
    #[must_use]
    pub fn ends_at(path: impl AsRef<Path>) -> Option<(Identity, u128)> {
        let path = path.as_ref();
        // Looked at before opening: to open a pipe would wait for its other end.
        if !std::fs::metadata(path).ok()?.is_file() {
            return None;
        }
        // On NFS a file that is opened is looked at anew.
        let file = File::open(path).ok()?;
        let is = state(&file.metadata().ok()?);
        let mut digest = Xxh3::new();
        let mut buffer = [0; TOLD_AT_END];
        for (most, start) in [
            (TOLD_AT_BEGIN, 0),
            (TOLD_AT_END, is.size.saturating_sub(TOLD_AT_END as u64)),
        ] {
            let room = buffer.get_mut(..most)?;
            let length = read_up_to(&file, room, start).ok()?;
            digest.update(room.get(..length)?);
        }
        Some((is, digest.digest128()))
    }

    /// The open file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Fills a buffer with the bytes from `start` on.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn read_at(&self, buffer: &mut [u8], start: u64) -> Result<(), SourceError> {
        self.file.read_exact_at(buffer, start).map_err(|error| {
            let what = match error.kind() {
                ErrorKind::UnexpectedEof => {
                    format!(
                        "is shorter than the {} bytes it had when opened",
                        self.info.size
                    )
                }
                _ => in_words(&error),
            };
            SourceError::new(self.name(), what).with_cause(error)
        })
    }

    fn fill(&self, request: &mut Request) -> Result<(), SourceError> {
        let start = request.range.start;
        let wrong = |what| SourceError::new(self.name(), what);
        let buffer = request.prepare(self.size()).map_err(wrong)?;
        self.read_at(buffer, start)
    }
}

impl Source for Local {
    fn info(&self) -> &Info {
        &self.info
    }

    fn costs(&self) -> Costs {
        Costs::NEAR
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        for request in requests {
            self.fill(request).map_err(|error| SourceError {
                range: Some(request.range.clone()),
                ..error
            })?;
        }
        Ok(())
    }
}

/// The file's identity, unless it was changed a moment before `now`: what is written to it next may
/// leave its times as they are.
fn settled(file: &Metadata, now: SystemTime) -> Option<Identity> {
    let modified = (file.mtime(), file.mtime_nsec());
    let changed = (file.ctime(), file.ctime_nsec());
    let (seconds, nanoseconds) = modified.max(changed);
    let since = Duration::new(seconds.try_into().ok()?, nanoseconds.try_into().ok()?);
    let age = now.duration_since(UNIX_EPOCH).ok()?.checked_sub(since)?;
    (age > SETTLED).then(|| state(file))
}

fn state(file: &Metadata) -> Identity {
    let times = [
        file.mtime(),
        file.mtime_nsec(),
        file.ctime(),
        file.ctime_nsec(),
    ];
    Identity {
        place: [file.dev(), file.ino()],
        size: file.size(),
        state: times.map(i64::cast_unsigned),
    }
}

/// Fills the buffer with the bytes from `start` on, up to the end of the file. Gives how many.
fn read_up_to(file: &File, buffer: &mut [u8], start: u64) -> std::io::Result<usize> {
    let mut length = 0;
    while let Some(room) = buffer.get_mut(length..).filter(|room| !room.is_empty()) {
        match file.read_at(room, start.saturating_add(length as u64)) {
            Ok(0) => break,
            Ok(more) => length = length.saturating_add(more),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

fn in_words(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file".to_owned(),
        ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A file with `bytes` in a directory of this test's own.
    fn file(test: &str, bytes: &[u8]) -> std::path::PathBuf {
        let dir = std::env::temp_dir().join(format!("treemill-source-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let path = dir.join(test);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    #[test]
    fn ranges_come_as_asked_and_buffers_are_reused() {
        let source = Local::open(file("ranges", b"0123456789")).unwrap();
        assert_eq!(source.size(), 10);
        let mut requests = [Request::new(2..5), Request::new(9..10), Request::new(4..4)];
        source.read(&mut requests).unwrap();
        let got: Vec<&[u8]> = requests.iter().map(|r| r.buffer.as_slice()).collect();
        assert_eq!(got, [b"234".as_slice(), b"9", b""]);
        requests.iter_mut().for_each(|r| r.range = 0..2);
        source.read(&mut requests).unwrap();
        assert!(requests.iter().all(|r| r.buffer == b"01"));
    }

    #[test]
    fn a_range_beyond_the_end_names_range_and_size_and_takes_no_memory() {
        let source = Local::open(file("beyond", b"0123456789")).unwrap();
        let mut requests = [Request::new(8..u64::MAX)];
        let error = source.read(&mut requests).unwrap_err();
        assert_eq!(error.range, Some(8..u64::MAX));
        assert!(error.to_string().contains("10 bytes"), "{error}");
        assert_eq!(requests.map(|r| r.buffer.capacity()), [0]);
    }

    #[test]
    fn a_file_that_shrank_is_an_error() {
        let path = file("shrank", b"0123456789");
        let source = Local::open(&path).unwrap();
        std::fs::write(&path, b"01").unwrap();
        let error = source.read(&mut [Request::new(0..8)]).unwrap_err();
        assert!(error.what.contains("shorter"), "{error}");
    }

    /// The times of a network file system are its server's (docs/decisions/0005-cache.md).
    #[test]
    fn a_servers_clock_counts_as_long_as_it_is_not_far_behind() {
        let metadata = std::fs::metadata(file("clock", b"0123456789")).unwrap();
        let written = metadata.modified().unwrap();
        let second = Duration::from_secs(1);
        // This machine's clock when the file is written, if the server's is behind or ahead of it.
        let behind = |lag: Duration| settled(&metadata, written + lag);
        assert_eq!(behind(second), None);
        assert_eq!(behind(SETTLED), None);
        assert_eq!(settled(&metadata, written - second), None, "ahead");
        // The limit of the rule: a file that is still written to looks settled.
        assert!(behind(SETTLED + second).is_some());
    }

    #[test]
    fn errors_say_their_kind_and_what_the_system_has_said() {
        use std::error::Error as _;
        let missing = Local::open(file("there", b"").with_file_name("missing"))
            .err()
            .unwrap();
        assert!(missing.is_missing() && !missing.is_transient(), "{missing}");
        let source = missing.source().unwrap();
        let source = source.downcast_ref::<std::io::Error>().unwrap();
        assert_eq!(source.kind(), ErrorKind::NotFound);
    }

    #[test]
    fn a_file_is_known_by_its_times_once_it_is_left_alone() {
        let path = file("identity", b"0123456789");
        let metadata = || std::fs::metadata(&path).unwrap();
        assert_eq!(Local::open(&path).unwrap().identity(), None, "just written");
        assert_eq!(settled(&metadata(), UNIX_EPOCH), None, "of the future");
        let later = SystemTime::now() + Duration::from_secs(10);
        let known = settled(&metadata(), later).unwrap();
        assert_eq!(settled(&metadata(), later), Some(known));
        assert_eq!(known.size, 10);
        // The time of the content may be set back, that of the inode may not.
        let old = SystemTime::now() - Duration::from_secs(1000);
        let opened = File::options().write(true).open(&path).unwrap();
        opened.set_modified(old).unwrap();
        let set_back = settled(&metadata(), later).unwrap();
        assert_ne!(set_back, known);
        assert_eq!(Local::open(&path).unwrap().identity(), None);
        opened
            .set_modified(later + Duration::from_secs(1000))
            .unwrap();
        assert_eq!(settled(&metadata(), later), None);
    }

    #[test]
    fn what_a_file_begins_and_ends_with_is_digested() {
        for size in [
            0,
            10,
            TOLD_AT_BEGIN,
            TOLD_AT_END,
            TOLD_AT_END + 2 * TOLD_AT_BEGIN,
        ] {
            let bytes = vec![1_u8; size];
            let path = file("ends", &bytes);
            let (is, before) = Local::ends_at(&path).unwrap();
            assert_eq!(Some(is), Local::state_at(&path));
            assert_eq!(Local::ends_at(&path).unwrap().1, before);
            for place in [0, size.saturating_sub(1)] {
                let mut others = bytes.clone();
                if let Some(byte) = others.get_mut(place) {
                    *byte = 2;
                    std::fs::write(&path, &others).unwrap();
                    assert_ne!(Local::ends_at(&path).unwrap().1, before, "{size}: {place}");
                }
            }
        }
        assert_eq!(Local::ends_at("/no/such/file.root"), None);
        assert_eq!(Local::ends_at(std::env::temp_dir()), None);
        assert_eq!(Local::ends_at("/dev/null"), None);
    }

    #[test]
    fn what_is_not_a_file_is_said_so() {
        let error = Local::open("/no/such/file.root").unwrap_err();
        assert_eq!(error.to_string(), "/no/such/file.root: no such file");
        let error = Local::open(std::env::temp_dir()).unwrap_err();
        assert!(error.what.contains("directory"), "{error}");
    }
}
