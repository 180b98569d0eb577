//! A whole file: the first branches of its first tree, alone and together, and the first fields of its first
//! RNTuple.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use treemill_read::{File, Reader, Table};
use treemill_source::{Costs, Memory};

/// Columns and entries that are read.
const COLUMNS: usize = 8;
const ENTRIES: u64 = 1000;

fuzz_target!(|data: &[u8]| {
    let source = Arc::new(Memory::new("fuzz", data.to_vec(), Costs::NEAR));
    let Ok(file) = File::open(source) else { return };
    for keys in [file.trees(), file.ntuples()] {
        let Some(key) = keys.into_iter().next() else {
            continue;
        };
        if let Ok(table) = file.table(&format!("{};{}", key.path, key.cycle)) {
            read(&table);
        }
    }
});

fn read(table: &Table) {
    let (columns, entries) = match table {
        Table::Tree(tree) => (tree.tree().branches.len(), tree.tree().entries),
        Table::NTuple(file) => (file.fields().len(), file.ntuple().entries),
    };
    let entries = entries.min(ENTRIES);
    let mut readable = Vec::new();
    for column in 0..columns.min(COLUMNS) {
        if let Ok(mut reader) = Reader::new(table.clone(), &[column]) {
            let _ = reader.read(0, 0..entries);
            readable.push(column);
        }
    }
    // Branches of one counter use one another's counts.
    if let Ok(mut reader) = Reader::new(table.clone(), &readable) {
        for column in 0..readable.len() {
            let _ = reader.read(column, 0..entries);
        }
    }
}
