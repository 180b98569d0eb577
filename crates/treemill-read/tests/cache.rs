//! Baskets that earlier passes have decompressed are neither read nor decompressed again, and give the same
//! arrays, for files that others wrote. Skips, saying so, without the files.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use arrow_array::{Array, ArrayRef};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use treemill_read::{Counters, File, Options, Reader, Table, cache};
use treemill_source::{Costs, Identity, Local, Memory};
use treemill_testing::Watched;

const FILES: [&str; 12] = [
    "uproot-Zmumu-zstd.root",
    "uproot-Zmumu-lzma.root",
    "uproot-HZZ-uncompressed.root",
    "uproot-sample-6.10.05-lz4.root",
    "uproot-sample-6.14.00-zlib.root",
    "uproot-small-dy-nooffsets.root",
    "uproot-small-dy-withoffsets.root",
    "coffea-nano_dy.root",
    "cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root",
    "ntpl001_staff_rntuple_v1-0-1-0.root",
    "test_extension_columns_rntuple_v1-0-0-0.root",
    "uproot-physlite-rntuple_v1-0-0-0.root",
];

fn file(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let path = folder.join(name);
    if !path.exists() {
        eprintln!("skipped: no file {}", path.display());
        return None;
    }
    Some(path)
}

/// The process's cache for one test alone, empty.
fn empty_cache(limit: u64) -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    cache::clear();
    cache::set_limit(limit);
    alone
}

fn table(path: &Path) -> Table {
    let file = File::open(Arc::new(Local::open(path).unwrap())).unwrap();
    let name = file.tables()[0].path.clone();
    file.table(&name).unwrap()
}

/// The columns that can be read, some tens at most.
fn readable(table: &Table) -> Vec<usize> {
    let columns = match table {
        Table::Tree(tree) => tree.tree().branches.len(),
        Table::NTuple(file) => file.fields().len(),
    };
    let reader = |&column: &usize| {
        Reader::new(table.clone(), &[column])
            .and_then(|mut reader| reader.read(0, 0..table.entries()))
            .is_ok()
    };
    let some = (0..columns).step_by(1 + columns / 60);
    some.filter(|column| reader(column)).collect()
}

/// A pass over these columns, batch by batch, by readers of one file that was opened for it.
fn pass(table: &Table, columns: &[usize]) -> (Vec<Vec<ArrayRef>>, Arc<Counters>) {
    let counters = Arc::new(Counters::default());
    let mut reader = Reader::new(table.clone(), columns)
        .unwrap()
        .with_counters(Arc::clone(&counters));
    let options = Options {
        batch_entries: 1 + table.entries() / 3,
        ..Options::default()
    };
    let mut found = Vec::new();
    let mut batches = reader.batches(0..table.entries(), options).unwrap();
    while let Some(mut batch) = batches.next_batch() {
        let arrays = (0..columns.len()).map(|column| batch.column(column).unwrap());
        found.push(arrays.collect());
    }
    (found, counters)
}

fn same(a: &[Vec<ArrayRef>], b: &[Vec<ArrayRef>]) -> bool {
    let (a, b) = (a.iter().flatten(), b.iter().flatten());
    a.clone().count() == b.clone().count() && a.zip(b).all(|(a, b)| a.to_data() == b.to_data())
}

#[test]
fn what_two_passes_have_decompressed_the_third_takes_from_memory() {
    let _alone = empty_cache(0);
    for path in FILES.iter().filter_map(|name| file(name)) {
        cache::set_limit(0);
        let columns = readable(&table(&path));
        let (expected, plain) = pass(&table(&path), &columns);
        cache::set_limit(1 << 30);
        for number in 1..=4 {
            let (found, counters) = pass(&table(&path), &columns);
            assert!(same(&found, &expected), "{path:?}, pass {number}");
            let unpacked = counters.bytes_decompressed() + counters.bytes_from_cache();
            assert_eq!(unpacked, plain.bytes_decompressed(), "{path:?}, {number}");
            let has_most = table(&path).is_remembered(&columns);
            assert_eq!(has_most, number > 1, "{path:?}, pass {number}");
            match number {
                1 => assert_eq!((counters.bytes_from_cache(), cache::held()), (0, 0)),
                // Some read a counter's baskets several times, and find them then already.
                2 => assert!(cache::held() > 0 && counters.bytes_decompressed() > 0),
                _ => assert_eq!(
                    (counters.bytes_read(), counters.bytes_decompressed()),
                    (0, 0)
                ),
            }
        }
        cache::clear();
        assert_eq!(cache::held(), 0);
        assert!(!table(&path).is_remembered(&columns));
    }
}

/// A file in memory with an identity.
fn known(bytes: &[u8], inode: Option<u64>) -> Table {
    let identity = inode.map(|inode| Identity {
        place: [1, inode],
        size: bytes.len() as u64,
        state: [0; 4],
    });
    let memory = Memory::new("known", bytes.to_vec(), Costs::NEAR);
    let source = Watched::new(memory).with_identity(identity);
    let file = File::open(Arc::new(source)).unwrap();
    file.table("events").unwrap()
}

