//! The steps of a layout: compare headers and counts, and gather what has a fixed size. Each leaf gathers its
//! bytes on a heap of its own, which is decoded once all entries are known to be sound. A step takes the
//! position where its value begins and returns where it ends. Knows no layouts as a whole.

use super::bytes::{Bytes, Heap};
use super::clones::Arrays;
use super::column::Column;
use super::lists::List;
use super::object;
use super::stride::Stride;
use super::text::Text;
use crate::faults::too_many;
use crate::offsets::append_ends;
use std::cell::Cell;
use std::rc::Rc;
use treemill_format::error::Result;
use treemill_format::layout::{Class, Hidden, Layout, Object};
use treemill_format::marks::{IS_REFERENCED, MEMBER_WISE};

/// The work for one value.
pub(super) enum Step<'c> {
    Fixed(Fixed<'c>),
    /// A counter: its value is kept for the items that it counts.
    Counter(Fixed<'c>, Rc<Cell<usize>>),
    /// TObject::fBits.
    Bits(Fixed<'c>),
    Text(Text<'c>),
    List(List<'c>),
    /// Items, whose number the counter says. `flag`: they follow a byte that says whether there are any.
    Sized(List<'c>, Rc<Cell<usize>>, bool),
    /// TClonesArrays.
    Arrays(Arrays<'c>),
    Object(Members<'c>),
    /// A list of objects that all have the same number of bytes.
    Strided(Objects<'c>),
    Hidden(&'c Hidden),
}

impl Step<'_> {
    /// Goes past one value. `None` if it is not as expected.
    pub(super) fn one(&mut self, data: Bytes<'_>, at: usize) -> Option<usize> {
        match self {
            Step::Fixed(fixed) => fixed.push(data, at, 1),
            Step::Counter(fixed, counter) => {
                counter.set(data.count(at)?.0);
                fixed.push(data, at, 1)
            }
            Step::Bits(fixed) => {
                let mut rest = data.0.get(at..)?;
                let bits = object::bits(&mut rest).ok()?;
                fixed.bytes.push(&bits, bits.len())?;
                data.0.len().checked_sub(rest.len())
            }
            Step::Text(text) => text.one(data, at),
            Step::List(list) => list.one(data, at),
            Step::Sized(list, counter, flag) => {
                let (there, at) = match flag {
                    true => data.take::<1>(at).map(|([b], at)| (b != 0, at))?,
                    false => (true, at),
                };
                list.items(data, at, if there { counter.get() } else { 0 })
            }
            Step::Arrays(arrays) => arrays.one(data, at),
            Step::Object(members) => members.one(data, at),
            Step::Strided(objects) => objects.push(data, at, 1),
            Step::Hidden(hidden) => pass(hidden, data, at),
        }
    }

    /// Goes past the items of a list.
    #[inline(always)]
    pub(super) fn many(&mut self, data: Bytes<'_>, at: usize, count: usize) -> Option<usize> {
        let mut numbers = 0..count;
        match self {
            Step::Fixed(fixed) => fixed.push(data, at, count),
            Step::Text(text) => numbers.try_fold(at, |at, _| text.one(data, at)),
            Step::List(list) => list.several(data, at, count),
            Step::Object(members) => numbers.try_fold(at, |at, _| members.one(data, at)),
            Step::Strided(objects) => objects.push(data, at, count),
            step => numbers.try_fold(at, |at, _| step.one(data, at)),
        }
    }

    /// Goes past values up to `stop`, and returns how many there are.
    pub(super) fn until(&mut self, data: Bytes<'_>, mut at: usize, stop: usize) -> Option<usize> {
        let mut count = 0_usize;
        while at < stop {
            at = match &mut *self {
                Step::Text(text) if text.header == 0 => text.body(data, at)?,
                Step::List(list) => list.several(data, at, 1)?,
                step => step.one(data, at)?,
            };
            count = count.saturating_add(1);
        }
        (at == stop).then_some(count)
    }

    /// Goes past one member of several objects. Collections share one header. Not inlined, so that the loop over
    /// members of a fixed size stays small.
    #[inline(never)]
    fn members(&mut self, data: Bytes<'_>, at: usize, count: usize) -> Option<usize> {
        let mut numbers = 0..count;
        let shared = |stop: usize| move |at: &usize| *at == stop;
        match self {
            Step::Fixed(fixed) => fixed.push(data, at, count),
            Step::Text(text) if text.shares => {
                let (at, stop) = data.collection(at)?;
                let end = numbers.try_fold(at, |at, _| text.body(data, at));
                end.filter(shared(stop))
            }
            Step::List(list) if list.shares => {
                let (at, stop) = data.collection(at)?;
                let end = numbers.try_fold(at, |at, _| list.body(data, at));
                end.filter(shared(stop))
            }
            Step::Object(members) if members.is_base => members.by_member(data, at, count),
            Step::Counter(..) | Step::Sized(..) | Step::Strided(_) => None,
            step => numbers.try_fold(at, |at, _| step.one(data, at)),
        }
    }

    /// Whether all that was gathered can be appended.
    pub(super) fn is_sound(&self) -> bool {
        let fits = |offsets: &[i32], ends: &[i32]| {
            let (base, last) = (offsets.last(), ends.last());
            let (base, last) = (base.copied().unwrap_or(0), last.copied().unwrap_or(0));
            base.checked_add(last).is_some()
        };
        match self {
            Step::Fixed(_) | Step::Counter(..) | Step::Bits(_) | Step::Hidden(_) => true,
            // What did not fit was not appended.
            Step::Text(_) => true,
            Step::List(list) | Step::Sized(list, ..) | Step::Arrays(Arrays { list, .. }) => {
                fits(list.offsets, list.ends.as_slice()) && list.item.is_sound()
            }
            Step::Object(members) => members.steps.iter().all(Step::is_sound),
            Step::Strided(objects) => objects.is_sound(),
        }
    }

    /// Appends what was gathered, which is sound.
    pub(super) fn append(self) -> Result<()> {
        match self {
            Step::Fixed(fixed) | Step::Counter(fixed, _) | Step::Bits(fixed) => fixed.append(),
            Step::Text(text) => {
                text.keep();
                Ok(())
            }
            Step::List(list) | Step::Sized(list, ..) | Step::Arrays(Arrays { list, .. }) => {
                append_ends(list.offsets, 0, list.ends.as_slice()).ok_or_else(too_many)?;
                list.item.append()
            }
            Step::Object(members) => {
                *members.rows = members.rows.saturating_add(members.count);
                members.steps.into_iter().try_for_each(Step::append)
            }
            Step::Strided(objects) => match &objects.stride {
                Some(stride) => stride.append(objects.column, objects.of, objects.bytes.as_slice()),
                None => Ok(()),
            },
            Step::Hidden(_) => Ok(()),
        }
    }
}

/// Passes bytes that no column needs.
#[inline]
fn pass(hidden: &Hidden, data: Bytes<'_>, at: usize) -> Option<usize> {
    match hidden {
        Hidden::Bytes(n) => return data.skip(at, usize::from(*n)),
        Hidden::RootObject => {
            let ([high, low, _, _, _, _, a, b, c, d], end) = data.take::<10>(at)?;
            let version = u16::from_be_bytes([high, low]);
            let bits = u32::from_be_bytes([a, b, c, d]);
            if version & MEMBER_WISE == 0 && bits & IS_REFERENCED == 0 {
                return Some(end);
            }
        }
        _ => {}
    }
    let mut rest = data.0.get(at..)?;
    object::pass(hidden, &mut rest).ok()?;
    data.0.len().checked_sub(rest.len())
}

/// Values of a fixed size.
pub(super) struct Fixed<'c> {
    pub(super) column: &'c mut Column,
    pub(super) layout: &'c Layout,
    pub(super) size: usize,
    pub(super) bytes: Heap,
}

impl Fixed<'_> {
    #[inline(always)]
    pub(super) fn push(&mut self, data: Bytes<'_>, at: usize, count: usize) -> Option<usize> {
        let len = count.checked_mul(self.size)?;
        let (from, end) = data.piece(at, len)?;
        self.bytes.push(from, len)?;
        Some(end)
    }

    fn append(self) -> Result<()> {
        let bytes = self.bytes.as_slice();
        let count = bytes.len().checked_div(self.size).unwrap_or(0);
        self.column.append_packed(self.layout, bytes, count)
    }
}

/// An object's parts.
pub(super) struct Members<'c> {
    /// The header of objects with a byte count and a version.
    pub(super) class: Option<&'c Class>,
    pub(super) is_base: bool,
    pub(super) rows: &'c mut usize,
    pub(super) count: usize,
    pub(super) steps: Vec<Step<'c>>,
}

impl Members<'_> {
    pub(super) fn one(&mut self, data: Bytes<'_>, at: usize) -> Option<usize> {
        self.count = self.count.saturating_add(1);
        let Some(class) = self.class else {
            return self.parts(data, at);
        };
        let (version, at, stop) = data.frame(at)?;
        let at = data.check(at, class, version)?;
        let end = self.parts(data, at)?;
        (end == stop).then_some(end)
    }

    #[inline]
    fn parts(&mut self, data: Bytes<'_>, at: usize) -> Option<usize> {
        let mut at = at;
        for step in &mut self.steps {
            at = match step {
                Step::Fixed(fixed) => fixed.push(data, at, 1)?,
                step => step.one(data, at)?,
            };
        }
        Some(at)
    }

    /// The first member of all objects, then the second of all, and so on; without headers.
    #[inline(always)]
    pub(super) fn by_member(&mut self, data: Bytes<'_>, at: usize, count: usize) -> Option<usize> {
        self.count = self.count.saturating_add(count);
        let mut at = at;
        // A loop, not a fold: the compiler does not put a large closure into its loop.
        for step in &mut self.steps {
            at = match step {
                // The most common step, without a call.
                Step::Fixed(fixed) => fixed.push(data, at, count)?,
                step => step.members(data, at, count)?,
            };
        }
        Some(at)
    }
}

/// Objects, gathered until all are known to lie as the first one.
pub(super) struct Objects<'c> {
    pub(super) column: &'c mut Column,
    pub(super) of: &'c Object,
    pub(super) stride: Option<Stride>,
    pub(super) bytes: Heap,
}

impl Objects<'_> {
    #[inline(always)]
    pub(super) fn push(&mut self, data: Bytes<'_>, at: usize, count: usize) -> Option<usize> {
        if count == 0 {
            return Some(at);
        }
        let size = match &self.stride {
            Some(stride) => stride.size(),
            None => self.measure(data, at)?,
        };
        let len = count.checked_mul(size)?;
        let (piece, end) = data.piece(at, len)?;
        self.bytes.push(piece, len)?;
        Some(end)
    }

    /// Takes the size of the first object, which all must have.
    #[cold]
    fn measure(&mut self, data: Bytes<'_>, at: usize) -> Option<usize> {
        let stride = Stride::of(self.of, data.0.get(at..)?)?;
        Some(self.stride.insert(stride).size())
    }

    fn is_sound(&self) -> bool {
        self.stride
            .as_ref()
            .is_none_or(|s| s.fits(self.bytes.as_slice()))
    }
}
