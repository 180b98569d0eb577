//! Files of readers that keep their thread until the bytes are there, such as Python's, as sources: threads ask the reader, and
//! what it is silent about for too long becomes an error, and so do calls that open a file. Knows no protocol.

mod batches;

use batches::{Batch, Threads, batches};
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use treemill_source::{
    Bytes, Costs, Info, Request, Source, SourceError, SourceErrorKind, Ticket, read_by_tickets,
    tickets,
};

/// A file that a thread waits for.
pub trait BlockingReader: Send + Sync + 'static {
    /// The bytes of each range, in their order.
    ///
    /// # Errors
    /// Why there are none of any.
    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, SourceError>;
}

/// A source over a [`BlockingReader`].
///
/// ```
/// use std::ops::Range;
/// use std::time::Duration;
/// use treemill_remote::{BlockingFile, BlockingReader, PATIENCE};
/// use treemill_source::{Bytes, Costs, Info, Source, SourceError};
///
/// struct Zeros;
///
/// impl BlockingReader for Zeros {
///     fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, SourceError> {
///         let one = |range: &Range<u64>| Bytes::from(vec![0; (range.end - range.start) as usize]);
///         Ok(ranges.iter().map(one).collect())
///     }
/// }
///
/// let file = BlockingFile {
///     info: Info::new("zeros://here/file", 100),
///     costs: Costs::far(Duration::from_millis(1)),
///     at_once: 2,
///     patience: PATIENCE,
/// };
/// let source = file.read_by(Zeros);
/// assert_eq!(source.submit(vec![3..5])[0].wait()?, [0, 0].as_slice());
/// # Ok::<(), SourceError>(())
/// ```
#[derive(Debug, Clone)]
pub struct BlockingFile {
    /// Which file it is.
    pub info: Info,
    /// What reading costs.
    pub costs: Costs,
    /// Threads that may ask the reader at once.
    pub at_once: usize,
    /// How long the reader may be silent about 4 MiB: [`PATIENCE`](crate::PATIENCE), but for tests.
    pub patience: Duration,
}

impl BlockingFile {
    /// The source.
    #[must_use]
    pub fn read_by(self, reader: impl BlockingReader) -> Arc<dyn Source> {
        let threads = Threads::new(
            &self.info.name,
            Arc::new(reader),
            self.at_once,
            self.patience,
        );
        Arc::new(Blocking {
            file: self,
            threads,
        })
    }
}

struct Blocking {
    file: BlockingFile,
    threads: Threads,
}

impl Source for Blocking {
    fn info(&self) -> &Info {
        &self.file.info
    }

    fn costs(&self) -> Costs {
        self.file.costs
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let mut asked = Batch::new();
        let tickets = tickets(self.info(), ranges, |range, _, promise| {
            asked.push((range, promise));
        });
        for batch in batches(asked) {
            self.threads.hand_over(batch);
        }
        tickets
    }
}

/// The error of a server that is silent.
fn silent(name: &str, patience: Duration) -> SourceError {
    let what = format!(
        "the program that reads it for treemill has sent nothing for {} s",
        patience.as_secs_f64()
    );
    SourceError::of(SourceErrorKind::Transient, name, what)
}

/// Calls what may wait for a server, on a thread of its own, and waits for it this long. A call that is silent for longer goes
/// on, and what it gives is dropped. `name`: of what is asked for, without credentials.
///
/// ```
/// use std::time::Duration;
/// use treemill_remote::within;
///
/// assert_eq!(within("a://file", Duration::from_secs(9), || Ok(3)), Ok(3));
/// let (never, heard) = std::sync::mpsc::channel::<()>();
/// let error = within("a://file", Duration::ZERO, move || Ok(heard.recv().is_ok())).unwrap_err();
/// assert!(error.is_transient() && error.to_string().contains("a://file"));
/// drop(never);
/// ```
///
/// # Errors
/// As the call; if it says nothing for that long, or no thread can be started.
pub fn within<T: Send + 'static>(
    name: &str,
    patience: Duration,
    call: impl FnOnce() -> Result<T, SourceError> + Send + 'static,
) -> Result<T, SourceError> {
    let (sender, receiver) = channel();
    let thread = std::thread::Builder::new().name("bridge-call".to_owned());
    let started = thread.spawn(move || drop(sender.send(call())));
    if let Err(error) = started {
        let what = format!("treemill cannot start a thread: {error}");
        return Err(SourceError::new(name, what).with_cause(error));
    }
    let heard = receiver.recv_timeout(patience);
    heard.unwrap_or_else(|_| Err(silent(name, patience)))
}

#[cfg(test)]
mod tests;
