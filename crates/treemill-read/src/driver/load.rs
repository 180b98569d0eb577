//! Loads the next basket of a branch's cursor, from the cache, from the file (read and decompressed), or from
//! the tree's own record, and finds where its entries begin.

use super::{Cursor, Loaded, Place};
use crate::cache::{self, Basket, Sight};
use crate::checks::{agreed, are_starts, check_fixed};
use crate::context::Context;
use crate::decode::starts;
use crate::faults::malformed;
use crate::memory::shelf;
use crate::plan;
use crate::{ErrorKind, ReadError, TreeFile};
use std::sync::Arc;
use tracing::trace_span;
use treemill_format::basket::BasketHeader;
use treemill_format::layout::Layout;
use treemill_format::tree::{BasketRef, Branch, EmbeddedBasket};

impl Cursor {
    /// Makes the basket that holds `entry` the current one.
    pub(super) fn load(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        entry: u64,
    ) -> Result<(), ReadError> {
        if let Some(loaded) = &self.loaded
            && loaded.entries.contains(&entry)
        {
            return Ok(());
        }
        self.let_go();
        self.known = None;
        let index = plan::basket_of(branch, entry).ok_or_else(|| {
            let message = match branch.entries {
                all if all <= entry => format!("the branch has only {all} entries"),
                _ => "no basket holds these entries".to_owned(),
            };
            ReadError::new(ErrorKind::Format, message, context.file.source().name()).within(
                &branch.name,
                entry..entry.saturating_add(1),
                None,
            )
        })?;
        if let Some(entries) = plan::basket_entries(branch, index) {
            self.recall_ends(context, &entries);
        }
        let loaded = match branch.baskets.get(index) {
            Some(basket) => self
                .load_stored(context, branch, index, basket)
                .map_err(|e| {
                    e.within(
                        &branch.name,
                        basket.entries.clone(),
                        Some(basket.bytes.start),
                    )
                })?,
            None => {
                let embedded = plan::embedded_index(branch, index).unwrap_or(0);
                self.load_embedded(context, branch, embedded)?
            }
        };
        self.tell_counts(context, branch, &loaded);
        self.loaded = Some(loaded);
        Ok(())
    }

    /// Drops the current basket. If the cache does not hold it, its memory is reused for the next one.
    pub(super) fn let_go(&mut self) {
        if let Some(Loaded {
            place: Place::Unpacked(basket),
            ..
        }) = self.loaded.take()
            && let Some(basket) = Arc::into_inner(basket)
        {
            self.spare = basket.into_bytes();
        }
    }

    /// Takes a basket of the file: one that is remembered, or reads and unpacks it.
    fn load_stored(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        index: usize,
        basket: &BasketRef,
    ) -> Result<Loaded, ReadError> {
        let (source, counters) = (context.file.source(), context.counters);
        let (header, place) = match cache::look(source.as_ref(), &basket.bytes, counters) {
            Sight::Here(found, _) if self.is_enough(context, basket, &found) => {
                (found.header.clone(), Place::Unpacked(found))
            }
            Sight::Here(_, cached) | Sight::Again(cached) => {
                self.read(context, branch, index, basket, Some(cached))?
            }
            Sight::First(cached) => {
                let read = self.read(context, branch, index, basket, None)?;
                if let Some(cached) = cached {
                    cached.note(read.0.uncompressed_len, counters);
                }
                read
            }
        };
        // Taken out meanwhile, because the payload may lie in it.
        let window = std::mem::take(&mut self.window);
        let payload = match &place {
            Place::Unpacked(unpacked) => unpacked.payload(),
            Place::Window(bytes) => window.bytes(bytes),
            Place::Embedded(_) => &[],
        };
        let base = match &place {
            Place::Window(bytes) => Some(bytes.start),
            _ => None,
        };
        let found = self.find_starts(context, branch, basket, &header, payload, base);
        self.window = window;
        found.map(|()| Loaded {
            entries: basket.entries.clone(),
            place: place.up_to(header.data_end),
            offset: Some(basket.bytes.start),
        })
    }

    /// Whether the cache has as much of a basket as is needed now.
    fn is_enough(
        &mut self,
        context: &Context<'_, TreeFile>,
        basket: &BasketRef,
        found: &Basket,
    ) -> bool {
        let entries = basket.entries.end.saturating_sub(basket.entries.start);
        if found.header.entries as u64 != entries {
            return false; // the tree contradicts itself, which reading will say
        }
        let there = found.payload().len();
        let enough = self.wanted(context, basket, &found.header) <= there;
        if enough {
            context.counters.add_bytes_from_cache(there as u64);
        }
        enough
    }

    /// How many bytes of the payload are needed: all but the entry offsets, if the list ends are known.
    fn wanted(
        &mut self,
        context: &Context<'_, TreeFile>,
        basket: &BasketRef,
        header: &BasketHeader,
    ) -> usize {
        self.known = self.known_ends(context, &basket.entries, header.data_end);
        match self.known {
            Some(_) => header.data_end,
            None => header.uncompressed_len,
        }
    }

