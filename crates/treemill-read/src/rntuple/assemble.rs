//! Assembles values of a field from elements of its columns, cluster by cluster and from the top of the field
//! down. Pure: the caller brings the elements ([`Elements`]).

use super::column::{Column, Numbers};
use crate::faults::{malformed, mismatch, too_many};
use std::ops::Range;
use treemill_format::error::{FormatError, Result};
use treemill_format::rntuple::decode::{Run, Switch, decode_switches};
use treemill_format::rntuple::{Columns, Encoding, Shape};

/// Consecutive elements of a column.
pub(super) enum Stretch<'a> {
    /// This many elements that are zero and not stored.
    Zeros(usize),
    /// Elements of a page.
    Page(Encoding, Run<'a>),
    /// Ends of collections' items.
    Ends(Ends<'a>),
}

/// Ends of collections' items, counted from the cluster's start.
#[derive(Clone, Copy)]
pub(super) struct Ends<'a> {
    /// An end that is not after any of these.
    pub first: u64,
    /// What each end is above that; ascending.
    pub above: &'a [u32],
}

impl Ends<'_> {
    /// The end that is this much above the first. No end of a page is beyond 64 bits.
    fn end(&self, above: u32) -> u64 {
        self.first.wrapping_add(u64::from(above))
    }

    /// The ends themselves.
    fn iter(&self) -> impl Iterator<Item = u64> {
        self.above.iter().map(|above| self.end(*above))
    }
}

/// A visitor of one stretch.
pub(super) type Visit<'v> = &'v mut dyn FnMut(Stretch<'_>) -> Result<()>;

/// The elements of one cluster.
pub(super) trait Elements {
    /// Why elements could not be had, or were not understood.
    type Error;

    /// Shows elements `range` (counted from the cluster's start) of column number `nth` of a
    /// field's columns, stretch by stretch in their order.
    fn visit(
        &mut self,
        columns: &Columns,
        nth: usize,
        range: Range<u64>,
        visit: Visit<'_>,
    ) -> std::result::Result<(), Self::Error>;

    /// The error for elements that contradict each other.
    fn wrong(&self, error: FormatError) -> Self::Error;
}

/// A visitor of list ends: it gets the first item of all, the end before, and the ends.
type Show<'s> = &'s mut dyn FnMut(u64, u64, Ends<'_>) -> Result<()>;

/// Zeros as ends of items.
const NO_ITEMS: [u32; 1024] = [0; 1024];

/// Appends values `range` (counted from the cluster's start) of a field to a column that was made
/// for its shape. After an error the column is of no use.
///
/// # Errors
/// As [`Elements::visit`]; `Malformed` if items end before they begin.
pub(super) fn append<E: Elements>(
    column: &mut Column,
    shape: &Shape,
    range: Range<u64>,
    elements: &mut E,
) -> std::result::Result<(), E::Error> {
    match (column, shape) {
        (Column::Numbers(numbers), Shape::Number { columns, .. }) => {
            elements.visit(columns, 0, range, &mut |stretch| match stretch {
                Stretch::Zeros(n) => {
                    numbers.zeros(n);
                    Ok(())
                }
                Stretch::Page(encoding, run) => numbers.decode(&encoding, &run),
                Stretch::Ends(_) => Err(mismatch()),
            })
        }
        (Column::Numbers(numbers), Shape::Cardinality { columns, .. }) => {
            items(columns, range, elements, &mut |_, before, ends| {
                counts(numbers, before, ends)
            })
            .map(|_| ())
        }
        (Column::Strings { offsets, bytes }, Shape::String { columns }) => {
            let range = lists(offsets, columns, range, elements)?;
            elements.visit(columns, 1, range, &mut |stretch| match stretch {
                Stretch::Page(encoding, run) => {
                    treemill_format::rntuple::decode::Decode::decode(&encoding, &run, bytes)
                }
                _ => Err(mismatch()),
            })
        }
        (Column::List { offsets, item }, Shape::List { columns, item: of }) => {
            let range = lists(offsets, columns, range, elements)?;
            append(item, of, range, elements)
        }
        (Column::Optional { present, item }, Shape::Optional { columns, item: of }) => {
            let range = items(columns, range, elements, &mut |_, mut before, ends| {
                for end in ends.iter() {
                    match end.checked_sub(before) {
                        Some(0) => present.append(false),
                        Some(1) => present.append(true),
                        _ => return Err(malformed(0, "an optional value has two values")),
                    }
                    before = end;
                }
                Ok(())
            })?;
            append(item, of, range, elements)
        }
        (Column::Array { rows, item }, Shape::Array { len, item: of }) => {
            let inner = range
                .start
                .checked_mul(*len)
                .zip(range.end.checked_mul(*len));
            let Some((start, end)) = inner else {
                return Err(elements.wrong(too_many()));
            };
            let more = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
            *rows = rows.saturating_add(more);
            append(item, of, start..end, elements)
        }
        (Column::Record { rows, members }, Shape::Record { members: of, .. }) => {
            let more = usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX);
            *rows = rows.saturating_add(more);
            for (member, (_, of)) in members.iter_mut().zip(of) {
                append(member, of, range.clone(), elements)?;
            }
            Ok(())
        }
        (
            Column::Variant {
                tags,
                offsets,
                none,
                alternatives,
            },
            Shape::Variant {
                columns,
                alternatives: of,
            },
        ) => {
            let mut switches = Vec::new();
            elements.visit(columns, 0, range, &mut |stretch| match stretch {
                Stretch::Zeros(n) => {
                    let zero = Switch { index: 0, tag: 0 };
                    switches.resize(switches.len().saturating_add(n), zero);
                    Ok(())
                }
                Stretch::Page(encoding, run) => decode_switches(&encoding, &run, &mut switches),
                Stretch::Ends(_) => Err(mismatch()),
            })?;
            let ranges = dispatch(&switches, tags, offsets, none, alternatives)
                .map_err(|e| elements.wrong(e))?;
            for ((alternative, of), range) in alternatives.iter_mut().zip(of).zip(ranges) {
                append(alternative, of, range, elements)?;
            }
            Ok(())
        }
        _ => Err(elements.wrong(mismatch())),
    }
}

/// Shows the ends of the items of collections `range`; they ascend. Returns the items of all.
fn items<E: Elements>(
    columns: &Columns,
    range: Range<u64>,
    elements: &mut E,
    show: Show<'_>,
) -> std::result::Result<Range<u64>, E::Error> {
    if range.is_empty() {
        return Ok(0..0);
    }
    // The first item of a collection follows the last of the one before it in the cluster.
    let mut first = (range.start == 0).then_some(0);
    let mut last = 0;
    let mut take = |mut ends: Ends<'_>| {
        if first.is_none()
            && let [before, rest @ ..] = ends.above
        {
            let before = ends.end(*before);
            first = Some(before);
            last = before;
            ends.above = rest;
        }
        let (Some(first), Some(start)) = (first, ends.above.first()) else {
            return Ok(());
        };
        let end = ends.above.last().unwrap_or(start);
        let (start, end) = (ends.end(*start), ends.end(*end));
        if start < last {
            return Err(malformed(0, "a collection's items end before they begin"));
        }
        show(first, last, ends)?;
        last = end;
        Ok(())
    };
    let from = range.start.saturating_sub(1)..range.end;
    elements.visit(columns, 0, from, &mut |stretch| match stretch {
        Stretch::Ends(ends) => take(ends),
        Stretch::Zeros(n) => {
            let mut left = n;
            while left > 0 {
                let above = NO_ITEMS.get(..left).unwrap_or(&NO_ITEMS);
                take(Ends { first: 0, above })?;
                left = left.saturating_sub(above.len());
            }
            Ok(())
        }
        Stretch::Page(..) => Err(mismatch()),
    })?;
    Ok(first.unwrap_or(0)..last)
}

