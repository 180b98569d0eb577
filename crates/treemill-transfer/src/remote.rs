//! A source around a carrier: ranges become parts, parts are asked for in order, answers are put together.

use crate::Trouble;
use crate::carrier::Carrier;
use crate::delivery::{Watch, deliver};
use crate::limits::{LITTLE_UNWANTED, MOST_UNWANTED};
use crate::meter::Meter;
use crate::parts::{part_bytes, parts};
use crate::runtime::runtime;
use crate::whole::{Promised, RangePart, range_parts, rooms};
use bytes::{Bytes, BytesMut};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::ops::Range;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::Poll;
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit};
use tokio::task::unconstrained;
use tokio::time::timeout;
use treemill_source::{
    Checksums, Costs, Info, Promise, Request, Source, SourceError, Ticket, is_within,
    read_by_tickets, server_of, tickets,
};

/// What the request that opened a file has told.
#[derive(Debug, Clone)]
pub struct Opened {
    /// Which file it is.
    pub info: Info,
    /// The first bytes of the file.
    pub head: Bytes,
    /// Time from the request to its first byte.
    pub latency: Duration,
}

/// A file on a server. Clones share what has been measured.
pub struct Remote<C> {
    shared: Arc<Shared<C>>,
}

struct Shared<C> {
    carrier: C,
    opened: Opened,
    watch: Watch,
    /// What was asked for, the oldest first, as far as it is not here.
    flying: Mutex<VecDeque<Weak<Flying>>>,
}

impl<C> Clone for Remote<C> {
    fn clone(&self) -> Self {
        let shared = Arc::clone(&self.shared);
        Remote { shared }
    }
}

impl<C> std::fmt::Debug for Remote<C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Remote")
            .field("info", &self.shared.opened.info)
            .finish_non_exhaustive()
    }
}

impl<C: Carrier> Remote<C> {
    /// A file that `carrier` has opened. The requests that it has sent for that are counted already, as each was sent.
    #[must_use]
    pub fn new(carrier: C, opened: Opened) -> Self {
        let mut meter = Meter::default();
        meter.answered(opened.latency);
        let watch = Watch::new(meter, carrier.server(), server_of(&opened.info.name));
        let shared = Arc::new(Shared {
            carrier,
            opened,
            watch,
            flying: Mutex::default(),
        });
        Remote { shared }
    }

    /// The bytes of a range that came when the file was opened.
    fn at_once(&self, range: &Range<u64>) -> Option<Bytes> {
        let start = usize::try_from(range.start).ok()?;
        let end = usize::try_from(range.end).ok()?;
        let head = &self.shared.opened.head;
        Some(head.slice_ref(head.get(start..end)?))
    }
}

impl<C: Carrier> Source for Remote<C> {
    fn info(&self) -> &Info {
        &self.shared.opened.info
    }

    fn costs(&self) -> Costs {
        let costs = self.shared.watch.seen().meter.costs();
        let others = self.shared.carrier.connections().saturating_sub(1) as u64;
        let new = costs.window.saturating_mul(others);
        Costs {
            window: self.shared.watch.gate().window().saturating_add(new),
            ..costs
        }
    }

    fn checksums(&self) -> Checksums {
        self.shared.carrier.checksums()
    }

    /// What was not sent yet is not. If much is on its way, that is ended at once, with its connections; little is if it does
    /// not come soon.
    fn abandon(&self, ranges: &[Range<u64>]) {
        let flying = self.shared.flying();
        let all = flying.iter().filter_map(Weak::upgrade);
        let gone: Vec<_> = all.filter(|it| is_within(it.of.range(), ranges)).collect();
        drop(flying);
        let missing = gone.iter().map(|whole| whole.of.leave());
        let missing = missing.fold(0, u64::saturating_add);
        let is_little = missing <= MOST_UNWANTED;
        for whole in gone {
            whole.is_little.store(is_little, Ordering::Release);
            whole.left.notify_waiters();
        }
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let mut queue = Vec::new();
        let bytes = ranges.iter().map(|r| r.end.saturating_sub(r.start));
        let bytes = bytes.fold(0, u64::saturating_add);
        let connections = self.shared.carrier.connections();
        let free = self.shared.watch.gate().free();
        let costs = self.costs();
        let distance = self.shared.carrier.distance();
        let distance = distance.map_or(costs.round_trip, |it| it.min(costs.round_trip));
        let most = part_bytes(bytes, &costs, distance, connections, free);
        let tickets = tickets(self.info(), ranges, |range, _, promise| {
            match self.at_once(&range) {
                Some(bytes) => promise.keep(Ok(bytes)),
                None => queue.extend(pieces(range, promise, most)),
            }
        });
        self.shared.flies(&queue);
        if !queue.is_empty() {
            launch(&self.shared, queue);
        }
        tickets
    }
}

