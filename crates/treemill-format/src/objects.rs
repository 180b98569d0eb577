//! The header of a TObjArray or TList, before its items. Pure; knows no layouts of items.
//!
//! Source: ROOT's `TObjArray::Streamer` and `TList::Streamer`.

use crate::enclosed::{Expected, object, own_members};
use crate::error::Result;
use crate::layout::{Before, Collection};

/// The versions in use since ROOT 3.
const TOBJARRAY: Expected = Expected {
    name: "TObjArray",
    version: 3,
};
const TLIST: Expected = Expected {
    name: "TList",
    version: 5,
};

/// The names and versions of these classes.
#[must_use]
pub fn class(collection: Collection) -> (&'static str, u16) {
    let Expected { name, version } = expected(collection);
    (name, version)
}

fn expected(collection: Collection) -> Expected {
    match collection {
        Collection::TObjArray => TOBJARRAY,
        Collection::TList => TLIST,
    }
}

/// How many items a collection at the front of `bytes` has, and the bytes of its items; `bytes` are moved
/// past it. `None` if it is a pointer to nothing. Behind each item of a TList is the option that it was
/// added with, a string.
///
/// # Errors
/// `Malformed` if the bytes break off; `Unsupported` if something else lies there.
pub fn head<'a>(
    before: &Before,
    collection: Collection,
    bytes: &mut &'a [u8],
) -> Result<Option<(usize, &'a [u8])>> {
    object(before, expected(collection), bytes, |mut r| {
        own_members(&mut r)?;
        let count = r.count()?;
        if collection == Collection::TObjArray {
            let _lower_bound = r.i32()?;
        }
        Ok((count, r.bytes().get(r.position()..).unwrap_or_default()))
    })
}
