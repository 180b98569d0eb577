//! Classes as the file's streamer info describes them, compiled to layouts of whole objects. Knows no branches.
//! Classes that may not lie as described (custom streamers) are refused by name.

use super::builtin::{self, OWN_STREAMER, built_in};
use super::refusal::{Kind, Known, Refusal};
use super::{clones, cpp, number, pointers};
use crate::clones::CLONES;
use crate::layout::{Class, Counter, Form, Hidden, Layout, Number, Object, Part};
use crate::limits::{OBJECT_DEPTH, PARTS_OF_TREE};
use crate::streamer::{Element, ElementKind, StreamerInfo, StreamerInfos};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{HashMap, HashSet};

/// EReadWrite codes (TVirtualStreamerInfo).
const CHAR_STAR: i32 = 7;
const UINT: i32 = 13;
const BITS: i32 = 15;
const OBJECT: i32 = 61;
const ANY: i32 = 62;
const TSTRING: i32 = 65;
const TOBJECT: i32 = 66;
const TNAMED: i32 = 67;
const OBJECTS: i32 = 81;
const ANYS: i32 = 82;
const ARRAYS: i32 = 20;

/// Name of the one element of a class that is a collection (TStreamerInfo::Build).
const THIS: &str = "This";

/// How an object states its class's version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// fClassVersion.
    Number(i32),
    /// fCheckSum, of classes without versions.
    Checksum(u32),
}

/// The classes of a file.
pub(crate) struct Classes<'i> {
    pub infos: &'i StreamerInfos,
    left: Cell<usize>,
    /// The classes that are being described, each inside the one before.
    pub(super) within: RefCell<Vec<String>>,
    /// The classes from which others derive.
    bases: OnceCell<HashSet<&'i str>>,
    /// Collections of enumerators, whose names are no classes' and no numbers', and the items' codes.
    enums: OnceCell<HashMap<&'i str, i32>>,
}

impl<'i> Classes<'i> {
    pub fn new(infos: &'i StreamerInfos) -> Self {
        Classes::with_parts(infos, PARTS_OF_TREE)
    }

    /// How many more parts of objects may be described.
    pub fn with_parts(infos: &'i StreamerInfos, parts: usize) -> Self {
        Classes {
            infos,
            left: Cell::new(parts),
            within: RefCell::new(Vec::new()),
            bases: OnceCell::new(),
            enums: OnceCell::new(),
        }
    }

    /// Whether a class of the file derives from this one.
    pub fn is_base(&self, name: &str) -> bool {
        let bases = self.bases.get_or_init(|| {
            let elements = self.infos.iter().flat_map(|info| &info.elements);
            elements
                .filter(|element| matches!(element.kind, ElementKind::Base { .. }))
                .map(|element| element.name.as_str())
                .collect()
        });
        bases.contains(name)
    }

    /// How the items of this name are stored, if some member of the file's classes is a collection of them
    /// and its description says that they are numbers: so it does of enumerators only, which are stored as
    /// four bytes whatever they are declared as (TGenCollectionProxy).
    pub fn enumerator(&self, name: &str) -> Option<Number> {
        let enums = self.enums.get_or_init(|| {
            let elements = self.infos.iter().flat_map(|info| &info.elements);
            let named = elements.filter_map(|element| match element.kind {
                ElementKind::Stl { item, .. } => Some((cpp::items(&element.type_name)?, item)),
                _ => None,
            });
            named.collect()
        });
        match enums.get(name) {
            Some(&UINT) => Some(Number::U32),
            Some(1..=3 | 11 | 12) => Some(Number::I32),
            _ => None,
        }
    }

    /// The layout of a class by its name, in the newest of its descriptions; objects of another version are
    /// recognised by their headers. Some classes are arrays or collections.
    pub fn value(&self, name: &str, depth: usize) -> Known<Layout> {
        if let Some(value) = built_in(name) {
            return Ok(value);
        }
        let name = builtin::described_name(name);
        let info = self.infos.newest(name);
        self.described(
            info.ok_or_else(|| Refusal::not_described(&format!("class {name}")))?,
            depth,
        )
    }

