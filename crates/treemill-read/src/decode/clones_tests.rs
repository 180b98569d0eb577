//! TClonesArrays that were stored whole, from bytes written by hand. The project's Python tests compare arrays
//! that real ROOT wrote.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::by_hand::{entry, field, hit, list, number, object};
use super::*;
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{Int16Type, Int32Type};
use proptest::prelude::*;
use treemill_format::layout::{Before, Clones, Form, Number, Object};

const BY_MEMBER: u32 = 1 << 12;

fn framed(version: u16, body: &[u8]) -> Vec<u8> {
    let count = 0x4000_0000 | (u32::try_from(body.len()).unwrap() + 2);
    [&count.to_be_bytes()[..], &version.to_be_bytes(), body].concat()
}

/// An array as ROOT 6 writes it.
fn array(class: &str, bits: u32, count: i32, items: &[u8]) -> Vec<u8> {
    let mut body = vec![0, 1, 0, 0, 0, 0];
    body.extend(bits.to_be_bytes());
    body.push(0);
    body.push(class.len() as u8);
    body.extend(class.bytes());
    body.extend(count.to_be_bytes());
    body.extend([0; 4]);
    body.extend(items);
    framed(4, &body)
}

fn layout_of(object: Object) -> Layout {
    Layout::Clones(Box::new(Clones {
        before: Before::Nothing,
        class: b"Hit;3".to_vec(),
        item: Layout::Object(object),
    }))
}

/// x and n of all items of the one entry.
fn read(bytes: &[u8]) -> Result<(Vec<i16>, Vec<i32>)> {
    let array = entry(&layout_of(hit(Form::Framed)), bytes)?;
    let items = array.as_list::<i32>().value(0);
    let column = |i: usize| items.as_struct().column(i).clone();
    Ok((
        column(0).as_primitive::<Int16Type>().values().to_vec(),
        column(1).as_primitive::<Int32Type>().values().to_vec(),
    ))
}

/// Two items, one after another.
fn one_by_one() -> Vec<u8> {
    let first = framed(3, &[0, 7, 0, 0, 0, 9]);
    let second = framed(3, &[0, 8, 0, 0, 0, 10]);
    [&[1], &first[..], &[1], &second].concat()
}

const BY_MEMBERS: [u8; 12] = [0, 7, 0, 8, 0, 0, 0, 9, 0, 0, 0, 10];

#[test]
fn items_lie_in_either_order() {
    let expected = (vec![7, 8], vec![9, 10]);
    assert_eq!(
        read(&array("Hit;3", 0, 2, &one_by_one())).unwrap(),
        expected
    );
    assert_eq!(
        read(&array("Hit;3", BY_MEMBER, 2, &BY_MEMBERS)).unwrap(),
        expected
    );
}

#[test]
fn lists_among_the_members_share_a_header_even_of_no_items() {
    let parts = vec![
        number("x", Number::I16),
        field("w", list(Layout::Number(Number::U8), 6)),
    ];
    let layout = layout_of(object(Form::Framed, parts));
    let items = [
        &[0, 7, 0, 8][..],
        &framed(10, &[0, 0, 0, 0, 0, 0, 0, 2, 4, 5]),
    ]
    .concat();
    let found = entry(&layout, &array("Hit;3", BY_MEMBER, 2, &items)).unwrap();
    let items = found.as_list::<i32>().value(0);
    let w = items.as_struct().column(1).as_list::<i32>();
    assert_eq!(w.value_offsets(), [0, 0, 2]);
    let none = array("Hit;3", BY_MEMBER, 0, &framed(10, &[]));
    assert_eq!(
        entry(&layout, &none)
            .unwrap()
            .as_list::<i32>()
            .value_offsets(),
        [0, 0]
    );
}

#[test]
fn what_is_not_as_it_should_be_is_refused() {
    for (bytes, what) in [
        (array("Other;3", BY_MEMBER, 2, &BY_MEMBERS), "Other;3"),
        (array("Hit;2", BY_MEMBER, 2, &BY_MEMBERS), "Hit;2"),
        (
            array("Hit;3", 0, 2, &[&[0], &one_by_one()[..]].concat()),
            "empty places",
        ),
        (
            array("Hit;3", BY_MEMBER, 1, &BY_MEMBERS),
            "more than its items",
        ),
        (
            array("Hit;3", BY_MEMBER, i32::MAX, &BY_MEMBERS),
            "announces",
        ),
        (array("Hit;3", BY_MEMBER, -2, &BY_MEMBERS), "count is -2"),
    ] {
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains(what), "{error}");
    }
}

