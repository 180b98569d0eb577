//! Damaged metadata of real files: bytes changed, cut short, lengths enlarged. Nothing may panic, hang or take
//! memory out of proportion; both an error and a plausible tree are accepted.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
#![allow(clippy::cast_possible_truncation)]

mod common;

use common::{corpus_files, open};
use treemill_format::parse_tree;
use treemill_format::streamer::StreamerInfos;

/// Mutations of one record; trees of one file are alike, so few of each are enough.
const MUTATIONS: usize = 200;
const TREES_PER_FILE: usize = 4;
const LARGEST: usize = 400_000;

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

/// Lengths and tags that parsers stumble over.
const EVIL: [u32; 8] = [
    0,
    1,
    0x7fff_ffff,
    0xffff_ffff,
    0x4000_0000,
    0x7fff_fff0,
    0x8000_0000,
    0x4000_ffff,
];

fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..=dice.below(4) {
        let at = dice.below(bytes.len());
        match dice.below(4) {
            0 => bytes[at] ^= 1 << dice.below(8),
            1 => bytes[at] = dice.below(256) as u8,
            2 if at + 4 <= bytes.len() => {
                bytes[at..at + 4].copy_from_slice(&EVIL[dice.below(EVIL.len())].to_be_bytes());
            }
            2 | 3 if dice.below(4) == 0 => bytes.truncate(at + 1),
            _ => {
                let from = dice.below(bytes.len());
                let n = dice.below(64).min(bytes.len() - from).min(bytes.len() - at);
                bytes.copy_within(from..from + n, at);
            }
        }
    }
}

#[test]
fn damaged_records_never_panic() {
    let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
    let (mut tried, mut parsed) = (0usize, 0usize);
    for path in corpus_files() {
        let file = open(&path);
        for _ in 0..MUTATIONS / 4 {
            let mut object = file.info_object.clone();
            damage(&mut object, &mut dice);
            let infos = StreamerInfos::parse(&object, file.info_key_len);
            tried += 1;
            if let (Ok(infos), Some(record)) = (infos, file.trees.first()) {
                let _ = parse_tree(
                    &record.key.class,
                    &record.object,
                    record.key.key_len,
                    &infos,
                );
            }
        }
        let small = file
            .trees
            .iter()
            .filter(|record| record.object.len() <= LARGEST);
        for record in small.take(TREES_PER_FILE) {
            for _ in 0..MUTATIONS {
                let mut object = record.object.clone();
                damage(&mut object, &mut dice);
                tried += 1;
                if let Ok(tree) =
                    parse_tree(&record.key.class, &object, record.key.key_len, &file.infos)
                {
                    parsed += 1;
                    let baskets: usize = tree
                        .branches
                        .iter()
                        .map(|branch| branch.baskets.len())
                        .sum();
                    assert!(
                        baskets * 12 <= object.len(),
                        "{} {}",
                        path.display(),
                        record.path
                    );
                }
            }
        }
    }
    println!("{tried} damaged records, {parsed} of them parsed as trees");
    assert!(
        tried == 0 || parsed > 0 && parsed < tried,
        "mutations change something, but not everything"
    );
}