    /// Whether the file describes some version of a class, by which its objects would be read.
    pub fn knows(&self, name: &str) -> bool {
        built_in(name).is_none() && self.infos.newest(builtin::described_name(name)).is_some()
    }

    /// A base class, at the version that the derived class was written with if that is described.
    fn base(&self, name: &str, version: i32, depth: usize) -> Known<Layout> {
        let exact = (version > 0)
            .then(|| self.infos.find(name, version, None))
            .flatten();
        match exact {
            Some(info) => self.described(info, depth),
            None => self.value(name, depth),
        }
    }

    /// The entry of a TBranchObject: the name of the class as a leaf writes it (TLeafObject::FillBasket), and
    /// the object.
    pub fn named_object(&self, name: &str) -> Known<Layout> {
        let Layout::Object(object) = self.value(name, OBJECT_DEPTH)? else {
            return Err(format!("class {name}, which is no class of objects").into());
        };
        let before = tagged(&object.class.name).ok_or("a class with a name too long")?;
        Ok(Layout::Object(Object {
            class: object.class.clone(),
            form: Form::Bare,
            parts: vec![Part::Hidden(Hidden::Exactly(before)), Part::Base(object)],
        }))
    }

    /// A class by its description.
    pub fn described(&self, info: &StreamerInfo, depth: usize) -> Known<Layout> {
        let name = &info.name;
        if let Some(value) = built_in(name) {
            return Ok(value);
        }
        if OWN_STREAMER.contains(&name.as_str()) {
            return Err(format!("objects of class {name}, which streams itself").into());
        }
        let depth = depth
            .checked_sub(1)
            .ok_or_else(|| format!("class {name}, which nests too deeply"))?;
        if let [element] = info.elements.as_slice()
            && element.name == THIS
        {
            return cpp::collection_class(&element.title, self, depth).unwrap_or_else(|| {
                Err(format!("class {name}, a collection of unknown items").into())
            });
        }
        self.within.borrow_mut().push(name.clone());
        let parts = self.parts(info, depth);
        self.within.borrow_mut().pop();
        let object = Object {
            class: Class {
                name: name.clone(),
                version: info.version,
                checksum: info.checksum,
            },
            form: Form::Framed,
            parts: parts?,
        };
        if name.starts_with(builtin::SYMMETRIC) {
            return builtin::symmetric(object)
                .ok_or_else(|| format!("objects of class {name}").into());
        }
        Ok(Layout::Object(object))
    }

    fn parts(&self, info: &StreamerInfo, depth: usize) -> Known<Vec<Part>> {
        let mut parts = Vec::new();
        for element in &info.elements {
            let left = self.left.get().checked_sub(1);
            self.left.set(left.ok_or_else(Refusal::exhausted)?);
            let part = self.part(element, &parts, depth);
            parts.push(part.map_err(|refusal| refusal.within(&info.name))?);
        }
        Ok(parts)
    }

    fn part(&self, element: &Element, before: &[Part], depth: usize) -> Known<Part> {
        if let ElementKind::Base { version } = element.kind {
            return match (element.code, element.name.as_str()) {
                (_, "TObject") => Ok(Part::Hidden(Hidden::RootObject)),
                (0 | TNAMED, name) => Ok(match self.base(name, version, depth)? {
                    Layout::Object(base) => Part::Base(base),
                    // TArrayF and its like are bases of histograms.
                    value => Part::Field(name.to_owned(), value),
                }),
                (_, name) => Err(format!("base class {name}").into()),
            };
        }
        if let Some(found) = self.collection(element) {
            return Ok(Part::Field(element.name.clone(), found));
        }
        if pointers::streams_itself(element) {
            return Ok(Part::Hidden(Hidden::Framed));
        }
        match self.member(element, before, depth) {
            Ok(layout) => Ok(Part::Field(element.name.clone(), layout)),
            // The members around it can still be read.
            Err(refusal)
                if refusal.kind != Kind::Exhausted && pointers::can_be_passed_over(element) =>
            {
                Ok(Part::Hidden(Hidden::Pointer))
            }
            Err(refusal) => Err(refusal),
        }
    }

