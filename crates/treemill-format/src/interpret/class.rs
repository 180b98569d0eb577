//! Classes as the file's streamer info describes them, compiled to layouts of whole objects. Knows no
//! branches; what is not certain to lie as described (custom streamers, pointers) is refused by name.

use super::{cpp, number};
use crate::layout::{Class, Form, Hidden, Layout, Object, Part};
use crate::streamer::{Element, ElementKind, StreamerInfo, StreamerInfos};
use std::cell::Cell;

/// Objects within objects.
pub(super) const MAX_DEPTH: usize = 16;

/// Parts of objects that the branches of one tree may have in all: descriptions that name one another can
/// stand for more than any memory.
const MAX_PARTS: usize = 200_000;

/// Classes that write themselves otherwise than their streamer info says (they have a Streamer of their own).
const OWN_STREAMER: [&str; 18] = [
    "TArray",
    "TArrayC",
    "TArrayD",
    "TArrayF",
    "TArrayI",
    "TArrayL",
    "TArrayL64",
    "TArrayS",
    "TBits",
    "TCollection",
    "TClonesArray",
    "TDatime",
    "TList",
    "THashList",
    "TMap",
    "TObjArray",
    "TUUID",
    "TProcessID",
];

/// EReadWrite codes (TVirtualStreamerInfo).
const BITS: i32 = 15;
const OBJECT: i32 = 61;
const ANY: i32 = 62;
const TSTRING: i32 = 65;
const TNAMED: i32 = 67;
const ARRAYS: i32 = 20;

/// Bits of TObject: it is referenced; it has a UUID.
const IS_REFERENCED: u32 = 1 << 4;
const HAS_UUID: u32 = 1 << 5;

/// The classes of a file.
pub(crate) struct Classes<'i> {
    pub infos: &'i StreamerInfos,
    left: Cell<usize>,
}

/// A layout, or what stands against it, in words for the user.
pub(super) type Known<T> = Result<T, String>;

impl<'i> Classes<'i> {
    pub fn new(infos: &'i StreamerInfos) -> Self {
        Classes {
            infos,
            left: Cell::new(MAX_PARTS),
        }
    }

    /// A class by its name, as the newest of its descriptions has it; objects of another version are found out
    /// by their headers.
    pub fn object(&self, name: &str, depth: usize) -> Known<Object> {
        if let Some(object) = built_in(name) {
            return Ok(object);
        }
        let info = self.infos.newest(name);
        self.described(
            info.ok_or_else(|| format!("class {name}, which the file does not describe"))?,
            depth,
        )
    }

    /// What a TBranchObject holds: the name of the class as a leaf writes it (TLeafObject::FillBasket), and
    /// the object.
    pub fn named_object(&self, name: &str) -> Known<Layout> {
        let object = self.object(name, MAX_DEPTH)?;
        let len = u8::try_from(name.len()).map_err(|_| "a class with a name too long")?;
        let mut before = vec![len];
        before.extend_from_slice(name.as_bytes());
        before.push(0);
        Ok(Layout::Object(Object {
            class: object.class.clone(),
            form: Form::Bare,
            parts: vec![Part::Hidden(Hidden::Exactly(before)), Part::Base(object)],
        }))
    }

