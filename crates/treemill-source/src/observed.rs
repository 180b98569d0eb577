//! A source whose reads are counted for its server, and recorded if that is wanted. It changes nothing of them.

use crate::reads::Recording;
use crate::servers::Server;
use crate::{Request, Source, SourceError, Ticket, read_by_tickets};
use std::ops::Range;
use std::sync::Arc;

/// A source, observed.
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use treemill_source::{Costs, Memory, Observed, Request, Source, servers};
///
/// let far = Costs::far(Duration::from_millis(137));
/// let memory = Arc::new(Memory::new("root://host//file.root", vec![7; 1000], far));
/// let source = Observed::of(memory);
/// source.read(&mut [Request::new(900..1000), Request::new(0..5)])?;
/// let counts = servers()["root://host"];
/// assert_eq!((counts.messages, counts.requests, counts.bytes), (1, 2, 105));
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
pub struct Observed {
    source: Arc<dyn Source>,
    /// Messages for what is asked for together; none if the source counts them itself.
    messages: u64,
}

impl Observed {
    /// A file that was opened just now. What is asked for counts for the [`server`](Source::server) that the source names then.
    #[must_use]
    pub fn of(source: Arc<dyn Source>) -> Self {
        Server::named(&source.server()).opened();
        Observed {
            source,
            messages: 1,
        }
    }

    /// A file like that of [`Observed::of`], which counts its [`Messages`](crate::Messages) itself: what is asked for together
    /// goes to the server by many of them.
    #[must_use]
    pub fn by_requests(source: Arc<dyn Source>) -> Self {
        Observed {
            messages: 0,
            ..Observed::of(source)
        }
    }
}

impl Source for Observed {
    crate::described_by!(self => self.source);

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let server = Server::named(&self.server());
        let recording = Recording::begin(&server.name, self.name());
        server.sent(ranges.len() as u64, self.messages);
        let tickets = self.source.submit(ranges.clone());
        // A source that answers with fewer tickets than it was asked for has failed.
        for _ in tickets.len()..ranges.len() {
            server.came(None);
        }
        for (range, ticket) in ranges.into_iter().zip(&tickets) {
            ticket.count_waits(&server.waits);
            let (server, recording) = (Arc::clone(&server), recording.clone());
            // They are counted before the caller has the bytes.
            ticket.on_answer(move |answer| {
                let bytes = answer.as_ref().ok().map(|bytes| bytes.len() as u64);
                server.came(bytes);
                if let Some(recording) = recording {
                    recording.came(range, bytes.is_some());
                }
            });
        }
        tickets
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::single_range_in_vec_init
)]
mod tests {
    use super::*;
    use crate::{Costs, Memory, record_reads, recorded_reads, server_of, servers};
    use std::time::Duration;

    const FAR: Costs = Costs::far(Duration::from_millis(100));

    #[test]
    fn servers_are_named_without_paths() {
        assert_eq!(
            server_of("https://host:8443/store/f.root"),
            "https://host:8443"
        );
        assert_eq!(server_of("root://host"), "root://host");
        let apart = ["root://h:1//a", "root://h:1/b", "davs://h/a/b"].map(server_of);
        assert_eq!(apart, ["root://h:1", "root://h:1", "davs://h"]);
        assert_eq!(server_of("/eos/f.root"), "this machine");
    }

    #[test]
    fn what_came_and_what_did_not_is_counted_and_recorded_up_to_a_limit() {
        record_reads(3);
        let memory = Memory::new("root://counted//f.root", vec![0; 100], FAR);
        let source = Observed::of(Arc::new(memory));
        source.submit(vec![0..10, 20..50]);
        source.submit(vec![90..101]);
        source.submit(vec![0..1]);
        let counts = servers()["root://counted"];
        assert_eq!((counts.files, counts.messages, counts.requests), (1, 3, 4));
        assert_eq!((counts.bytes, counts.errors), (41, 1));
        assert_eq!(counts.since(&counts), crate::ServerCounts::default());
        let (reads, dropped) = recorded_reads();
        assert_eq!(dropped, 1);
        let told: Vec<_> = reads.iter().map(|r| (r.range.clone(), r.is_here)).collect();
        assert_eq!(told, [(0..10, true), (20..50, true), (90..101, false)]);
        assert_eq!(reads[0].read, reads[1].read, "one vectored read");
        assert!(reads[2].read > reads[1].read);
        assert_eq!(&*reads[0].server, "root://counted");
        record_reads(0);
        source.submit(vec![0..1]);
        assert!(recorded_reads().0.is_empty());
    }

    #[test]
    fn a_server_is_busy_and_threads_wait_while_something_is_in_flight() {
        let server = Server::named("busy");
        server.sent(2, 1);
        let (ticket, promise) = Ticket::new("f", 0..1);
        ticket.count_waits(&server.waits);
        let waiting = std::thread::spawn(move || ticket.wait());
        server.came(Some(1));
        let before = servers()["busy"];
        std::thread::sleep(Duration::from_millis(2));
        assert!(
            servers()["busy"].busy > before.busy,
            "one range is in flight"
        );
        promise.keep(Ok(crate::Bytes::from_static(b"a")));
        waiting.join().unwrap().unwrap();
        server.came(Some(1));
        let after = servers()["busy"];
        std::thread::sleep(Duration::from_millis(2));
        assert_eq!(servers()["busy"].busy, after.busy);
    }
}
