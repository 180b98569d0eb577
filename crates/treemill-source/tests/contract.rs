//! The sources of this crate keep the contract of sources.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

use std::sync::Arc;
use std::time::Duration;
use treemill_source::{Costs, Edges, Local, Memory, Observed, Source};
use treemill_testing::contract::{fails, holds};

const FAR: Costs = Costs::far(Duration::from_millis(100));
/// Larger than the edges that are asked for ahead.
const SIZE: usize = 1 << 20;

fn content(size: usize) -> Vec<u8> {
    (0..size as u64).map(|at| (at % 251) as u8).collect()
}

#[test]
fn files_in_memory() {
    for size in [0, 1, 10, SIZE] {
        let bytes = content(size);
        for costs in [Costs::NEAR, FAR] {
            let memory = || Memory::new("root://memory//f", bytes.clone(), costs);
            holds(|| Arc::new(memory()), &bytes);
            holds(|| Arc::new(Edges::of(Arc::new(memory()))), &bytes);
            holds(|| Arc::new(Edges::later(Arc::new(memory()))), &bytes);
            holds(|| Arc::new(Observed::of(Arc::new(memory()))), &bytes);
        }
    }
}

#[test]
fn files_of_this_machine() {
    let path = std::env::temp_dir().join(format!("treemill-contract-{}", std::process::id()));
    for size in [0, 1, SIZE] {
        let bytes = content(size);
        std::fs::write(&path, &bytes).unwrap();
        holds(|| Arc::new(Local::open(&path).unwrap()), &bytes);
    }
    let source = Local::open(&path).unwrap();
    let all = 0..source.size();
    std::fs::write(&path, content(SIZE / 2)).unwrap();
    for error in fails(&source, &[all.clone(), all.end - 9..all.end]) {
        assert!(error.what.contains("shorter"), "{error}");
    }
    std::fs::remove_file(&path).unwrap();
}