/// Sends the pieces in order, as the server's gate lets them in.
fn launch<C: Carrier>(shared: &Arc<Shared<C>>, queue: Vec<Piece>) {
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(trouble) => {
            for piece in queue {
                piece.end(shared, Err(trouble.clone()));
            }
            return;
        }
    };
    let places = shared.watch.places();
    let shared = Arc::clone(shared);
    let asked = shared.watch.now();
    shared.watch.gate().queued(queue.len());
    runtime.spawn(async move {
        for piece in queue {
            let place = Arc::clone(&places).acquire_owned().await;
            shared.watch.gate().unqueued();
            let Ok(place) = place else { return }; // they are never closed
            if let Some(trouble) = shared.watch.given_up_since(asked) {
                piece.end(&shared, Err(trouble));
                continue;
            }
            if !piece.part.is_wanted() {
                continue;
            }
            let shared = Arc::clone(&shared);
            in_turn(async move { piece.bring(&shared, place).await }).await;
        }
    });
}

/// Begins work here, and has the rest of it done beside. A task that is only spawned begins in no certain order: what is needed
/// first would come among the last.
async fn in_turn(work: impl Future<Output = ()> + Send + 'static) {
    let mut work = Box::pin(work);
    let begin = poll_fn(|context| Poll::Ready(work.as_mut().poll(context)));
    // Unconstrained: else tokio lets no work begin that comes after much other work.
    if unconstrained(begin).await.is_pending() {
        tokio::spawn(work);
    }
}

/// One part of a range that was asked for.
struct Piece {
    part: RangePart,
    buffer: BytesMut,
    whole: Arc<Flying>,
}

/// A range that was asked for.
struct Flying {
    of: Arc<Promised>,
    /// Says that its parts that are on their way are to be ended.
    left: Notify,
    /// Whether that was little, so that they may come yet.
    is_little: AtomicBool,
}

/// The parts of a range of `most` bytes at most, which share one allocation. The range is not empty.
fn pieces(range: Range<u64>, promise: Promise, most: u64) -> Vec<Piece> {
    let parts = parts(range.clone(), most);
    let length = range.end.saturating_sub(range.start);
    let rooms = rooms(
        &parts,
        BytesMut::with_capacity(usize::try_from(length).unwrap_or(0)),
    );
    let all = range_parts(range, parts, promise);
    let Some(of) = all.first().map(|part| Arc::clone(part.of())) else {
        return Vec::new();
    };
    let whole = Arc::new(Flying {
        of,
        left: Notify::new(),
        is_little: AtomicBool::new(false),
    });
    let piece = |(part, buffer)| Piece {
        part,
        buffer,
        whole: Arc::clone(&whole),
    };
    all.into_iter().zip(rooms).map(piece).collect()
}

impl Piece {
    async fn bring<C: Carrier>(mut self, shared: &Shared<C>, place: OwnedSemaphorePermit) {
        let buffer = std::mem::take(&mut self.buffer);
        let (carrier, range) = (&shared.carrier, self.part.range().clone());
        let whole = Arc::clone(&self.whole);
        let mut left = pin!(whole.left.notified());
        if !self.part.is_wanted() {
            return;
        }
        let mut bringing = pin!(deliver(carrier, &shared.watch, range, buffer, place));
        // What is dropped ends the connection that has more of it.
        let first = poll_fn(|context| match left.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(None),
            Poll::Pending => bringing.as_mut().poll(context).map(Some),
        });
        match first.await {
            Some(got) => self.end(shared, got),
            None if whole.is_little.load(Ordering::Acquire) => {
                let _ = timeout(LITTLE_UNWANTED, bringing).await; // nobody waits for it
            }
            None => {}
        }
    }

    fn end<C>(self, shared: &Shared<C>, got: Result<BytesMut, Trouble>) {
        let error = |trouble: Trouble| trouble.error(&shared.opened.info.name, None);
        self.part.keep(got.map_err(error));
    }
}

