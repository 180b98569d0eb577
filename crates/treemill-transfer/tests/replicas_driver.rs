//! Replicas that are scripted to answer, to fail or to be silent.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::single_range_in_vec_init,
    clippy::cast_possible_truncation
)]

use std::ops::Range;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use treemill_source::{
    Bytes, Costs, Info, Promise, Request, Source, SourceError, Ticket, read_by_tickets,
};
use treemill_testing::contract::{fails, holds, reads};
use treemill_transfer::replicas::{Opener, Replicas, Warn};

const ANSWERS: u8 = 0;
const FAILS: u8 = 1;
const IS_SILENT: u8 = 2;

/// A place of a file: what it does can be changed while it is read.
#[derive(Clone)]
struct Place {
    name: &'static str,
    info: Info,
    bytes: Bytes,
    way: Arc<AtomicU8>,
    asked: Arc<AtomicUsize>,
    held: Arc<Mutex<Vec<Promise>>>,
    speed: Option<f64>,
}

impl Place {
    fn new(name: &'static str, bytes: &[u8]) -> Self {
        Place {
            name,
            info: Info::new(name, bytes.len() as u64),
            bytes: Bytes::copy_from_slice(bytes),
            way: Arc::default(),
            asked: Arc::default(),
            held: Arc::default(),
            speed: Some(10e6),
        }
    }

    fn now(&self, way: u8) {
        self.way.store(way, Ordering::SeqCst);
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    fn opener(&self) -> Opener {
        let place = self.clone();
        let open = move || -> Result<Arc<dyn Source>, SourceError> {
            match place.way.load(Ordering::SeqCst) {
                FAILS => Err(SourceError::new(place.name, "connection refused")),
                _ => Ok(Arc::new(place.clone())),
            }
        };
        Opener {
            name: self.name.to_owned(),
            open: Box::new(open),
        }
    }
}

impl Source for Place {
    fn info(&self) -> &Info {
        &self.info
    }
    fn costs(&self) -> Costs {
        Costs {
            bytes_per_second: self.speed,
            ..Costs::far(Duration::from_millis(if self.name == "one" {
                10
            } else {
                20
            }))
        }
    }
    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }
    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let one = |range: Range<u64>| {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let (ticket, promise) = Ticket::new(self.name, range.clone());
            match self.way.load(Ordering::SeqCst) {
                IS_SILENT => self.held.lock().unwrap().push(promise),
                FAILS => promise.keep(Err(SourceError {
                    range: Some(range),
                    ..SourceError::new(self.name, "connection lost")
                })),
                _ => promise.keep(Ok(self
                    .bytes
                    .slice(range.start as usize..range.end as usize))),
            }
            ticket
        };
        ranges.into_iter().map(one).collect()
    }
}

fn quiet() -> Warn {
    Box::new(|message| panic!("{message}"))
}

fn content() -> Vec<u8> {
    (0..3_000_000_u32)
        .map(|i| (i.wrapping_mul(i) >> 8) as u8)
        .collect()
}

fn open(places: &[&Place]) -> Replicas {
    let openers = places.iter().map(|place| place.opener()).collect();
    Replicas::open("/store/file.root", openers, quiet()).unwrap()
}

/// Waits until this number of sources is read from. Polls, because no event says it.
fn until_active(file: &Replicas, count: usize) {
    while file.active().len() != count {
        std::thread::yield_now();
    }
}

fn check(file: &Replicas, bytes: &[u8]) {
    let ranges = vec![0..2_500_000, 5..6, 100..70_000, 2_999_000..3_000_000];
    for (range, ticket) in ranges.clone().into_iter().zip(file.submit(ranges)) {
        let expected = &bytes[range.start as usize..range.end as usize];
        assert!(ticket.wait().unwrap() == expected, "{range:?}");
    }
}

#[test]
fn two_places_are_read_from_at_once() {
    let bytes = content();
    let (one, two) = (Place::new("one", &bytes), Place::new("two", &bytes));
    let file = open(&[&one, &two]);
    until_active(&file, 2);
    assert_eq!(file.active(), ["one", "two"]);
    let before = (one.asked(), two.asked());
    check(&file, &bytes);
    assert!(one.asked() > before.0 && two.asked() > before.1);
    let costs = file.costs();
    assert_eq!(costs.bytes_per_second, Some(20e6));
    assert_eq!(costs.round_trip, Duration::from_millis(20));
}

/// Who asks which file it is waits for no server: it is known when the file is open.
#[test]
fn a_file_is_known_by_its_bytes_from_the_time_it_is_open() {
    let bytes = content();
    let (one, other) = (Place::new("one", &bytes), Place::new("one", &bytes[1..]));
    let file = open(&[&one]);
    let asked = one.asked();
    one.now(IS_SILENT);
    assert_eq!(file.info(), open(&[&Place::new("two", &bytes)]).info());
    assert_eq!((file.name(), file.size()), ("/store/file.root", 3_000_000));
    assert!(file.identity().is_some() && one.asked() == asked);
    assert_ne!(file.identity(), open(&[&other]).identity());
}

