//! Several connections for one file: a far connection brings few bytes at first, and may have a limit of its own. The
//! first one serves at once; others are opened after it if the file is large, or when much is asked for, or with it if
//! its server is new. What is asked for is shared out so that all connections are done at about the same time. Knows no
//! protocol.

mod deal;
mod pool;

use crate::limits::{CONNECTION_BYTES, CONNECTION_FILE, CONNECTION_PATIENCE, CONNECTION_WORTH};
pub(crate) use deal::others;
use deal::{cut, length, part_bytes};
pub(crate) use pool::Pool;
use std::ops::Range;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use treemill_source::{
    Checksums, Costs, Info, Request, Source, SourceError, Ticket, read_by_tickets,
};
use treemill_transfer::{Backlog, Owed, dealt, range_parts};

/// Opens the file once more, on the connection of this number. A server nearer than the round trip need not be asked: it
/// is not worth it.
pub(crate) type Opening = Arc<dyn Fn(usize, Duration) -> Opened + Send + Sync>;

/// The file on one more connection, once it is open: work for the process's runtime.
pub(crate) type Opened = Pin<Box<dyn Future<Output = Result<Arc<dyn Source>, SourceError>> + Send>>;

/// The same file, open on one connection, and the bytes of it that are on their way there.
#[derive(Clone)]
pub(crate) struct Connection {
    source: Arc<dyn Source>,
    busy: Arc<AtomicU64>,
}

impl Connection {
    fn new(source: Arc<dyn Source>) -> Self {
        let busy = Arc::default();
        Connection { source, busy }
    }

    /// The connection's load. Other files that it serves have a part in it, if it tells.
    fn load(&self) -> Backlog {
        let costs = self.source.costs();
        Backlog {
            busy: costs.due.max(self.busy.load(Ordering::Relaxed)),
            window: costs.window,
        }
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let lengths: Vec<u64> = ranges.iter().map(length).collect();
        let tickets = self.source.submit(ranges);
        for (bytes, ticket) in lengths.into_iter().zip(&tickets) {
            let owed = Owed::new(&self.busy, bytes);
            ticket.on_ready(move |_| drop(owed));
        }
        tickets
    }
}

/// A file on several connections of its server.
pub(crate) struct Connections {
    first: Connection,
    others: Arc<Pool>,
    /// How the others are opened, until they are.
    opening: Mutex<Option<Opening>>,
}

impl Connections {
    /// A file whose other connections are opened if and when they are worth it.
    pub(crate) fn new(first: Arc<dyn Source>, opening: Opening) -> Self {
        let connections = Connections {
            first: Connection::new(first),
            others: Arc::default(),
            opening: Mutex::new(Some(opening)),
        };
        // All of a packet is asked for at once, as soon as the file's description is read: connections must be open by then, if
        // it is not all on the disk.
        let is_kept = || {
            connections
                .identity()
                .is_some_and(|known| treemill_source::cache::keeps(&known))
        };
        if connections.size() >= CONNECTION_FILE && !is_kept() {
            connections.widen();
        }
        connections
    }

    /// A file whose other connections were begun with its first one. What is asked for first shall find them: those that
    /// are a little later are waited for.
    pub(crate) async fn begun(first: Arc<dyn Source>, others: Arc<Pool>, opening: Opening) -> Self {
        let round_trip = first.costs().round_trip;
        let is_far = round_trip >= treemill_transfer::FAR;
        others.settle(is_far.then_some(&*first));
        if is_far {
            let patience = round_trip
                .checked_div(CONNECTION_PATIENCE)
                .unwrap_or_default();
            others.wait(patience).await;
        }
        Connections {
            first: Connection::new(first),
            others,
            opening: Mutex::new((!is_far).then_some(opening)),
        }
    }

    /// Opens the other connections, if the server is far away and they are not open.
    fn widen(&self) {
        let round_trip = self.first.source.costs().round_trip;
        if round_trip < treemill_transfer::FAR {
            return;
        }
        let mut place = self.opening.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(opening) = place.take() else { return };
        self.others.settle(Some(&*self.first.source));
        self.others.open(others(round_trip), &opening);
    }

