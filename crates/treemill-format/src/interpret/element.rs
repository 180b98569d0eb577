//! TBranchElement: members of split objects, and whole objects (codes: TVirtualStreamerInfo::EReadWrite).

use super::class::Classes;
use super::dims::dims;
use super::refusal::{Known, Refusal};
use super::{Interpretation, branch_name, builtin, clones, cpp, leaf_branch, number, pointers};
use crate::layout::{Form, Layout, Number, Object};
use crate::limits::OBJECT_DEPTH;
use crate::reader::text;
use crate::streamer::{Element, ElementKind, StreamerInfo, StreamerInfos};
use crate::tbranch::{ElementBranch, RawBranch, RawTree};
use crate::tleaf::RawLeaf;

/// A text that a `char*` points to.
const CHAR_STAR: i32 = 7;
/// TObject::fBits.
const BITS: i32 = 15;
const OBJECT: i32 = 61;
const ANY: i32 = 62;
const BASE: i32 = 0;
/// fType of whole objects of classes with a Streamer of their own, which TLorentzVector has.
const OWN_STREAMER: i32 = -1;
const ARRAY_OF_OBJECTS: i32 = 81;
const ARRAY_OF_ANY: i32 = 82;
const TSTRING: i32 = 65;
const TOBJECT: i32 = 66;
const TNAMED: i32 = 67;
const STL: i32 = 300;
const STL_STRING: i32 = 365;
const STL_POINTER: i32 = 71;
const STREAMER: i32 = 500;

/// fType of the branches that count their sub-branches' items.
const CLONES: i32 = 3;
const COLLECTION: i32 = 4;
/// fType of the members of such a collection's items.
const CLONES_MEMBER: i32 = 31;
const COLLECTION_MEMBER: i32 = 41;

pub(super) fn interpret(branch: &RawBranch, tree: &RawTree, classes: &Classes) -> Interpretation {
    let Some(element) = branch.element else {
        return Interpretation::unsupported(
            "a TBranchElement without a type",
            text(branch.class_name),
        );
    };
    let member = member(branch, &element, classes.infos);
    match element.kind {
        CLONES | COLLECTION => Interpretation::new(
            Layout::Number(Number::I32),
            type_name(branch, &element, member),
        ),
        _ if !branch.children.is_empty() => {
            Interpretation::group(type_name(branch, &element, member))
        }
        // An object or base class that has no members has no bytes either.
        1 | 2 if is_bare(branch) => Interpretation::group(type_name(branch, &element, member)),
        _ if is_bare(branch) && branch.leaves.is_empty() => {
            Interpretation::group(type_name(branch, &element, member))
        }
        CLONES_MEMBER | COLLECTION_MEMBER => collected(branch, &element, member, tree, classes),
        _ if element.id < 0 => whole(branch, &element, classes),
        _ => single(branch, &element, member, tree, classes),
    }
}

/// Whether a branch has no data.
fn is_bare(branch: &RawBranch) -> bool {
    branch.baskets.is_empty() && branch.embedded.is_empty()
}

/// The member in the streamer info that the branch was made by; `None` if the file lacks it.
fn member<'i>(
    branch: &RawBranch,
    element: &ElementBranch,
    infos: &'i StreamerInfos,
) -> Option<&'i Element> {
    let index = usize::try_from(element.id).ok()?;
    let info = description(branch, element, infos)?;
    info.elements.get(index).filter(|member| {
        member.code == element.code || is_collection(member.code) && is_collection(element.code)
    })
}

/// The class that the branch belongs to, as it was written.
fn description<'i>(
    branch: &RawBranch,
    element: &ElementBranch,
    infos: &'i StreamerInfos,
) -> Option<&'i StreamerInfo> {
    let class = builtin::described_name(std::str::from_utf8(branch.class_name).ok()?);
    infos
        .find(class, element.version, Some(element.checksum))
        .or_else(|| infos.find_checksum(class, element.checksum))
}

/// Streamer info and branches give collections different codes.
fn is_collection(code: i32) -> bool {
    matches!(code, STL_POINTER | STL | STL_STRING | STREAMER)
}

/// C++ type of a branch by its class or member.
fn type_name(branch: &RawBranch, element: &ElementBranch, member: Option<&Element>) -> String {
    match member {
        Some(member) if matches!(member.kind, ElementKind::Base { .. }) => member.name.clone(),
        Some(member) => member.type_name.clone(),
        None if element.id < 0 => text(branch.class_name),
        None => number::name(element.code).map_or_else(|| text(branch.name), str::to_owned),
    }
}