#[test]
fn it_keeps_the_contract_of_sources() {
    let bytes = content();
    let (one, two) = (Place::new("one", &bytes), Place::new("two", &bytes));
    let both = || -> Arc<dyn Source> {
        let file = open(&[&one, &two]);
        until_active(&file, 2);
        Arc::new(file)
    };
    holds(both, &bytes);
    holds(|| Arc::new(around(&one, &[&two], quiet())), &bytes);
    let file = both();
    one.now(FAILS);
    two.now(FAILS);
    for error in fails(&*file, &[0..10, 5..2_500_000]) {
        let text = error.to_string();
        assert!(text.contains("one: ") && text.contains("two: "), "{text}");
    }
    one.now(ANSWERS);
    two.now(ANSWERS);
    reads(&*file, &bytes);
}

#[test]
fn what_one_fails_another_answers() {
    let bytes = content();
    let (one, two) = (Place::new("one", &bytes), Place::new("two", &bytes));
    let file = open(&[&one, &two]);
    until_active(&file, 2);
    one.now(FAILS);
    check(&file, &bytes);
    assert_eq!(file.active(), ["two"]);
}

#[test]
fn a_third_one_is_opened_when_both_fail() {
    let bytes = content();
    let [one, two, three] = ["one", "two", "three"].map(|name| Place::new(name, &bytes));
    let file = open(&[&one, &two, &three]);
    until_active(&file, 2);
    assert_eq!(three.asked(), 0);
    one.now(FAILS);
    two.now(FAILS);
    check(&file, &bytes);
    assert!(file.active().contains(&"three".to_owned()));
}

#[test]
fn what_is_late_is_asked_for_elsewhere_and_the_first_answer_counts() {
    let bytes = content();
    let (one, two) = (Place::new("one", &bytes), Place::new("two", &bytes));
    let file = open(&[&one, &two]);
    until_active(&file, 2);
    one.now(IS_SILENT);
    check(&file, &bytes);
    let held: Vec<Promise> = one.held.lock().unwrap().drain(..).collect();
    assert!(!held.is_empty());
    for promise in held {
        promise.keep(Ok(Bytes::from_static(b"too late"))); // changes nothing
    }
    one.now(ANSWERS);
    check(&file, &bytes);
}

#[test]
fn when_all_have_failed_the_error_names_file_range_and_each_place() {
    let bytes = content();
    let (one, two) = (Place::new("one", &bytes), Place::new("two", &bytes));
    let file = open(&[&one, &two]);
    until_active(&file, 2);
    one.now(FAILS);
    two.now(FAILS);
    let error = file.submit(vec![10..20])[0].wait().unwrap_err();
    let text = error.to_string();
    for part in ["/store/file.root", "one: conn", "two: conn", "10..20"] {
        assert!(text.contains(part), "{text}");
    }
    assert_eq!(text.matches("reading bytes").count(), 1, "{text}");
    one.now(ANSWERS);
    two.now(ANSWERS);
    check(&file, &bytes);
}

#[test]
fn if_none_can_be_opened_the_error_names_each() {
    let (one, two) = (Place::new("one", b"1"), Place::new("two", b"1"));
    one.now(FAILS);
    two.now(FAILS);
    let openers = vec![one.opener(), two.opener()];
    let error = Replicas::open("/f", openers, quiet()).err().unwrap();
    let text = error.to_string();
    assert!(text.starts_with("/f: no replica") && text.contains("one") && text.contains("two"));
    let error = Replicas::open("/f", Vec::new(), quiet()).err().unwrap();
    assert!(error.to_string().contains("no replica is named"), "{error}");
}

#[test]
fn a_place_that_is_silent_when_it_is_opened_is_not_waited_for() {
    let bytes = content();
    let (until, over) = std::sync::mpsc::channel::<()>();
    let over = Mutex::new(over);
    let open = move || -> Result<Arc<dyn Source>, SourceError> {
        over.lock().unwrap().recv().ok(); // until the test ends
        Err(SourceError::new("silent", "gone"))
    };
    let silent = Opener {
        name: "silent".to_owned(),
        open: Box::new(open),
    };
    let openers = vec![silent, Place::new("two", &bytes).opener()];
    let file = Replicas::open("/f", openers, quiet()).unwrap();
    assert_eq!(file.active(), ["two"]);
    check(&file, &bytes);
    drop(until);
}

