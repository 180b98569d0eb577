//! Damaged files: bits flipped, bytes changed, cut short, lengths enlarged, in the files and in the
//! uncompressed entries of their baskets. Nothing may panic, hang, or take memory beyond 64 MB and 20 times the
//! file; both errors and arrays are accepted. Skips, saying so, if the files are absent.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use treemill_format::basket::BasketHeader;
use treemill_format::compress::Decompressor;
use treemill_format::layout::Layout;
use treemill_format::tree::Branch;
use treemill_read::decode::{Column, Entries, append};
use treemill_read::{File, Options, Reader, TreeFile};
use treemill_source::{Costs, Memory};
use treemill_testing::{Counting, peak_of};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Mutations of each file, and of the entries of its baskets; twice as many in `make test SLOW=1`.
const OF_FILE: usize = 75;
const OF_BASKETS: usize = 150;
/// Branches read of each damaged file.
const BRANCHES: usize = 6;
/// Branches read together, each by buffers of its own, and how often.
const TOGETHER: usize = 4;
const OF_TOGETHER: usize = 25;
/// Trees opened of each damaged file.
const TREES: usize = 2;

/// The memory that a file of this many bytes may take.
fn allowed(file: usize) -> usize {
    (64 << 20) + 20 * file
}

/// Numbers that look random and are the same in every run (xorshift64).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

/// Lengths, tags and versions that parsers stumble over.
const EVIL: [u32; 9] = [
    0,
    1,
    0x7fff_ffff,
    0xffff_ffff,
    0x4000_0000,
    0x7fff_fff0,
    0x8000_0000,
    0x4000_ffff,
    0x0100_0000,
];

/// Takes two or four bytes for a length, big- or little-endian, and makes it longer: by little, so
/// that it goes beyond what it is the length of, or by much, so that it goes beyond the file.
fn enlarge(bytes: &mut [u8], at: usize, dice: &mut Dice) {
    let width = [2, 4][dice.below(2)];
    let Some(place) = bytes.get_mut(at..at + width) else {
        return;
    };
    let more = 1 << dice.below(8 * width - 1);
    let little = dice.below(8) == 0;
    if little {
        place.reverse();
    }
    let length = place.iter().fold(0_u32, |all, b| all << 8 | u32::from(*b));
    let longer = length.saturating_add(more).to_be_bytes();
    place.copy_from_slice(&longer[4 - width..]);
    if little {
        place.reverse();
    }
}

fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(3) {
        if bytes.is_empty() {
            return;
        }
        // Half of the damage in the first kilobyte: the header and the first keys.
        let reach = if dice.below(2) == 0 {
            1024
        } else {
            bytes.len()
        };
        let at = dice.below(reach.min(bytes.len()));
        match dice.below(5) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at] = dice.below(256) as u8,
            2 if at + 4 <= bytes.len() => {
                bytes[at..at + 4].copy_from_slice(&EVIL[dice.below(EVIL.len())].to_be_bytes());
            }
            3 if dice.below(4) == 0 => bytes.truncate(at + 1),
            4 => enlarge(bytes, at, dice),
            _ => {
                let from = dice.below(bytes.len());
                let n = dice.below(64).min(bytes.len() - from.max(at));
                bytes.copy_within(from..from + n, at);
            }
        }
    }
}

/// Opens and reads as much of a file as a mutation is worth.
fn read_some(bytes: Vec<u8>, dice: &mut Dice) {
    let source = Arc::new(Memory::new("damaged", bytes, Costs::NEAR));
    let Ok(file) = File::open(source) else { return };
    let trees = file.trees();
    for _ in 0..TREES.min(trees.len()) {
        let key = &trees[dice.below(trees.len())];
        let Ok(tree) = file.tree(&format!("{};{}", key.path, key.cycle)) else {
            continue;
        };
        let branches = tree.tree().branches.len();
        for _ in 0..BRANCHES.min(branches) {
            let Ok(mut reader) = Reader::new(Arc::clone(&tree), &[dice.below(branches)]) else {
                continue;
            };
            let entries = tree.tree().entries;
            let start = dice.below(usize::try_from(entries).unwrap_or(usize::MAX)) as u64;
            let stop = start.saturating_add(100).min(entries);
            let _ = reader.read(0, start..stop);
            let _ = reader.read(0, 0..entries.min(100));
        }
    }
}

/// Opens a file and reads some branches of each tree together.
fn read_some_together(bytes: Vec<u8>, dice: &mut Dice) {
    let source = Arc::new(Memory::new("damaged", bytes, Costs::NEAR));
    let Ok(file) = File::open(source) else { return };
    for key in file.trees().iter().take(TREES) {
        if let Ok(tree) = file.tree(&format!("{};{}", key.path, key.cycle)) {
            let branches = tree.tree().branches.len();
            read_together(&tree, dice.below(branches), dice);
        }
    }
}

