//! Classes whose Streamer writes something else than their members, as tables of what it writes. Knows no file.

use super::class::number_part;
use crate::layout::{Class, Counter, Form, Hidden, Layout, Number, Object, Part};
use crate::marks::IS_REFERENCED;

/// Classes that write themselves otherwise than their streamer info says (they have a Streamer of their own)
/// and that nothing here knows how to read.
pub(super) const OWN_STREAMER: [&str; 9] = [
    "TArray",
    "TCollection",
    "TClonesArray",
    "TList",
    "THashList",
    "TMap",
    "TObjArray",
    "TUUID",
    "TProcessID",
];

/// TArray's descendants: a count, then the items (TArrayF::Streamer and so on).
const ARRAYS: [(&str, Number); 7] = [
    ("TArrayC", Number::I8),
    ("TArrayS", Number::I16),
    ("TArrayI", Number::I32),
    ("TArrayL", Number::I64),
    ("TArrayL64", Number::I64),
    ("TArrayF", Number::F32),
    ("TArrayD", Number::F64),
];

/// A bit of TObject: it has a UUID.
const HAS_UUID: u32 = 1 << 5;

/// The layout of classes that need no description.
pub(super) fn built_in(name: &str) -> Option<Layout> {
    if let Some((_, number)) = ARRAYS.iter().find(|(class, _)| *class == name) {
        return Some(Layout::Vector {
            item: Box::new(Layout::Number(*number)),
            header: 0,
        });
    }
    let (form, parts) = match name {
        // TString::Streamer: its characters; its description has no members.
        "TString" => return Some(Layout::String { header: 0 }),
        // TRef::Streamer: its TObject without a process ID, then that of the referenced object.
        "TRef" => (
            Form::Bare,
            vec![
                Part::Hidden(Hidden::Bytes(2)),
                number("ref", Number::U32),
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
                number("fSize", Number::I32),
                Part::Hidden(Hidden::Bytes(6)),
                Part::Field(
                    "refs".to_owned(),
                    Layout::Sized {
                        item: Box::new(Layout::Number(Number::I32)),
                        counter: 2.into(),
                        flag: false,
                    },
                ),
            ],
        ),
        // TDatime::Streamer: the packed date without a header.
        "TDatime" => (Form::Bare, vec![number("fDatime", Number::U32)]),
        _ => return None,
    };
    Some(object(name, form, parts))
}

/// Names that branches may have for classes of matrices and vectors, and what the file calls them.
const TYPEDEFS: [(&str, &str); 6] = [
    ("TMatrixD", "TMatrixT<double>"),
    ("TMatrixF", "TMatrixT<float>"),
    ("TMatrixDSym", "TMatrixTSym<double>"),
    ("TMatrixFSym", "TMatrixTSym<float>"),
    ("TVectorD", "TVectorT<double>"),
    ("TVectorF", "TVectorT<float>"),
];

/// The name that the file describes a class by.
pub(super) fn described_name(name: &str) -> &str {
    let found = TYPEDEFS.iter().find(|(typedef, _)| *typedef == name);
    found.map_or(name, |(_, name)| name)
}

/// How the names of symmetric matrices' classes begin.
pub(super) const SYMMETRIC: &str = "TMatrixTSym<";

/// A symmetric matrix, from what its description would have it to be: its base class without anything
/// before it, then the upper right triangle, row by row, as `fElements` (TMatrixTSym::Streamer).
pub(super) fn symmetric(described: Object) -> Option<Layout> {
    let [
        Part::Base(base),
        Part::Field(name, Layout::Sized { item, .. }),
    ] = &described.parts[..]
    else {
        return None;
    };
    let triangle = Layout::Sized {
        item: item.clone(),
        counter: Counter {
            part: 0,
            inherited: Some(number_part(&base.parts, "fNrows")?),
            triangle: true,
        },
        flag: false,
    };
    let parts = vec![
        Part::Base(base.clone()),
        Part::Field(name.clone(), triangle),
    ];
    Some(Layout::Object(Object {
        form: Form::Bare,
        parts,
        ..described
    }))
}

/// A TObject that is a value of its own (TObject::Streamer).
pub(super) fn tobject() -> Layout {
    object(
        "TObject",
        Form::Bare,
        vec![
            Part::Hidden(Hidden::RootVersion),
            number("fUniqueID", Number::U32),
            Part::Field("fBits".to_owned(), Layout::Bits),
        ],
    )
}

fn number(name: &str, number: Number) -> Part {
    Part::Field(name.to_owned(), Layout::Number(number))
}

fn object(name: &str, form: Form, parts: Vec<Part>) -> Layout {
    Layout::Object(Object {
        class: Class {
            name: name.to_owned(),
            version: 1,
            checksum: 0,
        },
        form,
        parts,
    })
}
