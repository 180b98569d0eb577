//! Reads whole records of a file and decompresses them. Knows sources, and of the format only what a record is.

use crate::{ReadError, descriptions};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use tracing::trace_span;
use treemill_format::compress::Decompressor;
use treemill_format::error::FormatError;
use treemill_format::key::Key;
use treemill_format::reader::Reader;
use treemill_format::streamer::StreamerInfos;
use treemill_source::{Request, Source};

/// Brings whole records.
pub(crate) struct Fetch<'a> {
    pub(crate) source: &'a dyn Source,
    /// Records that were read before they are needed, by their ranges.
    kept: BTreeMap<(u64, u64), Vec<u8>>,
}

impl<'a> Fetch<'a> {
    pub(crate) fn new(source: &'a dyn Source) -> Self {
        Fetch {
            source,
            kept: BTreeMap::new(),
        }
    }

    /// Reads records together that will be needed one after another, if the source is a distant one.
    pub(crate) fn keep(&mut self, ranges: Vec<Range<u64>>) -> Result<(), ReadError> {
        if ranges.len() > 1 && !self.source.costs().is_near() {
            let records = self.all(ranges.clone())?;
            let places = ranges.into_iter().map(|range| (range.start, range.end));
            self.kept.extend(places.zip(records));
        }
        Ok(())
    }

    /// A record that was read before.
    pub(crate) fn kept(&mut self, range: &Range<u64>) -> Option<Vec<u8>> {
        self.kept.remove(&(range.start, range.end))
    }

    pub(crate) fn bytes(&self, range: Range<u64>) -> Result<Vec<u8>, ReadError> {
        let mut request = [Request::new(range)];
        self.read(&mut request)?;
        let [request] = request;
        Ok(request.buffer)
    }

    /// Several ranges, asked for together.
    pub(crate) fn all(&self, ranges: Vec<Range<u64>>) -> Result<Vec<Vec<u8>>, ReadError> {
        let kept = |range: &Range<u64>| self.kept.get(&(range.start, range.end)).cloned();
        if let Some(all) = ranges.iter().map(kept).collect::<Option<Vec<_>>>() {
            return Ok(all);
        }
        let mut requests: Vec<_> = ranges.into_iter().map(Request::new).collect();
        self.read(&mut requests)?;
        Ok(requests.into_iter().map(|r| r.buffer).collect())
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), ReadError> {
        let _span = trace_span!("read", ranges = requests.len()).entered();
        self.source.read(requests).map_err(ReadError::source)
    }

    pub(crate) fn wrong(&self, error: &FormatError, base: Option<u64>) -> ReadError {
        ReadError::format(error, self.source.name(), base)
    }

    /// A key's object: the `packed` bytes after it, uncompressed if they are not so already.
    pub(crate) fn unpack<'b>(
        &self,
        key: &Key,
        packed: &'b [u8],
        unpacked: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], ReadError> {
        self.unpacked(packed, key.object_bytes, unpacked)
            .map_err(|e| self.wrong(&e, Some(key.payload().start)))
    }

    /// A record's bytes, uncompressed if they are not so already.
    pub(crate) fn unpacked<'b>(
        &self,
        packed: &'b [u8],
        len: usize,
        unpacked: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], FormatError> {
        let _span = trace_span!("decompress", bytes = len).entered();
        Decompressor::new().unpack(packed, len, unpacked)
    }

    /// Streamer information, from its record, which lies at `start`.
    pub(crate) fn streamer_infos(
        &self,
        start: u64,
        record: &[u8],
    ) -> Result<Arc<StreamerInfos>, ReadError> {
        let key = Key::parse(&mut Reader::new(record)).map_err(|e| self.wrong(&e, Some(start)))?;
        let packed = record.get(key.key_len..).unwrap_or_default();
        let lengths = (key.key_len, key.object_bytes);
        if let Some(known) = descriptions::find(lengths, packed) {
            return Ok(known);
        }
        let mut unpacked = Vec::new();
        let object = self.unpack(&key, packed, &mut unpacked)?;
        let infos = StreamerInfos::parse(object, key.key_len);
        let infos = Arc::new(infos.map_err(|e| self.wrong(&e, None).at(start))?);
        descriptions::keep(lengths, packed, &infos);
        Ok(infos)
    }
}
