//! The open places of layouts, which only the data can fill: the class of a TClonesArray's items, the class of
//! objects that pointers to a base class lead to, and the version of objects if the file describes several. Fills
//! them with what the data were found to say. Pure; looks at no data.

use crate::clones::CLONES;
pub use crate::interpret::Version;
use crate::interpret::{Classes, at_version, named};
use crate::layout::{Before, Form, Hidden, Layout, Object, Part, Pointer, Says};
use crate::limits::PARTS_OF_DATA;
use crate::objects;
use crate::streamer::StreamerInfos;

/// The version of TClonesArray.
const CLONES_VERSION: i32 = 4;

/// Fills in what was open, from a file's descriptions. One for all of a tree, for what may be described in
/// all is bounded.
pub struct Describer<'i> {
    classes: Classes<'i>,
}

impl<'i> Describer<'i> {
    /// An interpreter by these descriptions.
    #[must_use]
    pub fn new(infos: &'i StreamerInfos) -> Self {
        Describer {
            classes: Classes::with_parts(infos, PARTS_OF_DATA),
        }
    }

    /// The layout of an open place, once data name this class.
    ///
    /// # Errors
    /// What stands against reading it, in words for the user.
    pub fn named(&self, open: &Layout, class: &[u8]) -> Result<Layout, String> {
        named(open, class, &self.classes)
    }

    /// An object's layout at the version that its data have, which is not the one that was thought; `None`
    /// if the file does not describe that.
    #[must_use]
    pub fn at_version(&self, object: &Object, said: Version) -> Option<Object> {
        at_version(object, said, &self.classes)
    }

    /// Whether something in a layout is open, be it a version only.
    #[must_use]
    pub fn is_open(&self, layout: &Layout) -> bool {
        is_nameless(layout) || self.is_unsure(layout)
    }

    fn is_unsure(&self, layout: &Layout) -> bool {
        match layout {
            Layout::Object(object) if self.has_versions(object) => true,
            layout => any_within(layout, |inner| self.is_unsure(inner)),
        }
    }

    fn has_versions(&self, object: &Object) -> bool {
        let mut parts = object.parts.iter();
        object.form == Form::Framed && self.classes.infos.has_several(&object.class.name)
            || parts.any(|part| matches!(part, Part::Base(base) if self.has_versions(base)))
    }
}

/// Whether there are items or objects in a layout whose class no data have named yet.
#[must_use]
pub fn is_nameless(layout: &Layout) -> bool {
    match layout {
        Layout::Clones(clones) if clones.class.is_empty() => true,
        Layout::Pointer(pointer) if matches!(pointer.to, Layout::Absent { .. }) => true,
        layout => any_within(layout, is_nameless),
    }
}

/// Visits what is directly in a layout: for objects their parts, with the parts of their bases instead of the
/// bases.
enum Child<P, L> {
    Part(P),
    Layout(L),
}

/// A visitor of what is directly in a layout, to be looked at or (`mut`) to be changed.
macro_rules! visitor {
    ($visit:ident, $parts:ident $(, $mut:tt)?) => {
        fn $visit(
            layout: &$($mut)? Layout,
            visit: &mut dyn FnMut(Child<&$($mut)? Part, &$($mut)? Layout>),
        ) {
            match layout {
                Layout::Array { item, .. }
                | Layout::Counted { item, .. }
                | Layout::Vector { item, .. }
                | Layout::Sized { item, .. } => visit(Child::Layout(item)),
                Layout::Record(members) => {
                    for (_, member) in members {
                        visit(Child::Layout(member));
                    }
                }
                Layout::Object(object) => $parts(object, visit),
                Layout::Pointer(pointer) => visit(Child::Layout(&$($mut)? pointer.to)),
                Layout::Clones(clones) => visit(Child::Layout(&$($mut)? clones.item)),
                Layout::Objects(objects) => visit(Child::Layout(&$($mut)? objects.item)),
                Layout::Number(_)
                | Layout::String { .. }
                | Layout::CharStar
                | Layout::Absent { .. }
                | Layout::Bits
                | Layout::Unsupported { .. } => {}
            }
        }

        fn $parts(
            object: &$($mut)? Object,
            visit: &mut dyn FnMut(Child<&$($mut)? Part, &$($mut)? Layout>),
        ) {
            for part in &$($mut)? object.parts {
                match part {
                    Part::Base(base) => $parts(base, visit),
                    part => visit(Child::Part(part)),
                }
            }
        }
    };
}

visitor!(visit, visit_parts);
visitor!(visit_mut, visit_parts_mut, mut);

