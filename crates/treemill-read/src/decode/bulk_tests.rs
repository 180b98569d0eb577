//! Decoding in bulk gives what decoding value by value gives, errors included: on sound and on damaged bytes of
//! every kind of layout that has both ways.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use super::bulk;
use super::*;
use arrow_array::{Array, ArrayRef};
use proptest::prelude::*;
use treemill_format::layout::{Class, Form, Hidden, Number, Object, Part};

const NUMBER: Layout = Layout::Number(Number::U16);

fn vector(item: Layout, header: u8) -> Layout {
    Layout::Vector {
        item: Box::new(item),
        header,
    }
}

fn counted(item: Layout, header: u8) -> Layout {
    Layout::Counted {
        item: Box::new(item),
        header,
    }
}

fn class(name: &str, version: i32) -> Class {
    Class {
        name: name.to_owned(),
        version,
        checksum: 0xfeed_beef,
    }
}

/// A class as TLorentzVector is one; `version` 0 stands for the checksum.
fn object(form: Form) -> Layout {
    let inner = Object {
        class: class("Inner", 1),
        form: Form::Framed,
        parts: vec![Part::Field("x".to_owned(), NUMBER)],
    };
    let three = Layout::Array {
        item: Box::new(NUMBER),
        len: 3,
    };
    Layout::Object(Object {
        class: class("Outer", 4),
        form,
        parts: vec![
            Part::Hidden(Hidden::RootObject),
            Part::Base(inner.clone()),
            Part::Field("inner".to_owned(), Layout::Object(inner)),
            Part::Field("three".to_owned(), three),
            Part::Hidden(Hidden::Bytes(2)),
        ],
    })
}

/// A class with members of every kind; `arrays`: one of them counts another.
fn rich(form: Form, arrays: bool) -> Layout {
    let Layout::Object(Object { mut parts, .. }) = object(form) else {
        unreachable!()
    };
    let field = |name: &str, layout| Part::Field(name.to_owned(), layout);
    parts.extend([
        field("text", Layout::String { header: 6 }),
        field("plain", Layout::String { header: 0 }),
        field("list", vector(NUMBER, 6)),
        field("lists", vector(vector(NUMBER, 0), 6)),
        field("pairs", vector(object(Form::Pair), 6)),
    ]);
    if arrays {
        let counter = parts.len();
        let sized = |flag| Layout::Sized {
            item: Box::new(NUMBER),
            counter: counter.into(),
            flag,
        };
        parts.push(field("n", Layout::Number(Number::I32)));
        parts.push(field("array", sized(true)));
        parts.push(field("more", sized(false)));
    }
    Layout::Object(Object {
        class: class("Rich", 4),
        form,
        parts,
    })
}

/// A class of which all objects may have as many bytes, as TRefArray.
fn references() -> Layout {
    let field = |name: &str, layout| Part::Field(name.to_owned(), layout);
    let sized = Layout::Sized {
        item: Box::new(NUMBER),
        counter: 2.into(),
        flag: false,
    };
    Layout::Object(Object {
        class: class("References", 4),
        form: Form::Framed,
        parts: vec![
            Part::Hidden(Hidden::RootObject),
            field("name", Layout::String { header: 0 }),
            field("n", Layout::Number(Number::I32)),
            field("refs", sized),
        ],
    })
}

fn layouts() -> Vec<Layout> {
    let text = || Layout::String { header: 0 };
    vec![
        text(),
        Layout::String { header: 6 },
        vector(NUMBER, 6),
        vector(text(), 6),
        vector(Layout::String { header: 6 }, 0),
        vector(vector(NUMBER, 0), 6),
        vector(vector(vector(NUMBER, 0), 0), 6),
        vector(vector(text(), 0), 6),
        vector(vector(object(Form::Framed), 0), 6),
        vector(object(Form::Framed), 6),
        vector(object(Form::Pair), 6),
        counted(text(), 6),
        counted(vector(NUMBER, 0), 6),
        counted(object(Form::Framed), 0),
        object(Form::Framed),
        object(Form::Bare),
        rich(Form::Framed, true),
        rich(Form::Bare, false),
        vector(rich(Form::Framed, true), 6),
        vector(rich(Form::Framed, false), 6),
        vector(rich(Form::Pair, false), 6),
        counted(rich(Form::Framed, false), 0),
        counted(vector(object(Form::Pair), 6), 6),
        counted(Layout::String { header: 6 }, 6),
        references(),
        vector(pair(), 6),
        vector(vector(pair(), 6), 6),
    ]
}

