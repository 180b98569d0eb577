//! TClonesArrays that were stored whole: lists of objects, one after another or member by member.
//! Source: ROOT's `TClonesArray::Streamer` and `TStreamerInfo::WriteBufferClones`.

use super::column::{Column, push_offset};
use super::object::by_members;
use super::unsupported;
use super::walk::{take, value};
use treemill_format::clones::head;
use treemill_format::error::Result;
use treemill_format::layout::Clones;

/// Appends the array at the front of `bytes` as a list; a pointer to none is an empty one.
pub(super) fn clones(
    offsets: &mut Vec<i32>,
    item: &mut Column,
    of: &Clones,
    bytes: &mut &[u8],
) -> Result<()> {
    let Some(array) = head(&of.before, bytes)? else {
        return push_offset(offsets, 0);
    };
    if array.count == 0 {
        // Headers of members that nobody has, at most.
        return push_offset(offsets, 0);
    }
    if array.class != of.class.as_slice() {
        return Err(unsupported(&format!(
            "a TClonesArray of {}, where the branch's first one is of {}",
            array.class.escape_ascii(),
            of.class.escape_ascii()
        )));
    }
    let mut body = array.body;
    if array.by_member {
        by_members(offsets, item, &of.item, array.count, &mut body)?;
    } else {
        for _ in 0..array.count {
            if take::<1>(&mut body)? == [0] {
                return Err(unsupported("a TClonesArray with empty places"));
            }
            value(item, &of.item, &mut body)?;
        }
        push_offset(offsets, array.count)?;
    }
    if body.is_empty() {
        return Ok(());
    }
    Err(unsupported("a TClonesArray that holds more than its items"))
}
