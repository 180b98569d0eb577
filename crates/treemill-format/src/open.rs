//! What a tree's description leaves open because the data alone say it: the class of a TClonesArray's
//! items. Such places of a layout are filled in with what data were found to say. Pure; looks at no data.

use crate::interpret::{Classes, named_clones};
use crate::layout::{Before, Hidden, Layout, Object, Part};
use crate::streamer::StreamerInfos;

/// Fills in what was open, from a file's descriptions. One for all of a tree, for what may be described in
/// all is bounded.
pub struct Describer<'i> {
    classes: Classes<'i>,
}

impl<'i> Describer<'i> {
    /// By these descriptions.
    #[must_use]
    pub fn new(infos: &'i StreamerInfos) -> Self {
        Describer {
            classes: Classes::new(infos),
        }
    }

    /// The layout of an open place where data name this class.
    ///
    /// # Errors
    /// What stands against reading it, in words for the user.
    pub fn named(&self, open: &Layout, class: &[u8]) -> Result<Layout, String> {
        match open {
            Layout::Clones(clones) => named_clones(clones, class, &self.classes),
            _ => Err("a class where none is expected".to_owned()),
        }
    }
}

/// Whether something in a layout is open.
#[must_use]
pub fn is_open(layout: &Layout) -> bool {
    match layout {
        Layout::Clones(clones) => clones.class.is_empty() || is_open(&clones.item),
        Layout::Array { item, .. }
        | Layout::Counted { item, .. }
        | Layout::Vector { item, .. }
        | Layout::Sized { item, .. } => is_open(item),
        Layout::Record(members) => members.iter().any(|(_, member)| is_open(member)),
        Layout::Object(object) => is_open_within(object),
        Layout::Pointer(object) => is_open_within(object),
        Layout::Number(_)
        | Layout::String { .. }
        | Layout::CharStar
        | Layout::Absent { .. }
        | Layout::Bits
        | Layout::Unsupported { .. } => false,
    }
}

fn is_open_within(object: &Object) -> bool {
    object.parts.iter().any(|part| match part {
        Part::Field(_, layout) => is_open(layout),
        Part::Base(base) => is_open_within(base),
        Part::Hidden(_) => false,
    })
}

/// Gives up what only data say: it is left out of objects, and unsupported elsewhere.
pub fn give_up(layout: &mut Layout, reason: &str) {
    match layout {
        Layout::Clones(_) => {
            *layout = Layout::Unsupported {
                reason: reason.to_owned(),
            };
        }
        Layout::Array { item, .. }
        | Layout::Counted { item, .. }
        | Layout::Vector { item, .. }
        | Layout::Sized { item, .. } => give_up(item, reason),
        Layout::Record(members) => {
            for (_, member) in members {
                give_up(member, reason);
            }
        }
        Layout::Object(object) => give_up_within(object, reason),
        Layout::Pointer(object) => give_up_within(object, reason),
        Layout::Number(_)
        | Layout::String { .. }
        | Layout::CharStar
        | Layout::Absent { .. }
        | Layout::Bits
        | Layout::Unsupported { .. } => {}
    }
}

fn give_up_within(object: &mut Object, reason: &str) {
    for part in &mut object.parts {
        match part {
            Part::Field(_, layout) => match passed_over(layout) {
                Some(hidden) => *part = Part::Hidden(hidden),
                None => give_up(layout, reason),
            },
            Part::Base(base) => give_up_within(base, reason),
            Part::Hidden(_) => {}
        }
    }
}

/// How a member is passed over that only data describe; `None` of any other.
#[must_use]
pub fn passed_over(layout: &Layout) -> Option<Hidden> {
    match layout {
        Layout::Clones(clones) => Some(match clones.before {
            Before::Pointer => Hidden::Pointer,
            Before::Nothing | Before::Exactly(_) => Hidden::Framed,
        }),
        _ => None,
    }
}
