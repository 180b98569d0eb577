//! Decodes a selection of a basket's entries (late materialisation): what lies between them is not decoded.
//!
//! If entries can be moved, the bytes of the selected ones are copied side by side and decoded like a smaller
//! basket. Objects may refer to places in their buffer, so they are decoded in place, run by run.

use super::column::Column;
use super::size::{Size, size_of};
use super::{Entries, append};
use crate::faults::malformed;
use std::ops::Range;
use treemill_format::error::{FormatError, Result};
use treemill_format::layout::Layout;

/// Memory for entries laid side by side, which is used again.
#[derive(Debug, Default)]
pub struct Gathered {
    bytes: Vec<u8>,
    starts: Vec<u32>,
}

/// Appends the entries at `places`, which ascend, of a basket: `data` and `starts` as in
/// [`Entries`], of all its entries.
///
/// # Errors
/// As [`append`]; `Malformed` if the basket has no such entry.
pub fn append_selected(
    column: &mut Column,
    layout: &Layout,
    data: &[u8],
    starts: &[u32],
    places: &[u32],
    gathered: &mut Gathered,
) -> Result<()> {
    let Gathered {
        bytes,
        starts: ends,
    } = gathered;
    // These need not be laid side by side.
    if let (Column::Numbers(numbers), Layout::Number(_)) = (&mut *column, layout) {
        return numbers.extend_at(data, places).ok_or_else(absent);
    }
    bytes.clear();
    ends.clear();
    match (size_of(layout)?, layout) {
        (Size::Fixed(size), _) => gather(data, size, places, bytes)?,
        (_, Layout::Counted { item, .. } | Layout::Vector { item, .. })
            if matches!(size_of(item)?, Size::Fixed(_)) =>
        {
            lay(data, starts, places, bytes, ends)?;
        }
        (_, Layout::String { .. }) => lay(data, starts, places, bytes, ends)?,
        _ => return runs(column, layout, data, starts, places),
    }
    let entries = Entries {
        data: bytes,
        starts: ends,
        count: places.len(),
    };
    append(column, layout, entries)
}

/// Entries of one size.
fn gather(data: &[u8], size: usize, places: &[u32], to: &mut Vec<u8>) -> Result<()> {
    to.reserve(places.len().saturating_mul(size).min(data.len()));
    // Copies of a size that the compiler knows are single moves.
    match size {
        1 => gather_chunks::<1>(data, places, to),
        2 => gather_chunks::<2>(data, places, to),
        4 => gather_chunks::<4>(data, places, to),
        8 => gather_chunks::<8>(data, places, to),
        _ => places.iter().try_for_each(|&place| {
            let start = (place as usize).checked_mul(size)?;
            to.extend_from_slice(data.get(start..start.checked_add(size)?)?);
            Some(())
        }),
    }
    .ok_or_else(absent)
}

fn gather_chunks<const N: usize>(data: &[u8], places: &[u32], to: &mut Vec<u8>) -> Option<()> {
    let (entries, _) = data.as_chunks::<N>();
    for &place in places {
        to.extend_from_slice(entries.get(place as usize)?);
    }
    Some(())
}

/// Entries of any size, and where each begins among them.
fn lay(
    data: &[u8],
    starts: &[u32],
    places: &[u32],
    to: &mut Vec<u8>,
    ends: &mut Vec<u32>,
) -> Result<()> {
    ends.push(0);
    for &place in places {
        let later = starts.get(place as usize..).unwrap_or_default();
        let entry = match later {
            [start, end, ..] => data.get(*start as usize..*end as usize),
            _ => None,
        };
        to.extend_from_slice(entry.ok_or_else(absent)?);
        // Not more bytes than the basket has, whose places are 32 bits wide.
        ends.push(u32::try_from(to.len()).unwrap_or(u32::MAX));
    }
    Ok(())
}

/// Entries in place, consecutive ones together.
fn runs(
    column: &mut Column,
    layout: &Layout,
    data: &[u8],
    starts: &[u32],
    places: &[u32],
) -> Result<()> {
    for run in places.chunk_by(|a, b| a.checked_add(1) == Some(*b)) {
        let first = run.first().map_or(0, |&place| place as usize);
        let end = first.saturating_add(run.len());
        let entries = Entries {
            data,
            starts: starts
                .get(first..end.saturating_add(1))
                .ok_or_else(absent)?,
            count: run.len(),
        };
        append(column, layout, entries)?;
    }
    Ok(())
}

/// Ascending numbers as a range, if they are consecutive.
#[must_use]
pub fn consecutive(numbers: &[u32]) -> Option<Range<u32>> {
    let (&first, &last) = (numbers.first()?, numbers.last()?);
    let end = last.checked_add(1)?;
    (end.checked_sub(first)? as usize == numbers.len()).then_some(first..end)
}

fn absent() -> FormatError {
    malformed(0, "the basket has no such entry".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use arrow_array::{Array, ArrayRef};
    use treemill_format::layout::Number;

    /// The whole decoded, and some of it.
    fn both(layout: &Layout, data: &[u8], starts: &[u32], count: usize, places: &[u32]) {
        let mut whole = Column::new(layout, 0).unwrap();
        let entries = Entries {
            data,
            starts,
            count,
        };
        append(&mut whole, layout, entries).unwrap();
        let whole = whole.finish(layout).unwrap();
        let mut some = Column::new(layout, 0).unwrap();
        let mut gathered = Gathered::default();
        append_selected(&mut some, layout, data, starts, places, &mut gathered).unwrap();
        let some: ArrayRef = some.finish(layout).unwrap();
        assert_eq!(some.len(), places.len());
        for (at, &place) in places.iter().enumerate() {
            assert_eq!(
                some.slice(at, 1).to_data(),
                whole.slice(place as usize, 1).to_data()
            );
        }
        let beyond = [u32::try_from(count).unwrap()];
        let mut column = Column::new(layout, 0).unwrap();
        append_selected(&mut column, layout, data, starts, &beyond, &mut gathered).unwrap_err();
    }

    #[test]
    fn numbers_arrays_and_records() {
        let data: Vec<u8> = (0..=239).collect();
        for (number, size) in [
            (Number::U8, 1),
            (Number::I16, 2),
            (Number::F32, 4),
            (Number::U64, 8),
        ] {
            both(
                &Layout::Number(number),
                &data,
                &[],
                240 / size,
                &[0, 1, 7, 29],
            );
        }
        let array = Layout::Array {
            item: Box::new(Layout::Number(Number::I16)),
            len: 3,
        };
        both(&array, &data, &[], 40, &[3, 39]);
        let record = Layout::Record(vec![
            ("a".into(), Layout::Number(Number::U8)),
            ("b".into(), Layout::Number(Number::F32)),
        ]);
        both(&record, &data, &[], 48, &[0, 5, 6, 47]);
    }

    #[test]
    fn lists_and_text() {
        let counted = Layout::Counted {
            item: Box::new(Layout::Number(Number::I16)),
            header: 0,
        };
        let data: Vec<u8> = (0..20).collect();
        both(&counted, &data, &[0, 4, 4, 6, 20], 4, &[0, 1, 3]);
        both(&counted, &data, &[0, 4, 4, 6, 20], 4, &[2]);
        let text = Layout::String { header: 0 };
        let data = b"\x02ab\x00\x01c";
        both(&text, data, &[0, 3, 4, 6], 3, &[0, 2]);
    }
}
