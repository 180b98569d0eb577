//! The trait of everything that has bytes.

use crate::servers::server_of;
use crate::{Checksums, Costs, Identity, Info, Promise, SourceError, Ticket};
use bytes::Bytes;
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
        let len = self.check(size)?;
        self.buffer.resize(len, 0);
        Ok(&mut self.buffer)
    }

    /// The length of the range, if it lies within a source of `size` bytes.
    pub(crate) fn check(&self, size: u64) -> Result<usize, String> {
        let Range { start, end } = self.range;
        if end > size || start > end {
            return Err(beyond(size));
        }
        usize::try_from(end.saturating_sub(start)).map_err(|e| e.to_string())
    }
}

/// Where bytes come from. Implementations are shared between threads.
///
/// ```
/// use treemill_source::{Costs, Memory, Request, Source};
///
/// let source = Memory::new("ten bytes", b"0123456789".to_vec(), Costs::NEAR);
/// let mut requests = [Request::new(2..5), Request::new(9..10)];
/// source.read(&mut requests)?;
/// assert_eq!(requests.map(|request| request.buffer), [b"234".to_vec(), b"9".to_vec()]);
///
/// let error = source.read(&mut [Request::new(9..11)]).unwrap_err();
/// assert_eq!(error.to_string(), "ten bytes: the file has only 10 bytes (reading bytes 9..11)");
///
/// let tickets = source.submit(vec![0..1, 3..5]);
/// assert_eq!(tickets[1].wait()?, "34");
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
pub trait Source: Send + Sync {
    /// Which file it is. The same answer each time: what changes while a file is read is in its [`costs`](Source::costs).
    fn info(&self) -> &Info;

    /// What reading costs now. A distant source measures it as it goes.
    fn costs(&self) -> Costs;

    /// The name in [`Source::info`]. Not for sources to write: all of them answer by that.
    fn name(&self) -> &str {
        &self.info().name
    }

    /// The size in [`Source::info`].
    fn size(&self) -> u64 {
        self.info().size
    }

    /// The identity in [`Source::info`].
    fn identity(&self) -> Option<Identity> {
        self.info().identity
    }

    /// The server that has the file now, without credentials: scheme, host and port; of several servers all of them.
    fn server(&self) -> String {
        server_of(self.name()).to_owned()
    }

    /// The file's checksums that the server tells without reading the file: none if it knows none, or is slow to say. May
    /// wait for the server's answer once, but not for long; so it is asked for only where sources are compared.
    fn checksums(&self) -> Checksums {
        Checksums::default()
    }

    /// Fills every request's buffer with its range: one vectored read. Afterwards each buffer is
    /// exactly as long as its range.
    ///
    /// # Errors
    /// A `SourceError` naming the range that could not be read; the buffers then hold nothing of
    /// use. A range beyond the source's end is an error, never a short read.
    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError>;
    /// Asks for ranges without waiting for their bytes: one ticket for each. A distant source sends them in as few
    /// messages as its protocol allows, the first ones first, and never blocks here; a near one reads at once.
    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let one = |range: Range<u64>| {
            let mut request = [Request::new(range)];
            let read = self.read(&mut request);
            let [request] = request;
            Ticket::ready(read.map(|()| Bytes::from(request.buffer)))
        };
        ranges.into_iter().map(one).collect()
    }

    /// These ranges will be [`read`](Source::read) soon. Asks for those that are not here, without waiting, and gives what that
    /// read will wait for. A source that answers every read by itself, or whose reads wait however often they are told of, gives
    /// none.
    fn will_read(&self, ranges: &[Range<u64>]) -> Vec<Ticket> {
        let _ = ranges;
        Vec::new()
    }

    /// Nothing within these ranges, which were asked for, is wanted any more: their run was stopped. Their tickets may
    /// become errors. A source that has much of them on its way stops it, so that what is asked for next does not wait
    /// behind it. Never blocks.
    fn abandon(&self, ranges: &[Range<u64>]) {
        let _ = ranges;
    }
}