impl<C> Shared<C> {
    fn flying(&self) -> MutexGuard<'_, VecDeque<Weak<Flying>>> {
        self.flying.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// These pieces, in which those of one range are side by side, are asked for.
    fn flies(&self, pieces: &[Piece]) {
        let mut flying = self.flying();
        while flying.front().is_some_and(|one| one.strong_count() == 0) {
            flying.pop_front();
        }
        let firsts = pieces.chunk_by(|one, next| Arc::ptr_eq(&one.whole, &next.whole));
        let firsts = firsts.filter_map(<[Piece]>::first);
        flying.extend(firsts.map(|piece| Arc::downgrade(&piece.whole)));
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::single_range_in_vec_init
)]
mod tests {
    use super::*;
    use crate::Kind;
    use crate::carrier::{Body, Part};
    use crate::limits::IN_FLIGHT;
    use std::sync::atomic::AtomicUsize;
    use std::sync::mpsc;
    use tokio::task::yield_now;

    /// Notes where ranges begin that it is asked for, and gives them with a pause.
    struct Noting {
        server: &'static str,
        asked: Arc<Mutex<Vec<u64>>>,
        connections: usize,
    }

    fn opened(latency: Duration) -> Opened {
        Opened {
            info: Info::new("far", 10_000_000),
            head: Bytes::new(),
            latency,
        }
    }

    fn noting(server: &'static str, connections: usize) -> (Noting, Arc<Mutex<Vec<u64>>>) {
        let asked = Arc::default();
        let noting = Noting {
            server,
            asked: Arc::clone(&asked),
            connections,
        };
        (noting, asked)
    }

    struct Zeros(Option<Bytes>);

    impl Body for Zeros {
        async fn chunk(&mut self) -> Result<Option<Bytes>, Trouble> {
            yield_now().await;
            Ok(self.0.take())
        }
    }

    impl Carrier for Noting {
        type Body = Zeros;

        fn server(&self) -> &str {
            self.server
        }

        fn connections(&self) -> usize {
            self.connections
        }

        async fn ask(&self, range: Range<u64>) -> Result<Part<Zeros>, Trouble> {
            self.asked.lock().unwrap().push(range.start);
            yield_now().await;
            let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap();
            Ok(Part {
                start: range.start,
                body: Zeros(Some(vec![0; length].into())),
            })
        }
    }

    /// More than are in flight at once, and more than a task may do in one go.
    #[test]
    fn ranges_are_asked_for_in_their_order() {
        let (noting, asked) = noting("order", 1);
        let remote = Remote::new(noting, opened(Duration::from_millis(1)));
        let starts: Vec<u64> = (0..1000).map(|number| number * 10).collect();
        let tickets = remote.submit(starts.iter().map(|&start| start..start + 10).collect());
        for ticket in tickets {
            assert_eq!(ticket.wait().unwrap().len(), 10);
        }
        assert_eq!(*asked.lock().unwrap(), starts);
    }

    /// Takes four requests at once, and refuses the others.
    struct Limited {
        server: &'static str,
        refusal: Kind,
        open: Arc<AtomicUsize>,
        refused: Arc<AtomicUsize>,
    }

    impl Carrier for Limited {
        type Body = Zeros;

        fn server(&self) -> &'static str {
            self.server
        }