#[test]
fn another_file_is_left_out_with_a_warning_that_names_it() {
    let bytes = content();
    let mut changed = bytes.clone();
    changed[3] ^= 1;
    for other in [
        Place::new("other", &changed),
        Place::new("other", &bytes[..100]),
    ] {
        let (one, warned) = (
            Place::new("one", &bytes),
            Arc::new(Mutex::new(String::new())),
        );
        let place = Arc::clone(&warned);
        let warn: Warn = Box::new(move |text| text.clone_into(&mut place.lock().unwrap()));
        let openers = vec![one.opener(), other.opener()];
        let file = Replicas::open("/f", openers, warn).unwrap();
        while warned.lock().unwrap().is_empty() {
            std::thread::yield_now();
        }
        let text = warned.lock().unwrap().clone();
        assert!(text.contains("/f: other is left out"), "{text}");
        assert_eq!(file.active(), ["one"]);
        check(&file, &bytes);
        one.now(FAILS);
        let error = file.submit(vec![0..1])[0].wait().unwrap_err();
        assert!(error.to_string().contains("other"), "{error}");
    }
}

#[test]
fn the_identity_is_the_same_wherever_the_file_was_opened() {
    let bytes = content();
    let (one, two) = (Place::new("one", &bytes), Place::new("two", &bytes));
    let identity = |places: &[&Place]| open(places).identity().unwrap();
    let first = identity(&[&one, &two]);
    assert_eq!(first, identity(&[&two, &one]));
    let mut changed = bytes;
    changed[3] ^= 1;
    assert_ne!(first, identity(&[&Place::new("one", &changed)]));
}

#[test]
fn ranges_outside_of_the_file_and_empty_ones_ask_no_source() {
    let one = Place::new("one", &content());
    let file = open(&[&one]);
    let before = one.asked();
    let tickets = file.submit(vec![5..5, 0..u64::MAX]);
    assert_eq!(tickets[0].wait().unwrap(), "");
    assert!(
        tickets[1]
            .wait()
            .unwrap_err()
            .to_string()
            .contains("3000000 bytes")
    );
    assert_eq!(one.asked(), before);
}

/// A file that is open at `one`, and what a search for others finds.
fn around(one: &Place, others: &[&Place], warn: Warn) -> Replicas {
    let others: Vec<Place> = others.iter().map(|&place| place.clone()).collect();
    let finder = move || others.iter().map(Place::opener).collect();
    Replicas::around(Arc::new(one.clone()), one.opener(), Box::new(finder), warn)
}

#[test]
fn as_long_as_all_is_well_nothing_is_asked_that_the_reader_does_not_want() {
    let bytes = content();
    let (one, two) = (Place::new("one", &bytes), Place::new("two", &bytes));
    let file = around(&one, &[&two], quiet());
    assert_eq!((one.asked(), file.active()), (0, vec!["one".to_owned()]));
    check(&file, &bytes);
    let first = one.asked();
    check(&file, &bytes);
    // Once the bytes in which others must agree.
    assert_eq!((one.asked(), two.asked()), (2 * first - 2, 0));
}

#[test]
fn a_file_whose_server_fails_is_found_elsewhere() {
    let bytes = content();
    let (one, two) = (Place::new("one", &bytes), Place::new("two", &bytes));
    let file = around(&one, &[&two], quiet());
    check(&file, &bytes);
    one.now(FAILS);
    check(&file, &bytes);
    assert!(file.active().contains(&"two".to_owned()));
    assert_eq!(file.name(), "one");
}

#[test]
fn a_file_whose_server_is_silent_is_found_elsewhere() {
    let bytes = content();
    let (one, two) = (Place::new("one", &bytes), Place::new("two", &bytes));
    let file = around(&one, &[&two], quiet());
    check(&file, &bytes);
    one.now(IS_SILENT);
    check(&file, &bytes);
    assert!(two.asked() > 4);
}

#[test]
fn what_is_found_and_is_another_file_or_cannot_be_compared_is_not_read() {
    let bytes = content();
    let mut changed = bytes.clone();
    *changed.last_mut().unwrap() ^= 1;
    for other in [
        Place::new("other", &changed),
        Place::new("other", &bytes[..100]),
    ] {
        let one = Place::new("one", &bytes);
        let file = around(&one, &[&other], Box::new(|_| {}));
        check(&file, &bytes);
        one.now(FAILS);
        let error = file.submit(vec![0..1])[0].wait().unwrap_err();
        assert!(error.to_string().contains("other: it"), "{error}");
    }
    let (one, two) = (Place::new("one", &bytes), Place::new("two", &bytes));
    let file = around(&one, &[&two], quiet());
    one.now(FAILS);
    let error = file.submit(vec![0..1])[0].wait().unwrap_err();
    assert!(error.to_string().contains("cannot be compared"), "{error}");
}

#[test]
fn if_nothing_is_found_the_error_is_the_servers() {
    let bytes = content();
    let one = Place::new("one", &bytes);
    let file = around(&one, &[], quiet());
    one.now(FAILS);
    let error = file.submit(vec![0..1])[0].wait().unwrap_err();
    assert!(error.to_string().contains("connection lost"), "{error}");
    one.now(ANSWERS);
    check(&file, &bytes);
}
