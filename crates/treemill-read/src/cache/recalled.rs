//! A distant file whose metadata are remembered: what opening it again reads comes from memory. Takes what is read
//! ([`Source::read`]) for metadata, and what is asked for ahead ([`Source::submit`]) for data, which has payloads of its own.

use super::payload::Record;
use super::{Key, Lookup};
use crate::counters::newest_pass;
use crate::limits::FIRST_BYTES;
use std::ops::Range;
use std::sync::Arc;
use treemill_format::header::HEADER_BYTES;
use treemill_source::{Bytes, Identity, Request, Source, SourceError, Ticket};

struct Recalled {
    source: Arc<dyn Source>,
}

/// The file, of which metadata are remembered if it is a distant one and can be identified.
pub(crate) fn recalled(source: Arc<dyn Source>) -> Arc<dyn Source> {
    match source.costs().is_near() || source.identity().is_none() {
        true => source,
        false => Arc::new(Recalled { source }),
    }
}

/// What opening a file of this size reads first.
pub(crate) fn first_bytes(size: u64) -> Range<u64> {
    0..FIRST_BYTES.max(HEADER_BYTES).min(size)
}

/// Whether the metadata of a file in this state are remembered, by the first that opening it reads. To ask is not to use.
#[must_use]
pub fn recalls(file: &Identity) -> bool {
    let range = first_bytes(file.size);
    let key = Key {
        file: *file,
        start: range.start,
        end: range.end,
    };
    super::with(|store| matches!(store.peek(&key), Some(super::Slot::Held(_))))
}

impl Source for Recalled {
    treemill_source::described_by!(self => self.source);

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        let pass = newest_pass();
        let mut missing = Vec::new();
        for request in requests.iter_mut() {
            let key = Key::of(self.source.as_ref(), &request.range);
            match key.map(|key| (key, key.recall::<Record>(pass))) {
                Some((_, Lookup::Hit(record, _))) => {
                    request.buffer.clear();
                    request.buffer.extend_from_slice(&record.0);
                }
                unknown => missing.push((request, unknown.map(|(key, _)| key))),
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let mut rest: Vec<Request> = missing
            .iter_mut()
            .map(|(request, _)| std::mem::take(*request))
            .collect();
        let read = self.source.read(&mut rest);
        for ((place, key), request) in missing.into_iter().zip(rest) {
            if let (Some(key), Ok(())) = (key, &read) {
                key.hold(Record(Bytes::copy_from_slice(&request.buffer)), pass);
            }
            *place = request;
        }
        read
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        self.source.submit(ranges)
    }
}