    /// A class by its description.
    pub fn described(&self, info: &StreamerInfo, depth: usize) -> Known<Object> {
        let name = &info.name;
        if let Some(object) = built_in(name) {
            return Ok(object);
        }
        if OWN_STREAMER.contains(&name.as_str()) {
            return Err(format!("objects of class {name}, which streams itself"));
        }
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| format!("class {name}, which nests too deeply"))?;
        let mut parts = Vec::new();
        for element in &info.elements {
            let left = self.left.get().checked_sub(1);
            self.left
                .set(left.ok_or("more members than a tree may have")?);
            let part = self.part(element, &parts, depth);
            // The innermost class says what stands against all around it.
            parts.push(part.map_err(|what| match what.contains("class ") {
                true => what,
                false => format!("objects of class {name} ({what})"),
            })?);
        }
        Ok(Object {
            class: Class {
                name: name.clone(),
                version: info.version,
                checksum: info.checksum,
            },
            form: Form::Framed,
            parts,
        })
    }

    fn part(&self, element: &Element, before: &[Part], depth: usize) -> Known<Part> {
        if let ElementKind::Base { .. } = element.kind {
            return match (element.code, element.name.as_str()) {
                (_, "TObject") => Ok(Part::Hidden(Hidden::RootObject)),
                (0 | TNAMED, name) => self.object(name, depth).map(Part::Base),
                (_, name) => Err(format!("base class {name}")),
            };
        }
        let field = |layout| Part::Field(element.name.clone(), layout);
        self.member(element, before, depth).map(field)
    }

    /// A data member.
    fn member(&self, element: &Element, before: &[Part], depth: usize) -> Known<Layout> {
        let no = || format!("a member of type {}", element.type_name);
        let (shape, basic) = (
            element.code.div_euclid(ARRAYS),
            element.code.rem_euclid(ARRAYS),
        );
        match element.code {
            BITS => Ok(Layout::Bits),
            1..=59 if basic != BITS => {
                let (number, _) =
                    number::by_code(basic, || Some(element.range())).ok_or_else(no)?;
                let number = Layout::Number(number);
                match shape {
                    0 if element.array_length <= 1 => Ok(number),
                    1 => fixed(element, number).ok_or_else(no),
                    2 if element.array_length <= 1 => sized(element, number, before).ok_or_else(no),
                    _ => Err(no()),
                }
            }
            TSTRING if element.array_length <= 1 => Ok(Layout::String { header: 0 }),
            OBJECT | ANY | TNAMED if element.array_length <= 1 => {
                self.object(&element.type_name, depth).map(Layout::Object)
            }
            _ if matches!(element.kind, ElementKind::Stl { .. })
                && element.array_length <= 1
                && !element.type_name.ends_with('*') =>
            {
                cpp::layout(&element.type_name, cpp::HEADER, self, depth)
            }
            _ => Err(no()),
        }
    }
}

/// A C array of fixed size.
fn fixed(element: &Element, item: Layout) -> Option<Layout> {
    let product = element
        .dims
        .iter()
        .try_fold(1_u32, |product, dim| product.checked_mul(*dim));
    if element.dims.is_empty() || product != Some(element.array_length) || product == Some(0) {
        return None;
    }
    let wrap = |item, len: &u32| Layout::Array {
        item: Box::new(item),
        len: *len,
    };
    Some(element.dims.iter().rev().fold(item, wrap))
}

/// An array that an earlier member of the same class counts.
fn sized(element: &Element, item: Layout, before: &[Part]) -> Option<Layout> {
    let ElementKind::CountedBy { member, .. } = &element.kind else {
        return None;
    };
    let counts =
        |part: &Part| matches!(part, Part::Field(name, Layout::Number(_)) if name == member);
    Some(Layout::Sized {
        item: Box::new(item),
        counter: before.iter().position(counts)?,
        flag: true,
    })
}

/// Classes whose Streamer writes something else than their members, by what they write.
fn built_in(name: &str) -> Option<Object> {
    let number = |name: &str, number| Part::Field(name.to_owned(), Layout::Number(number));
    let (form, parts) = match name {
        // TRef::Streamer: its TObject without a process ID, then that of the referenced object.
        "TRef" => (
            Form::Bare,
            vec![
                Part::Hidden(Hidden::Bytes(2)),
                number("ref", crate::layout::Number::U32),
                Part::Hidden(Hidden::Clear(IS_REFERENCED | HAS_UUID)),
                Part::Hidden(Hidden::Bytes(2)),
            ],
        ),
        // TRefArray::Streamer: TObject, name, size, lower bound, process ID, the references.
        "TRefArray" => (
            Form::Framed,
            vec![
                Part::Hidden(Hidden::RootObject),
                Part::Field("fName".to_owned(), Layout::String { header: 0 }),
                number("fSize", crate::layout::Number::I32),
                Part::Hidden(Hidden::Bytes(6)),
                Part::Field(
                    "refs".to_owned(),
                    Layout::Sized {
                        item: Box::new(Layout::Number(crate::layout::Number::I32)),
                        counter: 2,
                        flag: false,
                    },
                ),
            ],
        ),
        _ => return None,
    };
    Some(Object {
        class: Class {
            name: name.to_owned(),
            version: 1,
            checksum: 0,
        },
        form,
        parts,
    })
}
