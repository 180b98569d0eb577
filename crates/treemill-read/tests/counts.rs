//! Branches of one counter give the same arrays together as alone: for every tree in files that others wrote,
//! in batches, whole and for single entries; and in files whose entry offsets contradict the counter. Skips,
//! saying so, without the files.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use arrow_array::{Array, ArrayRef};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use treemill_format::basket::BasketHeader;
use treemill_format::layout::Layout;
use treemill_read::{File, Options, Reader, TreeFile};
use treemill_source::{Costs, Memory};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus")
}

fn open(bytes: Vec<u8>) -> Option<Arc<File>> {
    File::open(Arc::new(Memory::new("copy", bytes, Costs::NEAR))).ok()
}

/// Branches by the branch that counts them, which comes last.
fn groups(tree: &TreeFile) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (index, branch) in tree.tree().branches.iter().enumerate() {
        if let (Layout::Counted { .. }, Some(counter)) = (&branch.layout, branch.counter)
            && tree.readable(index).is_ok()
            && tree.readable(counter).is_ok()
        {
            groups.entry(counter).or_default().push(index);
        }
    }
    let with_counter = groups.into_iter().map(|(counter, mut group)| {
        group.push(counter);
        group
    });
    with_counter.collect()
}

fn small_batches(entries: u64) -> Options {
    Options {
        batch_entries: 1 + entries / 7,
        least_entries: 2,
    }
}

/// The `wanted` ones of the columns, in the batches of all of them; with `one_in`, some entries only.
fn read(
    tree: &Arc<TreeFile>,
    columns: &[usize],
    wanted: Range<usize>,
    one_in: usize,
) -> Vec<Vec<ArrayRef>> {
    let mut reader = Reader::new(Arc::clone(tree), columns).unwrap();
    let all = 0..tree.tree().entries;
    let mut batches = reader.batches(all.clone(), small_batches(all.end)).unwrap();
    let mut found = vec![Vec::new(); wanted.len()];
    while let Some(mut batch) = batches.next_batch() {
        let rows: Vec<u32> = (0..batch.rows() as u32).step_by(one_in).collect();
        for (index, found) in wanted.clone().zip(&mut found) {
            let array = match one_in {
                1 => batch.column(index),
                _ => batch.column_at(index, &rows),
            };
            found.push(array.unwrap_or_else(|e| panic!("{}: {e}", tree.tree().name)));
        }
    }
    found
}

fn same(a: &[ArrayRef], b: &[ArrayRef]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.to_data() == b.to_data())
}

/// Whether the branches are together what each of them is alone; the files must be as good as new.
fn compare(together: &Arc<TreeFile>, alone: &Arc<TreeFile>, columns: &[usize]) {
    for one_in in [1, 3] {
        let found = read(together, columns, 0..columns.len(), one_in);
        let whole = &mut Reader::new(Arc::clone(together), columns).unwrap();
        for (at, &column) in columns.iter().enumerate() {
            let name = &alone.tree().branches[column].name;
            let expected = read(alone, columns, at..at + 1, one_in);
            assert!(same(&found[at], &expected[0]), "{name}, one in {one_in}");
            let all = 0..alone.tree().entries;
            let expected = Reader::new(Arc::clone(alone), &[column])
                .unwrap()
                .read(0, all.clone())
                .unwrap();
            assert!(same(&[whole.read(at, all).unwrap()], &[expected]), "{name}");
        }
    }
}

#[test]
fn branches_of_one_counter_are_together_as_alone() {
    let Ok(files) = std::fs::read_dir(corpus()) else {
        eprintln!("skipped: no folder {}", corpus().display());
        return;
    };
    let mut compared = 0;
    for path in files.map(|entry| entry.unwrap().path()) {
        let bytes = std::fs::read(&path).unwrap();
        let (Some(file), Some(other)) = (open(bytes.clone()), open(bytes)) else {
            continue;
        };
        for key in file.trees() {
            let name = format!("{};{}", key.path, key.cycle);
            let (Ok(tree), Ok(alone)) = (file.tree(&name), other.tree(&name)) else {
                continue;
            };
            for mut group in groups(&tree) {
                // Some of a NanoAOD's sixty, and the counter.
                let counter = group.pop().unwrap();
                group.truncate(8);
                let readable = |&column: &usize| {
                    Reader::new(Arc::clone(&alone), &[column])
                        .unwrap()
                        .read(0, 0..alone.tree().entries)
                        .is_ok()
                };
                if !group.iter().all(readable) || !readable(&counter) {
                    continue;
                }
                compare(&tree, &alone, &group);
                group.insert(0, counter);
                compare(&tree, &alone, &group);
                compared += 1;
            }
        }
    }
    println!("{compared} counters");
    assert!(compared > 30, "{compared}");
}

