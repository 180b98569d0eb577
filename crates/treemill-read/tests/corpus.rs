//! Every branch of every tree of files that others wrote: whole, in small batches, and from a distant source,
//! which must all give the same arrays. The project's Python tests compare the values with other readers'.
//! Skips, saying so, if the files are absent.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use arrow_array::{Array, ArrayRef};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use treemill_read::{Counters, ErrorKind, File, Options, ReadError, Reader, TreeFile};
use treemill_source::{Costs, Local, Memory};
use treemill_testing::FAR;

fn corpus() -> Option<Vec<PathBuf>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no folder {}", folder.display());
        return None;
    };
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "root"));
    files.sort();
    assert!(!files.is_empty());
    Some(files)
}

fn file(name: &str) -> Option<PathBuf> {
    corpus()?.into_iter().find(|p| p.ends_with(name))
}

/// All batches of a branch, of at most `most` entries each.
fn batches(
    tree: &Arc<TreeFile>,
    branch: usize,
    options: Options,
) -> Result<Vec<ArrayRef>, ReadError> {
    let entries = tree.tree().entries;
    let mut reader = Reader::new(Arc::clone(tree), &[branch])?;
    let mut batches = reader.batches(0..entries, options)?;
    let mut columns = Vec::new();
    while let Some(mut batch) = batches.next_batch() {
        let column = batch.column(0)?;
        assert_eq!(column.len(), batch.rows());
        columns.push(column);
    }
    Ok(columns)
}

/// Whether the pieces are the whole, cut up.
fn same(whole: &ArrayRef, pieces: &[ArrayRef]) -> bool {
    let mut at = 0;
    for piece in pieces {
        if whole.slice(at, piece.len()).to_data() != piece.to_data() {
            return false;
        }
        at += piece.len();
    }
    at == whole.len()
}

#[test]
fn every_branch_reads_the_same_whole_in_batches_and_from_afar() {
    let Some(files) = corpus() else { return };
    let (mut read, mut unsupported) = (0, 0);
    let mut wrong = Vec::new();
    for path in files {
        let near = File::open(Arc::new(Local::open(&path).unwrap()));
        let bytes = std::fs::read(&path).unwrap();
        let far = File::open(Arc::new(Memory::new("far", bytes, FAR)));
        let (near, far) = match (near, far) {
            (Ok(near), Ok(far)) => (near, far),
            (near, _) => {
                wrong.push(format!("{}: {:?}", path.display(), near.err()));
                continue;
            }
        };
        for key in near.trees() {
            let name = format!("{};{}", key.path, key.cycle);
            let (near, far) = match (near.tree(&name), far.tree(&name)) {
                (Ok(near), Ok(far)) => (near, far),
                (near, _) => {
                    wrong.push(format!("{} {name}: {:?}", path.display(), near.err()));
                    continue;
                }
            };
            for (index, branch) in near.tree().branches.iter().enumerate() {
                if branch.entries < near.tree().entries {
                    continue;
                }
                let whole = Reader::new(Arc::clone(&near), &[index])
                    .and_then(|mut reader| reader.read(0, 0..near.tree().entries));
                let whole = match whole {
                    Ok(whole) => whole,
                    Err(error) if error.kind == ErrorKind::Unsupported => {
                        assert!(!error.message.is_empty());
                        unsupported += 1;
                        continue;
                    }
                    Err(error) => {
                        wrong.push(error.to_string());
                        continue;
                    }
                };
                read += 1;
                assert_eq!(whole.len() as u64, near.tree().entries);
                let small = Options {
                    batch_entries: 1 + near.tree().entries / 7,
                    least_entries: 3,
                };
                assert!(
                    same(&whole, &batches(&near, index, small).unwrap()),
                    "{}",
                    branch.name
                );
                assert!(
                    same(&whole, &batches(&far, index, small).unwrap()),
                    "{}",
                    branch.name
                );
            }
        }
    }
    println!("{read} branches read, {unsupported} unsupported");
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(read > 5000, "{read}");
}