        async fn ask(&self, range: Range<u64>) -> Result<Part<Zeros>, Trouble> {
            let others = self.open.fetch_add(1, Ordering::SeqCst);
            if others < 4 {
                for _ in 0..50 {
                    yield_now().await;
                }
            }
            self.open.fetch_sub(1, Ordering::SeqCst);
            if others >= 4 {
                self.refused.fetch_add(1, Ordering::SeqCst);
                return Err(Trouble::new(self.refusal, "too many"));
            }
            let length = usize::try_from(range.end.saturating_sub(range.start)).unwrap();
            Ok(Part {
                start: range.start,
                body: Zeros(Some(vec![0; length].into())),
            })
        }
    }

    #[test]
    fn a_server_that_takes_few_requests_at_once_gets_few() {
        for (server, refusal) in [("busy", Kind::Busy), ("resets", Kind::Reset)] {
            let refused = Arc::default();
            let limited = Limited {
                server,
                refusal,
                open: Arc::default(),
                refused: Arc::clone(&refused),
            };
            let remote = Remote::new(limited, opened(Duration::from_millis(1)));
            let starts = (0..1000_u64).map(|number| number * 10);
            for ticket in remote.submit(starts.map(|start| start..start + 10).collect()) {
                assert_eq!(ticket.wait().unwrap().len(), 10);
            }
            let refused = refused.load(Ordering::SeqCst);
            assert!(refused < 300, "{refused} by {server}");
        }
    }

    /// Brings the first byte of each range, and tells when a body is dropped.
    struct Stuck(mpsc::Sender<&'static str>);

    struct Endless(Option<Bytes>, mpsc::Sender<&'static str>);

    impl Body for Endless {
        async fn chunk(&mut self) -> Result<Option<Bytes>, Trouble> {
            match self.0.take() {
                Some(bytes) => Ok(Some(bytes)),
                None => std::future::pending().await,
            }
        }
    }

    impl Drop for Endless {
        fn drop(&mut self) {
            self.1.send("dropped").ok();
        }
    }

    impl Carrier for Stuck {
        type Body = Endless;

        fn server(&self) -> &'static str {
            "stuck"
        }

        async fn ask(&self, range: Range<u64>) -> Result<Part<Endless>, Trouble> {
            self.0.send("asked").ok();
            Ok(Part {
                start: range.start,
                body: Endless(Some(vec![0].into()), self.0.clone()),
            })
        }
    }

    #[test]
    fn much_that_is_not_wanted_any_more_is_ended_and_nothing_more_is_asked_for() {
        let (told, heard) = mpsc::channel();
        let remote = Remote::new(Stuck(told), opened(Duration::from_millis(1)));
        let hears = |what| assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok(what));
        // More than may be in flight.
        let starts = 1..IN_FLIGHT as u64 * 2;
        let ranges: Vec<_> = starts.map(|n| n * 10_000..(n + 1) * 10_000).collect();
        let large = remote.submit(ranges.clone());
        (0..IN_FLIGHT).for_each(|_| hears("asked"));
        remote.abandon(&[5000..9_000_000]);
        assert!(large.iter().all(|ticket| ticket.wait().is_err()));
        (0..IN_FLIGHT).for_each(|_| hears("dropped"));
        let more = remote.submit(vec![0..1000]);
        hears("asked");
        remote.abandon(&[1..1000]);
        assert!(!more[0].is_ready(), "not all of it is unwanted");
    }

    #[test]
    fn little_that_is_not_wanted_any_more_and_does_not_come_soon_is_ended_too() {
        let (told, heard) = mpsc::channel();
        let remote = Remote::new(Stuck(told), opened(Duration::from_millis(1)));
        let hears = |what| assert_eq!(heard.recv_timeout(Duration::from_secs(20)), Ok(what));
        let little = remote.submit(vec![0..1000]);
        hears("asked");
        remote.abandon(&[0..1000]);
        assert!(little[0].wait().is_err());
        hears("dropped");
    }

    /// How many requests bring one range. Servers that were read from before may have fewer places that are free.
    fn requests(server: &'static str, connections: usize, latency: u64, bytes: u64) -> usize {
        let (noting, asked) = noting(server, connections);
        let remote = Remote::new(noting, opened(Duration::from_millis(latency)));
        let range = std::iter::once(5..5 + bytes);
        for ticket in remote.submit(range.collect()) {
            assert_eq!(ticket.wait().unwrap().len() as u64, bytes);
        }
        asked.lock().unwrap().len()
    }

    #[test]
    fn over_an_ocean_a_large_range_comes_by_many_connections_while_they_are_new() {
        assert_eq!(requests("near", 64, 1, 140_000), 1);
        assert_eq!(requests("single", 1, 137, 140_000), 1);
        assert_eq!(requests("little", 64, 137, 10_000), 1);
        assert_eq!(requests("more", 64, 137, 140_000), 10);
        assert_eq!(requests("much", 64, 137, 9_000_000), 64);
    }
}