/// A pair as in a map, known by its checksum, which headers of collections then have in common.
fn pair() -> Layout {
    Layout::Object(Object {
        class: class("pair", 1),
        form: Form::Pair,
        parts: vec![
            Part::Field("0".to_owned(), NUMBER),
            Part::Field("1".to_owned(), Layout::Number(Number::F64)),
        ],
    })
}

/// Where values come from, as long as there are some.
struct Dice<'a>(std::slice::Iter<'a, u8>);

impl Dice<'_> {
    fn byte(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }
}

/// `body` after a byte count and a version.
fn framed(version: u16, body: &[u8]) -> Vec<u8> {
    let mut bytes = (0x4000_0000 | (body.len() as u32 + 2))
        .to_be_bytes()
        .to_vec();
    bytes.extend(version.to_be_bytes());
    bytes.extend(body);
    bytes
}

fn items(item: &Layout, count: usize, dice: &mut Dice<'_>) -> Vec<u8> {
    (0..count).flat_map(|_| encode(item, dice)).collect()
}

fn encode(layout: &Layout, dice: &mut Dice<'_>) -> Vec<u8> {
    match layout {
        Layout::Number(Number::I32) => vec![0, 0, 0, dice.byte() % 3],
        Layout::Number(_) => vec![dice.byte(), dice.byte()],
        Layout::Array { item, len } => items(item, *len as usize, dice),
        Layout::String { header } => {
            let len = usize::from(dice.byte() % 50);
            let len = if len == 49 { 300 } else { len };
            let mut bytes = vec![0; usize::from(*header)];
            match u8::try_from(len) {
                Ok(len) => bytes.push(len),
                Err(_) => {
                    bytes.push(255);
                    bytes.extend((len as u32).to_be_bytes());
                }
            }
            bytes.extend(std::iter::repeat_n(b'a', len));
            bytes
        }
        Layout::Vector { item, header } => {
            let count = dice.byte() % 5;
            if let (Layout::Object(of), 1.., true) = (&**item, *header, dice.byte() % 4 == 1) {
                return by_member(of, usize::from(count), dice);
            }
            let mut bytes = u32::from(count).to_be_bytes().to_vec();
            bytes.extend(items(item, usize::from(count), dice));
            if *header > 0 {
                framed(9, &bytes)
            } else {
                bytes
            }
        }
        Layout::Counted { item, header } => {
            let count = usize::from(dice.byte() % 5);
            let item = if *header > 0 {
                headless(item)
            } else {
                (**item).clone()
            };
            let bytes = items(&item, count, dice);
            if *header > 0 && count > 0 {
                framed(9, &bytes)
            } else {
                bytes
            }
        }
        Layout::Object(of) => {
            let mut bytes: Vec<u8> = Vec::new();
            let mut begins = Vec::new();
            for part in &of.parts {
                begins.push(bytes.len());
                let more = match part {
                    Part::Hidden(hidden) => encode_hidden(hidden),
                    Part::Base(base) => encode(&Layout::Object(base.clone()), dice),
                    Part::Field(
                        _,
                        Layout::Sized {
                            item,
                            counter,
                            flag,
                        },
                    ) => {
                        let count = usize::from(bytes[begins[counter.part] + 3]);
                        let mut more = if *flag { vec![dice.byte() % 2] } else { vec![] };
                        let count = if more == [0] { 0 } else { count };
                        more.extend(items(item, count, dice));
                        more
                    }
                    Part::Field(_, layout) if of.form == Form::Pair => {
                        encode(&headless(layout), dice)
                    }
                    Part::Field(_, layout) => encode(layout, dice),
                };
                bytes.extend(more);
            }
            match of.form {
                // One class has a version, the other a checksum.
                Form::Framed if of.class.version == 4 => framed(4, &bytes),
                Form::Framed => framed(0, &[&of.class.checksum.to_be_bytes()[..], &bytes].concat()),
                _ => bytes,
            }
        }
        _ => unreachable!(),
    }
}

