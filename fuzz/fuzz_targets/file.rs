//! A whole file, and the first branches of its first tree, alone and together.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::sync::Arc;
use treemill_read::{File, Reader};
use treemill_source::{Latency, Memory};

fuzz_target!(|data: &[u8]| {
    let source = Arc::new(Memory::new("fuzz", data.to_vec(), Latency::Local));
    let Ok(file) = File::open(source) else { return };
    let Some(key) = file.trees().into_iter().next() else {
        return;
    };
    let Ok(tree) = file.tree(&format!("{};{}", key.path, key.cycle)) else {
        return;
    };
    for branch in 0..tree.tree().branches.len().min(8) {
        if let Ok(mut reader) = Reader::new(Arc::clone(&tree), &[branch]) {
            let _ = reader.read(0, 0..tree.tree().entries.min(1000));
        }
    }
    // Those of one counter go by one another's counts.
    let readable = |branch: &usize| Reader::new(Arc::clone(&tree), &[*branch]).is_ok();
    let some = tree.tree().branches.len().min(8);
    let together: Vec<usize> = (0..some).filter(readable).collect();
    if let Ok(mut reader) = Reader::new(Arc::clone(&tree), &together) {
        for column in 0..together.len() {
            let _ = reader.read(column, 0..tree.tree().entries.min(1000));
        }
    }
});
