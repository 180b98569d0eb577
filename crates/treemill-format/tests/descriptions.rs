//! Files whose own descriptions of ROOT's tree classes give members other lengths than ROOT does: the end of
//! the object shows which of the two is right.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap
)]

#[path = "common/elements.rs"]
mod elements;
#[path = "common/record.rs"]
mod record;

use elements::*;
use record::*;
use treemill_format::error::FormatError;
use treemill_format::layout::{Layout, Number};
use treemill_format::parse_tree;
use treemill_format::streamer::StreamerInfos;
use treemill_format::tree::Tree;

const INT: i32 = 3;
const LONG64: i32 = 16;

/// TLeaf at version 2, whose fLenType is of this code.
fn leaf_class(code: i32) -> Vec<u8> {
    let basic = |name, code| member("TStreamerBasicType", name, code, "int");
    let members = [
        member("TStreamerBase", "TNamed", 67, "BASE"),
        basic("fLen", INT),
        basic("fLenType", code),
        basic("fOffset", INT),
        basic("fIsRange", 18),
        basic("fIsUnsigned", 18),
        member("TStreamerObjectPointer", "fLeafCount", 64, "TLeaf*"),
    ];
    streamer_info("TLeaf", 2, &members)
}

/// A TLeafI without a sign, `long` with an fLenType of 64 bits.
fn leaf_of(long: bool) -> Vec<u8> {
    let mut content = named("x", "x");
    content.extend(3i32.to_be_bytes());
    if long {
        content.extend(4i64.to_be_bytes());
    } else {
        content.extend(4i32.to_be_bytes());
    }
    content.extend([0, 0, 0, 0, 0, 1, 0, 0, 0, 0]);
    let mut outer = object(2, &content);
    outer.extend([0; 8]);
    pointer("TLeafI", &object(1, &outer))
}

fn parse(leaf: Vec<u8>, description: Option<Vec<u8>>) -> Result<Tree, FormatError> {
    let x = BranchRecord {
        leaves: vec![leaf],
        ..BranchRecord::default()
    };
    let branches = [pointer("TBranch", &branch("x", "x[3]/i", &x))];
    let infos = list(&description.into_iter().collect::<Vec<_>>());
    let infos = StreamerInfos::parse(&infos, 64).unwrap();
    let record = tree("t", 0, 0, &[], &branches, &NULL);
    parse_tree("TTree", &record, KEY_LEN, &infos)
}

#[test]
fn the_objects_end_shows_which_description_is_right() {
    let expected = Layout::Array {
        item: Box::new(Layout::Number(Number::U32)),
        len: 3,
    };
    for (what, long, description) in [
        ("none", false, None),
        ("ROOT's own", false, Some(INT)),
        ("another, by which the file was written", true, Some(LONG64)),
        ("another, which is wrong", false, Some(LONG64)),
        (
            "ROOT's own, which is wrong, and so is the file",
            true,
            Some(INT),
        ),
    ] {
        let tree = parse(leaf_of(long), description.map(leaf_class));
        match (long, description) {
            (true, Some(INT)) => assert!(tree.map_or(true, |t| t.branches[0].layout != expected)),
            _ => assert_eq!(tree.unwrap().branches[0].layout, expected, "{what}"),
        }
    }
}

/// TBranch at version 13, whose fOffset is of this code.
fn branch_class(code: i32) -> Vec<u8> {
    let basic = |name, code| member("TStreamerBasicType", name, code, "int");
    let object = |name| member("TStreamerObject", name, 61, "TObjArray");
    let mut members = vec![
        member("TStreamerBase", "TNamed", 67, "BASE"),
        member("TStreamerBase", "TAttFill", 0, "BASE"),
    ];
    members.extend(
        [
            "fCompress",
            "fBasketSize",
            "fEntryOffsetLen",
            "fWriteBasket",
        ]
        .map(|n| basic(n, INT)),
    );
    members.push(basic("fEntryNumber", LONG64));
    members.push(member(
        "TStreamerObjectAny",
        "fIOFeatures",
        62,
        "ROOT::TIOFeatures",
    ));
    members.push(basic("fOffset", code));
    members.extend([basic("fMaxBaskets", 6), basic("fSplitLevel", INT)]);
    members.extend(["fEntries", "fFirstEntry", "fTotBytes", "fZipBytes"].map(|n| basic(n, LONG64)));
    members.extend(["fBranches", "fLeaves", "fBaskets"].map(object));
    streamer_info("TBranch", 13, &members)
}

/// Two real files do this: their descriptions shift the counter of a branch's baskets.
#[test]
fn a_counter_where_a_wrong_description_does_not_have_it() {
    let x = leaf("TLeafI", "x", "x", 1, false, &NULL);
    for code in [INT, LONG64, 1] {
        let tree = parse(x.clone(), Some(branch_class(code))).unwrap();
        assert_eq!(
            tree.branches[0].layout,
            Layout::Number(Number::I32),
            "{code}"
        );
        assert_eq!(tree.branches[0].total_bytes, 1234);
    }
}

/// Bytes are read once: no object's members reach past its end, however its classes are described. Objects
/// that could would be gone through as often as there are ways through them.
#[test]
fn bases_that_lie_behind_their_object_are_no_way_back() {
    let bases = (0..1_000).map(|_| member("TStreamerBase", "TBranch", 0, "BASE"));
    let classes = [
        streamer_info("TBranch", 7, &bases.collect::<Vec<_>>()),
        streamer_info("TBranch", 8, &[]),
    ];
    let infos = StreamerInfos::parse(&list(&classes), 64).unwrap();
    // Each ends after its version, the first, too.
    let objects = [
        [0x40, 0, 0, 2, 0, 7].to_vec(),
        [0x40, 0, 0, 2, 0, 8].repeat(1_000),
    ];
    let branches = [pointer("TBranch", &objects.concat())];
    let record = tree("t", 0, 0, &[], &branches, &NULL);
    let error = parse_tree("TTree", &record, KEY_LEN, &infos).unwrap_err();
    assert!(
        error.to_string().contains("before its members do"),
        "{error}"
    );
}