    /// Reads and unpacks a basket of the file; remembers it as `cached` if it was compressed.
    fn read(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        index: usize,
        basket: &BasketRef,
        cached: Option<cache::Place>,
    ) -> Result<(BasketHeader, Place), ReadError> {
        let source = context.file.source().as_ref();
        let name = source.name();
        let start = basket.bytes.start;
        let (baskets, stop, options) = (&branch.baskets, context.stop, context.options);
        let read = self.window.bring(source, baskets, index, stop, options);
        context
            .counters
            .add_bytes_read(read.map_err(ReadError::source)?);
        let record = self.window.bytes(&basket.bytes);
        let wrong = |e| ReadError::format(&e, name, Some(start));
        let header = BasketHeader::parse(record).map_err(wrong)?;
        let packed_at = start.saturating_add(header.key_len as u64);
        let length = header.uncompressed_len;
        let is_stored = agreed(&header, record, basket).map_err(wrong)?.len() >= length;
        let wanted = self.wanted(context, basket, &header);
        if is_stored && cached.is_none() {
            context.counters.add_bytes_decompressed(length as u64);
            let bytes = packed_at..packed_at.saturating_add(length as u64);
            return Ok((header, Place::Window(bytes)));
        }
        // A payload for the cache gets memory of its own.
        let mut bytes = match cached {
            Some(_) => Vec::new(),
            None => std::mem::take(&mut self.spare),
        };
        if bytes.capacity() == 0 && cached.is_none() {
            bytes = shelf::BYTES.take();
        }
        let record = self.window.bytes(&basket.bytes);
        let packed = record.get(header.key_len..header.record_len);
        let packed = packed.unwrap_or_default();
        let filled = if is_stored {
            bytes.extend_from_slice(packed.get(..length).unwrap_or_default());
            length
        } else {
            let _span = trace_span!("decompress", bytes = wanted).entered();
            context
                .decompressor
                .unpack_front(packed, length, wanted, &mut bytes)
                .map_err(|e| ReadError::format(&e, name, Some(packed_at)))?
                .len()
        };
        context.counters.add_bytes_decompressed(filled as u64);
        let unpacked = Basket::new(header.clone(), bytes, filled);
        let unpacked = match cached {
            Some(cached) => cached.remember(unpacked, context.counters),
            None => Arc::new(unpacked),
        };
        Ok((header, Place::Unpacked(unpacked)))
    }

    /// Finds the starts of a basket's entries in its payload, unless their list ends are known. `base` is where
    /// the payload begins in the file, if it is stored uncompressed.
    fn find_starts(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        basket: &BasketRef,
        header: &BasketHeader,
        payload: &[u8],
        base: Option<u64>,
    ) -> Result<(), ReadError> {
        let name = context.file.source().name();
        let wrong = |e| ReadError::format(&e, name, base);
        let data = header.data(payload).map_err(wrong)?;
        if self.known.is_some()
            || check_fixed(&branch.layout, data.len(), header.entries).map_err(wrong)?
        {
            return Ok(());
        }
        let parts = header.split(payload).map_err(wrong)?;
        if !parts.stored_offsets.is_empty() {
            header
                .entry_starts(parts, &mut self.starts)
                .map_err(wrong)?;
        } else if matches!(branch.layout, Layout::Counted { .. }) {
            self.starts_from_counter(context, branch, &basket.entries, data.len())?;
        } else {
            starts::by_reading(&branch.layout, data, header.entries, &mut self.starts)
                .map_err(wrong)?;
        }
        self.settle_ends(context, &basket.entries);
        Ok(())
    }

    /// Takes a basket of the tree's own record.
    fn load_embedded(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        index: usize,
    ) -> Result<Loaded, ReadError> {
        let Some(EmbeddedBasket {
            entries,
            data,
            offsets,
        }) = branch.embedded.get(index)
        else {
            return Err(ReadError::not_found(
                "no such basket".to_owned(),
                context.file.source().name(),
            ));
        };
        let name = context.file.source().name();
        let wrong =
            |e| ReadError::format(&e, name, None).within(&branch.name, entries.clone(), None);
        let count = entries.end.saturating_sub(entries.start);
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        if !check_fixed(&branch.layout, data.len(), count).map_err(wrong)? {
            match offsets {
                Some(offsets) => {
                    if offsets.len() != count.saturating_add(1) || !are_starts(offsets, data) {
                        return Err(wrong(malformed(
                            0,
                            "embedded basket's entry offsets do not ascend within its data",
                        )));
                    }
                    self.starts.clear();
                    self.starts.extend_from_slice(offsets);
                }
                None if matches!(branch.layout, Layout::Counted { .. }) => {
                    self.starts_from_counter(context, branch, entries, data.len())?;
                }
                None => {
                    starts::by_reading(&branch.layout, data, count, &mut self.starts)
                        .map_err(wrong)?;
                }
            }
            self.settle_ends(context, entries);
        }
        Ok(Loaded {
            entries: entries.clone(),
            place: Place::Embedded(index),
            offset: None,
        })
    }
}
