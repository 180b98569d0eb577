//! Looks into data for what a layout leaves open, and completes the layout. Pure. Values before the open place
//! are decoded like any others and dropped.

use super::Entries;
use super::column::Column;
use super::walk::{append, value};
use crate::faults::unsupported;
use crate::limits::LOOK_CLASSES;
use treemill_format::error::Result;
use treemill_format::layout::{Layout, Object, Part};
use treemill_format::open::{Describer, note_references, passed_over};

/// Fills in what `layout` leaves open, as the entries in `data` say. `starts` are theirs and the end of the
/// last, as in [`Entries`]; none are needed where each entry is one value. What the entries do not say stays
/// open.
///
/// # Errors
/// As [`super::append`], if the entries do not fit what they say themselves.
pub fn look(
    layout: &mut Layout,
    data: &[u8],
    starts: &[u32],
    describer: &Describer<'_>,
) -> Result<()> {
    for _ in 0..LOOK_CLASSES {
        let mut column = Column::new(layout, 0)?;
        let outcome = values(&mut column, layout, data, starts);
        // What was found last must fit as well.
        if !settle(&column, layout, describer) {
            return outcome;
        }
        note_references(layout);
    }
    Err(unsupported("arrays within arrays of their own class"))
}

fn values(column: &mut Column, layout: &Layout, mut data: &[u8], starts: &[u32]) -> Result<()> {
    if let Some(count) = starts.len().checked_sub(1) {
        let entries = Entries {
            data,
            starts,
            count,
        };
        return append(column, layout, entries);
    }
    if let Layout::Counted { .. } = layout {
        // Nothing says where these entries end.
        return Ok(());
    }
    while !data.is_empty() {
        value(column, layout, &mut data)?;
    }
    Ok(())
}

/// Describes what a column has met in an open place of its layout; whether it has.
fn settle(column: &Column, layout: &mut Layout, describer: &Describer<'_>) -> bool {
    let met = match (column, &mut *layout) {
        (Column::List { item, .. }, Layout::Clones(clones)) => match &**item {
            Column::Met(class) => class,
            item => return settle(item, &mut clones.item, describer),
        },
        (
            Column::List { item, .. },
            Layout::Counted { item: of, .. }
            | Layout::Vector { item: of, .. }
            | Layout::Sized { item: of, .. },
        )
        | (Column::Fixed { item, .. }, Layout::Array { item: of, .. }) => {
            return settle(item, of, describer);
        }
        (Column::Record { fields, .. }, Layout::Record(members)) => {
            let mut pairs = fields.iter().zip(members);
            return pairs.any(|(field, (_, member))| settle(field, member, describer));
        }
        (Column::Object { parts, .. }, Layout::Object(of)) => {
            return object(parts, of, describer);
        }
        (Column::Pointer { item, .. }, Layout::Pointer(pointer)) => match &**item {
            Column::Met(class) => class,
            item => return settle(item, &mut pointer.to, describer),
        },
        (Column::List { item, .. }, Layout::Objects(objects)) => {
            return settle(item, &mut objects.item, describer);
        }
        _ => return false,
    };
    *layout = describer
        .named(layout, met)
        .unwrap_or_else(|reason| Layout::Unsupported { reason });
    true
}

/// Settles the parts of an object.
fn object(columns: &[Column], of: &mut Object, describer: &Describer<'_>) -> bool {
    let Some(Column::Other(version)) = columns.first() else {
        return parts_of(columns, of, describer);
    };
    match describer.at_version(of, *version) {
        Some(found) => {
            *of = found;
            true
        }
        None => false,
    }
}

/// Settles an object's parts, as [`settle`] does. One that cannot be read is left out.
fn parts_of(columns: &[Column], of: &mut Object, describer: &Describer<'_>) -> bool {
    let mut pairs = columns.iter().zip(&mut of.parts);
    pairs.any(|(column, part)| match (column, &mut *part) {
        (column, Part::Field(_, layout)) => {
            let hidden = passed_over(layout);
            let has_met = settle(column, layout, describer);
            if let (Layout::Unsupported { .. }, Some(hidden)) = (layout, hidden) {
                *part = Part::Hidden(hidden);
            }
            has_met
        }
        (Column::Object { parts, .. }, Part::Base(base)) => object(parts, base, describer),
        _ => false,
    })
}
