//! The trait of everything that has bytes.

use crate::SourceError;
use std::ops::Range;

/// One range of a vectored read, and the caller's buffer for it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Request {
    /// The bytes wanted.
    pub range: Range<u64>,
    /// The target; its contents are replaced, its allocation is reused.
    pub buffer: Vec<u8>,
}

impl Request {
    /// A request with a new buffer.
    #[must_use]
    pub fn new(range: Range<u64>) -> Self {
        Request {
            range,
            buffer: Vec::new(),
        }
    }

    /// Gives the buffer its length, after a look at whether a source of `size` bytes can fill it.
    /// Bytes that a reused buffer already held are not cleared: the source overwrites them.
    ///
    /// # Errors
    /// Words for a [`SourceError`] if the range is not within `0..size`.
    pub fn prepare(&mut self, size: u64) -> Result<&mut [u8], String> {
        let Range { start, end } = self.range;
        if end > size || start > end {
            return Err(format!("the source has {size} bytes"));
        }
        let len = usize::try_from(end.saturating_sub(start)).map_err(|e| e.to_string())?;
        self.buffer.resize(len, 0);
        Ok(&mut self.buffer)
    }
}

/// The cost of a round trip to a source. It decides how far ahead a reader asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Latency {
    /// Microseconds: read basket by basket, so that the bytes are still in the cache.
    Local,
    /// Milliseconds: ask for a whole window at once.
    Remote,
}

/// Which file it is, and as it was when it was opened: another one means other bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity {
    /// The file system's number.
    pub device: u64,
    /// The file's number in it.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// When the content was changed last: seconds and nanoseconds since 1970.
    pub modified: (i64, i64),
    /// When content, name or rights were changed last; it cannot be set at will.
    pub changed: (i64, i64),
}

/// Where bytes come from. Implementations are shared between threads.
///
/// ```
/// use treemill_source::{Latency, Memory, Request, Source};
///
/// let source = Memory::new("ten bytes", b"0123456789".to_vec(), Latency::Local);
/// let mut requests = [Request::new(2..5), Request::new(9..10)];
/// source.read(&mut requests)?;
/// assert_eq!(requests.map(|request| request.buffer), [b"234".to_vec(), b"9".to_vec()]);
///
/// let error = source.read(&mut [Request::new(9..11)]).unwrap_err();
/// assert_eq!(error.to_string(), "ten bytes: the source has 10 bytes (reading bytes 9..11)");
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
pub trait Source: Send + Sync {
    /// A path or a URL, for messages.
    fn name(&self) -> &str;

    /// Bytes in all, as they were when the source was opened.
    fn size(&self) -> u64;

    /// The cost of a round trip.
    fn latency(&self) -> Latency;

    /// The identity of the file as it was when it was opened. `None` if that is not certain: then nothing of it
    /// may be cached.
    fn identity(&self) -> Option<Identity> {
        None
    }

    /// Fills every request's buffer with its range: one vectored read. Afterwards each buffer is
    /// exactly as long as its range.
    ///
    /// # Errors
    /// A `SourceError` naming the range that could not be read; the buffers then hold nothing of
    /// use. A range beyond the source's end is an error, never a short read.
    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError>;
}
