//! A tree's relations to others: its friends, and the index by which it can be one (ROOT: TFriendElement,
//! TTreeIndex). Knows no branches; finding a friend's file is left to the caller.

use crate::error::Result;
use crate::object::{Inline, Pointer, header, list, resolved, skip_object};
use crate::program::{Programs, wanted};
use crate::reader::{Reader, text};
use crate::streamer::StreamerInfos;

/// A tree whose columns are shown beside those of the tree that names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Friend {
    /// Its name in expressions.
    pub alias: String,
    /// The tree's name in its file.
    pub tree: String,
    /// The file as it was given; empty if it is the file of the tree itself.
    pub file: String,
}

wanted! {
    bases "TFriendElement";
    Named = "TNamed",
    TreeName = "fTreeName",
}

/// fFriends: a TList of TFriendElement. The cursor is at the pointer.
pub(crate) fn friends(mut r: Reader, key_len: usize, infos: &StreamerInfos) -> Result<Vec<Friend>> {
    let object = r.bytes();
    let Some(found) = resolved(&mut r, key_len)? else {
        return Ok(Vec::new());
    };
    let mut friends = Vec::new();
    let mut programs = Programs::new(infos, WANTED);
    for item in list(&mut Reader::at(object, found.body), key_len)? {
        let Pointer::Object(Inline {
            class, body, end, ..
        }) = item
        else {
            continue;
        };
        // Only the friend's own bytes: two friends may not share any.
        let own = object.get(..end).unwrap_or(object);
        let fields = programs.locate(own, &text(class), body, key_len)?;
        let (alias, file) = fields.named(Wanted::Named)?;
        let tree = match fields.string(Wanted::TreeName)? {
            [] => alias, // before ROOT 3.2 a friend had no name but its tree's
            tree => tree,
        };
        friends.push(Friend {
            alias: text(alias),
            tree: text(tree),
            file: text(file),
        });
    }
    Ok(friends)
}

/// fTreeIndex: the major and minor expressions of a TTreeIndex; `None` if there is none, or one
/// of another class. The cursor is at the pointer.
pub(crate) fn index(mut r: Reader, key_len: usize) -> Result<Option<(String, String)>> {
    let Some(found) = resolved(&mut r, key_len)? else {
        return Ok(None);
    };
    if found.class != b"TTreeIndex" {
        return Ok(None);
    }
    // TTreeIndex writes itself: its base class, the names, and after them the sorted values, which
    // are made anew if they are needed.
    let mut r = Reader::at(r.bytes(), found.body);
    header(&mut r)?;
    skip_object(&mut r, "TVirtualIndex")?;
    Ok(Some((text(r.string()?), text(r.string()?))))
}
