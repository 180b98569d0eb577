//! Pointers to objects. The first object of a class in an entry names its class, later ones give the place of
//! that name. A reader without a table of places must therefore be sure that no other class is possible: that
//! no class of the file derives from the one that is pointed to. If one does, the class is left to the data
//! ([`crate::open`]).

use super::builtin::OWN_STREAMER;
use super::class::Classes;
use super::number;
use super::refusal::{Known, Refusal};
use crate::layout::{Form, Layout, Pointer, Says};
use crate::limits::OBJECT_DEPTH;
use crate::reader::text;
use crate::streamer::{Element, ElementKind};

/// EReadWrite codes: pointers that are never null (`//->`), whose objects lie in place; others.
const IN_PLACE: [i32; 2] = [63, 68];
const ANYWHERE: [i32; 2] = [64, 69];

/// Whether the object lies where the pointer is, without anything before it.
pub(super) fn is_in_place(code: i32) -> bool {
    IN_PLACE.contains(&code)
}

pub(super) fn is_pointer(code: i32) -> bool {
    IN_PLACE.contains(&code) || ANYWHERE.contains(&code)
}

/// A member, or an item, of type `T*`.
pub(super) fn layout(code: i32, type_name: &str, classes: &Classes, depth: usize) -> Known<Layout> {
    let class = pointee(type_name)
        .ok_or_else(|| Refusal::member(format!("a member of type {type_name}")))?;
    if classes.within.borrow().iter().any(|outer| outer == class) {
        return Err(format!("pointers to class {class} within itself").into());
    }
    if IN_PLACE.contains(&code) {
        return classes.value(class, depth);
    }
    if number::by_name(class).is_some() {
        return Err(Refusal::member(format!("members of type {type_name}")));
    }
    if classes.is_base(class) {
        return Ok(open(class));
    }
    to(classes.value(class, depth)?, Says::Declaration)
        .ok_or_else(|| format!("pointers to class {class}").into())
}

/// The layout of a pointer to a class that only data say.
pub(super) fn open(declared: &str) -> Layout {
    Layout::Pointer(Box::new(Pointer {
        to: Layout::Absent {
            reason: format!("pointers to class {declared}, from which others derive"),
        },
        says: Says::Data { alone: false },
    }))
}

/// The layout of a pointer to a class that data have named.
pub(super) fn named(class: &[u8], classes: &Classes) -> Known<Layout> {
    let class = text(class);
    let found = classes.value(&class, OBJECT_DEPTH)?;
    to(found, Says::Data { alone: false })
        .ok_or_else(|| format!("pointers to class {class}").into())
}

/// The layout of a pointer to such objects, if they have a header.
fn to(object: Layout, says: Says) -> Option<Layout> {
    match object {
        Layout::Object(of) if of.form == Form::Framed => Some(Layout::Pointer(Box::new(Pointer {
            to: Layout::Object(of),
            says,
        }))),
        _ => None,
    }
}

/// Whether a member is an object that writes itself, and can be passed over by its byte count.
pub(super) fn streams_itself(element: &Element) -> bool {
    let class = pointee(&element.type_name).unwrap_or(&element.type_name);
    is_one(element)
        && matches!(element.code, 61..=63 | 68)
        && OWN_STREAMER.contains(&class)
        && class != "TUUID"
}

/// Whether a member is a pointer, over which a reader gets by its byte count.
pub(super) fn can_be_passed_over(element: &Element) -> bool {
    is_one(element) && ANYWHERE.contains(&element.code)
}

fn is_one(element: &Element) -> bool {
    element.array_length <= 1 && element.kind == ElementKind::Plain
}

/// The class that is pointed to, if the type is a pointer to one.
pub(super) fn pointee(type_name: &str) -> Option<&str> {
    let name = type_name.trim().strip_suffix('*')?.trim();
    let name = name.strip_prefix("const ").unwrap_or(name).trim();
    let name = name.strip_suffix(" const").unwrap_or(name);
    (!name.is_empty() && !name.ends_with('*')).then_some(name)
}
