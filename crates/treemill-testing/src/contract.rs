//! What every source promises, as a test that any of them can be put through: what it says of itself, ranges of all kinds by both
//! ways of reading, what lies beyond its end, threads that share it, tickets that outlive it, and errors when bytes cannot
//! be had. Knows no kind of source.

use std::ops::Range;
use std::sync::{Arc, mpsc::channel};
use treemill_source::{Request, Source, SourceError, Ticket};

/// Small ranges of one submission, of a file that is large enough: more than a server takes in one request.
const MANY: u64 = 1500;
/// Bytes of a file for each of them.
const APART: u64 = 2000;
/// Threads that read at once.
const THREADS: u64 = 8;

/// Panics unless what `open` opens keeps the promises of [`Source`] for a file of these bytes.
///
/// ```
/// use std::sync::Arc;
/// use treemill_source::{Costs, Memory};
///
/// let bytes = b"0123456789".to_vec();
/// let open = || Arc::new(Memory::new("ten bytes", bytes.clone(), Costs::NEAR)) as _;
/// treemill_testing::contract::holds(open, &bytes);
/// ```
pub fn holds(open: impl Fn() -> Arc<dyn Source>, bytes: &[u8]) {
    let source = open();
    says_what_it_is(&*source, bytes);
    reads(&*source, bytes);
    refuses_what_lies_beyond_its_end(&*source, bytes);
    is_shared_by_threads(&*source, bytes);
    says_what_it_is(&*source, bytes);
    let identities = [source.identity(), open().identity()];
    if let [Some(first), Some(again)] = identities {
        assert_eq!(first, again, "the file is the same");
    }
    its_tickets_outlive_it(source, bytes);
}

/// Panics unless all ranges of a file of these bytes come as they are, by tickets and by vectored reads, whatever their
/// order. Part of [`holds`], and by itself for a source whose server was gone for a while.
pub fn reads(source: &dyn Source, bytes: &[u8]) {
    let ranges = ranges(bytes.len() as u64);
    let tickets = source.submit(ranges.clone());
    assert_eq!(tickets.len(), ranges.len(), "a ticket for each range");
    for (range, ticket) in ranges.iter().zip(&tickets) {
        let answer = ticket.wait();
        let found = answer.unwrap_or_else(|error| panic!("{range:?}: {error}"));
        assert!(found == part(bytes, range), "{range:?} by a ticket");
    }
    // Buffers that have been used for something longer and for something shorter.
    let used = |(number, range): (usize, &Range<u64>)| Request {
        range: range.clone(),
        buffer: vec![0xAA; number % 3 * 1000],
    };
    let mut requests: Vec<Request> = ranges.iter().enumerate().map(used).collect();
    let done = source.read(&mut requests);
    done.unwrap_or_else(|error| panic!("{error}"));
    for Request { range, buffer } in &requests {
        assert!(buffer == part(bytes, range), "{range:?} by a vectored read");
    }
    assert!(source.submit(Vec::new()).is_empty(), "nothing is asked for");
    assert!(source.read(&mut []).is_ok(), "nothing is asked for");
}

/// Panics unless each of these ranges, whose bytes cannot be had, is an error of its own that names the file and the range,
/// by tickets and by vectored reads, for all that wait. It returns, since sources see to it that an answer comes. Gives
/// the errors, for what else they must say.
pub fn fails(source: &dyn Source, ranges: &[Range<u64>]) -> Vec<SourceError> {
    let tickets = source.submit(ranges.to_vec());
    // At once: a server may be waited for by each.
    let mut errors: Vec<SourceError> = std::thread::scope(|scope| {
        let one = |range: &Range<u64>| {
            let range = range.clone();
            scope.spawn(move || failure(source.read(&mut [Request::new(range.clone())]), &range))
        };
        let reads: Vec<_> = ranges.iter().map(one).collect();
        let joined = reads.into_iter().map(|read| read.join());
        joined.map(|error| error.expect("the range came")).collect()
    });
    for (range, ticket) in ranges.iter().zip(tickets) {
        let (sender, receiver) = channel();
        ticket.on_ready(move |answer| drop(sender.send(answer)));
        let error = failure(ticket.wait(), range);
        let told = receiver.recv();
        let told = failure(
            told.unwrap_or_else(|_| panic!("{range:?}: not told")),
            range,
        );
        assert_eq!(told, error, "{range:?}: all that wait get the same");
        errors.push(error);
    }
    for (error, range) in errors.iter().zip(ranges.iter().chain(ranges)) {
        assert_names(error, source, range);
    }
    errors
}

