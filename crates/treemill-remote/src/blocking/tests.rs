//! Readers that answer, fail, give too little, or are silent until the test ends.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init
)]

use super::batches::allowed;
use super::*;
use crate::limits::{BATCH_BYTES, BATCH_RANGES, PATIENCE};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};
use treemill_testing::contract::{fails, holds, reads};

const ANSWERS: u8 = 0;
const FAILS: u8 = 1;
const GIVES_LITTLE: u8 = 2;
const IS_SILENT: u8 = 3;

#[derive(Clone, Default)]
struct Script {
    bytes: Bytes,
    way: Arc<AtomicU8>,
    calls: Arc<AtomicUsize>,
    is_over: Arc<(Mutex<bool>, Condvar)>,
    has_begun: Arc<AtomicBool>,
}

impl Script {
    fn new(size: usize) -> Self {
        let bytes: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
        Script {
            bytes: bytes.into(),
            ..Script::default()
        }
    }

    fn now(&self, way: u8) {
        self.way.store(way, Ordering::SeqCst);
    }

    fn file(&self, at_once: usize, patience: Duration) -> Arc<dyn Source> {
        let file = BlockingFile {
            info: Info::new("script://host/f", self.bytes.len() as u64),
            costs: Costs::far(Duration::from_millis(1)),
            at_once,
            patience,
        };
        file.read_by(self.clone())
    }

    /// Ends the silence of all sources.
    fn end(&self) {
        *self.is_over.0.lock().unwrap() = true;
        self.is_over.1.notify_all();
    }
}

impl BlockingReader for Script {
    fn read(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>, SourceError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        self.has_begun.store(true, Ordering::SeqCst);
        let one = |range: &Range<u64>| self.bytes.slice(range.start as usize..range.end as usize);
        match self.way.load(Ordering::SeqCst) {
            FAILS => Err(SourceError::new("script://host/f", "connection lost")),
            GIVES_LITTLE => Ok(ranges.iter().map(|range| one(range).slice(0..1)).collect()),
            IS_SILENT => {
                let (lock, bell) = &*self.is_over;
                drop(bell.wait_while(lock.lock().unwrap(), |is_over| !*is_over));
                Ok(ranges.iter().map(one).collect())
            }
            _ => Ok(ranges.iter().map(one).collect()),
        }
    }
}

#[test]
fn it_keeps_the_contract_of_sources() {
    let script = Script::new(100_000);
    for at_once in [1, 4] {
        holds(|| script.file(at_once, PATIENCE), &script.bytes);
    }
    let source = script.file(2, PATIENCE);
    script.now(FAILS);
    fails(&*source, &[0..10, 70_000..80_000]);
    script.now(GIVES_LITTLE);
    for error in fails(&*source, &[0..10]) {
        assert!(error.what.contains("only 1 bytes"), "{error}");
    }
    script.now(ANSWERS);
    reads(&*source, &script.bytes);
}

#[test]
fn what_a_reader_is_silent_about_is_an_error_and_others_take_its_place() {
    let script = Script::new(100_000);
    let source = script.file(1, Duration::from_millis(20));
    script.now(IS_SILENT);
    for error in fails(&*source, &[0..10, 5..9]) {
        assert!(error.is_transient(), "{error}");
        assert!(
            error.what.contains("has sent nothing for 0.02 s"),
            "{error}"
        );
    }
    script.now(ANSWERS);
    let patient = script.file(1, PATIENCE);
    reads(&*patient, &script.bytes);
    assert_eq!(
        source.submit(vec![3..5])[0].wait().unwrap(),
        script.bytes[3..5]
    );
    script.end();
}

#[test]
fn what_waits_behind_a_silent_call_is_not_asked_for() {
    let script = Script::new(100_000);
    let source = script.file(1, Duration::from_millis(20));
    script.now(IS_SILENT);
    let many = vec![0..10; 5 * BATCH_RANGES];
    let tickets = source.submit(many);
    assert!(tickets.iter().all(|ticket| ticket.wait().is_err()));
    assert_eq!(script.calls.load(Ordering::SeqCst), 1);
    script.end();
}

#[test]
fn large_ranges_get_time_of_their_own() {
    for (bytes, parts) in [
        (0, 1),
        (1, 1),
        (BATCH_BYTES, 1),
        (BATCH_BYTES + 1, 2),
        (9 * BATCH_BYTES, 9),
    ] {
        assert_eq!(allowed(PATIENCE, bytes), PATIENCE * parts);
    }
    assert!(PATIENCE < Duration::from_secs(30));
}

#[test]
fn batches_have_few_ranges_and_few_bytes() {
    let divided = |lengths: &[u64]| -> Vec<usize> {
        let one = |length: &u64| {
            let (_, promise) = Ticket::new("f", 0..*length);
            (0..*length, promise)
        };
        let all = batches(lengths.iter().map(one).collect());
        all.iter().map(Vec::len).collect()
    };
    assert!(divided(&[]).is_empty());
    assert_eq!(
        divided(&[1; 2 * BATCH_RANGES + 1]),
        [BATCH_RANGES, BATCH_RANGES, 1]
    );
    assert_eq!(divided(&[BATCH_BYTES, 0, 1, BATCH_BYTES - 1, 1]), [2, 2, 1]);
    assert_eq!(divided(&[5 * BATCH_BYTES, 1]), [1, 1]);
}