/// Reads a branch and some that have the same counter, which go by one another's counts, in small batches.
fn read_together(tree: &Arc<TreeFile>, branch: usize, dice: &mut Dice) {
    let branches = &tree.tree().branches;
    let from = branches.iter().enumerate().cycle().skip(branch);
    let mut from = from.take(branches.len());
    let Some(counter) = from.find_map(|(_, branch)| branch.counter) else {
        return;
    };
    let is_counted = |(_, of): &(usize, &Branch)| of.counter == Some(counter);
    let counted = branches.iter().enumerate().filter(is_counted);
    let mut columns: Vec<usize> = counted.map(|(index, _)| index).take(TOGETHER - 1).collect();
    columns.push(counter);
    let first = dice.below(columns.len());
    columns.rotate_left(first);
    let Ok(mut reader) = Reader::new(Arc::clone(tree), &columns) else {
        return;
    };
    let options = Options {
        batch_entries: 1 + dice.below(200) as u64,
        ..Options::default()
    };
    let Ok(mut batches) = reader.batches(0..tree.tree().entries.min(500), options) else {
        return;
    };
    while let Some(mut batch) = batches.next_batch() {
        let rows: Vec<u32> = (0..batch.rows() as u32).step_by(3).collect();
        for index in 0..columns.len() {
            let _ = match dice.below(3) {
                0 => batch.column_at(index, &rows),
                _ => batch.column(index),
            };
        }
    }
}

/// The entries of one basket of every kind of layout in a file, uncompressed.
fn baskets(path: &Path, bytes: &[u8]) -> Vec<(Layout, Vec<u8>, Vec<u32>, usize)> {
    let source = Arc::new(Memory::new("sound", bytes.to_vec(), Costs::NEAR));
    let file = File::open(source).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let (mut seen, mut found) = (HashSet::new(), Vec::new());
    for key in file.trees() {
        let Ok(tree) = file.tree(&format!("{};{}", key.path, key.cycle)) else {
            continue;
        };
        for (index, branch) in tree.tree().branches.iter().enumerate() {
            let basket = branch
                .baskets
                .first()
                .filter(|_| tree.readable(index).is_ok());
            let Some(basket) = basket else { continue };
            if !seen.insert(format!("{:?}", branch.layout)) || seen.len() > 200 {
                continue;
            }
            let range = basket.bytes.start as usize..basket.bytes.end as usize;
            let Some(record) = bytes.get(range) else {
                continue;
            };
            let Ok(header) = BasketHeader::parse(record) else {
                continue;
            };
            let mut payload = Vec::new();
            let packed = &record[header.key_len..];
            let Ok(payload) = Decompressor::new()
                .unpack(packed, header.uncompressed_len, &mut payload)
                .map(<[u8]>::to_vec)
            else {
                continue;
            };
            let parts = header.split(&payload).unwrap();
            let mut starts = Vec::new();
            if !parts.stored_offsets.is_empty() {
                header.entry_starts(parts, &mut starts).unwrap();
            }
            // Some kilobytes have all that damage can do.
            let most = starts.partition_point(|&at| at <= 20_000).max(2);
            starts.truncate(most);
            let len = starts
                .last()
                .map_or(header.data_end.min(20_000), |&end| end as usize);
            let entries = starts.len().saturating_sub(1);
            let count = if starts.is_empty() {
                header.entries
            } else {
                entries
            };
            found.push((
                branch.layout.clone(),
                payload[..len].to_vec(),
                starts,
                count,
            ));
        }
    }
    found
}

fn decode(layout: &Layout, data: &[u8], starts: &[u32], count: usize) {
    let Ok(mut column) = Column::new(layout, 0) else {
        return;
    };
    let entries = Entries {
        data,
        starts,
        count,
    };
    if append(&mut column, layout, entries).is_ok() {
        let _ = column.finish(layout);
    }
}

/// Damages one file in many ways, so many `times` as the constants say; how many.
fn torture(path: &Path, times: usize) -> usize {
    let bytes = std::fs::read(path).unwrap();
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15 ^ bytes.len() as u64);
    let mut done = 0;
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    let mut check = |taken: usize, columns: usize, what: &str, turn: usize| {
        let most = allowed(bytes.len()) * columns;
        assert!(
            taken <= most,
            "{name}: {what} {turn} takes {taken} bytes of {most}"
        );
        done += 1;
    };
    for turn in 0..times * OF_FILE {
        let mut damaged = bytes.clone();
        damage(&mut damaged, &mut dice);
        let ((), taken) = peak_of(|| read_some(damaged, &mut dice));
        check(taken, 1, "damaged file", turn);
    }
    for turn in 0..times * OF_TOGETHER {
        let mut damaged = bytes.clone();
        damage(&mut damaged, &mut dice);
        let ((), taken) = peak_of(|| read_some_together(damaged, &mut dice));
        check(taken, TOGETHER, "damaged file, together,", turn);
    }
    let baskets = baskets(path, &bytes);
    for turn in 0..times * OF_BASKETS * usize::from(!baskets.is_empty()) {
        let (layout, data, starts, count) = &baskets[dice.below(baskets.len())];
        let (mut data, mut starts) = (data.clone(), starts.clone());
        damage(&mut data, &mut dice);
        // The driver sees to it that starts lie within the data.
        for start in &mut starts {
            *start = (*start).min(data.len() as u32);
        }
        let ((), taken) = peak_of(|| decode(layout, &data, &starts, *count));
        check(taken, 1, "damaged basket", turn);
    }
    done
}

#[test]
fn damaged_files_give_errors_or_arrays_within_bounds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        eprintln!("skipped: no folder {}", folder.display());
        return;
    };
    let mut files: Vec<PathBuf> = entries.map(|e| e.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|e| e == "root"));
    files.sort();
    // One thread: memory that readers leave for reuse would count for the thread that took it, even after
    // another one has freed it.
    let times = 1 + usize::from(std::env::var_os("SLOW").is_some());
    let done: usize = files.iter().map(|path| torture(path, times)).sum();
    eprintln!("{done} mutations of {} files", files.len());
    assert!(done >= times * 10_000, "only {done} mutations");
}