    /// A collection of ROOT's, or a pointer to one. A TClonesArray is skipped if it could be of another class.
    fn collection(&self, element: &Element) -> Option<Layout> {
        let is_one = element.array_length <= 1 && element.kind == ElementKind::Plain;
        let found = is_one.then(|| clones::member(element.code, &element.type_name));
        let is_sure = |found: &Layout| !matches!(found, Layout::Clones(_)) || !self.is_base(CLONES);
        found.flatten().filter(is_sure)
    }

    /// A data member.
    fn member(&self, element: &Element, before: &[Part], depth: usize) -> Known<Layout> {
        let no = || Refusal::member(format!("a member of type {}", element.type_name));
        let (shape, basic) = (
            element.code.div_euclid(ARRAYS),
            element.code.rem_euclid(ARRAYS),
        );
        match element.code {
            BITS => Ok(Layout::Bits),
            CHAR_STAR if element.array_length <= 1 => Ok(Layout::CharStar),
            1..=59 if basic != BITS => {
                let (number, _) =
                    number::by_code(basic, || Some(element.range())).ok_or_else(no)?;
                let number = Layout::Number(number);
                match shape {
                    0 if element.array_length <= 1 => Ok(number),
                    1 => fixed(element, number).ok_or_else(no),
                    2 if element.array_length <= 1 => sized(element, number, before).ok_or_else(no),
                    _ => Err(no()),
                }
            }
            TSTRING if element.array_length <= 1 => Ok(Layout::String { header: 0 }),
            TOBJECT if element.array_length <= 1 => Ok(builtin::tobject()),
            OBJECT | ANY | TNAMED if element.array_length <= 1 => {
                self.value(&element.type_name, depth)
            }
            OBJECTS | ANYS => fixed(element, self.value(&element.type_name, depth)?).ok_or_else(no),
            code if pointers::is_pointer(code) && element.array_length <= 1 => {
                pointers::layout(code, &element.type_name, self, depth)
            }
            _ if matches!(element.kind, ElementKind::Stl { .. })
                && element.array_length <= 1
                && !element.type_name.ends_with('*') =>
            {
                cpp::layout(&element.type_name, cpp::HEADER, self, depth)
            }
            _ => Err(no()),
        }
    }
}

/// The name of a class as a leaf writes it before an object (TLeafObject::FillBasket).
pub(super) fn tagged(name: &str) -> Option<Vec<u8>> {
    let len = u8::try_from(name.len()).ok()?;
    Some([&[len], name.as_bytes(), &[0]].concat())
}

/// A C array of fixed size.
fn fixed(element: &Element, item: Layout) -> Option<Layout> {
    let product = element
        .dims
        .iter()
        .try_fold(1_u32, |product, dim| product.checked_mul(*dim));
    if element.dims.is_empty() || product != Some(element.array_length) || product == Some(0) {
        return None;
    }
    let wrap = |item, len: &u32| Layout::Array {
        item: Box::new(item),
        len: *len,
    };
    Some(element.dims.iter().rev().fold(item, wrap))
}

/// The number of this name among the parts.
pub(super) fn number_part(parts: &[Part], name: &str) -> Option<usize> {
    let is_it = |part: &Part| matches!(part, Part::Field(of, Layout::Number(_)) if of == name);
    parts.iter().position(is_it)
}

/// An array that an earlier member of the same class, or of a base class of it, counts.
fn sized(element: &Element, item: Layout, before: &[Part]) -> Option<Layout> {
    let ElementKind::CountedBy { member, .. } = &element.kind else {
        return None;
    };
    let own = number_part(before, member).map(Counter::from);
    let inherited = || {
        let mut parts = before.iter().enumerate();
        parts.find_map(|(part, base)| match base {
            Part::Base(base) => Some(Counter {
                part,
                inherited: Some(number_part(&base.parts, member)?),
                triangle: false,
            }),
            _ => None,
        })
    };
    Some(Layout::Sized {
        item: Box::new(item),
        counter: own.or_else(inherited)?,
        flag: true,
    })
}
