//! Pointers to objects. An object behind a pointer says its class once an entry, by name, and then by the
//! place of that name; so a reader that keeps no table of places must be sure that no other class can be
//! meant: that no class of the file derives from the one that is pointed to.

use super::builtin::OWN_STREAMER;
use super::class::{Classes, Known};
use super::number;
use crate::layout::{Form, Hidden, Layout};
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
    let class = pointee(type_name).ok_or_else(|| format!("a member of type {type_name}"))?;
    if classes.within.borrow().iter().any(|outer| outer == class) {
        return Err(format!("pointers to class {class} within itself"));
    }
    if IN_PLACE.contains(&code) {
        return classes.value(class, depth);
    }
    if number::by_name(class).is_some() {
        return Err(format!("members of type {type_name}"));
    }
    if classes.is_base(class) {
        return Err(format!(
            "pointers to class {class}, from which others derive"
        ));
    }
    match classes.value(class, depth)? {
        Layout::Object(object) if object.form == Form::Framed => {
            Ok(Layout::Pointer(Box::new(object)))
        }
        _ => Err(format!("pointers to class {class}")),
    }
}

/// How a member is passed over whose class cannot be read: those around it can be read all the same.
pub(super) fn hidden(element: &Element, classes: &Classes, depth: usize) -> Option<Hidden> {
    if element.array_length > 1 || element.kind != ElementKind::Plain {
        return None;
    }
    let code = element.code;
    let class = pointee(&element.type_name).unwrap_or(&element.type_name);
    let streams_itself = OWN_STREAMER.contains(&class) && class != "TUUID";
    match code {
        61..=63 | 68 if streams_itself => Some(Hidden::Framed),
        64 | 69 if layout(code, &element.type_name, classes, depth).is_err() => {
            Some(Hidden::Pointer)
        }
        _ => None,
    }
}

/// The class that is pointed to, where the type is a pointer to one.
pub(super) fn pointee(type_name: &str) -> Option<&str> {
    let name = type_name.trim().strip_suffix('*')?.trim();
    let name = name.strip_prefix("const ").unwrap_or(name).trim();
    let name = name.strip_suffix(" const").unwrap_or(name);
    (!name.is_empty() && !name.ends_with('*')).then_some(name)
}