fn failure<T>(answer: Result<T, SourceError>, range: &Range<u64>) -> SourceError {
    match answer {
        Ok(_) => panic!("{range:?} came"),
        Err(error) => error,
    }
}

fn assert_names(error: &SourceError, source: &dyn Source, range: &Range<u64>) {
    assert_eq!(error.name, source.name(), "{error}");
    assert_eq!(error.range.as_ref(), Some(range), "{error}");
    assert!(!error.what.is_empty(), "{range:?}: no reason is given");
}

fn part<'a>(bytes: &'a [u8], range: &Range<u64>) -> &'a [u8] {
    let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
    let found = bytes.get(place(range.start)..place(range.end));
    found.unwrap_or_else(|| panic!("{range:?} is not within the file"))
}

/// Ranges of a file: empty ones, its edges, all of it, the same twice, overlapping ones, the last first, and many.
fn ranges(size: u64) -> Vec<Range<u64>> {
    let at = |eighths: u64| size / 8 * eighths;
    let edge = size.min(1);
    let few = [
        0..0,
        size..size,
        at(3)..at(3),
        size - edge..size,
        0..edge,
        0..size,
        at(5)..at(7),
        at(4)..at(6),
        at(1)..at(2),
        at(1)..at(2),
        edge..size,
    ];
    let count = MANY.min(size.div_ceil(APART));
    let apart = (size / count.max(1)).max(1);
    let many = (0..count).map(|number| {
        let start = number * apart;
        start..(start + 1 + number % apart.min(300)).min(size)
    });
    few.into_iter().chain(many).collect()
}

fn says_what_it_is(source: &dyn Source, bytes: &[u8]) {
    assert_eq!(source.size(), bytes.len() as u64);
    let (name, server) = (source.name(), source.server());
    assert!(!name.is_empty() && !server.is_empty());
    for said in [name, &server] {
        assert!(!said.contains(['@', '?']), "{said}: may hold credentials");
    }
    let costs = source.costs();
    let speed = costs.bytes_per_second;
    assert!(costs.most_bytes > 0 && speed.is_none_or(|speed| speed > 0.0));
    if let Some(identity) = source.identity() {
        assert_eq!(identity.size, source.size());
    }
}

/// Each range that lies beyond the end is an error of its own; the others of the same submission come.
fn refuses_what_lies_beyond_its_end(source: &dyn Source, bytes: &[u8]) {
    let size = source.size();
    #[allow(clippy::reversed_empty_ranges)] // one that ends before it starts
    let beyond = [
        0..size + 1,
        size..size + 1,
        1..0,
        size + 9..size + 9,
        0..u64::MAX,
    ];
    let within = 0..size.min(100);
    let both = beyond
        .iter()
        .flat_map(|range| [within.clone(), range.clone()]);
    let tickets = source.submit(both.collect());
    for (pair, range) in tickets.chunks(2).zip(&beyond) {
        let [here, nowhere] = pair else {
            panic!("a ticket for each range");
        };
        let found = here.wait();
        assert!(found.is_ok_and(|found| found == part(bytes, &within)));
        let error = failure(nowhere.wait(), range);
        assert!(!error.is_transient() && !error.is_missing(), "{error:?}");
    }
    for error in fails(source, &beyond) {
        assert!(error.to_string().contains(&size.to_string()), "{error}");
    }
    let mut requests = [Request::new(within), Request::new(size..size + 1)];
    let error = failure(source.read(&mut requests), &(size..size + 1));
    assert_eq!(error.range, Some(size..size + 1), "{error}");
}

fn is_shared_by_threads(source: &dyn Source, bytes: &[u8]) {
    let size = source.size();
    let each = (size / THREADS).max(1);
    std::thread::scope(|scope| {
        for number in 0..THREADS {
            let start = (number * each).min(size);
            let own = start..(start + each).min(size);
            scope.spawn(move || {
                let tickets = source.submit(vec![own.clone(), 0..size.min(7), own.clone()]);
                for ticket in [&tickets[2], &tickets[0]] {
                    let found = ticket.wait();
                    assert!(found.is_ok_and(|found| found == part(bytes, &own)));
                }
                let mut request = [Request::new(own.clone())];
                assert!(source.read(&mut request).is_ok());
                assert!(request[0].buffer == part(bytes, &own));
            });
        }
    });
}