#[test]
fn counts_come_from_the_counter_where_baskets_have_no_offsets() {
    let (Some(without), Some(with)) = (
        file("uproot-small-dy-nooffsets.root"),
        file("uproot-small-dy-withoffsets.root"),
    ) else {
        return;
    };
    let trees = [without, with].map(|p| {
        let file = File::open(Arc::new(Local::open(p).unwrap())).unwrap();
        file.tree("").unwrap()
    });
    for name in ["Jet_pt", "Muon_charge"] {
        let [a, b] = trees.each_ref().map(|tree| {
            let index = tree.branch(name).unwrap();
            let mut reader = Reader::new(Arc::clone(tree), &[index]).unwrap();
            reader.read(0, 0..tree.tree().entries).unwrap()
        });
        assert_eq!(a.to_data(), b.to_data());
        assert!(a.get_buffer_memory_size() > 1000);
    }
}

#[test]
fn a_column_that_is_not_asked_for_is_not_read() {
    let Some(path) = file("uproot-Zmumu-zstd.root") else {
        return;
    };
    let tree = File::open(Arc::new(Local::open(path).unwrap()))
        .unwrap()
        .tree("")
        .unwrap();
    let counters = Arc::new(Counters::default());
    let branches = ["px1", "py1"].map(|n| tree.branch(n).unwrap());
    let mut reader = Reader::new(Arc::clone(&tree), &branches)
        .unwrap()
        .with_counters(Arc::clone(&counters));
    let mut batches = reader
        .batches(0..tree.tree().entries, Options::default())
        .unwrap();
    while let Some(mut batch) = batches.next_batch() {
        assert_eq!(batch.column(1).unwrap().len(), batch.rows());
    }
    let wanted: u64 = tree.tree().branches[branches[1]]
        .baskets
        .iter()
        .map(|b| b.bytes.end - b.bytes.start)
        .sum();
    assert_eq!(counters.bytes_read(), wanted);
    assert_eq!(counters.entries(), tree.tree().entries);
    assert!(counters.bytes_decompressed() > wanted);
}

#[test]
fn damaged_files_give_errors_and_no_panic() {
    let Some(path) = file("uproot-small-dy-withoffsets.root") else {
        return;
    };
    let bytes = std::fs::read(path).unwrap();
    let read_all = |bytes: Vec<u8>| -> Result<(), ReadError> {
        let file = File::open(Arc::new(Memory::new("damaged", bytes, Costs::NEAR)))?;
        let tree = file.tree("")?;
        for index in 0..tree.tree().branches.len() {
            let entries = tree.tree().entries.min(10_000);
            drop(batches(&tree, index, Options::default()));
            Reader::new(Arc::clone(&tree), &[index])?.read(0, 0..entries)?;
        }
        Ok(())
    };
    read_all(bytes.clone()).unwrap();
    for cut in (0..bytes.len()).step_by(bytes.len() / 50) {
        let error = read_all(bytes[..cut].to_vec()).unwrap_err();
        assert!(
            cut < 100 || error.kind == ErrorKind::Truncated,
            "{cut}: {error}"
        );
    }
    // A changed byte may go unnoticed (uncompressed values, dates), but never panics.
    let mut found = 0;
    let mut random = 1_u64;
    for _ in 0..300 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let mut damaged = bytes.clone();
        let at = (random >> 33) as usize % damaged.len();
        damaged[at] ^= (random >> 20) as u8 | 1;
        found += usize::from(read_all(damaged).is_err());
    }
    assert!(found > 100, "{found}");
}

#[test]
fn unknown_names_are_answered_with_near_ones() {
    let Some(path) = file("uproot-nesteddirs.root") else {
        return;
    };
    let file = File::open(Arc::new(Local::open(path).unwrap())).unwrap();
    let paths: Vec<String> = file.trees().into_iter().map(|t| t.path).collect();
    assert!(paths.iter().any(|p| p.contains('/')), "{paths:?}");
    let error = file.tree(&format!("{}x", paths[0])).unwrap_err();
    assert_eq!(error.kind, ErrorKind::NotFound);
    assert!(error.message.contains(&paths[0]), "{error}");
    let error = file.tree("").unwrap_err();
    assert!(error.message.contains("several"), "{error}");
    assert!(file.tree(&format!("{};1", paths[0])).is_ok());
    assert!(file.tree(&format!("{};9", paths[0])).is_err());
}

#[test]
fn what_is_no_root_file_is_said_so() {
    let text = Memory::new("text", b"# Corpus".repeat(50), Costs::NEAR);
    let error = File::open(Arc::new(text)).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Format);
    assert!(error.to_string().contains("not a ROOT file"), "{error}");
    let empty = Memory::new("empty", Vec::new(), Costs::NEAR);
    assert_eq!(
        File::open(Arc::new(empty)).unwrap_err().kind,
        ErrorKind::Format
    );
}