    fn connections(&self) -> Vec<Connection> {
        let mut connections = vec![self.first.clone()];
        connections.extend(self.others.connections());
        connections
    }
}

impl Source for Connections {
    fn info(&self) -> &Info {
        self.first.source.info()
    }

    fn costs(&self) -> Costs {
        let mut costs = self.first.source.costs();
        let others = self.others.connections();
        for connection in &others {
            let more = connection.source.costs();
            costs.window = costs.window.saturating_add(more.window);
            costs.due = costs.due.saturating_add(more.due);
            costs.is_lost &= more.is_lost;
            costs.bytes_per_second = match (costs.bytes_per_second, more.bytes_per_second) {
                (Some(one), Some(other)) => Some(one + other),
                (one, other) => one.or(other),
            };
        }
        if !others.is_empty() {
            costs.most_bytes = costs.most_bytes.min(CONNECTION_BYTES);
        }
        costs
    }

    fn server(&self) -> String {
        self.first.source.server()
    }

    fn checksums(&self) -> Checksums {
        self.first.source.checksums()
    }

    fn abandon(&self, ranges: &[Range<u64>]) {
        for connection in self.connections() {
            connection.source.abandon(ranges);
        }
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let all = ranges.iter().map(length).fold(0, u64::saturating_add);
        if all >= CONNECTION_WORTH {
            self.widen();
        }
        let connections = self.connections();
        if let [only] = connections.as_slice() {
            return only.submit(ranges);
        }
        // A large range comes in parts, so that no connection has it alone while the others have nothing to do.
        let loads: Vec<Backlog> = connections.iter().map(Connection::load).collect();
        let part = |range: &Range<u64>| match range.end <= self.size() {
            true => cut(range, part_bytes(range, all, &loads)),
            false => vec![range.clone()], // an error of its own
        };
        let parts: Vec<Vec<Range<u64>>> = ranges.iter().map(part).collect();
        let mut tickets = self.deal(&connections, loads, parts.concat()).into_iter();
        let whole = |(range, parts): (Range<u64>, Vec<Range<u64>>)| {
            let own: Vec<Ticket> = tickets.by_ref().take(parts.len()).collect();
            self.joined(range, parts, own)
        };
        ranges.into_iter().zip(parts).map(whole).collect()
    }
}

impl Connections {
    /// Asks for ranges, each on one connection.
    fn deal(
        &self,
        connections: &[Connection],
        loads: Vec<Backlog>,
        ranges: Vec<Range<u64>>,
    ) -> Vec<Ticket> {
        let places = dealt(&ranges, loads);
        let mut tickets: Vec<Option<Ticket>> = vec![None; ranges.len()];
        for (number, connection) in connections.iter().enumerate() {
            let own: Vec<usize> = (0..ranges.len())
                .filter(|&at| places.get(at) == Some(&number))
                .collect();
            let asked: Vec<_> = own
                .iter()
                .filter_map(|&at| ranges.get(at).cloned())
                .collect();
            if asked.is_empty() {
                continue;
            }
            for (at, ticket) in own.into_iter().zip(connection.submit(asked)) {
                if let Some(place) = tickets.get_mut(at) {
                    *place = Some(ticket);
                }
            }
        }
        let lost = || Ticket::ready(Err(SourceError::new(self.name(), "the range was not sent")));
        tickets
            .into_iter()
            .map(|ticket| ticket.unwrap_or_else(lost))
            .collect()
    }

