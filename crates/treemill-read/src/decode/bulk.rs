//! Whole baskets of lists in lists, text, and objects that all have as many bytes: offsets are
//! collected entry by entry, what is innermost is gathered and decoded many at a time. What is not of
//! such a kind, or not as expected, is left to [`super::walk`], which also finds the words for errors.

use super::column::{Column, mismatch, push_offset, too_many};
use super::jagged::push_offsets;
use super::object::{self, Frame};
use super::packer::{LINE, Packer, copy};
use super::size::{Size, size_of};
use super::stride::Stride;
use super::{Entries, malformed};
use treemill_format::error::Result;
use treemill_format::layout::{Layout, Object};

/// What an entry is, outside its items.
#[derive(Clone, Copy)]
enum Outer {
    /// One item.
    One,
    /// So many bytes, a count, the items; where the flag is set the bytes say how items lie.
    Vector(usize, bool),
    /// Items up to the end; with the flag behind a collection's header, if there are any.
    Rest(bool),
}

/// How far [`append`] has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Done {
    /// All entries were appended.
    All,
    /// None was: these are of another kind.
    None,
    /// Some were, before one that is wrong: the column is of no use.
    Spoilt,
}

/// Appends all entries, if they are of a kind that can be.
///
/// # Errors
/// As [`size_of`]; what is wrong with entries is not told.
pub(super) fn append(column: &mut Column, layout: &Layout, entries: Entries<'_>) -> Result<Done> {
    let bytes = entries.bytes().len();
    let (mut own, inner, item, outer) = match (column, layout) {
        (Column::List { offsets, item: to }, Layout::Vector { item, header }) => {
            let says = matches!(**item, Layout::Object(_)) && *header > 0;
            let outer = Outer::Vector(usize::from(*header), says);
            (Some(offsets), &mut **to, &**item, outer)
        }
        // Strings behind a collection's header have none of their own, whatever their layout says.
        (Column::List { offsets, item: to }, Layout::Counted { item, header })
            if *header == 0 || !matches!(**item, Layout::String { header: 1.. }) =>
        {
            (Some(offsets), &mut **to, &**item, Outer::Rest(*header > 0))
        }
        (column, Layout::String { .. } | Layout::Object(_)) => (None, column, layout, Outer::One),
        _ => return Ok(Done::None),
    };
    if let (Layout::Object(of), Outer::One | Outer::Rest(false)) = (item, outer)
        && let Some(stride) = Stride::gapless(of, entries, own.is_none())
    {
        if let Some(offsets) = own {
            push_offsets(offsets, entries.starts, stride.size())?;
        }
        stride.append(inner, of, entries.bytes())?;
        return Ok(Done::All);
    }
    let Some(mut lists) = Lists::new(inner, item, bytes)? else {
        return Ok(Done::None);
    };
    let before = own.as_ref().map(|offsets| offsets.len());
    let done = entries_of(own.as_deref_mut(), &mut lists, outer, entries);
    if done.and_then(|()| lists.finish()).is_ok() {
        return Ok(Done::All);
    }
    if let (Some(offsets), Some(len)) = (own, before) {
        offsets.truncate(len);
    }
    Ok(lists.take_back())
}

fn entries_of(
    mut own: Option<&mut Vec<i32>>,
    lists: &mut Lists<'_>,
    outer: Outer,
    entries: Entries<'_>,
) -> Result<()> {
    let ends = entries.starts.iter().skip(1);
    for (&start, &end) in entries.starts.iter().zip(ends) {
        let mut span = Span {
            data: entries.data,
            at: start as usize,
            end: end as usize,
        };
        let before = lists.items;
        match outer {
            Outer::One if span.left() > 0 => lists.append(1, &mut span)?,
            // Old TLeafC: an entry of no bytes at all is the empty string.
            Outer::One => lists.nothing()?,
            Outer::Vector(header, says) => {
                if says {
                    span.collection()?;
                } else {
                    span.skip(header)?;
                }
                let count = span.count()?;
                lists.append(count, &mut span)?;
            }
            Outer::Rest(header) => {
                if header && span.left() > 0 {
                    span.collection()?;
                }
                lists.rest(&mut span)?;
            }
        }
        if span.left() > 0 {
            return Err(mismatch());
        }
        if let Some(offsets) = own.as_deref_mut() {
            push_offset(offsets, lists.items.saturating_sub(before))?;
        }
    }
    Ok(())
}

