//! Helpers for tests of objects and pointers, whose bytes are written by hand: layouts in few words, and the
//! array of one entry.

use super::*;
use arrow_array::ArrayRef;
use treemill_format::layout::{Class, Form, Number, Object, Part, Pointer, Says};

/// The checksum of every class here.
pub(super) const CHECKSUM: u32 = 0xdead_beef;

pub(super) fn object(form: Form, parts: Vec<Part>) -> Object {
    Object {
        class: Class {
            name: "Hit".to_owned(),
            version: 3,
            checksum: CHECKSUM,
        },
        form,
        parts,
    }
}

/// The members x and n.
pub(super) fn hit(form: Form) -> Object {
    object(
        form,
        vec![number("x", Number::I16), number("n", Number::I32)],
    )
}

pub(super) fn field(name: &str, layout: Layout) -> Part {
    Part::Field(name.to_owned(), layout)
}

pub(super) fn number(name: &str, number: Number) -> Part {
    field(name, Layout::Number(number))
}

/// A pointer to no other class.
pub(super) fn pointer_to(object: Object) -> Layout {
    Layout::Pointer(Box::new(Pointer {
        to: Layout::Object(object),
        says: Says::Declaration,
    }))
}

/// A vector with a header of this many bytes.
pub(super) fn list(item: Layout, header: u8) -> Layout {
    Layout::Vector {
        item: Box::new(item),
        header,
    }
}

/// What the bytes are as the only entry of a basket.
pub(super) fn entry(layout: &Layout, bytes: &[u8]) -> Result<ArrayRef> {
    let end =
        u32::try_from(bytes.len()).map_err(|_| malformed(0, "longer than a basket".to_owned()))?;
    let mut column = Column::new(layout, 1)?;
    let entries = Entries {
        data: bytes,
        starts: &[0, end],
        count: 1,
    };
    append(&mut column, layout, entries)?;
    column.finish(layout)
}
