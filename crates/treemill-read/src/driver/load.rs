//! Loads the next basket of a branch's cursor, from the cache, from the file (read and decompressed), or from
//! the tree's own record.

use super::{Cursor, Loaded, Payload};
use crate::cache::{self, Basket, Lookup};
use crate::checks::agreed;
use crate::context::Context;
use crate::counters::Stage;
use crate::memory::buffer_pool;
use crate::plan;
use crate::{ErrorKind, ReadError, TreeFile};
use std::sync::Arc;
use tracing::trace_span;
use treemill_format::basket::BasketHeader;
use treemill_format::tree::{BasketRef, Branch};

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
            self.starts.recall(context, &entries);
        }
        let loaded = match branch.baskets.get(index) {
            Some(basket) => self.load_stored(context, branch, basket).map_err(|e| {
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
        let data = loaded.data(&self.window, branch);
        self.starts
            .tell_counts(context, branch, &loaded.entries, data);
        self.loaded = Some(loaded);
        Ok(())
    }

    /// Drops the current basket. If the cache does not hold it, its memory is reused for the next one.
    pub(super) fn let_go(&mut self) {
        self.starts.forget();
        if let Some(Loaded {
            payload: Payload::Decompressed(basket),
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
        basket: &BasketRef,
    ) -> Result<Loaded, ReadError> {
        let (source, counters) = (context.file.source(), context.counters);
        let (header, payload) = match cache::look(source.as_ref(), &basket.bytes, counters) {
            Lookup::Hit(found, _) if self.is_enough(context, basket, &found) => {
                (found.header.clone(), Payload::Decompressed(found))
            }
            Lookup::Hit(_, key) | Lookup::Admit(key) => self.read(context, basket, Some(key))?,
            Lookup::Miss(key) => {
                let read = self.read(context, basket, None)?;
                if let Some(key) = key {
                    key.note(read.0.uncompressed_len, counters);
                }
                read
            }
        };
        let (bytes, base): (&[u8], _) = match &payload {
            Payload::Decompressed(unpacked) => (unpacked.payload(), None),
            Payload::Stored(bytes) => (
                self.window.bytes(bytes).unwrap_or_default(),
                Some(bytes.start),
            ),
            Payload::Embedded(_) => (&[], None),
        };
        self.starts
            .find(context, branch, &basket.entries, &header, bytes, base)?;
        Ok(Loaded {
            entries: basket.entries.clone(),
            payload: payload.up_to(header.data_end),
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
        let enough = self.starts.wanted(context, &basket.entries, &found.header) <= there;
        if enough {
            context.counters.add_bytes_from_cache(there as u64);
        }
        enough
    }

    /// Reads and unpacks a basket of the file; remembers it under `key` if it was compressed.
    fn read(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        basket: &BasketRef,
        key: Option<cache::Key>,
    ) -> Result<(BasketHeader, Payload), ReadError> {
        let source = context.file.source().as_ref();
        let name = source.name();
        let start = basket.bytes.start;
        let (lease, counters) = (context.lease, context.counters);
        let clock = &mut *context.clock;
        let brought = self
            .window
            .bring(source, lease, &basket.bytes, counters, clock);
        brought.map_err(ReadError::source)?;
        let record = self.window.bytes(&basket.bytes).unwrap_or_default();
        let wrong = |e| ReadError::format(&e, name, Some(start));
        let header = BasketHeader::parse(record).map_err(wrong)?;
        let packed_at = start.saturating_add(header.key_len as u64);
        let length = header.uncompressed_len;
        let is_stored = agreed(&header, record, basket).map_err(wrong)?.len() >= length;
        let wanted = self.starts.wanted(context, &basket.entries, &header);
        if is_stored && key.is_none() {
            context.counters.add_bytes_decompressed(length as u64);
            let bytes = packed_at..packed_at.saturating_add(length as u64);
            return Ok((header, Payload::Stored(bytes)));
        }
        // A payload for the cache gets memory of its own.
        let mut bytes = match key {
            Some(_) => Vec::new(),
            None => std::mem::take(&mut self.spare),
        };
        if bytes.capacity() == 0 && key.is_none() {
            bytes = buffer_pool::BYTES.take();
        }
        let record = self.window.bytes(&basket.bytes).unwrap_or_default();
        let packed = record.get(header.key_len..header.record_len);
        let packed = packed.unwrap_or_default();
        let filled = if is_stored {
            bytes.extend_from_slice(packed.get(..length).unwrap_or_default());
            length
        } else {
            let _span = trace_span!("decompress", bytes = wanted).entered();
            let decompressor = &mut *context.decompressor;
            let unpacked = decompressor.unpack_front(packed, length, wanted, &mut bytes);
            let unpacked = unpacked.map(<[u8]>::len);
            context.end(Stage::Decompress, wanted as u64, None);
            unpacked.map_err(|e| ReadError::format(&e, name, Some(packed_at)))?
        };
        context.counters.add_bytes_decompressed(filled as u64);
        let unpacked = Basket::new(header.clone(), bytes, filled);
        let unpacked = match key {
            Some(key) => key.remember(unpacked, context.counters),
            None => Arc::new(unpacked),
        };
        Ok((header, Payload::Decompressed(unpacked)))
    }

    /// Takes a basket of the tree's own record.
    fn load_embedded(
        &mut self,
        context: &mut Context<'_, TreeFile>,
        branch: &Branch,
        index: usize,
    ) -> Result<Loaded, ReadError> {
        let Some(basket) = branch.embedded.get(index) else {
            return Err(ReadError::not_found(
                "the branch has no such basket".to_owned(),
                context.file.source().name(),
            ));
        };
        self.starts.find_embedded(context, branch, basket)?;
        Ok(Loaded {
            entries: basket.entries.clone(),
            payload: Payload::Embedded(index),
            offset: None,
        })
    }
}
