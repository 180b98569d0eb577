//! Objects, their collections and references, from bytes written by hand. The project's Python tests compare
//! objects that real ROOT wrote.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use super::by_hand::{CHECKSUM, entry, field, hit, list, number, object};
use super::*;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type, UInt8Type, UInt32Type};
use treemill_format::error::FormatError;
use treemill_format::layout::{Counter, Form, Hidden, Number, Object, Part};
use treemill_format::marks::MEMBER_WISE;

/// Byte count, version, body.
fn framed(version: u16, body: &[u8]) -> Vec<u8> {
    let count = 0x4000_0000 | (u32::try_from(body.len()).unwrap() + 2);
    [&count.to_be_bytes()[..], &version.to_be_bytes(), body].concat()
}

const POINT: [u8; 6] = [0, 7, 0, 0, 0, 9];

#[test]
fn a_header_is_checked() {
    let layout = Layout::Object(hit(Form::Framed));
    let array = entry(&layout, &framed(3, &POINT)).unwrap();
    let x = array.as_struct().column(0).as_primitive::<Int16Type>();
    assert_eq!(x.value(0), 7);
    // A class without versions has a checksum after version 0.
    let foreign = |checksum: u32| framed(0, &[&checksum.to_be_bytes()[..], &POINT].concat());
    assert!(entry(&layout, &foreign(CHECKSUM)).is_ok());
    for bytes in [
        foreign(1),
        framed(4, &POINT),
        framed(3, &[&POINT[..], &[0]].concat()),
        POINT.to_vec(),
    ] {
        let error = entry(&layout, &bytes).unwrap_err();
        assert!(matches!(error, FormatError::Unsupported { .. }), "{error}");
    }
    let short = entry(&layout, &framed(3, &POINT)[..9]).unwrap_err();
    assert!(matches!(short, FormatError::Malformed { .. }), "{short}");
}

#[test]
fn bases_give_their_fields_and_hidden_parts_none() {
    let base = Part::Base(hit(Form::Framed));
    let parts = vec![
        Part::Hidden(Hidden::RootObject),
        base,
        number("y", Number::U8),
    ];
    let layout = Layout::Object(object(Form::Bare, parts));
    // A TObject that is referenced has two bytes more.
    let root = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0x10, 0xaa, 0xbb];
    let bytes = [&root[..], &framed(3, &POINT), &[5]].concat();
    let array = entry(&layout, &bytes).unwrap();
    assert_eq!(array.as_struct().column_names(), ["x", "n", "y"]);
}

#[test]
fn a_collection_says_in_which_order_its_items_lie() {
    let layout = list(Layout::Object(hit(Form::Framed)), 6);
    let one = [[0, 1, 0, 0, 0, 2], [0, 3, 0, 0, 0, 4]]
        .map(|p| framed(3, &p))
        .concat();
    let by_object = framed(9, &[&[0, 0, 0, 2][..], &one].concat());
    let all = [0, 3, 0, 0, 0, 2, 0, 1, 0, 3, 0, 0, 0, 2, 0, 0, 0, 4];
    let by_member = framed(9 | 1 << 14, &all);
    let array = entry(&layout, &by_object).unwrap();
    assert_eq!(&array, &entry(&layout, &by_member).unwrap());
    let points = array.as_list::<i32>().value(0);
    let n = points.as_struct().column(1).as_primitive::<Int32Type>();
    assert_eq!(n.values(), &[2, 4]);
    let mut many = by_member;
    many[8..12].copy_from_slice(&0x7fff_ffff_u32.to_be_bytes());
    assert!(entry(&layout, &many).is_err(), "more items than bytes");
}

