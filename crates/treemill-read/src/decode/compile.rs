//! Compiles a layout to steps that are bound to the columns they fill. Parts of layouts that have no steps are
//! left to [`super::walk`].

use super::bytes::Heap;
use super::clones::Arrays;
use super::column::Column;
use super::lists::{Ends, Head, List};
use super::size::{Size, size_of};
use super::steps::{Fixed, Members, Objects, Step};
use super::stride;
use super::text::Text;
use std::cell::Cell;
use std::rc::Rc;
use treemill_format::layout::{Form, Hidden, Layout, Number, Object, Part};

/// What TObject::fBits is gathered as.
const BITS: Layout = Layout::Number(Number::U32);

/// The steps of values of a layout; `None` if there are none. `headless`: without the header that the
/// layout has for it if it is a collection or string; `room`: bytes that there may be.
pub(super) fn compile<'c>(
    column: &'c mut Column,
    layout: &'c Layout,
    headless: bool,
    room: usize,
) -> Option<Step<'c>> {
    if let Ok(Size::Fixed(size)) = size_of(layout) {
        return Some(Step::Fixed(fixed(column, layout, size, room)));
    }
    Some(match (column, layout) {
        (column @ Column::Numbers(_), Layout::Bits) => Step::Bits(fixed(column, &BITS, 4, room)),
        (Column::Bytes { offsets, bytes }, Layout::String { header }) => {
            let own = if headless { 0 } else { usize::from(*header) };
            Step::Text(Text::new(offsets, bytes, own, *header > 0, room))
        }
        (Column::List { offsets, item: to }, Layout::Vector { item, header }) => {
            let head = match &**item {
                _ if headless => Head::Bytes(0),
                Layout::Object(of) if *header > 0 => Head::Objects(of),
                Layout::Pointer(_) | Layout::Absent { .. } => return None,
                _ => Head::Bytes(usize::from(*header)),
            };
            let item = item_of(to, item, room)?;
            Step::List(list(offsets, item, head, *header > 0, room))
        }
        (Column::List { offsets, item: to }, Layout::Clones(of)) => {
            let Layout::Object(item) = &of.item else {
                return None;
            };
            let item = object(to, item, false, room)?;
            let list = list(offsets, item, Head::Bytes(0), false, room);
            Step::Arrays(Arrays { of, list })
        }
        (column @ Column::Object { .. }, Layout::Object(of)) => object(column, of, false, room)?,
        _ => return None,
    })
}

fn item_of<'c>(column: &'c mut Column, layout: &'c Layout, room: usize) -> Option<Step<'c>> {
    match layout {
        Layout::Object(of) if of.form == Form::Framed && stride::is_possible(of) => {
            Some(Step::Strided(Objects {
                column,
                of,
                stride: None,
                bytes: Heap::with_room(room),
            }))
        }
        layout => compile(column, layout, false, room),
    }
}

fn object<'c>(
    column: &'c mut Column,
    of: &'c Object,
    is_base: bool,
    room: usize,
) -> Option<Step<'c>> {
    let Column::Object { rows, parts } = column else {
        return None;
    };
    let class = match of.form {
        Form::Framed => Some(&of.class),
        Form::Bare | Form::Pair => None,
        Form::Shared => return None,
    };
    let counters: Vec<Option<Rc<Cell<usize>>>> = (0..of.parts.len())
        .map(|index| counts(of, index).then(Rc::default))
        .collect();
    let mut steps = Vec::with_capacity(parts.len());
    for ((column, part), counts) in parts.iter_mut().zip(&of.parts).zip(&counters) {
        steps.push(match part {
            Part::Hidden(Hidden::Pointer) => return None,
            Part::Hidden(hidden) => Step::Hidden(hidden),
            Part::Base(base) => object(column, base, true, room)?,
            Part::Field(_, layout) => match (layout, counts) {
                (Layout::Number(Number::I32), Some(counts)) => {
                    Step::Counter(fixed(column, layout, 4, room), Rc::clone(counts))
                }
                (_, Some(_)) => return None,
                (
                    Layout::Sized {
                        item,
                        counter,
                        flag,
                    },
                    None,
                ) => {
                    let Column::List { offsets, item: to } = column else {
                        return None;
                    };
                    let counter = counters.get(counter.own()?)?.as_ref()?;
                    let item = compile(to, item, false, room)?;
                    Step::Sized(
                        list(offsets, item, Head::Bytes(0), false, room),
                        Rc::clone(counter),
                        *flag,
                    )
                }
                _ => compile(column, layout, of.form == Form::Pair, room)?,
            },
        });
    }
    Some(Step::Object(Members {
        class,
        is_base,
        rows,
        count: 0,
        steps,
    }))
}

/// Whether another part is as long as this one says.
fn counts(of: &Object, index: usize) -> bool {
    of.parts.iter().any(
        |part| matches!(part, Part::Field(_, Layout::Sized { counter, .. }) if counter.own() == Some(index)),
    )
}

fn fixed<'c>(column: &'c mut Column, layout: &'c Layout, size: usize, room: usize) -> Fixed<'c> {
    Fixed {
        column,
        layout,
        size,
        bytes: Heap::with_room(room),
    }
}

fn list<'c>(
    offsets: &'c mut Vec<i32>,
    item: Step<'c>,
    head: Head<'c>,
    shares: bool,
    room: usize,
) -> List<'c> {
    List {
        offsets,
        head,
        shares,
        ends: Ends::with_capacity(room / 16),
        item: Box::new(item),
        alike: None,
    }
}
