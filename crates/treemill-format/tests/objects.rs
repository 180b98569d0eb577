//! Split objects written by hand: branches that streamer info explains.
#![allow(clippy::panic, clippy::unwrap_used)]
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

mod common;
#[path = "common/elements.rs"]
mod elements;
#[path = "common/record.rs"]
mod record;

use common::short;
use elements::*;
use record::*;
use treemill_format::parse_tree;
use treemill_format::streamer::{ElementKind, StreamerInfos};

const fn member(
    class: &'static str,
    name: &'static str,
    comment: &'static str,
    code: i32,
    length: i32,
    type_name: &'static str,
) -> Member {
    Member {
        class,
        name,
        comment,
        code,
        length,
        type_name,
    }
}

const MEMBERS: [Member; 9] = [
    member(
        "TStreamerBase",
        "TObject",
        "Basic ROOT object",
        66,
        0,
        "BASE",
    ),
    member("TStreamerBasicType", "n", "", 6, 0, "int"),
    member("TStreamerBasicType", "d", "[-10,10,16]", 9, 0, "Double32_t"),
    member("TStreamerBasicType", "a", "", 23, 6, "int"),
    member("TStreamerBasicPointer", "x", "[n] momenta", 45, 0, "float*"),
    member("TStreamerSTL", "v", "", 500, 0, "vector<float>"),
    member("TStreamerSTLstring", "s", "", 365, 0, "string"),
    member("TStreamerString", "t", "", 65, 0, "TString"),
    member("TStreamerObjectAny", "other", "", 62, 0, "Other"),
];

fn infos() -> StreamerInfos {
    StreamerInfos::parse(&streamer_infos("Ev", &MEMBERS), KEY_LEN).unwrap()
}

#[test]
fn streamer_info_is_read_with_its_elements() {
    let infos = infos();
    let info = infos.find("Ev", 3, Some(0xabcd)).unwrap();
    assert_eq!(info.checksum, 0xabcd);
    let found: Vec<_> = info
        .elements
        .iter()
        .map(|e| (e.name.as_str(), e.code, e.type_name.as_str()))
        .collect();
    let expected: Vec<_> = MEMBERS
        .iter()
        .map(|m| (m.name, m.code, m.type_name))
        .collect();
    assert_eq!(found, expected);
    assert_eq!(info.elements[0].kind, ElementKind::Base { version: 1 });
    let counted = ElementKind::CountedBy {
        member: "n".into(),
        class: "Ev".into(),
    };
    assert_eq!(info.elements[4].kind, counted);
    assert_eq!(info.elements[3].dims, [6]);
    assert!(infos.find("Ev", 2, None).is_none());
    assert!(infos.find_checksum("Ev", 0xabcd).is_some());
}

#[test]
fn members_are_what_the_streamer_info_says() {
    // Leaf title, fLen, fType, fID, fStreamerType; C++ type and layout.
    let branches = [
        ("n", 1, [0, 1, 6], "int", "I32"),
        (
            "d",
            1,
            [0, 2, 9],
            "Double32_t",
            "Double32(Range { min: -10.0, factor: 3276.8 })",
        ),
        ("a[2][3]", 6, [0, 3, 23], "int[2][3]", "[2][3]I32"),
        ("x[n]", -1, [0, 4, 45], "float[n]", "counted1 F32"),
        ("v", 1, [0, 5, 300], "vector<float>", "vector6 F32"),
        ("s", 1, [0, 6, 365], "string", "string6"),
        ("t", 1, [0, 7, 65], "TString", "string0"),
        (
            "other",
            1,
            [0, 8, 62],
            "Other",
            "unsupported: class Other, which the file does not describe",
        ),
        ("TObject", 1, [0, 0, 66], "TObject", "object(TObject)"),
        // Not the member that the class has there: nothing is known but the number itself.
        ("n", 1, [0, 2, 5], "float", "F32"),
        (
            "d",
            1,
            [0, 3, 9],
            "Double32_t",
            "unsupported: members of type Double32_t",
        ),
    ];
    let records: Vec<Vec<u8>> = branches
        .iter()
        .map(|(title, len, codes, _, _)| {
            let leaves = vec![leaf_element(title, *len, codes[2])];
            element_branch(
                title,
                &BranchRecord {
                    leaves,
                    ..BranchRecord::default()
                },
                "Ev",
                *codes,
                &NULL,
            )
        })
        .collect();
    let tree = parse_tree(
        "TTree",
        &tree("t", 0, 0, &[], &records, &NULL),
        KEY_LEN,
        &infos(),
    )
    .unwrap();
    for (branch, (title, _, _, cpp_type, layout)) in tree.branches.iter().zip(branches) {
        assert_eq!(
            (branch.cpp_type.as_str(), short(&branch.layout).as_str()),
            (cpp_type, layout),
            "{title}"
        );
    }
}

