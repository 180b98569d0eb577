//! Tree records written by hand: what corpus files do not show, and files without streamer info.
#![allow(clippy::panic)]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

#[path = "common/record.rs"]
mod record;

use proptest::prelude::*;
use record::*;
use treemill_format::directory::{Directory, parse_key_list};
use treemill_format::error::FormatError;
use treemill_format::header::FileHeader;
use treemill_format::key::Key;
use treemill_format::layout::{Layout, Number};
use treemill_format::parse_tree;
use treemill_format::reader::Reader;
use treemill_format::streamer::StreamerInfos;
use treemill_format::tree::Tree;

fn parse(object: &[u8]) -> Result<Tree, FormatError> {
    parse_tree("TTree", object, KEY_LEN, &StreamerInfos::default())
}

fn position(haystack: &[u8], needle: &[u8]) -> usize {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
        .unwrap()
}

fn one_leaf(leaf: Vec<u8>, entries: i64) -> BranchRecord {
    BranchRecord {
        leaves: vec![leaf],
        entries,
        ..BranchRecord::default()
    }
}

/// A tree with a number, a counter, a counted array and an unflushed basket.
fn sample() -> Vec<u8> {
    let x = BranchRecord {
        baskets: vec![(0, 1000, 50), (4, 5_000_000_000, 60)],
        ..one_leaf(leaf("TLeafF", "x", "x", 1, false, &NULL), 10)
    };
    let n_leaf = leaf("TLeafI", "n", "n", 1, true, &NULL);
    let n = one_leaf(n_leaf.clone(), 0);
    let build = |counter: &[u8]| {
        let y = BranchRecord {
            entry_offset_len: 1000,
            embedded: vec![basket(3, &[7; 24], Some(&[0, 8, 8]))],
            ..one_leaf(leaf("TLeafS", "y", "y[n][2]", 2, false, counter), 3)
        };
        let branches = [
            pointer("TBranch", &branch("x", "x/F", &x)),
            pointer("TBranch", &branch("n", "n/i", &n)),
            pointer("TBranch", &branch("y", "y[n][2]/S", &y)),
        ];
        let aliases = pointer("TList", &list(&[pointer("TNamed", &named("twice", "2*x"))]));
        tree("t", 10, 4, &[(3, 2)], &branches, &aliases)
    };
    let at = position(&build(&NULL), &n_leaf);
    build(&reference(at))
}

#[test]
fn a_tree_without_streamer_info() {
    let tree = parse(&sample()).unwrap();
    assert_eq!(
        (tree.name.as_str(), tree.title.as_str(), tree.entries),
        ("t", "by hand", 10)
    );
    assert_eq!(tree.aliases, [("twice".to_owned(), "2*x".to_owned())]);
    let [x, n, y] = tree.branches.as_slice() else {
        panic!("three branches")
    };
    assert_eq!(x.layout, Layout::Number(Number::F32));
    assert_eq!(x.baskets[1].entries, 4..10);
    assert_eq!(x.baskets[1].bytes, 5_000_000_000..5_000_000_060);
    assert_eq!(
        (x.total_bytes, x.zip_bytes, x.has_entry_offsets),
        (1234, 567, false)
    );
    assert_eq!(
        (n.cpp_type.as_str(), &n.layout),
        ("unsigned int", &Layout::Number(Number::U32))
    );
    assert_eq!(
        (
            y.cpp_type.as_str(),
            y.counter
                .map(|counter| tree.branches[counter].name.as_str())
        ),
        ("short[n][2]", Some("n"))
    );
    let item = Box::new(Layout::Array {
        item: Box::new(Layout::Number(Number::I16)),
        len: 2,
    });
    assert_eq!(y.layout, Layout::Counted { item, header: 0 });
    assert!(y.has_entry_offsets);
    assert_eq!(y.embedded[0].entries, 0..3);
    assert_eq!(y.embedded[0].data, [7; 24]);
    assert_eq!(y.embedded[0].offsets.as_deref(), Some(&[0, 8, 8, 24][..]));
}

