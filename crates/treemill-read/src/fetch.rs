//! Reads whole records of a file and decompresses them. Knows sources, and of the format only what a record is.

use crate::ReadError;
use std::ops::Range;
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
}

impl Fetch<'_> {
    pub(crate) fn bytes(&self, range: Range<u64>) -> Result<Vec<u8>, ReadError> {
        let mut request = [Request::new(range)];
        self.read(&mut request)?;
        let [request] = request;
        Ok(request.buffer)
    }

    /// Several ranges, asked for together.
    pub(crate) fn all(&self, ranges: Vec<Range<u64>>) -> Result<Vec<Vec<u8>>, ReadError> {
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
    ) -> Result<StreamerInfos, ReadError> {
        let key = Key::parse(&mut Reader::new(record)).map_err(|e| self.wrong(&e, Some(start)))?;
        let packed = record.get(key.key_len..).unwrap_or_default();
        let mut unpacked = Vec::new();
        let object = self.unpack(&key, packed, &mut unpacked)?;
        StreamerInfos::parse(object, key.key_len).map_err(|e| self.wrong(&e, None).at(start))
    }
}
