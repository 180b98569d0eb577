//! Files that this project did not write: this reader must see in them what other readers see. The expected
//! values are uproot's and ROOT's.
#![allow(
    clippy::panic,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod common;

use common::{corpus, corpus_files, open, short};
use treemill_format::parse_tree;
use treemill_format::tree::{Branch, Tree};

fn tree(file: &str, path: &str) -> Option<Tree> {
    let file = open(&corpus()?.join(file));
    let record = file
        .trees
        .iter()
        .find(|record| record.path == path)
        .unwrap();
    Some(
        parse_tree(
            &record.key.class,
            &record.object,
            record.key.key_len,
            &file.infos,
        )
        .unwrap(),
    )
}

fn branch<'t>(tree: &'t Tree, name: &str) -> &'t Branch {
    tree.branches
        .iter()
        .find(|branch| branch.name == name)
        .unwrap()
}

/// File | tree | branch | C++ type | layout | counter.
const LAYOUTS: &str = "\
coffea-nano_dy.root | Events;1 | run | unsigned int | U32 |
coffea-nano_dy.root | Events;1 | event | unsigned long long | U64 |
coffea-nano_dy.root | Events;1 | Jet_pt | float[nJet] | counted0 F32 | nJet
coffea-nano_dy.root | Events;1 | Electron_convVeto | bool[nElectron] | counted0 Bool | nElectron
coffea-nano_dy.root | Events;1 | Electron_lostHits | unsigned char[nElectron] | counted0 U8 | nElectron
uproot-HZZ-uncompressed.root | events;1 | Muon_Px | float[NMuon] | counted0 F32 | NMuon
uproot-Zmumu-zstd.root | events;1 | Type | char* | string0 |
uproot-sample-5.23.02-zlib.root | sample;1 | ab | bool[3] | [3]Bool |
uproot-sample-6.20.04-lzma.root | sample;1 | Af4 | float[n] | counted0 F32 | n
uproot-sample-6.20.04-lzma.root | sample;1 | str | char* | string0 |
uproot-nesteddirs.root | one/two/tree;1 | ArrayInt64 | long long[10] | [10]I64 |
uproot-nesteddirs.root | three/tree;1 | N | int | I32 |
uproot-nesteddirs.root | three/tree;1 | SliceF64 | double[N] | counted1 F64 | N
uproot-nesteddirs.root | three/tree;1 | StdStr | string | string6 |
uproot-nesteddirs.root | three/tree;1 | Beg | TString | string0 |
uproot-nesteddirs.root | three/tree;1 | StlVecU16 | vector<unsigned short> | vector6 U16 |
uproot-nesteddirs.root | three/tree;1 | P3 | P3 | {} |
uproot-issue76.root | Events;1 | normalStrings | vector<string> | vector6 string0 |
uproot-issue501.root | T;1 | point | struct {float x[15][2]; float y[15][2];} | {x: [15][2]F32, y: [15][2]F32} |
uproot-issue213.root | T;1 | fMCHits | TClonesArray | I32 |
uproot-issue213.root | T;1 | fMCHits.fEneDep | float[fMCHits] | counted0 F32 | fMCHits
uproot-issue187.root | fTreeV0;1 | fXvtx | Double32_t | Double32(Range { min: -20.0, factor: 1638.4 }) |
uproot-issue187.root | fTreeV0;1 | V0s.fInvMass[2] | float[V0s][2] | counted0 [2]F32 | V0s
uproot-issue187.root | fTreeV0;1 | V0s.fNsigmaPionPos | Double32_t[V0s] | counted0 Double32(Range { min: 0.0, factor: 2.0 }) | V0s
uproot-issue187.root | fTreeV0;1 | V0Hyper.fNsigmaHe3Pos | Double32_t[V0Hyper] | counted0 Double32(AsF32) | V0Hyper
uproot-double32-float16.root | tree;1 | float16_5 | Float16_t | Float16(Range { min: -2.71, factor: 2.5177025963808024 }) |
uproot-double32-float16.root | tree;1 | array_10 | Float16_t[3] | [3]Float16(Range { min: -2.71, factor: 80.56648308418568 }) |
uproot-issue-1221.root | TrkAna/trkana;1 | dem | vector<mu2e::TrkInfo> | I32 |
uproot-issue-1221.root | TrkAna/trkana;1 | dem.chisq | float[dem] | counted0 F32 | dem
uproot-issue-123a.root | CollectionTree;1 | AnalysisJetsAuxDyn.NumTrkPt500 | vector<vector<int> > | vector6 vector0 I32 |
uproot-issue-123a.root | CollectionTree;1 | EventInfoAuxDyn.streamTagRobs | vector<set<unsigned int> > | vector6 vector0 U32 |
uproot-issue-123a.root | MetaData;2 | FileMetaDataAuxDyn.amiTag | string | string0 |
uproot-mc10events.root | Events;1 | triggerBits | bitset<256> | vector6 Bool |
uproot-issue-tbranch-of-th2.root | g4SimHits/tree;1 | histogram | TH2F | object(TH2F) |
";