fn encode_hidden(hidden: &Hidden) -> Vec<u8> {
    match hidden {
        Hidden::RootObject => vec![0, 1, 0, 0, 0, 0, 3, 0, 0, 0],
        _ => vec![7, 7],
    }
}

/// The layout without its header, if it is one of a collection or string.
fn headless(layout: &Layout) -> Layout {
    match layout {
        Layout::Vector { item, .. } => vector((**item).clone(), 0),
        Layout::String { .. } => Layout::String { header: 0 },
        layout => layout.clone(),
    }
}

/// A collection that lies member by member.
fn by_member(of: &Object, count: usize, dice: &mut Dice<'_>) -> Vec<u8> {
    let mut bytes = match of.class.version {
        4 => 4_u16.to_be_bytes().to_vec(),
        _ => [&[0, 0][..], &of.class.checksum.to_be_bytes()].concat(),
    };
    bytes.extend((count as u32).to_be_bytes());
    if count > 0 {
        bytes.extend(members(of, count, dice));
    }
    framed(9 | 1 << 14, &bytes)
}

fn members(of: &Object, count: usize, dice: &mut Dice<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut counts = Vec::new();
    for part in &of.parts {
        let begin = bytes.len();
        bytes.extend(match part {
            Part::Hidden(hidden) => encode_hidden(hidden).repeat(count),
            Part::Base(base) => members(base, count, dice),
            Part::Field(_, Layout::Sized { item, flag, .. }) => (0..count)
                .flat_map(|i| {
                    let there = if *flag { vec![1] } else { vec![] };
                    [there, items(item, counts[i], dice)].concat()
                })
                .collect(),
            Part::Field(
                _,
                layout @ (Layout::Vector { header: 6, .. } | Layout::String { header: 6 }),
            ) => framed(9, &items(&headless(layout), count, dice)),
            Part::Field(_, layout) => items(layout, count, dice),
        });
        if matches!(part, Part::Field(_, Layout::Number(Number::I32))) {
            counts = (0..count)
                .map(|i| usize::from(bytes[begin + 4 * i + 3]))
                .collect();
        }
    }
    bytes
}

fn finished(
    layout: &Layout,
    decode: impl FnOnce(&mut Column) -> Result<()>,
) -> std::result::Result<ArrayRef, String> {
    let mut column = Column::new(layout, 0).unwrap();
    decode(&mut column).map_err(|e| e.to_string())?;
    Ok(column.finish(layout).unwrap())
}

proptest! {
    #[test]
    fn both_ways_give_the_same(
        kind in 0..layouts().len(),
        seeds in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..6),
        damage in prop::option::of((any::<prop::sample::Index>(), 0..8_u8)),
    ) {
        let layout = &layouts()[kind];
        let (mut data, mut starts) = (vec![0; 3], vec![3]);
        for seed in &seeds {
            data.extend(encode(layout, &mut Dice(seed.iter())));
            starts.push(data.len() as u32);
        }
        if let (Some((place, bit)), 4..) = (damage, data.len()) {
            let at = 3 + place.index(data.len() - 3);
            data[at] ^= 1 << bit;
        }
        let entries = Entries { data: &data, starts: &starts, count: seeds.len() };
        let one_by_one = finished(layout, |column| walk::append(column, layout, entries));
        let both = finished(layout, |column| append(column, layout, entries));
        match (&one_by_one, &both) {
            (Ok(a), Ok(b)) => prop_assert_eq!(a.to_data(), b.to_data()),
            // Vectors of numbers have words of their own.
            (Err(a), Err(b)) => prop_assert!(a == b || kind == 2, "{} / {}", a, b),
            (a, b) => prop_assert!(false, "{:?} / {:?}", a, b),
        }
    }
}

#[test]
fn sound_bytes_are_decoded_in_bulk() {
    let seed: Vec<u8> = (0..60_u8).map(|i| i.wrapping_mul(7)).collect();
    for layout in layouts() {
        let bytes = encode(&layout, &mut Dice(seed.iter()));
        let starts = [0, bytes.len() as u32];
        let entries = Entries {
            data: &bytes,
            starts: &starts,
            count: 1,
        };
        let mut column = Column::new(&layout, 0).unwrap();
        let done = bulk::append(&mut column, &layout, entries).unwrap();
        assert!(done, "{layout:?}");
        assert_eq!(column.len(), 1);
    }
}
