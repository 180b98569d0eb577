//! Loads the next page of a field's cursor: from the cache, or read, verified and decompressed.

use super::{InCluster, Loaded, PageData};
use crate::ReadError;
use crate::cache::{self, Elements, Lookup, PageKind};
use crate::context::Context;
use crate::counters::Stage;
use crate::memory::buffer_pool;
use tracing::trace_span;
use treemill_format::compress::Decompressor;
use treemill_format::error::FormatError;
use treemill_format::rntuple::{Encoding, Located, Page, check_page};

impl InCluster<'_, '_> {
    /// Makes page number `index` of a column the one at hand.
    pub(super) fn load(
        &mut self,
        located: &Located<'_>,
        encoding: &Encoding,
        index: usize,
    ) -> Result<(), ReadError> {
        let number = (self.index, index);
        let is_here = |loaded: &Loaded| {
            let current = loaded.current.as_ref();
            current.is_some_and(|(current, _)| *current == number) && loaded.bytes().is_some()
        };
        if self.columns.get(&located.column).is_some_and(is_here) {
            return Ok(());
        }
        let Some(page) = located.pages.get(index) else {
            return Ok(()); // the plan names only pages that are there
        };
        let kind = PageKind {
            encoding: *encoding,
            elements: page.elements,
            has_checksum: page.has_checksum,
        };
        let (source, counters) = (self.context.file.source(), self.context.counters);
        let elements = match cache::look::<cache::Page>(source.as_ref(), &page.bytes(), counters) {
            Lookup::Hit(found, _) if found.kind == kind => {
                counters.add_bytes_from_cache(kind.length() as u64);
                PageData::Cached(found)
            }
            Lookup::Hit(_, key) | Lookup::Admit(key) => {
                self.read(located, page, &kind, Some(key))?
            }
            Lookup::Miss(key) => {
                let elements = self.read(located, page, &kind, None)?;
                if let Some(key) = key {
                    key.note(kind.memory(), counters);
                }
                elements
            }
        };
        let loaded = self.columns.entry(located.column).or_default();
        loaded.current = Some((number, elements));
        Ok(())
    }

    /// Reads a page and makes its elements; remembers them under `key`.
    fn read(
        &mut self,
        located: &Located<'_>,
        page: &Page,
        kind: &PageKind,
        key: Option<cache::Key>,
    ) -> Result<PageData, ReadError> {
        let loaded = self.columns.entry(located.column).or_default();
        loaded.current = None; // its memory is written to
        let range = page.bytes();
        let Context {
            file,
            counters,
            lease,
            clock,
            ..
        } = &mut *self.context;
        let source = file.source().as_ref();
        clock.end(Stage::Decode); // of what came before the page
        let brought = loaded.window.bring(source, *lease, &range, counters, clock);
        brought.map_err(ReadError::source)?;
        let stored = loaded.window.bytes(&range).unwrap_or_default();
        let file = source.name();
        let wrong = |e| ReadError::format(&e, file, Some(range.start));
        let length = kind.length();
        let packed = check_page(page, stored, length).map_err(wrong)?;
        if loaded.bytes.capacity() == 0 && packed.len() < length {
            loaded.bytes = buffer_pool::BYTES.take();
        }
        let (decompressor, counters) = (&mut *self.context.decompressor, self.context.counters);
        let clock = &mut *self.context.clock;
        counters.add_bytes_decompressed(length as u64);
        if let Some(key) = key {
            let elements = own(decompressor, packed, kind, &mut loaded.bytes);
            clock.end_step(Stage::Decompress, length as u64, None, counters);
            let elements = elements.map_err(wrong)?;
            let kept = cache::Page {
                kind: *kind,
                elements,
            };
            return Ok(PageData::Cached(key.remember(kept, counters)));
        }
        let elements = unpack(decompressor, packed, kind, &mut loaded.bytes);
        clock.end_step(Stage::Decompress, length as u64, None, counters);
        let elements = elements.map_err(wrong)?;
        if kind.encoding.is_index() {
            if loaded.ends.capacity() == 0 {
                loaded.ends = buffer_pool::ENDS.take();
            }
            let first = kind.ends(elements, &mut loaded.ends).map_err(wrong)?;
            return Ok(PageData::Ends(first));
        }
        Ok(match packed.len() == length {
            true => PageData::Stored(page.locator.bytes()),
            false => PageData::Decompressed,
        })
    }
}

/// A page's elements: a part of `packed` or of `out`.
fn unpack<'a>(
    decompressor: &mut Decompressor,
    packed: &'a [u8],
    kind: &PageKind,
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], FormatError> {
    let _span = trace_span!("decompress", bytes = kind.length()).entered();
    match kind.has_checksum {
        true => decompressor.unpack_verified(packed, kind.length(), out),
        false => decompressor.unpack(packed, kind.length(), out),
    }
}

/// A page's elements, in memory of their own.
fn own(
    decompressor: &mut Decompressor,
    packed: &[u8],
    kind: &PageKind,
    scratch: &mut Vec<u8>,
) -> Result<Elements, FormatError> {
    if kind.encoding.is_index() {
        let mut above = Vec::new();
        let elements = unpack(decompressor, packed, kind, scratch)?;
        let first = kind.ends(elements, &mut above)?;
        return Ok(Elements::Ends(first, above));
    }
    if packed.len() >= kind.length() {
        return Ok(Elements::Encoded(packed.to_vec()));
    }
    let mut bytes = Vec::new();
    unpack(decompressor, packed, kind, &mut bytes)?;
    Ok(Elements::Encoded(bytes))
}