#[test]
fn a_basket_without_entries_has_no_offsets() {
    let text = leaf("TLeafC", "s", "s", 1, false, &NULL);
    let s = BranchRecord {
        entry_offset_len: 1000,
        embedded: vec![basket(0, &[], Some(&[])), basket(2, b"abc", Some(&[0, 1]))],
        ..one_leaf(text, 2)
    };
    let branches = [pointer("TBranch", &branch("s", "s/C", &s))];
    let parsed = parse(&tree("t", 2, 0, &[], &branches, &NULL)).unwrap();
    let baskets = &parsed.branches[0].embedded;
    let entries: Vec<_> = baskets.iter().map(|b| b.entries.clone()).collect();
    assert_eq!(entries, [0..0, 0..2]);
    assert_eq!(baskets[1].data, b"abc");
    assert_eq!(baskets[1].offsets.as_deref(), Some(&[0, 1, 3][..]));
}

/// One branch of one basket with ten entries, in a tree that claims `entries`.
fn claims(
    entries: i64,
    baskets: Vec<(i64, i64, i32)>,
    embedded: Vec<Vec<u8>>,
) -> Result<Tree, FormatError> {
    let x = BranchRecord {
        baskets,
        embedded,
        ..one_leaf(leaf("TLeafF", "x", "x", 1, false, &NULL), 10)
    };
    let branches = [pointer("TBranch", &branch("x", "x/F", &x))];
    parse(&tree("t", entries, 0, &[], &branches, &NULL))
}

#[test]
fn a_tree_has_as_many_entries_as_some_branch_holds() {
    let stored = vec![(0, 1000, 50)];
    for entries in [11, 1 << 31, 1 << 41] {
        let error = claims(entries, stored.clone(), Vec::new()).unwrap_err();
        let expected = format!("the tree announces {entries} entries, and its baskets hold 10");
        assert!(error.to_string().contains(&expected), "{error}");
        let open = vec![basket(10, &[0; 40], None)];
        assert!(claims(entries, Vec::new(), open).is_err());
    }
    // Fewer are well, and so is a tree without data: its friends have them.
    for entries in [0, 9, 10] {
        assert_eq!(
            claims(entries, stored.clone(), Vec::new()).unwrap().entries,
            entries as u64
        );
    }
    assert!(claims(10, Vec::new(), vec![basket(10, &[0; 40], None)]).is_ok());
    assert!(parse(&tree("t", 1 << 41, 0, &[], &[], &NULL)).is_ok());
    assert!(claims(1 << 41, Vec::new(), Vec::new()).is_ok());
    // Branches may have fewer entries than others.
    let of = |entries, baskets| BranchRecord {
        baskets,
        ..one_leaf(leaf("TLeafF", "x", "x", 1, false, &NULL), entries)
    };
    let branches = [
        pointer("TBranch", &branch("x", "x/F", &of(3, stored.clone()))),
        pointer("TBranch", &branch("y", "y/F", &of(20, stored.clone()))),
        pointer("TBranch", &branch("z", "z/F", &of(0, Vec::new()))),
    ];
    assert!(parse(&tree("t", 20, 0, &[], &branches, &NULL)).is_ok());
    // No basket holds more than 2^31 - 1.
    let y = pointer("TBranch", &branch("y", "y/F", &of(1 << 31, stored)));
    assert!(parse(&tree("t", 1 << 31, 0, &[], &[y], &NULL)).is_err());
}

#[test]
fn recorded_clusters_that_the_baskets_allow() {
    let x = BranchRecord {
        baskets: vec![(0, 100, 5), (2, 105, 5), (4, 110, 5), (8, 115, 5)],
        ..one_leaf(leaf("TLeafF", "x", "x", 1, false, &NULL), 10)
    };
    let branches = [pointer("TBranch", &branch("x", "x/F", &x))];
    let parsed = parse(&tree("t", 10, 4, &[(3, 2)], &branches, &NULL)).unwrap();
    assert_eq!(parsed.clusters, [0, 2, 4, 8]);
}

