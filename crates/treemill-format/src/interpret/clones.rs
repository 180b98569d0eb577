//! ROOT's collections that were stored whole: TClonesArray, TObjArray, TList. Only the data say the class of
//! their items, so a layout is made in two steps: without the class, and with what the data say.

use super::class::{Classes, tagged};
use super::pointers::{self, pointee};
use super::refusal::{Known, Refusal};
use crate::clones::CLONES;
use crate::layout::{Before, Clones, Collection, Layout, Objects};
use crate::limits::OBJECT_DEPTH;
use crate::objects;
use crate::reader::text;

/// A TBranchObject of this class.
pub(super) fn in_object_branch(class: &str) -> Option<Layout> {
    collection(class, || Before::Exactly(tagged(class).unwrap_or_default()))
}

/// A member of this type and code, or a whole collection.
pub(super) fn member(code: i32, type_name: &str) -> Option<Layout> {
    match pointee(type_name) {
        Some(class) if pointers::is_in_place(code) => collection(class, || Before::Nothing),
        Some(class) if pointers::is_pointer(code) => collection(class, || Before::Pointer),
        None => collection(type_name, || Before::Nothing),
        _ => None,
    }
}

fn collection(class: &str, before: impl FnOnce() -> Before) -> Option<Layout> {
    let kinds = [Collection::TObjArray, Collection::TList];
    match kinds
        .into_iter()
        .find(|kind| objects::class(*kind).0 == class)
    {
        Some(class) => Some(Layout::Objects(Box::new(Objects {
            before: before(),
            class,
            item: pointers::open("TObject"),
        }))),
        None => (class == CLONES).then(|| unnamed(before())),
    }
}

fn unnamed(before: Before) -> Layout {
    Layout::Clones(Box::new(Clones {
        before,
        class: Vec::new(),
        item: Layout::Absent {
            reason: format!("items of a {CLONES} whose first array names no class"),
        },
    }))
}

/// The arrays whose items are of this class and version, `Hit;3`.
pub(super) fn named(clones: &Clones, class: &[u8], classes: &Classes) -> Known<Layout> {
    let said = text(class);
    let name_and_version = said
        .rsplit_once(';')
        .and_then(|(name, version)| Some((name, version.parse().ok()?)));
    let (name, version) =
        name_and_version.ok_or_else(|| Refusal::member(format!("a {CLONES} of {said:?}")))?;
    let info = classes.infos.find(name, version, None);
    let item = info
        .ok_or_else(|| Refusal::not_described(&format!("version {version} of class {name}")))
        .and_then(|info| classes.described(info, OBJECT_DEPTH))
        .map_err(|refusal| refusal.map(|what| format!("a {CLONES} of {said}: {what}")))?;
    match item {
        Layout::Object(_) => Ok(Layout::Clones(Box::new(Clones {
            before: clones.before.clone(),
            class: class.to_vec(),
            item,
        }))),
        _ => Err(Refusal::member(format!("a {CLONES} of {said}"))),
    }
}