fn its_tickets_outlive_it(source: Arc<dyn Source>, bytes: &[u8]) {
    let all = 0..source.size();
    let tickets: Vec<Ticket> = source.submit(vec![all.clone(), 0..all.end.min(1)]);
    drop(source);
    for (range, ticket) in [all.clone(), 0..all.end.min(1)].iter().zip(tickets) {
        let found = ticket.wait();
        assert!(
            found.is_ok_and(|found| found == part(bytes, range)),
            "{range:?}"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FAR, FarSource, Watched};
    use treemill_source::{Bytes, Costs, Info, Memory, read_by_tickets};

    fn bytes() -> Vec<u8> {
        (0..100_000_u32).map(|at| (at % 251) as u8).collect()
    }

    #[test]
    fn sources_of_tests_keep_the_contract() {
        let memory = || Memory::new("m", bytes(), FAR);
        holds(|| Arc::new(Watched::new(memory())), &bytes());
        holds(|| Arc::new(FarSource::new(bytes(), FAR)), &bytes());
        holds(|| Arc::new(Memory::new("m", Vec::new(), FAR)), &[]);
    }

    /// A source that does one thing wrong.
    #[derive(Clone, Copy)]
    enum Wrong {
        Size,
        Name,
        Order,
        Short,
        Beyond,
        Unnamed,
        AllOrNothing,
        Mute,
    }

    struct Broken(Wrong, Memory, Info);

    impl Broken {
        fn new(wrong: Wrong) -> Self {
            let name = match wrong {
                Wrong::Name => "root://me:secret@host//f",
                _ => "m",
            };
            let bytes = bytes();
            let size = bytes.len() as u64 + u64::from(matches!(wrong, Wrong::Size));
            let info = Info::new(name, size);
            Broken(wrong, Memory::new("m", bytes, FAR), info)
        }
    }

    impl Source for Broken {
        fn info(&self) -> &Info {
            &self.2
        }

        fn costs(&self) -> Costs {
            FAR
        }

        fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
            match self.0 {
                Wrong::Mute => Ok(()),
                _ => read_by_tickets(self, requests),
            }
        }

        fn submit(&self, mut ranges: Vec<Range<u64>>) -> Vec<Ticket> {
            match self.0 {
                Wrong::Order => ranges.sort_by_key(|range| range.start),
                Wrong::Short => ranges
                    .iter_mut()
                    .for_each(|r| r.end = r.end.min(r.start + 9000)),
                Wrong::Beyond => ranges
                    .iter_mut()
                    .for_each(|r| r.end = r.end.min(self.1.size())),
                _ => {}
            }
            let all = self.1.submit(ranges.clone());
            let fails = all.iter().any(|ticket| ticket.wait().is_err());
            match self.0 {
                Wrong::AllOrNothing if fails => {
                    let error = |range: &Range<u64>| SourceError {
                        range: Some(range.clone()),
                        ..SourceError::new(self.name(), "one has failed")
                    };
                    ranges
                        .iter()
                        .map(|range| Ticket::ready(Err(error(range))))
                        .collect()
                }
                Wrong::Unnamed if fails => {
                    let answer = |ticket: &Ticket| -> Result<Bytes, SourceError> {
                        ticket
                            .wait()
                            .map_err(|_| SourceError::new("a file", "it has failed"))
                    };
                    all.iter()
                        .map(|ticket| Ticket::ready(answer(ticket)))
                        .collect()
                }
                _ => all,
            }
        }
    }

    #[test]
    fn sources_that_break_it_are_found() {
        for wrong in [
            Wrong::Size,
            Wrong::Name,
            Wrong::Order,
            Wrong::Short,
            Wrong::Beyond,
            Wrong::Unnamed,
            Wrong::AllOrNothing,
            Wrong::Mute,
        ] {
            let open = move || -> Arc<dyn Source> { Arc::new(Broken::new(wrong)) };
            let found = std::panic::catch_unwind(|| holds(open, &bytes()));
            assert!(found.is_err(), "{}", wrong as u8);
        }
    }
}
