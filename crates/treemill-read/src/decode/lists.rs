//! Steps for collections: a header, a count, and the items; objects one by one or member by member, as the
//! header says.

use super::bytes::{Bytes, Likeness};
use super::object::is_by_member;
use super::steps::Step;
use treemill_format::layout::Object;

/// What is before a list's count.
pub(super) enum Head<'c> {
    Bytes(usize),
    /// Byte count and version, which says in which order the objects lie.
    Objects(&'c Object),
}

/// A count and as many items.
pub(super) struct List<'c> {
    pub(super) offsets: &'c mut Vec<i32>,
    pub(super) head: Head<'c>,
    /// Means what it means in [`super::text::Text`].
    pub(super) shares: bool,
    pub(super) ends: Ends,
    pub(super) item: Box<Step<'c>>,
    /// What was found sound in the last header of objects member by member.
    pub(super) alike: Option<Likeness>,
}

impl List<'_> {
    pub(super) fn one(&mut self, data: Bytes<'_>, at: usize) -> Option<usize> {
        let of = match self.head {
            Head::Bytes(n) => {
                let at = data.skip(at, n)?;
                return self.body(data, at);
            }
            Head::Objects(of) => of,
        };
        if let Some((count, at, stop)) = self.alike.and_then(|alike| data.alike(at, alike))
            && let Step::Object(members) = &mut *self.item
        {
            self.ends.push(count)?;
            let end = members.by_member(data, at, count)?;
            return (end == stop).then_some(end);
        }
        let begin = at;
        let (version, at, stop) = data.frame(at)?;
        let end = if is_by_member(version) {
            let (version, at) = data.take(at)?;
            let at = data.check(at, &of.class, u16::from_be_bytes(version))?;
            self.alike = data.likeness(begin, at);
            let (count, at) = data.count(at)?;
            self.ends.push(count)?;
            match &mut *self.item {
                _ if count == 0 => at,
                Step::Object(members) => members.by_member(data, at, count)?,
                _ => return None,
            }
        } else {
            self.body(data, at)?
        };
        (end == stop).then_some(end)
    }

    #[inline(always)]
    pub(super) fn body(&mut self, data: Bytes<'_>, at: usize) -> Option<usize> {
        let (count, at) = data.count(at)?;
        self.items(data, at, count)
    }

    #[inline(always)]
    pub(super) fn items(&mut self, data: Bytes<'_>, at: usize, count: usize) -> Option<usize> {
        self.ends.push(count)?;
        self.item.many(data, at, count)
    }

    /// Passes `n` lists. Those of numbers, strings and lists do not dispatch on the step of each item.
    pub(super) fn several(&mut self, data: Bytes<'_>, at: usize, count: usize) -> Option<usize> {
        // Loops, not folds: the compiler does not put a large closure into its loop.
        let (ends, mut at) = (&mut self.ends, at);
        match (&self.head, &mut *self.item) {
            (Head::Bytes(0), Step::Fixed(fixed)) => {
                for _ in 0..count {
                    let (count, items) = data.count(at)?;
                    ends.push(count)?;
                    at = fixed.push(data, items, count)?;
                }
            }
            (Head::Bytes(0), Step::Text(text)) if text.header == 0 => {
                for _ in 0..count {
                    let (count, items) = data.count(at)?;
                    ends.push(count)?;
                    at = items;
                    for _ in 0..count {
                        at = text.body(data, at)?;
                    }
                }
            }
            (Head::Bytes(0), Step::List(inner)) => {
                for _ in 0..count {
                    let (count, items) = data.count(at)?;
                    ends.push(count)?;
                    at = inner.several(data, items, count)?;
                }
            }
            _ => {
                for _ in 0..count {
                    at = self.one(data, at)?;
                }
            }
        }
        Some(at)
    }
}

/// Where lists end, counted in items.
#[derive(Default)]
pub(super) struct Ends {
    ends: Vec<i32>,
    total: usize,
}

impl Ends {
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Ends {
            ends: Vec::with_capacity(capacity),
            total: 0,
        }
    }

    pub(super) fn as_slice(&self) -> &[i32] {
        &self.ends
    }

    /// Ends a list after `n` more items.
    #[inline(always)]
    pub(super) fn push(&mut self, more: usize) -> Option<()> {
        self.total = self.total.checked_add(more)?;
        self.ends.push(i32::try_from(self.total).ok()?);
        Some(())
    }
}