#[test]
fn items_of_a_class_that_no_array_names_are_none() {
    let layout = Layout::Clones(Box::new(Clones {
        before: Before::Pointer,
        class: Vec::new(),
        item: Layout::Absent {
            reason: "it is not known".to_owned(),
        },
    }));
    assert_eq!(
        entry(&layout, &[0; 4])
            .unwrap()
            .as_list::<i32>()
            .value_offsets(),
        [0, 0]
    );
}

proptest! {
    #[test]
    fn changed_and_cut_bytes_do_no_harm(
        by_member: bool, at in 0_usize..200, to: u8, cut in 0_usize..200, count in any::<i32>(), keeps: bool,
    ) {
        let (bits, items) = match by_member {
            true => (BY_MEMBER, BY_MEMBERS.to_vec()),
            false => (0, one_by_one()),
        };
        let mut bytes = array("Hit;3", bits, if keeps { 2 } else { count }, &items);
        let at = at % bytes.len();
        bytes[at] = to;
        bytes.truncate(bytes.len() - cut % bytes.len());
        let _ = read(&bytes);
        // By steps or value by value, within an object.
        let layout = owner();
        let bytes = [&[9][..], &bytes, &pointer(&bytes), &[0; 4]].concat();
        let entries = Entries { data: &bytes, starts: &[0, bytes.len() as u32], count: 1 };
        let (mut a, mut b) = (Column::new(&layout, 0).unwrap(), Column::new(&layout, 0).unwrap());
        match (append(&mut a, &layout, entries), walk::append(&mut b, &layout, entries)) {
            (Ok(()), Ok(())) => {
                let (a, b) = (a.finish(&layout).unwrap(), b.finish(&layout).unwrap());
                prop_assert_eq!(a.to_data(), b.to_data());
            }
            (a, b) => prop_assert_eq!(a.is_err(), b.is_err()),
        }
    }
}

/// A number, an array in place, and pointers to two.
fn owner() -> Layout {
    let member = |name: &str, before| {
        let Layout::Clones(clones) = layout_of(hit(Form::Framed)) else {
            unreachable!()
        };
        field(name, Layout::Clones(Box::new(Clones { before, ..*clones })))
    };
    Layout::Object(object(
        Form::Bare,
        vec![
            number("n", Number::U8),
            member("own", Before::Nothing),
            member("first", Before::Pointer),
            member("second", Before::Pointer),
        ],
    ))
}

/// A pointer to this array.
fn pointer(array: &[u8]) -> Vec<u8> {
    let body = [b"\xff\xff\xff\xffTClonesArray\0", array].concat();
    let count = 0x4000_0000 | u32::try_from(body.len()).unwrap();
    [&count.to_be_bytes()[..], &body].concat()
}

#[test]
fn arrays_among_members_are_decoded_in_bulk() {
    let array = |by_member| match by_member {
        true => array("Hit;3", BY_MEMBER, 2, &BY_MEMBERS),
        false => array("Hit;3", 0, 2, &one_by_one()),
    };
    let mut again = pointer(&array(true));
    // The name of the class is where the first pointer has it.
    again.splice(4..21, 0x8000_0045_u32.to_be_bytes());
    again[3] -= 13;
    let bytes = [&[9][..], &array(false), &pointer(&array(true)), &again].concat();
    let entries = Entries {
        data: &bytes,
        starts: &[0, bytes.len() as u32],
        count: 1,
    };
    let layout = owner();
    let mut column = Column::new(&layout, 0).unwrap();
    assert!(bulk::append(&mut column, &layout, entries).unwrap());
    let found = column.finish(&layout).unwrap();
    for index in 1..4 {
        let items = found.as_struct().column(index).as_list::<i32>().value(0);
        let n = items.as_struct().column(1).as_primitive::<Int32Type>();
        assert_eq!(n.values(), &[9, 10]);
    }
}

#[test]
fn an_array_that_is_not_described_is_named_and_refused() {
    let layout = Layout::Clones(Box::new(Clones {
        before: Before::Nothing,
        class: Vec::new(),
        item: Layout::Absent {
            reason: "it is not known".to_owned(),
        },
    }));
    let append = |bytes: &[u8]| {
        let mut column = Column::new(&layout, 0).unwrap();
        let entries = Entries {
            data: bytes,
            starts: &[0, bytes.len() as u32],
            count: 1,
        };
        let done = append(&mut column, &layout, entries);
        let Column::List { item, .. } = &column else {
            unreachable!()
        };
        assert!(matches!(&**item, Column::Met(class) if class == b"Hit;3"));
        done.and_then(|()| column.finish(&layout))
    };
    assert!(append(&array("Hit;3", BY_MEMBER, 2, &BY_MEMBERS)).is_err());
    // Without items it has said its class all the same.
    assert_eq!(append(&array("Hit;3", 0, 0, &[])).unwrap().len(), 1);
}
