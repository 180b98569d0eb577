//! Replicas that tell checksums: those that differ are left out, and what is read waits for no checksum.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::single_range_in_vec_init
)]

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use treemill_source::{Checksums, Costs, Info, Memory, Request, Source, SourceError, Ticket};
use treemill_transfer::replicas::{Opener, Replicas, Warn};

/// More than its ends, so that there are bytes between them that are not compared.
const SIZE: usize = 10_000;

/// A place of a file that tells a checksum, when the lock is free.
#[derive(Clone)]
struct Place {
    name: &'static str,
    told: Checksums,
    asked: Arc<AtomicUsize>,
    silence: Arc<Mutex<()>>,
}

impl Place {
    fn new(name: &'static str, known: &[(&str, &str)]) -> Self {
        let mut told = Checksums::default();
        known.iter().for_each(|(name, value)| told.add(name, value));
        Place {
            name,
            told,
            asked: Arc::default(),
            silence: Arc::default(),
        }
    }

    fn opener(&self) -> Opener {
        let place = self.clone();
        let open = move || -> Result<Arc<dyn Source>, SourceError> {
            let costs = Costs::far(Duration::from_millis(10));
            let bytes = Memory::new(place.name, vec![7; SIZE], costs);
            Ok(Arc::new(Telling(place.clone(), bytes)))
        };
        Opener {
            name: self.name.to_owned(),
            open: Box::new(open),
        }
    }
}

struct Telling(Place, Memory);

impl Source for Telling {
    fn info(&self) -> &Info {
        self.1.info()
    }
    fn costs(&self) -> Costs {
        self.1.costs()
    }
    fn checksums(&self) -> Checksums {
        let silence = self.0.silence.lock();
        self.0.asked.fetch_add(1, Ordering::SeqCst);
        drop(silence.unwrap_or_else(PoisonError::into_inner));
        self.0.told.clone()
    }
    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        self.1.read(requests)
    }
    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        self.1.submit(ranges)
    }
}

/// A file at these places, and what is warned of.
fn open(places: &[&Place]) -> (Replicas, Arc<Mutex<String>>) {
    let openers = places.iter().map(|place| place.opener()).collect();
    let warned = Arc::new(Mutex::new(String::new()));
    let place = Arc::clone(&warned);
    let warn: Warn = Box::new(move |text| text.clone_into(&mut place.lock().unwrap()));
    (Replicas::open("/f", openers, warn).unwrap(), warned)
}

fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        std::thread::yield_now(); // no event says it
    }
}

#[test]
fn equal_sizes_and_ends_do_not_hide_that_checksums_differ() {
    let one = Place::new("root://one//f", &[("adler32", "5"), ("md5", "no checksum")]);
    let two = Place::new("root://two//f", &[("ADLER32", "0000000C")]);
    let (file, warned) = open(&[&one, &two]);
    until(|| !warned.lock().unwrap().is_empty() || file.active().len() == 2);
    assert_eq!(
        *warned.lock().unwrap(),
        "/f: root://two//f is left out: its checksum adler32 is 0000000c there, and 00000005 at root://one//f"
    );
    assert_eq!(file.active(), ["root://one//f"]);
    assert_eq!(file.submit(vec![0..1])[0].wait().unwrap(), [7].as_slice());
}

#[test]
fn replicas_of_equal_checksums_are_read_as_well_as_those_that_tell_none() {
    for [one, two] in [
        [("adler32", "5"), ("Adler32", "AAAABQ==")],
        [("adler32", "5"), ("md5", "AAAAAAAAAAAAAAAAAAAAAA==")],
        [("adler32", "5"), ("", "")],
        [("", ""), ("adler32", "5")],
    ] {
        let (one, two) = (Place::new("one", &[one]), Place::new("two", &[two]));
        let (file, warned) = open(&[&one, &two]);
        until(|| file.active().len() == 2);
        assert_eq!(*warned.lock().unwrap(), "");
        assert_eq!(one.asked.load(Ordering::SeqCst), 1);
        assert_eq!(two.asked.load(Ordering::SeqCst), 1);
    }
}

#[test]
fn one_source_is_not_asked_for_checksums() {
    let one = Place::new("one", &[("adler32", "5")]);
    let (file, _) = open(&[&one]);
    assert!(file.submit(vec![0..10])[0].wait().is_ok());
    assert!(file.identity().is_some());
    assert_eq!(one.asked.load(Ordering::SeqCst), 0);
}

#[test]
fn the_first_source_is_read_while_it_does_not_tell_its_checksum() {
    let one = Place::new("one", &[("adler32", "5")]);
    let two = Place::new("two", &[("adler32", "6")]);
    let silence = one.silence.lock().unwrap();
    let (file, warned) = open(&[&one, &two]);
    until(|| two.asked.load(Ordering::SeqCst) > 0);
    assert!(file.submit(vec![0..10])[0].wait().is_ok());
    assert_eq!(
        file.active(),
        ["one"],
        "the second one waits to be compared"
    );
    drop(silence);
    until(|| !warned.lock().unwrap().is_empty() || file.active().len() == 2);
    assert_eq!(file.active(), ["one"]);
}