#[test]
fn collections_count_the_members_of_their_items() {
    let leaf = |title, code| BranchRecord {
        leaves: vec![leaf_element(title, 1, code)],
        ..BranchRecord::default()
    };
    let build = |counter: &[u8]| {
        let members = vec![
            element_branch("hits.d", &leaf("d[hits_]", 9), "Ev", [41, 2, 9], counter),
            element_branch(
                "hits.v",
                &leaf("v[hits_]", 300),
                "Ev",
                [41, 5, 300],
                counter,
            ),
            element_branch(
                "hits.fBits",
                &leaf("fBits[hits_]", 15),
                "TObject",
                [41, 1, 15],
                counter,
            ),
        ];
        let parent = BranchRecord {
            branches: members,
            ..leaf("hits_", -1)
        };
        element_branch("hits", &parent, "vector<Ev>", [4, -1, -1], &NULL)
    };
    let whole = |branch: Vec<u8>| tree("t", 0, 0, &[], &[branch], &NULL);
    // The parent is the first branch of the tree: its pointer begins where its class is first named.
    let record = whole(build(&NULL));
    let at = record
        .windows(15)
        .position(|bytes| bytes == b"TBranchElement\0")
        .unwrap()
        - 8;
    let tree = parse_tree("TTree", &whole(build(&reference(at))), KEY_LEN, &infos()).unwrap();
    let found: Vec<_> = tree
        .branches
        .iter()
        .map(|b| {
            (
                b.cpp_type.as_str(),
                b.counter
                    .map(|counter| tree.branches[counter].name.as_str()),
            )
        })
        .collect();
    assert_eq!(found[0], ("vector<Ev>", None));
    assert_eq!(found[1], ("Double32_t[hits]", Some("hits")));
    assert_eq!(short(&tree.branches[0].layout), "I32");
    assert_eq!(
        short(&tree.branches[1].layout),
        "counted0 Double32(Range { min: -10.0, factor: 3276.8 })"
    );
    assert_eq!(
        short(&tree.branches[2].layout),
        "counted6 vector0 F32",
        "one header for all items' vectors"
    );
    assert_eq!(
        short(&tree.branches[3].layout),
        "counted0 bits",
        "fBits of referenced items is longer"
    );
    assert_eq!(tree.branches[0].children, [1, 2, 3]);
}

#[test]
fn whole_objects_in_top_level_branches() {
    let cases = [
        ("string", -1, "string0"),
        ("vector<double>", 0, "vector6 F64"),
        ("ROOT::VecOps::RVec<int>", 0, "vector6 I32"),
        (
            "TLorentzVector",
            0,
            "unsupported: class TLorentzVector, which the file does not describe",
        ),
    ];
    let records: Vec<Vec<u8>> = cases
        .iter()
        .map(|(class, kind, _)| {
            let leaves = vec![leaf_element("o", 1, -1)];
            element_branch(
                "o",
                &BranchRecord {
                    leaves,
                    ..BranchRecord::default()
                },
                class,
                [*kind, -1, -1],
                &NULL,
            )
        })
        .collect();
    let tree = parse_tree(
        "TTree",
        &tree("t", 0, 0, &[], &records, &NULL),
        KEY_LEN,
        &infos(),
    )
    .unwrap();
    for (branch, (class, _, layout)) in tree.branches.iter().zip(cases) {
        assert_eq!(
            (branch.cpp_type.as_str(), short(&branch.layout).as_str()),
            (class, layout)
        );
    }
}

#[test]
fn a_string_is_its_text_whatever_its_description_lacks() {
    let infos = StreamerInfos::parse(&streamer_infos("TString", &[]), KEY_LEN).unwrap();
    let leaves = vec![leaf_element("o", 1, -1)];
    let branch = BranchRecord {
        leaves,
        ..BranchRecord::default()
    };
    let record = element_branch("o", &branch, "TString", [-1, -1, -1], &NULL);
    let tree = tree("t", 0, 0, &[], &[record], &NULL);
    let tree = parse_tree("TTree", &tree, KEY_LEN, &infos).unwrap();
    assert_eq!(short(&tree.branches[0].layout), "string0");
}
