//! Pointers, objects without headers, and items that cannot be there, from bytes written by hand. The project's
//! Python tests compare pointers that real ROOT wrote.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use super::by_hand::{entry, hit, list, number, object, pointer_to};
use super::*;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type};
use proptest::prelude::*;
use treemill_format::error::FormatError;
use treemill_format::layout::{Form, Hidden, Number, Part};

fn counted(body: &[u8]) -> Vec<u8> {
    let count = 0x4000_0000 | u32::try_from(body.len()).unwrap();
    [&count.to_be_bytes()[..], body].concat()
}

/// A pointer to a hit, whose class is named or referred to.
fn pointer(class: &[u8], x: u8) -> Vec<u8> {
    let hit = counted(&[0, 3, 0, x, 0, 0, 0, 9]);
    counted(&[class, &hit].concat())
}

const NAMED: &[u8] = b"\xff\xff\xff\xffHit\0";
const REFERRED: &[u8] = &[0x80, 0, 0, 77];

fn hits() -> Layout {
    list(pointer_to(hit(Form::Framed)), 6)
}

#[test]
fn pointers_are_to_something_or_null() {
    let items = [pointer(NAMED, 5), vec![0; 4], pointer(REFERRED, 6)].concat();
    let bytes = counted(&[&[0, 9, 0, 0, 0, 3][..], &items].concat());
    let array = entry(&hits(), &bytes).unwrap();
    let found = array.as_list::<i32>().value(0);
    let valid: Vec<bool> = (0..3).map(|i| found.is_valid(i)).collect();
    assert_eq!(valid, [true, false, true]);
    let x = found
        .as_struct()
        .column(0)
        .as_primitive::<Int16Type>()
        .clone();
    assert_eq!((x.value(0), x.value(2)), (5, 6));
}

#[test]
fn pointers_to_another_class_or_to_what_was_met_before_are_refused() {
    let layout = pointer_to(hit(Form::Framed));
    assert!(entry(&layout, &pointer(NAMED, 5)).is_ok());
    for bytes in [
        pointer(b"\xff\xff\xff\xffHat\0", 5),
        pointer(b"\xff\xff\xff\xffHits\0", 5),
        vec![0, 0, 0, 8],
        counted(&[0, 0, 0, 8]),
    ] {
        let error = entry(&layout, &bytes).unwrap_err();
        assert!(matches!(error, FormatError::Unsupported { .. }), "{error}");
    }
    let mut longer = pointer(NAMED, 5);
    longer[3] += 1;
    longer.push(0);
    let error = entry(&layout, &longer).unwrap_err();
    assert!(matches!(error, FormatError::Malformed { .. }), "{error}");
}

#[test]
fn what_is_hidden_is_passed_over() {
    let parts = vec![
        Part::Hidden(Hidden::Pointer),
        Part::Hidden(Hidden::Framed),
        Part::Hidden(Hidden::RootVersion),
        number("y", Number::I32),
    ];
    let layout = Layout::Object(object(Form::Bare, parts));
    let behind = [&counted(&[0, 5, 1, 2, 3])[..], &[0, 1, 0, 0, 0, 8]].concat();
    for pointer in [pointer(NAMED, 1), vec![0; 4], vec![0, 0, 0, 99]] {
        let array = entry(&layout, &[&pointer[..], &behind].concat()).unwrap();
        let y = array.as_struct().column(0).as_primitive::<Int32Type>();
        assert_eq!(y.value(0), 8);
    }
}

#[test]
fn objects_without_headers_lie_member_by_member() {
    let root = Part::Hidden(Hidden::RootObject);
    let base = object(Form::Framed, vec![number("z", Number::U8), root]);
    let shared = object(
        Form::Shared,
        vec![number("x", Number::I16), Part::Base(base)],
    );
    let layout = Layout::Counted {
        item: Box::new(Layout::Object(shared)),
        header: 0,
    };
    let root = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
    let bytes = [&[0, 5, 0, 6, 7, 8][..], &root, &root].concat();
    let array = entry(&layout, &bytes).unwrap();
    let items = array.as_list::<i32>().value(0);
    let x = items.as_struct().column(0).as_primitive::<Int16Type>();
    assert_eq!(x.values(), &[5, 6]);
    assert!(entry(&layout, &bytes[1..]).is_err());
    let mut referenced = bytes.clone();
    referenced[15] = 0x10;
    assert!(entry(&layout, &referenced).is_err());
}

#[test]
fn collections_of_what_cannot_be_read_are_read_where_they_are_empty() {
    let reason = "class Hat, which the file does not describe".to_owned();
    let layout = list(Layout::Absent { reason }, 6);
    let array = entry(&layout, &counted(&[0, 9, 0, 0, 0, 0])).unwrap();
    assert!(array.as_list::<i32>().value(0).is_empty());
    let by_member = |count| counted(&[0x40, 9, 0, 0, 1, 2, 3, 4, 0, 0, 0, count]);
    assert!(entry(&layout, &by_member(0)).is_ok());
    for bytes in [counted(&[0, 9, 0, 0, 0, 1, 0]), by_member(1)] {
        let error = entry(&layout, &bytes).unwrap_err();
        assert!(error.to_string().contains("Hat"), "{error}");
    }
}

#[test]
fn objects_without_members_are_counted() {
    let layout = list(Layout::Object(object(Form::Framed, Vec::new())), 6);
    let bytes = counted(&[0x40, 9, 0, 3, 0, 0, 0, 7]);
    let array = entry(&layout, &bytes).unwrap();
    assert_eq!(array.as_list::<i32>().value(0).len(), 7);
}

#[test]
fn a_leaf_list_may_end_with_a_string_of_which_nothing_was_written() {
    let text = Layout::String { header: 0 };
    let layout = Layout::Record(vec![
        ("x".to_owned(), Layout::Number(Number::I16)),
        ("text".to_owned(), text),
    ]);
    for (bytes, expected) in [(&[0, 1][..], &b""[..]), (&[0, 1, 2, 97, 98], b"ab")] {
        let array = entry(&layout, bytes).unwrap();
        assert_eq!(
            array.as_struct().column(1).as_binary::<i32>().value(0),
            expected
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_give_an_error_or_an_array(
        start in proptest::sample::select(vec![
            Vec::new(), NAMED.to_vec(), REFERRED.to_vec(), vec![0x40, 0, 0, 12], vec![0, 9, 0, 0, 0, 3],
        ]),
        rest in proptest::collection::vec(prop_oneof![Just(0_u8), Just(0x40), Just(3), any::<u8>()], 0..60),
        wrap in 0_usize..3,
    ) {
        let body = [start, rest].concat();
        let bytes = match wrap { 0 => body, 1 => counted(&body), _ => counted(&counted(&body)) };
        let shared = object(Form::Shared, vec![number("x", Number::I16), Part::Base(hit(Form::Framed))]);
        let opaque = vec![Part::Hidden(Hidden::Pointer), Part::Hidden(Hidden::Framed), number("y", Number::U8)];
        for layout in [
            hits(),
            pointer_to(hit(Form::Framed)),
            Layout::Object(object(Form::Framed, opaque)),
            Layout::Counted { item: Box::new(Layout::Object(shared)), header: 0 },
            list(Layout::Object(object(Form::Framed, Vec::new())), 6),
            list(Layout::Absent { reason: "no such class".to_owned() }, 6),
        ] {
            if let Ok(array) = entry(&layout, &bytes) {
                prop_assert_eq!(array.len(), 1);
            }
        }
    }
}