#[test]
fn a_file_that_was_written_anew_is_another_file() {
    let Some(path) = file("uproot-Zmumu-zstd.root") else {
        return;
    };
    let _alone = empty_cache(1 << 30);
    let old = std::fs::read(path).unwrap();
    let Table::Tree(tree) = known(&old, None) else {
        return;
    };
    let [a, b] = ["py1", "px1"].map(|name| tree.branch(name).unwrap());
    // The same file with one branch's baskets in the places of another's, as far as they fit.
    let mut new = old.clone();
    let [from, to] = [a, b].map(|branch| tree.tree().branches[branch].baskets[0].bytes.clone());
    assert!(from.end - from.start <= to.end - to.start);
    new.copy_within(from.start as usize..from.end as usize, to.start as usize);
    let first = |bytes: &[u8], inode| {
        let mut reader = Reader::new(known(bytes, inode), &[b]).unwrap();
        reader.read(0, 0..100).unwrap().to_data()
    };
    cache::set_limit(0);
    let [expected, other] = [&old, &new].map(|bytes| first(bytes, None));
    assert_ne!(expected, other);
    cache::set_limit(1 << 30);
    for _ in 0..3 {
        assert_eq!(first(&old, Some(7)), expected);
        assert_eq!(first(&new, Some(8)), other);
        assert_eq!(first(&new, None), other);
    }
    assert!(cache::held() > 0);
    // What would be met if it said that it is the old one: the cache is what this test is about.
    assert_eq!(first(&new, Some(7)), expected);
}

#[test]
fn the_limit_is_kept_and_what_fits_is_found() {
    let Some(path) = file("coffea-nano_dy.root") else {
        return;
    };
    let _alone = empty_cache(0);
    let columns = readable(&table(&path));
    let (expected, plain) = pass(&table(&path), &columns);
    let limit = plain.bytes_decompressed() / 3;
    cache::set_limit(limit);
    for number in 1..6 {
        let (found, counters) = pass(&table(&path), &columns);
        assert!(same(&found, &expected));
        assert!(cache::held() <= limit);
        if number > 2 {
            assert!(counters.bytes_from_cache() > limit / 2, "{number}");
        }
    }
    cache::set_limit(limit / 10);
    assert!(cache::held() <= limit / 10);
    assert!(same(&pass(&table(&path), &columns).0, &expected));
    cache::set_limit(0);
    assert_eq!(cache::held(), 0);
}

#[test]
fn threads_find_what_others_have_left() {
    let Some(path) = file("coffea-nano_dy.root") else {
        return;
    };
    let _alone = empty_cache(0);
    let columns = readable(&table(&path));
    let expected = pass(&table(&path), &columns).0;
    cache::set_limit(1 << 30);
    let shared = table(&path);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (shared, columns, expected) = (&shared, &columns, &expected);
            scope.spawn(move || {
                for turn in 0..6 {
                    if (turn, number) == (3, 0) {
                        cache::clear();
                    }
                    assert!(same(&pass(shared, columns).0, expected));
                }
            });
        }
    });
    assert!(pass(&shared, &columns).1.bytes_from_cache() > 0);
}

#[test]
fn single_entries_and_fronts_of_baskets_are_what_they_are_without() {
    let _alone = empty_cache(1 << 30);
    for path in FILES.iter().filter_map(|name| file(name)) {
        // Bytes in memory have no identity, so nothing of them is remembered.
        let bytes = std::fs::read(&path).unwrap();
        let file = File::open(Arc::new(Memory::new("plain", bytes, Costs::NEAR))).unwrap();
        let plain = file.table(&file.tables()[0].path).unwrap();
        let columns = readable(&plain);
        let opened = table(&path);
        assert_eq!(cache::held(), 0);
        for turn in 0..4_u64 {
            // Columns together tell one another the counts, so that only the fronts of their baskets
            // are wanted; alone, all of them.
            let together = columns.len().max(1);
            for group in columns.chunks(if turn % 2 == 0 { together } else { 1 }) {
                let [expected, found] = [&plain, &opened].map(|table| some(table, group, turn));
                assert!(same(&[found], &[expected]), "{path:?}, turn {turn}");
            }
        }
        cache::clear();
    }
}

/// Every n-th entry of all batches, and all entries of every second batch.
fn some(table: &Table, columns: &[usize], turn: u64) -> Vec<ArrayRef> {
    let options = Options {
        batch_entries: 1 + table.entries() / (3 + turn),
        least_entries: 3,
    };
    let mut reader = Reader::new(table.clone(), columns).unwrap();
    let mut batches = reader.batches(0..table.entries(), options).unwrap();
    let mut found = Vec::new();
    while let Some(mut batch) = batches.next_batch() {
        let rows: Vec<u32> = (0..batch.rows() as u32)
            .step_by(5 + turn as usize)
            .collect();
        for column in 0..columns.len() {
            found.push(batch.column_at(column, &rows).unwrap());
            if (batch.entries().start + turn).is_multiple_of(2) {
                found.push(batch.column(column).unwrap());
            }
        }
    }
    found
}
