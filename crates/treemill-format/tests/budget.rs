//! Descriptions of classes that name one another often: each class is described once, the whole is bounded, and
//! nothing is left out of an object because it is too much.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
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
use treemill_format::layout::{Layout, Object, Part};
use treemill_format::parse_tree;
use treemill_format::streamer::StreamerInfos;
use treemill_format::tree::Tree;

const NAMES: [&str; 13] = [
    "C0", "C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8", "C9", "C10", "C11", "C12",
];
const POINTERS: [&str; 13] = [
    "C0*", "C1*", "C2*", "C3*", "C4*", "C5*", "C6*", "C7*", "C8*", "C9*", "C10*", "C11*", "C12*",
];
const MEMBERS: [&str; 4] = ["a", "b", "c", "d"];
const FLOATS: usize = 10;

/// A tree with a branch of C0 and one of the last class. Each class has as many pointers to the next one, and
/// floats.
fn chain(classes: usize, pointers: usize) -> Tree {
    let infos: Vec<_> = (0..classes)
        .map(|i| {
            let next = (i + 1 < classes).then(|| POINTERS[i + 1]);
            let pointer = |of| {
                let names = MEMBERS.iter().take(pointers);
                names.map(move |name| member("TStreamerObjectPointer", name, 64, of))
            };
            let mut members: Vec<_> = next.into_iter().flat_map(pointer).collect();
            members.extend((0..FLOATS).map(|_| member("TStreamerBasicType", "x", 5, "float")));
            streamer_info(NAMES[i], 3, &members)
        })
        .collect();
    let infos = StreamerInfos::parse(&list(&infos), KEY_LEN).unwrap();
    let branches = [NAMES[0], NAMES[classes - 1]].map(|class| {
        let record = BranchRecord {
            leaves: vec![leaf_element("o", 1, -1)],
            ..BranchRecord::default()
        };
        element_branch("o", &record, class, [0, -1, -1], &NULL)
    });
    let record = tree("t", 0, 0, &[], &branches, &NULL);
    parse_tree("TTree", &record, KEY_LEN, &infos).unwrap()
}

/// How many members an object has, with those of the objects that it points to.
fn count(object: &Object) -> usize {
    let within = |layout: &Layout| match layout {
        Layout::Pointer(pointer) => match &pointer.to {
            Layout::Object(to) => count(to),
            other => panic!("{other:?}"),
        },
        Layout::Object(object) => count(object),
        _ => 0,
    };
    let of = |part: &Part| match part {
        Part::Field(_, layout) => 1 + within(layout),
        Part::Base(base) => count(base),
        Part::Hidden(hidden) => panic!("{hidden:?} is left out"),
    };
    object.parts.iter().map(of).sum()
}

fn object(layout: &Layout) -> &Object {
    match layout {
        Layout::Object(object) => object,
        other => panic!("{other:?}"),
    }
}

#[test]
fn pointers_are_described_once() {
    let tree = chain(8, 2);
    let all: usize = (0..8).map(|i| (1 << i) * FLOATS).sum();
    assert_eq!(count(object(&tree.branches[0].layout)), all + 254);
    assert_eq!(count(object(&tree.branches[1].layout)), FLOATS);
}

/// Nothing is left out without a word.
#[test]
fn what_is_too_much_is_said() {
    let tree = chain(13, 4);
    for branch in &tree.branches {
        let Layout::Unsupported { reason } = &branch.layout else {
            panic!("{:?}", branch.layout);
        };
        assert_eq!(reason, "more members than a tree may have");
    }
}