    /// One ticket for a range that comes in these parts, which were asked for.
    fn joined(&self, range: Range<u64>, parts: Vec<Range<u64>>, asked: Vec<Ticket>) -> Ticket {
        if let [only] = asked.as_slice() {
            return only.clone();
        }
        let (ticket, promise) = Ticket::new(self.name(), range.clone());
        for (part, ticket) in range_parts(range, parts, promise).into_iter().zip(asked) {
            ticket.on_ready(move |answer| part.keep(answer));
        }
        ticket
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod tests {
    use super::*;
    use crate::limits::MOST_CONNECTIONS;
    use std::future::ready;
    use std::sync::mpsc::channel;
    use treemill_source::Memory;

    pub(crate) fn done<T>(work: impl Future<Output = T>) -> T {
        treemill_transfer::wait(async { Ok::<_, treemill_transfer::Trouble>(work.await) }).unwrap()
    }

    const FAR: Costs = Costs::far(Duration::from_millis(137));

    fn memory(bytes: usize) -> Arc<dyn Source> {
        let bytes = (0..bytes).map(|at| (at % 251) as u8).collect();
        Arc::new(Memory::new("m", bytes, FAR))
    }

    fn megabytes(count: u64) -> Vec<Range<u64>> {
        (0..count).map(|i| i << 20..(i + 1) << 20).collect()
    }

    /// Connections of a file, and the numbers of those that were opened.
    fn connections(sizes: &'static [usize]) -> (Connections, std::sync::mpsc::Receiver<usize>) {
        let (sender, opened) = channel();
        let opening: Opening = Arc::new(move |number, _| {
            let made = sizes.get(number - 1).map(|&size| memory(size));
            sender.send(number).unwrap();
            let opened = made.ok_or_else(|| SourceError::new("m", "no more connections"));
            Box::pin(ready(opened))
        });
        (Connections::new(memory(16 << 20), opening), opened)
    }

    #[test]
    fn much_is_shared_out_and_comes_as_asked() {
        let (connections, opened) = connections(&[16 << 20, 16 << 20, 16 << 20]);
        for ticket in connections.submit(megabytes(2)) {
            ticket.wait().unwrap();
        }
        let mut numbers: Vec<usize> = opened.iter().take(MOST_CONNECTIONS - 1).collect();
        numbers.sort_unstable();
        assert_eq!(numbers, (1..MOST_CONNECTIONS).collect::<Vec<_>>());
        let tickets = connections.submit(megabytes(16));
        for (range, ticket) in megabytes(16).into_iter().zip(tickets) {
            let bytes = ticket.wait().unwrap();
            assert_eq!(u64::from(bytes[0]), range.start % 251);
            assert_eq!(bytes.len(), 1 << 20);
        }
        assert!(
            connections
                .connections()
                .iter()
                .all(|connection| connection.busy.load(Ordering::Relaxed) == 0)
        );
    }

    #[test]
    fn connections_that_were_begun_with_a_file_serve_its_first_bytes() {
        let opening: Opening = Arc::new(|_, _| Box::pin(ready(Ok(memory(1 << 20)))));
        let pool = Arc::new(Pool::default());
        pool.open(others(FAR.round_trip), &opening);
        let connections = done(async {
            pool.wait(Duration::MAX).await;
            Connections::begun(memory(1 << 20), pool, opening).await
        });
        assert_eq!(
            connections.costs().window,
            MOST_CONNECTIONS as u64 * FAR.window
        );
        let tickets = connections.submit(std::iter::once(0..64 << 10).collect());
        let parts = connections.connections().len();
        assert_eq!(parts, MOST_CONNECTIONS);
        assert_eq!(tickets[0].wait().unwrap().len(), 64 << 10);
    }

    #[test]
    fn other_files_and_refusals_are_left_out() {
        let (connections, opened) = connections(&[5]);
        connections.submit(megabytes(2));
        assert_eq!(
            opened.iter().take(MOST_CONNECTIONS - 1).count(),
            MOST_CONNECTIONS - 1
        );
        drop(opened);
        let mut request = [Request::new(0..100)];
        connections.read(&mut request).unwrap();
        assert_eq!(request[0].buffer.len(), 100);
        assert!(connections.costs().round_trip > Duration::ZERO);
    }

    /// The first connection of the file has much to bring for other files.
    #[test]
    fn a_connection_that_other_files_keep_busy_is_left_to_them() {
        let file = |due| -> Arc<dyn Source> {
            let costs = Costs { due, ..FAR };
            Arc::new(Memory::new("m", vec![1; 16 << 20], costs))
        };
        let connections = Connections::new(
            file(8 << 20),
            Arc::new(move |_, _| Box::pin(ready(Ok(file(0))))),
        );
        connections.widen();
        done(connections.others.wait(Duration::MAX));
        assert_eq!(connections.costs().due, 8 << 20);
        let loads: Vec<Backlog> = connections
            .connections()
            .iter()
            .map(Connection::load)
            .collect();
        let places = dealt(&megabytes(7), loads);
        assert!(!places.contains(&0), "{places:?}");
    }

    #[test]
    fn a_file_is_lost_when_all_of_its_connections_are() {
        let file = |is_lost| -> Arc<dyn Source> {
            let costs = Costs { is_lost, ..FAR };
            Arc::new(Memory::new("m", vec![1; 16 << 20], costs))
        };
        for (first, others) in [(true, true), (true, false), (false, true), (false, false)] {
            let opening: Opening = Arc::new(move |_, _| Box::pin(ready(Ok(file(others)))));
            let connections = Connections::new(file(first), opening);
            connections.widen();
            done(connections.others.wait(Duration::MAX));
            assert_eq!(connections.costs().is_lost, first && others);
        }
    }

    #[test]
    fn little_is_asked_for_by_one_connection() {
        let (connections, opened) = connections(&[]);
        connections.submit(std::iter::once(0..1000).collect());
        assert!(opened.try_recv().is_err());
    }

    #[test]
    fn a_large_range_comes_in_parts_and_whole() {
        let (connections, opened) = connections(&[16 << 20, 16 << 20, 16 << 20]);
        for ticket in connections.submit(megabytes(2)) {
            ticket.wait().unwrap();
        }
        assert_eq!(
            opened.iter().take(MOST_CONNECTIONS - 1).count(),
            MOST_CONNECTIONS - 1
        );
        let asked = [7..5_000_000, 0..0, 12_000_000..12_000_001];
        for (range, ticket) in asked
            .clone()
            .into_iter()
            .zip(connections.submit(asked.into()))
        {
            let expected: Vec<u8> = range.map(|at| (at % 251) as u8).collect();
            assert!(ticket.wait().unwrap() == expected.as_slice());
        }
        let beyond = connections.submit(vec![0..(16 << 20) + 1, 0..u64::MAX, 0..5]);
        assert_eq!(beyond[0].wait().unwrap_err().range, Some(0..(16 << 20) + 1));
        assert_eq!(beyond[1].wait().unwrap_err().range, Some(0..u64::MAX));
        beyond[2].wait().unwrap();
    }

    /// Breaks off after half of its bytes.
    struct Half(Memory);

    impl Source for Half {
        treemill_source::described_by!(self => self.0);

        fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
            read_by_tickets(self, requests)
        }

        fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
            let broken = |range: &Range<u64>| SourceError {
                range: Some(range.clone()),
                ..SourceError::new("m", "it broke off")
            };
            let one = |range: Range<u64>| match range.end > self.size() / 2 {
                true => Ticket::ready(Err(broken(&range))),
                false => self.0.submit(vec![range]).remove(0),
            };
            ranges.into_iter().map(one).collect()
        }
    }

    #[test]
    fn an_error_names_the_range_that_was_asked_for() {
        let half =
            || -> Arc<dyn Source> { Arc::new(Half(Memory::new("m", vec![0; 16 << 20], FAR))) };
        let connections =
            Connections::new(half(), Arc::new(move |_, _| Box::pin(ready(Ok(half())))));
        connections.submit(megabytes(2));
        done(connections.others.wait(Duration::MAX));
        assert_eq!(connections.connections().len(), MOST_CONNECTIONS);
        let asked = 7..16 << 20;
        let ticket = connections.submit(vec![asked.clone()]).remove(0);
        assert_eq!(ticket.wait().unwrap_err().range, Some(asked));
    }
}