/// A whole object in a top-level branch.
fn whole(branch: &RawBranch, element: &ElementBranch, classes: &Classes) -> Interpretation {
    let class = text(branch.class_name);
    if let Some(layout) = clones::member(OBJECT, &class) {
        return Interpretation::new(layout, class);
    }
    let known = match description(branch, element, classes.infos) {
        Some(info) if !cpp::is_collection(&class) => {
            // It fills the entry, and has no header unless it streams itself.
            let form = match element.kind {
                OWN_STREAMER => None,
                _ => Some(Form::Bare),
            };
            classes
                .described(info, OBJECT_DEPTH)
                .map(|value| match value {
                    Layout::Object(object) => {
                        let form = form.unwrap_or(object.form);
                        Layout::Object(Object { form, ..object })
                    }
                    value => value,
                })
        }
        None if !cpp::is_collection(&class) && classes.knows(&class) => Err(
            Refusal::not_described(&format!("version {} of class {class}", element.version)),
        ),
        _ => cpp::layout(&class, 0, classes, OBJECT_DEPTH),
    };
    Interpretation::known(known, class)
}

/// A member of one object.
fn single(
    branch: &RawBranch,
    element: &ElementBranch,
    member: Option<&Element>,
    tree: &RawTree,
    classes: &Classes,
) -> Interpretation {
    let cpp_type = type_name(branch, element, member);
    let Some(leaf) = only_leaf(branch, tree) else {
        // A base class without members; for others it is unknown what was written.
        let known = classes
            .value(&cpp_type, OBJECT_DEPTH)
            .and_then(|value| match value {
                Layout::Object(base) if element.code == BASE && !base.has_fields() => {
                    Ok(Layout::Object(base))
                }
                _ => Err(Refusal::member("a member without a leaf".to_owned())),
            });
        return Interpretation::known(known, cpp_type);
    };
    match element.code {
        BITS => Interpretation::new(Layout::Bits, "unsigned int"),
        CHAR_STAR if leaf.len <= 1 && leaf.counter.is_none() => {
            Interpretation::new(Layout::CharStar, "char*")
        }
        1..=59 => numbers(branch, element, member, leaf, tree),
        TSTRING if leaf.len <= 1 => Interpretation::new(Layout::String { header: 0 }, "TString"),
        code if leaf.counter.is_none() && leaf.len <= 1 && is_clones(member) => {
            Interpretation::known(
                clones::member(code, &cpp_type)
                    .ok_or_else(|| Refusal::member(format!("members of type {cpp_type}"))),
                cpp_type,
            )
        }
        _ if leaf.counter.is_none() && member.is_some() && is_object(element.code) => {
            let known = object(element.code, &cpp_type, leaf, classes);
            Interpretation::known(known, cpp_type)
        }
        STL | STL_STRING if leaf.len <= 1 && leaf.counter.is_none() => Interpretation::known(
            cpp::layout(&cpp_type, cpp::HEADER, classes, OBJECT_DEPTH),
            cpp_type,
        ),
        _ => Interpretation::unsupported(format!("members of type {cpp_type}"), cpp_type),
    }
}

/// Whether a member is a TClonesArray that was not split.
fn is_clones(member: Option<&Element>) -> bool {
    member.is_some_and(|member| {
        is_object(member.code) && clones::member(member.code, &member.type_name).is_some()
    })
}

fn is_object(code: i32) -> bool {
    matches!(
        code,
        BASE | OBJECT | ANY | TOBJECT | TNAMED | ARRAY_OF_OBJECTS | ARRAY_OF_ANY
    ) || pointers::is_pointer(code)
}

/// An object, an array of them, or a pointer to one.
fn object(code: i32, type_name: &str, leaf: &RawLeaf, classes: &Classes) -> Known<Layout> {
    let value = match code {
        TOBJECT => builtin::tobject(),
        _ if pointers::is_pointer(code) => {
            pointers::layout(code, type_name, classes, OBJECT_DEPTH)?
        }
        _ => classes.value(type_name, OBJECT_DEPTH)?,
    };
    let is_array = matches!(code, ARRAY_OF_OBJECTS | ARRAY_OF_ANY);
    if is_array != (leaf.len > 1) {
        return Err(Refusal::member(format!("members of type {type_name}")));
    }
    Ok(dims(&text(leaf.title), leaf.len).wrap(value))
}