/// An entry that is read from its front. Knows what lies behind it, which may be copied along.
struct Span<'a> {
    data: &'a [u8],
    at: usize,
    end: usize,
}

impl<'a> Span<'a> {
    fn left(&self) -> usize {
        self.end.saturating_sub(self.at)
    }

    /// The next `len` bytes and all behind them.
    fn piece(&mut self, len: usize) -> Result<&'a [u8]> {
        let piece = self.data.get(self.at..).filter(|_| len <= self.left());
        self.at = self.at.saturating_add(len);
        piece.ok_or_else(mismatch)
    }

    fn skip(&mut self, len: usize) -> Result<()> {
        self.piece(len).map(|_| ())
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let piece = self.piece(N)?;
        piece.first_chunk::<N>().copied().ok_or_else(mismatch)
    }

    fn count(&mut self) -> Result<usize> {
        usize::try_from(i32::from_be_bytes(self.take()?)).map_err(|_| mismatch())
    }

    /// Passes over the header of a collection that fills the entry, its items lying one by one.
    fn collection(&mut self) -> Result<()> {
        let mut entry = self.data.get(self.at..self.end).unwrap_or_default();
        let Frame { version, .. } = object::frame(&mut entry)?;
        if !entry.is_empty() || object::is_by_member(version) {
            return Err(mismatch());
        }
        self.skip(object::HEADER)
    }
}