#[test]
fn an_array_is_as_long_as_the_member_that_counts_says() {
    let sized = Layout::Sized {
        item: Box::new(Layout::Number(Number::I16)),
        counter: 0.into(),
        flag: true,
    };
    let layout = Layout::Object(object(
        Form::Bare,
        vec![number("n", Number::I32), field("x", sized)],
    ));
    let items = |bytes: &[u8]| {
        let array = entry(&layout, bytes).unwrap();
        let x = array.as_struct().column(1).as_list::<i32>().value(0);
        x.as_primitive::<Int16Type>().values().to_vec()
    };
    assert_eq!(items(&[0, 0, 0, 2, 1, 0, 8, 0, 9]), [8, 9]);
    assert!(items(&[0, 0, 0, 2, 0]).is_empty(), "a null pointer");
    assert!(entry(&layout, &[255, 255, 255, 255, 1]).is_err());
}

#[test]
fn bits_of_referenced_objects_are_longer() {
    let layout = Layout::Counted {
        item: Box::new(Layout::Bits),
        header: 0,
    };
    let array = entry(
        &layout,
        &[0, 0, 0, 1, 0, 0, 0, 0x10, 0xaa, 0xbb, 0, 0, 0, 2],
    )
    .unwrap();
    let bits = array.as_list::<i32>().value(0);
    assert_eq!(bits.as_primitive::<UInt32Type>().values(), &[1, 16, 2]);
}

#[test]
fn collections_of_items_share_a_header() {
    let layout = Layout::Counted {
        item: Box::new(list(Layout::Number(Number::I16), 0)),
        header: 6,
    };
    let bytes = framed(9, &[0, 0, 0, 1, 0, 5, 0, 0, 0, 0]);
    let array = entry(&layout, &bytes).unwrap();
    assert_eq!(array.as_list::<i32>().value(0).len(), 2);
    let none = entry(&layout, &[]).unwrap();
    assert_eq!(none.as_list::<i32>().value(0).len(), 0);
}

/// A base class with n, which says how many numbers the object itself has.
fn counted_by_base(triangle: bool) -> Object {
    let base = object(Form::Framed, vec![number("n", Number::I32)]);
    let sized = Layout::Sized {
        item: Box::new(Layout::Number(Number::U8)),
        counter: Counter {
            part: 0,
            inherited: Some(0),
            triangle,
        },
        flag: !triangle,
    };
    let form = if triangle { Form::Bare } else { Form::Framed };
    object(form, vec![Part::Base(base), field("items", sized)])
}

#[test]
fn a_member_of_a_base_class_counts() {
    let read = |layout: &Layout, bytes: &[u8]| {
        let array = entry(layout, bytes)?;
        let items = array.as_struct().column(1).as_list::<i32>().value(0);
        let items: Vec<u8> = items.as_primitive::<UInt8Type>().values().to_vec();
        Ok::<_, FormatError>(items)
    };
    let base = |n: i32| framed(3, &n.to_be_bytes());
    let array = Layout::Object(counted_by_base(false));
    let stored = |n, rest: &[u8]| framed(3, &[&base(n), rest].concat());
    assert_eq!(read(&array, &stored(2, &[1, 7, 8])).unwrap(), [7, 8]);
    assert!(read(&array, &stored(2, &[0])).unwrap().is_empty());
    let triangle = Layout::Object(counted_by_base(true));
    let stored = |n, rest: &[u8]| [&base(n), rest].concat();
    assert_eq!(
        read(&triangle, &stored(3, &[1, 2, 3, 4, 5, 6])).unwrap(),
        [1, 2, 3, 4, 5, 6]
    );
    for (n, rest) in [
        (3, &[1, 2, 3, 4, 5][..]),
        (-1, &[]),
        (i32::MAX, &[0; 40]),
        (2, &[0; 4]),
    ] {
        assert!(read(&triangle, &stored(n, rest)).is_err(), "{n}");
    }
}

#[test]
fn bases_that_stream_themselves_are_refused_member_by_member() {
    let own = counted_by_base(true);
    let layout = list(
        Layout::Object(object(Form::Framed, vec![Part::Base(own)])),
        6,
    );
    let body = [&[0, 3, 0, 0, 0, 1][..], &framed(3, &[0, 0, 0, 0])].concat();
    let error = entry(&layout, &framed(9 | MEMBER_WISE, &body)).unwrap_err();
    assert!(error.to_string().contains("streams itself"), "{error}");
}