/// A file whose baskets are as they were filled, its jagged branches, and its tree's name.
fn uncompressed() -> Option<(Vec<u8>, Vec<usize>, String)> {
    let path = corpus().join("uproot-HZZ-uncompressed.root");
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("skipped: no file {}", path.display());
        return None;
    };
    let file = open(bytes.clone()).unwrap();
    let tree = file.tree("events").unwrap();
    let muons = ["Muon_Px", "Muon_Charge", "Muon_Iso"].map(|name| tree.branch(name).unwrap());
    Some((bytes, muons.to_vec(), "events".to_owned()))
}

/// Where a basket's record is, and its header.
fn basket(tree: &TreeFile, bytes: &[u8], branch: usize, index: usize) -> (usize, BasketHeader) {
    let basket = &tree.tree().branches[branch].baskets[index];
    let Range { start, end } = basket.bytes;
    let header = BasketHeader::parse(&bytes[start as usize..end as usize]).unwrap();
    (start as usize, header)
}

/// Moves one item from an entry that has some to the one before it.
fn move_an_item(bytes: &mut [u8], record: usize, header: &BasketHeader) {
    let offsets = record + header.key_len + header.data_end + 4;
    let offset = |bytes: &[u8], n: usize| {
        let at = offsets + 4 * n;
        u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
    };
    let has_items = |&n: &usize| offset(bytes, n) < offset(bytes, n + 1);
    let n = (5..header.entries - 1).find(has_items).unwrap();
    let moved = offset(bytes, n) + 4;
    bytes[offsets + 4 * n..][..4].copy_from_slice(&moved.to_be_bytes());
}

#[test]
fn offsets_that_contradict_the_other_branches_are_found_by_the_first_basket() {
    let Some((sound, muons, name)) = uncompressed() else {
        return;
    };
    let tree = open(sound.clone()).unwrap().tree(&name).unwrap();
    let mut bytes = sound.clone();
    let (record, header) = basket(&tree, &bytes, muons[1], 0);
    move_an_item(&mut bytes, record, &header);
    let fresh = || open(bytes.clone()).unwrap().tree(&name).unwrap();
    let lists = |tree: &Arc<TreeFile>| read(tree, &muons, 1..2, 1)[0].clone();
    let sound = open(sound).unwrap().tree(&name).unwrap();
    assert!(!same(&lists(&fresh()), &lists(&sound)));
    compare(&fresh(), &fresh(), &muons);
    let mut reversed = muons.clone();
    reversed.reverse();
    compare(&fresh(), &fresh(), &reversed);
    // The counter itself is contradicted as well.
    let mut counted = muons.clone();
    counted.insert(0, tree.branch("NMuon").unwrap());
    compare(&fresh(), &fresh(), &counted);
}

#[test]
fn a_later_basket_of_another_length_goes_by_its_own_offsets() {
    let Some((mut bytes, muons, name)) = uncompressed() else {
        return;
    };
    let tree = open(bytes.clone()).unwrap().tree(&name).unwrap();
    let last = tree.tree().branches[muons[1]].baskets.len() - 1;
    assert!(last > 0);
    let (record, header) = basket(&tree, &bytes, muons[1], last);
    // The last entry that has items has one less: the data end before it (fLast).
    let payload = record + header.key_len;
    let flast = record + header.key_len - 5;
    let shorter = header.key_len + header.data_end - 4;
    let expected = u32::from_be_bytes(bytes[flast..flast + 4].try_into().unwrap());
    assert_eq!(expected as usize, header.key_len + header.data_end);
    let tail = payload + header.data_end..payload + header.uncompressed_len;
    bytes[flast..flast + 4].copy_from_slice(&(shorter as u32).to_be_bytes());
    bytes.copy_within(tail.clone(), tail.start - 4);
    // An offset beyond the data's end would be malformed: those of empty entries after it move along.
    for n in 0..header.entries {
        let at = tail.start - 4 + 4 + 4 * n;
        let offset = u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
        bytes[at..at + 4].copy_from_slice(&offset.min(shorter as u32).to_be_bytes());
    }
    let fresh = || open(bytes.clone()).unwrap().tree(&name).unwrap();
    compare(&fresh(), &fresh(), &muons);
}