/// Appends collections to Arrow's offsets; returns their items.
fn lists<E: Elements>(
    offsets: &mut Vec<i32>,
    columns: &Columns,
    range: Range<u64>,
    elements: &mut E,
) -> std::result::Result<Range<u64>, E::Error> {
    let base = offsets.last().copied().unwrap_or(0);
    items(columns, range, elements, &mut |first, _, ends| {
        // Ends ascend: if the last fits, all do.
        let last = ends.above.last().map_or(first, |above| ends.end(*above));
        let most = last.saturating_sub(first);
        if i32::try_from(most)
            .ok()
            .and_then(|most| most.checked_add(base))
            .is_none()
        {
            return Err(too_many());
        }
        // The bits above 32 are the same in both and cancel.
        let shift = (ends.first.wrapping_sub(first) as i32).wrapping_add(base);
        let above = ends.above.iter();
        offsets.extend(above.map(|above| (*above as i32).wrapping_add(shift)));
        Ok(())
    })
}

/// Appends the numbers of items.
fn counts(numbers: &mut Numbers, mut before: u64, ends: Ends<'_>) -> Result<()> {
    for end in ends.iter() {
        numbers.count(end.saturating_sub(before))?;
        before = end;
    }
    Ok(())
}

/// Appends variants to a union's tags and offsets; returns, for each alternative, which of its
/// elements they are made of.
fn dispatch(
    switches: &[Switch],
    tags: &mut Vec<i8>,
    offsets: &mut Vec<i32>,
    none: &mut usize,
    alternatives: &[Column],
) -> Result<Vec<Range<u64>>> {
    let ranges = elements_of(switches, alternatives.len())?;
    tags.reserve(switches.len());
    offsets.reserve(switches.len());
    for Switch { index, tag } in switches {
        let Some(which) = alternative(*tag) else {
            tags.push(0);
            offsets.push(i32::try_from(*none).map_err(|_| too_many())?);
            *none = none.saturating_add(1);
            continue;
        };
        let (Some(range), Some(column)) = (ranges.get(which), alternatives.get(which)) else {
            return Err(mismatch());
        };
        let offset = u64::try_from(column.len())
            .ok()
            .and_then(|len| len.checked_add(index.saturating_sub(range.start)))
            .and_then(|offset| i32::try_from(offset).ok())
            .ok_or_else(too_many)?;
        tags.push(i8::try_from(*tag).map_err(|_| mismatch())?);
        offsets.push(offset);
    }
    Ok(ranges)
}

/// The elements of each alternative that variants are made of, from the first to the last: ROOT writes
/// them in the variants' order, others need not.
fn elements_of(switches: &[Switch], alternatives: usize) -> Result<Vec<Range<u64>>> {
    let mut ranges: Vec<Option<Range<u64>>> = vec![None; alternatives];
    for Switch { index, tag } in switches {
        let Some(which) = alternative(*tag) else {
            continue;
        };
        let range = ranges.get_mut(which).ok_or_else(|| {
            malformed(
                0,
                format!("a variant of {alternatives} alternatives names alternative {tag}"),
            )
        })?;
        let range = range.get_or_insert(*index..*index);
        range.start = range.start.min(*index);
        range.end = range.end.max(index.checked_add(1).ok_or_else(too_many)?);
    }
    Ok(ranges
        .into_iter()
        .map(|range| range.unwrap_or(0..0))
        .collect())
}

/// Which of its alternatives a variant has, by its tag; `None`: it has no value.
fn alternative(tag: u32) -> Option<usize> {
    let which = tag.checked_sub(1)?;
    Some(usize::try_from(which).unwrap_or(usize::MAX))
}