/// Methods of a [`Source`] that has another one inside, but for those that read: it says of itself what that one says.
#[macro_export]
macro_rules! described_by {
    ($me:ident => $inner:expr) => {
        fn info(&$me) -> &$crate::Info {
            $inner.info()
        }

        fn costs(&$me) -> $crate::Costs {
            $inner.costs()
        }

        fn server(&$me) -> String {
            $inner.server()
        }

        fn checksums(&$me) -> $crate::Checksums {
            $inner.checksums()
        }

        fn abandon(&$me, ranges: &[std::ops::Range<u64>]) {
            $inner.abandon(ranges);
        }
    };
}

/// All methods of a [`Source`] that only gives another one a name.
///
/// ```
/// use treemill_source::{Costs, Memory, Source};
///
/// struct Named(Memory);
///
/// impl Source for Named {
///     treemill_source::read_by!(self => self.0);
/// }
///
/// let source = Named(Memory::new("ten bytes", b"0123456789".to_vec(), Costs::NEAR));
/// assert_eq!((source.name(), source.size()), ("ten bytes", 10));
/// ```
#[macro_export]
macro_rules! read_by {
    ($me:ident => $inner:expr) => {
        $crate::described_by!($me => $inner);

        fn read(&$me, requests: &mut [$crate::Request]) -> Result<(), $crate::SourceError> {
            $inner.read(requests)
        }

        fn submit(&$me, ranges: Vec<std::ops::Range<u64>>) -> Vec<$crate::Ticket> {
            $inner.submit(ranges)
        }
    };
}

/// Whether a range lies within one of these.
///
/// ```
/// assert!(treemill_source::is_within(&(3..5), &[0..2, 3..9]));
/// assert!(!treemill_source::is_within(&(1..5), &[0..2, 3..9]));
/// ```
#[must_use]
pub fn is_within(range: &Range<u64>, ranges: &[Range<u64>]) -> bool {
    let mut ranges = ranges.iter();
    ranges.any(|other| other.start <= range.start && range.end <= other.end)
}

/// A ticket for each range, for a source of this file whose own way is [`Source::submit`]. What needs no question is
/// answered at once: empty ranges, and those that do not lie within the file, each by an error of its own. `ask` gets the
/// others in order, with what is promised of each.
///
/// ```
/// use treemill_source::{Info, tickets};
///
/// let mut asked = Vec::new();
/// let all = tickets(&Info::new("f", 10), vec![2..4, 3..3, 9..11], |range, _, promise| asked.push((range, promise)));
/// assert_eq!(asked.len(), 1);
/// assert!(!all[0].is_ready() && all[1].wait()?.is_empty());
/// assert_eq!(all[2].wait().unwrap_err().to_string(), "f: the file has only 10 bytes (reading bytes 9..11)");
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
pub fn tickets(
    info: &Info,
    ranges: Vec<Range<u64>>,
    mut ask: impl FnMut(Range<u64>, &Ticket, Promise),
) -> Vec<Ticket> {
    let one = |range: Range<u64>| {
        if range.end > info.size || range.start > range.end {
            return Ticket::ready(Err(SourceError {
                range: Some(range),
                ..SourceError::new(&info.name, beyond(info.size))
            }));
        }
        if range.is_empty() {
            return Ticket::ready(Ok(Bytes::new()));
        }
        let (ticket, promise) = Ticket::new(&info.name, range.clone());
        ask(range, &ticket, promise);
        ticket
    };
    ranges.into_iter().map(one).collect()
}

fn beyond(size: u64) -> String {
    format!("the file has only {size} bytes")
}

/// [`Source::read`] for sources whose own way is [`Source::submit`].
///
/// # Errors
/// As [`Source::read`].
pub fn read_by_tickets(source: &dyn Source, requests: &mut [Request]) -> Result<(), SourceError> {
    let size = source.size();
    for request in &*requests {
        request.check(size).map_err(|what| SourceError {
            range: Some(request.range.clone()),
            ..SourceError::new(source.name(), what)
        })?;
    }
    let ranges = requests.iter().map(|request| request.range.clone());
    let tickets = source.submit(ranges.collect());
    for (request, ticket) in requests.iter_mut().zip(tickets) {
        let bytes = ticket.wait()?;
        request.buffer.clear();
        request.buffer.extend_from_slice(&bytes);
    }
    Ok(())
}
