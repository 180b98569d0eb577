//! Pages with checksums as they arrive, in pieces of any sizes: the file's bytes without the checksums between them, and
//! which pages differ from theirs. Knows no request and no other response.

use crate::wire::codes::PAGE;
use crate::wire::{Paged, WireError};
use bytes::BytesMut;
use crc_fast::crc32_iscsi;
use std::ops::Range;

/// What the next byte belongs to.
#[derive(Debug, Clone)]
enum Part {
    /// A page's checksum, of which this much is here.
    Checksum { sum: u32, here: u32 },
    /// The page itself, and the number of its bytes that are due.
    Bytes { sum: u32, due: u64, begin: usize },
}

const BEGIN: Part = Part::Checksum { sum: 0, here: 0 };

/// The answer to one request for pages.
#[derive(Debug, Clone)]
pub(super) struct Pages {
    wanted: Range<u64>,
    /// Where in the file the next byte belongs.
    at: u64,
    /// Bytes that the present response still brings, checksums included.
    left: u64,
    part: Part,
    damaged: Vec<Range<u64>>,
}

impl Pages {
    pub(super) fn new(offset: u64, length: u32) -> Self {
        let end = offset.saturating_add(u64::from(length));
        Pages {
            wanted: offset..end,
            at: offset,
            left: 0,
            part: BEGIN,
            damaged: Vec::new(),
        }
    }

    /// The request was sent again: nothing is here.
    pub(super) fn restart(&mut self) {
        let length = self.wanted.end.saturating_sub(self.wanted.start);
        *self = Pages::new(self.wanted.start, u32::try_from(length).unwrap_or(u32::MAX));
    }

    /// A response begins.
    ///
    /// # Errors
    /// If it does not continue the one before.
    pub(super) fn begin(&mut self, paged: &Paged) -> Result<(), WireError> {
        if paged.offset != self.at {
            let what = format!(
                "it sends pages of {} bytes where pages of {} bytes are due",
                paged.offset, self.at
            );
            return Err(WireError::new(what));
        }
        self.left = u64::from(paged.length);
        Ok(())
    }

    /// Bytes of the response: what is the file's is added to `data`.
    ///
    /// # Errors
    /// If a page is empty, or if more comes than was asked for.
    pub(super) fn take(&mut self, mut bytes: &[u8], data: &mut BytesMut) -> Result<(), WireError> {
        while let Some((first, _)) = bytes.split_first() {
            match &mut self.part {
                Part::Checksum { sum, here } => {
                    *sum = (*sum << 8) | u32::from(*first);
                    *here = here.saturating_add(1);
                    let (sum, is_whole) = (*sum, *here == 4);
                    bytes = bytes.get(1..).unwrap_or_default();
                    self.left = self.left.saturating_sub(1);
                    if is_whole {
                        let (due, begin) = (self.due()?, data.len());
                        self.part = Part::Bytes { sum, due, begin };
                    }
                }
                Part::Bytes { sum, due, begin } => {
                    let most = usize::try_from(*due).unwrap_or(usize::MAX);
                    let (some, rest) = bytes.split_at(most.min(bytes.len()));
                    bytes = rest;
                    data.extend_from_slice(some);
                    let count = u64::try_from(some.len()).unwrap_or(u64::MAX);
                    *due = due.saturating_sub(count);
                    self.left = self.left.saturating_sub(count);
                    self.at = self.at.saturating_add(count);
                    if *due == 0 {
                        let page = data.get(*begin..).unwrap_or_default();
                        let is_right = crc32_iscsi(page) == *sum;
                        let length = u64::try_from(page.len()).unwrap_or(u64::MAX);
                        self.part = BEGIN;
                        if !is_right {
                            self.damaged.push(self.at.saturating_sub(length)..self.at);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Bytes of the page that begins: up to the file's next multiple of a page, or up to the response's end.
    fn due(&self) -> Result<u64, WireError> {
        let within = self.at.checked_rem(PAGE).unwrap_or_default();
        let due = PAGE.saturating_sub(within).min(self.left);
        if due == 0 {
            return Err(WireError::new("it sends a checksum without a page"));
        }
        if self.at.saturating_add(due) > self.wanted.end {
            return Err(WireError::new(
                "it sends more pages than treemill asked for",
            ));
        }
        Ok(due)
    }

    /// A response is over.
    ///
    /// # Errors
    /// If it ends within a checksum.
    pub(super) fn end(&self) -> Result<(), WireError> {
        match self.part {
            Part::Checksum { here: 0, .. } => Ok(()),
            _ => Err(WireError::new("its pages end within a checksum")),
        }
    }

    /// Where in the file bytes came that differ from their checksums.
    pub(super) fn into_damaged(self) -> Vec<Range<u64>> {
        self.damaged
    }
}