/// Looks at the layouts that are directly in another one.
fn each_within(layout: &Layout, look: &mut dyn FnMut(&Layout)) {
    visit(layout, &mut |place| match place {
        Child::Layout(inner) | Child::Part(Part::Field(_, inner)) => look(inner),
        Child::Part(_) => {}
    });
}

fn any_within(layout: &Layout, is_it: impl Fn(&Layout) -> bool) -> bool {
    let mut found = false;
    each_within(layout, &mut |inner| found = found || is_it(inner));
    found
}

/// Gives up what only data say: it is left out of objects, and unsupported elsewhere.
pub fn give_up(layout: &mut Layout, reason: &str) {
    if passed_over(layout).is_some() {
        *layout = Layout::Unsupported {
            reason: reason.to_owned(),
        };
        return;
    }
    hide_members(layout, &passed_over, &|layout| give_up(layout, reason));
}

/// Leaves members out that are pointers which no data have said the class of.
pub fn leave_out(layout: &mut Layout) {
    let unsaid = |layout: &Layout| match layout {
        Layout::Pointer(pointer) if matches!(pointer.to, Layout::Absent { .. }) => {
            Some(Hidden::Pointer)
        }
        _ => None,
    };
    hide_members(layout, &unsaid, &leave_out);
}

/// Removes the members of objects that `how` says to skip, and applies it to all others.
fn hide_members(
    layout: &mut Layout,
    how: &dyn Fn(&Layout) -> Option<Hidden>,
    otherwise: &dyn Fn(&mut Layout),
) {
    visit_mut(layout, &mut |place| match place {
        Child::Layout(layout) => otherwise(layout),
        Child::Part(part) => {
            if let Part::Field(_, layout) = part {
                match how(layout) {
                    Some(hidden) => *part = Part::Hidden(hidden),
                    None => otherwise(layout),
                }
            }
        }
    });
}

/// How a member is passed over that only data describe; `None` of any other.
#[must_use]
pub fn passed_over(layout: &Layout) -> Option<Hidden> {
    let before = match layout {
        Layout::Clones(clones) => &clones.before,
        Layout::Objects(objects) => &objects.before,
        Layout::Pointer(pointer) => {
            let is_by_data = matches!(pointer.says, Says::Data { .. });
            return is_by_data.then_some(Hidden::Pointer);
        }
        _ => return None,
    };
    Some(match before {
        Before::Pointer => Hidden::Pointer,
        Before::Nothing | Before::Exactly(_) => Hidden::Framed,
    })
}

/// The classes that an entry can name, for an object's class may be said by the place of such a name.
#[derive(Debug, Default)]
struct Names {
    /// The classes' names and versions.
    classes: Vec<(String, i32)>,
    /// Some are in what is passed over.
    has_unknown: bool,
}

impl Names {
    fn add(&mut self, layout: &Layout) {
        match layout {
            Layout::Pointer(pointer) => {
                if let Layout::Object(to) = &pointer.to {
                    self.classes.push((to.class.name.clone(), to.class.version));
                }
            }
            Layout::Clones(clones) if clones.before == Before::Pointer => {
                self.classes.push((CLONES.to_owned(), CLONES_VERSION));
            }
            Layout::Objects(objects) if objects.before == Before::Pointer => {
                let (name, version) = objects::class(objects.class);
                self.classes.push((name.to_owned(), version.into()));
            }
            Layout::Object(object) => self.has_unknown |= passes_over(object),
            _ => {}
        }
        each_within(layout, &mut |inner| self.add(inner));
    }

    /// Whether an object of another class could be taken for one of this: one of the same version.
    fn has_other(&self, name: &str, version: i32) -> bool {
        let mut others = self.classes.iter();
        self.has_unknown || others.any(|(other, v)| other != name && *v == version)
    }
}

fn passes_over(object: &Object) -> bool {
    object.parts.iter().any(|part| match part {
        Part::Hidden(hidden) => matches!(hidden, Hidden::Pointer | Hidden::Framed),
        Part::Base(base) => passes_over(base),
        Part::Field(..) => false,
    })
}

/// Notes at pointers whose class the data have said whether it can be meant by the place of a name.
pub fn note_references(layout: &mut Layout) {
    let mut names = Names::default();
    names.add(layout);
    note(layout, &names);
}

fn note(layout: &mut Layout, names: &Names) {
    if let Layout::Pointer(pointer) = layout
        && let Pointer {
            to: Layout::Object(to),
            says: Says::Data { alone },
        } = &mut **pointer
    {
        *alone = !names.has_other(&to.class.name, to.class.version);
    }
    visit_mut(layout, &mut |place| match place {
        Child::Layout(layout) | Child::Part(Part::Field(_, layout)) => note(layout, names),
        Child::Part(_) => {}
    });
}