/// A number, a fixed array of them, or an array that another member counts.
fn numbers(
    branch: &RawBranch,
    element: &ElementBranch,
    member: Option<&Element>,
    leaf: &RawLeaf,
    tree: &RawTree,
) -> Interpretation {
    let title = text(leaf.title);
    let dims = dims(&title, leaf.len);
    let (code, shape) = (element.code.rem_euclid(20), element.code.div_euclid(20));
    let Some((number, name)) = number::by_code(code, || member.map(Element::range)) else {
        let cpp_type = type_name(branch, element, member);
        return Interpretation::unsupported(format!("members of type {cpp_type}"), cpp_type);
    };
    let number = Layout::Number(number);
    match (shape, leaf.counter) {
        (0 | 1, None) => Interpretation::new(dims.wrap(number), format!("{name}{}", dims.suffix())),
        // One byte says whether the array is there (TStreamerInfo: kOffsetP).
        (2, counter) if leaf.len <= 1 && member.is_none_or(|member| member.array_length <= 1) => {
            let cpp_type = format!("{name}[{}]", dims.variable.unwrap_or_default());
            Interpretation::new(
                Layout::Counted {
                    item: Box::new(number),
                    header: 1,
                },
                cpp_type,
            )
            .counted_by(counter.and_then(|at| leaf_branch(tree, at)))
        }
        _ => {
            let cpp_type = type_name(branch, element, member);
            Interpretation::unsupported(
                format!("members of type {cpp_type}{}", dims.suffix()),
                cpp_type,
            )
        }
    }
}

/// A member of each item of a collection.
fn collected(
    branch: &RawBranch,
    element: &ElementBranch,
    member: Option<&Element>,
    tree: &RawTree,
    classes: &Classes,
) -> Interpretation {
    let counter = element
        .counter
        .and_then(|at| tree.branch_at.get(&at))
        .copied();
    let cpp_type = type_name(branch, element, member);
    let bracket = format!(
        "[{}]",
        counter
            .and_then(|index| branch_name(tree, index))
            .unwrap_or_default()
    );
    let reason = format!("members of type {cpp_type} of the items of a collection");
    let no = Interpretation::unsupported(reason, format!("{cpp_type}{bracket}"));
    let Some(leaf) = only_leaf(branch, tree) else {
        return no;
    };
    if element.counted_twice {
        return no;
    }
    let scalar = leaf.len <= 1 && member.is_some_and(|member| member.array_length <= 1);
    let other = match element.code {
        BITS => Some((Ok(Layout::Bits), 0)),
        CHAR_STAR if scalar => Some((Ok(Layout::CharStar), 0)),
        TSTRING if scalar => Some((Ok(Layout::String { header: 0 }), 0)),
        BASE if scalar => Some((shared_base(&cpp_type, classes), 0)),
        code if scalar && is_clones(member) => {
            clones::member(code, &cpp_type).map(|of| (Ok(of), 0))
        }
        code if member.is_some() && is_object(code) => {
            Some((object(code, &cpp_type, leaf, classes), 0))
        }
        STL | STL_STRING if scalar => {
            Some((cpp::shared(&cpp_type, classes, OBJECT_DEPTH), cpp::HEADER))
        }
        _ => None,
    };
    if let Some((item, header)) = other {
        let counted = |item| Layout::Counted {
            item: Box::new(item),
            header,
        };
        let cpp_type = format!("{cpp_type}{bracket}");
        return Interpretation::known(item.map(counted), cpp_type).counted_by(counter);
    }
    if !matches!(element.code, 1..=34 | 36..=39) {
        return no;
    }
    let Some((number, name)) =
        number::by_code(element.code.rem_euclid(20), || member.map(Element::range))
    else {
        return no;
    };
    let title = text(leaf.title);
    let dims = dims(&title, leaf.len);
    let item = Box::new(dims.wrap(Layout::Number(number)));
    let layout = Layout::Counted { item, header: 0 };
    Interpretation::new(layout, format!("{name}{bracket}{}", dims.suffix())).counted_by(counter)
}

/// A base class of a collection's items that was not split: its members lie member by member.
fn shared_base(class: &str, classes: &Classes) -> Known<Layout> {
    match classes.value(class, OBJECT_DEPTH)? {
        Layout::Object(base) => Ok(Layout::Object(Object {
            form: Form::Shared,
            ..base
        })),
        _ => Err(format!("base class {class} of the items of a collection").into()),
    }
}

fn only_leaf<'t>(branch: &RawBranch, tree: &'t RawTree<'t>) -> Option<&'t RawLeaf<'t>> {
    match branch.leaves.as_slice() {
        [leaf] => tree.leaves.get(*leaf),
        _ => None,
    }
}