#[test]
fn layouts_are_those_of_other_readers() {
    for line in LAYOUTS.lines() {
        let columns: Vec<&str> = line.split('|').map(str::trim).collect();
        let [file, path, name, cpp_type, layout, counter] = columns[..] else {
            panic!("six columns: {line}")
        };
        let Some(tree) = tree(file, path) else { return };
        let branch = branch(&tree, name);
        let counter_found = branch.counter.map(|counter| &tree.branches[counter].name);
        let found = [
            branch.cpp_type.as_str(),
            &short(&branch.layout),
            counter_found.map_or("", String::as_str),
        ];
        assert_eq!(found, [cpp_type, layout, counter], "{file} {path} {name}");
    }
}

#[test]
fn every_tree_parses_and_its_branches_agree_with_themselves() {
    let mut branches = 0;
    for path in corpus_files() {
        let file = open(&path);
        for record in &file.trees {
            let key = &record.key;
            let tree = parse_tree(&key.class, &record.object, key.key_len, &file.infos)
                .unwrap_or_else(|error| panic!("{} {}: {error}", path.display(), record.path));
            branches += tree.branches.len();
            consistent(&tree, &format!("{} {}", path.display(), record.path));
        }
    }
    if corpus().is_some() {
        assert!(branches >= 35_829, "{branches} branches");
    }
}

fn consistent(tree: &Tree, place: &str) {
    assert_eq!(
        tree.clusters.first().copied(),
        (tree.entries > 0).then_some(0),
        "{place}"
    );
    assert!(
        tree.clusters.is_sorted_by(|a, b| a < b),
        "{place}: clusters ascend"
    );
    for (index, branch) in tree.branches.iter().enumerate() {
        let place = format!("{place} {}", branch.name);
        for &child in &branch.children {
            assert!(
                child > index && tree.branches[child].parent == Some(index),
                "{place}: children"
            );
        }
        if let Some(counter) = branch.counter {
            assert!(counter < tree.branches.len(), "{place}: {counter}");
        }
        let stored = branch.baskets.iter().map(|basket| &basket.entries);
        let ranges: Vec<_> = stored
            .chain(branch.embedded.iter().map(|basket| &basket.entries))
            .collect();
        assert!(
            ranges.windows(2).all(|pair| pair[0].end == pair[1].start),
            "{place}: gaps between baskets"
        );
        if let (Some(first), Some(last)) = (ranges.first(), ranges.last()) {
            assert_eq!(
                last.end - first.start,
                branch.entries,
                "{place}: entries in baskets"
            );
        }
        for basket in &branch.embedded {
            let entries = usize::try_from(basket.entries.end - basket.entries.start).unwrap();
            if let Some(offsets) = &basket.offsets {
                assert_eq!(offsets.len(), entries + 1, "{place}: offsets");
                assert_eq!(
                    offsets[entries] as usize,
                    basket.data.len(),
                    "{place}: offsets"
                );
            }
        }
    }
}

#[test]
fn baskets_lie_where_other_readers_find_them() {
    let Some(tree) = tree("uproot-HZZ-uncompressed.root", "events;1") else {
        return;
    };
    assert_eq!((tree.entries, tree.branches.len()), (2421, 51));
    let baskets = &branch(&tree, "Muon_Charge").baskets;
    let found: Vec<_> = baskets
        .iter()
        .map(|b| (b.entries.clone(), b.bytes.clone()))
        .collect();
    assert_eq!(
        found,
        [(0..2231, 92_573..115_661), (2231..2421, 283_368..285_440)]
    );
}

#[test]
fn embedded_baskets_are_read_with_their_entries() {
    let Some(tree) = tree("uproot-issue79.root", "taus;1") else {
        return;
    };
    let pt = branch(&tree, "pt");
    assert_eq!(pt.baskets.len(), 1);
    assert_eq!(pt.embedded[0].entries, 711_309..1_000_000);
    assert_eq!(pt.embedded[0].data.len(), 4 * (1_000_000 - 711_309));
}

#[test]
fn clusters_are_those_that_the_tree_recorded() {
    let Some(tree) = tree("uproot-issue-123a.root", "CollectionTree;1") else {
        return;
    };
    assert_eq!(
        tree.clusters,
        [0, 11, 20, 29, 37, 41, 49, 62, 69, 83, 87, 97]
    );
}
