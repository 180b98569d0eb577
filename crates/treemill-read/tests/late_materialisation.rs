//! Single entries of every column of files that others wrote equal those of the whole batch, from near and
//! distant sources; and baskets without any of them are not read. Skips, saying so, without the files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use arrow_array::{Array, UInt32Array};
use arrow_select::take::take;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use treemill_read::{Counters, ErrorKind, File, Options, ReadError, Reader, Table};
use treemill_source::{Local, Memory};
use treemill_testing::FAR;

/// Columns of a table of which some stand for all, unless this is `make test SLOW=1`.
const MANY: usize = 200;

fn corpus() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no folder {}", folder.display());
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "root"));
    files.sort();
    files
}

/// About every `one_in`th number below `n`, the same each time.
fn some(n: usize, one_in: u64, seed: u64) -> Vec<u32> {
    let mut state = seed;
    let mut is_chosen = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33).is_multiple_of(one_in)
    };
    (0..n as u32).filter(|_| is_chosen()).collect()
}

/// Compares all batches; `Err` as the reader has it.
fn compare(near: &Table, far: &Table, column: usize, options: Options) -> Result<(), ReadError> {
    let all = 0..near.entries();
    let mut whole = Reader::new(near.clone(), &[column])?;
    let mut selected = [near, far].map(|table| Reader::new(table.clone(), &[column]).unwrap());
    let mut whole = whole.batches(all.clone(), options)?;
    let mut selected = selected
        .each_mut()
        .map(|reader| reader.batches(all.clone(), options).unwrap());
    while let Some(mut batch) = whole.next_batch() {
        let array = batch.column(0)?;
        for (which, batches) in selected.iter_mut().enumerate() {
            let mut batch = batches.next_batch().unwrap();
            for (number, one_in) in [1, 2, 5, 400, 0].into_iter().enumerate() {
                let rows = match one_in {
                    // Some in a row.
                    0 => (batch.rows() as u32 / 3..batch.rows() as u32 / 2).collect(),
                    _ => some(batch.rows(), one_in, batch.entries().start + number as u64),
                };
                let found = batch.column_at(0, &rows)?;
                let expected = take(&array, &UInt32Array::from(rows), None).unwrap();
                assert_eq!(found.data_type(), array.data_type());
                assert_eq!(
                    found.to_data(),
                    expected.to_data(),
                    "{}: column {column} of {}, {which}, one in {one_in}",
                    near.source().name(),
                    near.name(),
                );
            }
        }
    }
    Ok(())
}

#[test]
fn single_entries_are_those_of_the_batch() {
    let mut compared = 0;
    for path in corpus() {
        let near = File::open(Arc::new(Local::open(&path).unwrap()));
        let bytes = std::fs::read(&path).unwrap();
        let far = File::open(Arc::new(Memory::new("far", bytes, FAR)));
        let (Ok(near), Ok(far)) = (near, far) else {
            continue;
        };
        for key in near.tables() {
            let name = format!("{};{}", key.path, key.cycle);
            let (Ok(near), Ok(far)) = (near.table(&name), far.table(&name)) else {
                continue;
            };
            // Four batches, of the first entries if there are many columns' worth.
            let options = Options {
                batch_entries: 1 + near.entries() / 4,
                least_entries: 3,
            };
            let columns = match &near {
                Table::Tree(tree) => tree.tree().branches.len(),
                Table::NTuple(ntuple) => ntuple.fields().len(),
            };
            // Tables with very many columns have many of each kind.
            let every = if columns > MANY && std::env::var_os("SLOW").is_none() {
                5
            } else {
                1
            };
            let some = (0..columns).step_by(every);
            for column in some.filter(|&column| near.arrow_field(column).is_ok()) {
                match compare(&near, &far, column, options) {
                    Ok(()) => compared += 1,
                    Err(error) if error.kind == ErrorKind::Unsupported => (),
                    Err(error) if error.message.contains("branch has only") => (),
                    Err(error) => panic!("{error}"),
                }
            }
        }
    }
    println!("{compared} columns compared");
}

#[test]
fn baskets_between_are_not_read() {
    let Some(path) = corpus()
        .into_iter()
        .find(|p| p.ends_with("uproot-HZZ.root"))
    else {
        eprintln!("skipped: the file is not there");
        return;
    };
    let table = File::open(Arc::new(Local::open(path).unwrap()))
        .unwrap()
        .table("")
        .unwrap();
    let Table::Tree(tree) = &table else {
        panic!("a tree")
    };
    let branch = tree.branch("MET_px").unwrap();
    let baskets = &tree.tree().branches[branch].baskets;
    let counters = Arc::new(Counters::default());
    let mut reader = Reader::new(table.clone(), &[branch])
        .unwrap()
        .with_counters(Arc::clone(&counters));
    let options = Options {
        batch_entries: 1 << 20,
        ..Options::default()
    };
    let mut batches = reader.batches(0..table.entries(), options).unwrap();
    let mut batch = batches.next_batch().unwrap();
    let last = u32::try_from(baskets.last().unwrap().entries.start).unwrap();
    batch.column_at(0, &[last]).unwrap();
    let one = baskets.last().unwrap().bytes.clone();
    assert_eq!(counters.bytes_read(), one.end - one.start);
    batch.column_at(0, &[]).unwrap();
    assert_eq!(counters.bytes_read(), one.end - one.start);
    for rows in [&[5, 5][..], &[7, 6], &[u32::MAX]] {
        assert_eq!(
            batch.column_at(0, rows).unwrap_err().kind,
            ErrorKind::NotFound
        );
    }
}