#[test]
fn leaf_lists_are_records_and_other_files_are_not_read() {
    let leaves = vec![
        leaf("TLeafI", "a", "a", 1, false, &NULL),
        leaf("TLeafD", "b", "b[2]", 2, false, &NULL),
    ];
    let record = BranchRecord {
        leaves: leaves.clone(),
        ..BranchRecord::default()
    };
    let elsewhere = BranchRecord {
        leaves,
        file: "other.root".into(),
        ..BranchRecord::default()
    };
    let branches = [
        pointer("TBranch", &branch("ab", "a/I:b[2]/D", &record)),
        pointer("TBranch", &branch("far", "a/I:b[2]/D", &elsewhere)),
    ];
    let tree = parse(&tree("t", 0, 0, &[], &branches, &NULL)).unwrap();
    let two = Layout::Array {
        item: Box::new(Layout::Number(Number::F64)),
        len: 2,
    };
    let fields = vec![
        ("a".to_owned(), Layout::Number(Number::I32)),
        ("b".to_owned(), two),
    ];
    assert_eq!(tree.branches[0].layout, Layout::Record(fields));
    assert_eq!(tree.branches[0].cpp_type, "struct {int a; double b[2];}");
    let Layout::Unsupported { reason } = &tree.branches[1].layout else {
        panic!("elsewhere")
    };
    assert!(reason.contains("other.root"), "{reason}");
    assert!(tree.clusters.is_empty());
}

#[test]
fn what_contradicts_itself_is_malformed() {
    let mut damaged = sample();
    let counter = position(&damaged, b"TLeafS\0") - 4;
    damaged[counter..counter + 4].copy_from_slice(&[0x80, 0, 0, 3]);
    assert!(parse(&damaged).is_err(), "a class reference to nothing");
    let x = branch("x", "x/F", &BranchRecord::default());
    let first = pointer("TBranch", &x);
    let build = |second: Vec<u8>| tree("t", 0, 0, &[], &[first.clone(), second], &NULL);
    let at = position(&build(NULL.to_vec()), &first);
    assert!(
        matches!(
            parse(&build(reference(at))),
            Err(FormatError::Malformed { .. })
        ),
        "listed twice"
    );
    assert!(parse(&build(NULL.to_vec())).is_ok());
}

#[test]
fn unknown_versions_and_classes_are_named() {
    let mut newer = sample();
    newer[5] = 99;
    let Err(FormatError::Unsupported { what }) = parse(&newer) else {
        panic!("unsupported")
    };
    assert!(what.contains("version 99 of class TTree"), "{what}");
    let odd = one_leaf(leaf("TLeafQ", "q", "q", 1, false, &NULL), 0);
    let record = tree(
        "t",
        0,
        0,
        &[],
        &[pointer("TBranch", &branch("q", "q", &odd))],
        &NULL,
    );
    assert!(matches!(
        parse(&record),
        Err(FormatError::Unsupported { .. })
    ));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400), size in any::<u64>()) {
        let _ = FileHeader::parse(&bytes, size);
        let _ = Directory::parse(&bytes, size);
        let _ = parse_key_list(&bytes, size);
        let _ = Key::parse(&mut Reader::new(&bytes));
        let _ = StreamerInfos::parse(&bytes, 64);
        let _ = parse(&bytes);
    }

    #[test]
    fn a_damaged_record_never_panics(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        keep in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let mut record = sample();
        for (index, byte) in changes {
            let at = index.index(record.len());
            record[at] = byte;
        }
        if cut {
            record.truncate(keep.index(record.len()));
        }
        if let Ok(tree) = parse(&record) {
            let baskets: usize = tree.branches.iter().map(|b| b.baskets.len()).sum();
            prop_assert!(baskets * 12 <= record.len());
        }
    }
}