/// What is innermost.
enum Leaf<'a> {
    Packed(Packer<'a>),
    Text(Text<'a>),
    Objects(Objects<'a>),
}

/// Lists of lists, or none, of what is innermost.
struct Lists<'a> {
    /// Of each level, from the outermost on, with their lengths before.
    levels: Vec<(&'a mut Vec<i32>, usize)>,
    leaf: Leaf<'a>,
    /// Items so far at the outermost level.
    items: usize,
}

impl<'a> Lists<'a> {
    /// Of at most so many bytes. `None` where it is something else.
    fn new(column: &'a mut Column, layout: &'a Layout, bytes: usize) -> Result<Option<Self>> {
        let mut levels = Vec::new();
        let (mut column, mut layout) = (column, layout);
        let leaf = loop {
            match layout {
                Layout::Vector {
                    item: of,
                    header: 0,
                } => {
                    let Column::List { offsets, item } = column else {
                        return Err(mismatch());
                    };
                    let before = offsets.len();
                    levels.push((offsets, before));
                    (column, layout) = (item, of);
                }
                Layout::String { header } => {
                    let Column::Bytes { offsets, bytes: to } = column else {
                        return Err(mismatch());
                    };
                    break Leaf::Text(Text::new(offsets, to, *header, bytes));
                }
                Layout::Object(object) => break Leaf::Objects(Objects::new(column, object)),
                _ => match size_of(layout) {
                    Ok(Size::Fixed(size)) => break Leaf::Packed(Packer::new(column, layout, size)),
                    _ => return Ok(None),
                },
            }
        };
        Ok(Some(Lists {
            levels,
            leaf,
            items: 0,
        }))
    }

    /// Appends `count` items of the outermost level.
    fn append(&mut self, count: usize, span: &mut Span<'_>) -> Result<()> {
        self.items = self.items.saturating_add(count);
        items(&mut self.levels, &mut self.leaf, count, span)
    }

    /// Appends items up to the entry's end.
    fn rest(&mut self, span: &mut Span<'_>) -> Result<()> {
        while span.left() > 0 {
            self.append(1, span)?;
        }
        Ok(())
    }

    /// Appends what an entry without bytes is.
    fn nothing(&mut self) -> Result<()> {
        match &mut self.leaf {
            Leaf::Text(text) if self.levels.is_empty() => text.end(),
            _ => Err(mismatch()),
        }
    }

    fn finish(&mut self) -> Result<()> {
        match &mut self.leaf {
            Leaf::Packed(packer) => packer.flush(),
            Leaf::Text(text) => {
                text.bytes.truncate(text.len);
                Ok(())
            }
            Leaf::Objects(objects) => objects.finish(),
        }
    }

    /// Takes everything back, where that can be done.
    fn take_back(self) -> Done {
        for (offsets, before) in self.levels {
            offsets.truncate(before);
        }
        match self.leaf {
            Leaf::Objects(_) => {}
            Leaf::Text(text) => {
                text.offsets.truncate(text.before.0);
                text.bytes.truncate(text.before.1);
            }
            // Some may have been decoded already.
            Leaf::Packed(_) => return Done::Spoilt,
        }
        Done::None
    }
}

fn items(
    levels: &mut [(&mut Vec<i32>, usize)],
    leaf: &mut Leaf<'_>,
    count: usize,
    span: &mut Span<'_>,
) -> Result<()> {
    let Some(((offsets, _), inner)) = levels.split_first_mut() else {
        return match leaf {
            Leaf::Packed(packer) => {
                let len = count.saturating_mul(packer.size());
                packer.push(span.piece(len)?, len)
            }
            Leaf::Text(text) => (0..count).try_for_each(|_| text.push(span)),
            Leaf::Objects(objects) => objects.push(count, span),
        };
    };
    for _ in 0..count {
        let count = span.count()?;
        push_offset(offsets, count)?;
        items(inner, leaf, count, span)?;
    }
    Ok(())
}

/// Strings: a header, a length byte (255: an i32 follows), the bytes.
struct Text<'a> {
    offsets: &'a mut Vec<i32>,
    bytes: &'a mut Vec<u8>,
    header: usize,
    len: usize,
    before: (usize, usize),
}

impl<'a> Text<'a> {
    /// Of at most `most` bytes in all, which the basket has.
    fn new(offsets: &'a mut Vec<i32>, bytes: &'a mut Vec<u8>, header: u8, most: usize) -> Self {
        let (len, before) = (bytes.len(), (offsets.len(), bytes.len()));
        bytes.resize(len.saturating_add(most).saturating_add(LINE), 0);
        Text {
            offsets,
            bytes,
            header: usize::from(header),
            len,
            before,
        }
    }

    fn push(&mut self, span: &mut Span<'_>) -> Result<()> {
        span.skip(self.header)?;
        let [short] = span.take()?;
        let len = match short {
            255 => span.count()?,
            len => usize::from(len),
        };
        let from = span.piece(len)?;
        let to = self.bytes.get_mut(self.len..).unwrap_or_default();
        if !copy(to, from, len) {
            return Err(mismatch());
        }
        self.len = self.len.saturating_add(len);
        self.end()
    }

    /// Ends a string where the bytes end.
    fn end(&mut self) -> Result<()> {
        self.offsets
            .push(i32::try_from(self.len).map_err(|_| too_many())?);
        Ok(())
    }
}

/// Objects, gathered until all are known to lie as the first one.
struct Objects<'a> {
    column: &'a mut Column,
    of: &'a Object,
    stride: Option<Stride>,
    bytes: Vec<u8>,
}

impl<'a> Objects<'a> {
    fn new(column: &'a mut Column, of: &'a Object) -> Self {
        Objects {
            column,
            of,
            stride: None,
            bytes: Vec::new(),
        }
    }

    fn push(&mut self, count: usize, span: &mut Span<'_>) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        let stride = match &self.stride {
            Some(stride) => stride,
            None => {
                let first = span.data.get(span.at..span.end).unwrap_or_default();
                let stride = Stride::of(self.of, first).ok_or_else(mismatch)?;
                self.stride.insert(stride)
            }
        };
        let len = count.saturating_mul(stride.size());
        let piece = span.piece(len)?;
        self.bytes
            .extend_from_slice(piece.get(..len).ok_or_else(mismatch)?);
        Ok(())
    }

    fn finish(&mut self) -> Result<()> {
        let Some(stride) = &self.stride else {
            return Ok(());
        };
        if !stride.fits(&self.bytes) {
            return Err(malformed(0, "objects differ from the first".to_owned()));
        }
        stride.append(self.column, self.of, &self.bytes)
    }
}
