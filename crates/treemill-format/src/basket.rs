//! A basket (TBasket): its header after the TKey, and its payload's parts. Pure: the caller brings
//! the bytes, decompresses in between, and knows which branch the basket belongs to.
//!
//! Source: ROOT's `TBasket::Streamer` and `TBasket::ReadBasketBuffers`.

use crate::error::{Result, malformed, unsupported};
use crate::reader::Reader;

/// The contents of a basket's key and header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BasketHeader {
    /// Bytes of the whole record in the file (fNbytes).
    pub record_len: usize,
    /// Bytes of the payload once uncompressed (fObjlen).
    pub uncompressed_len: usize,
    /// Bytes of the key, the header included (fKeylen); the payload follows.
    pub key_len: usize,
    /// Entries (fNevBuf).
    pub entries: usize,
    /// End of the entries' bytes in the payload (fLast - fKeylen); entry offsets follow.
    pub data_end: usize,
    /// Entry offsets are left out if they follow from a counter; else the entries' sizes take their place,
    /// which compress better (`EIOFeatures::kGenerateOffsetMap`).
    pub generated_offsets: bool,
}

/// The parts of a basket's uncompressed payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Payload<'a> {
    /// The entries' bytes, one entry after another.
    pub data: &'a [u8],
    /// The array after them as it is stored, empty if the basket has none: big-endian i32
    /// offsets of the entries relative to the key's start, or (with
    /// [`BasketHeader::generated_offsets`]) each the size of the entry before.
    pub stored_offsets: &'a [u8],
}

/// A key's fields, each with the name that an error says.
struct Fields<'a>(Reader<'a>);

impl<'a> Fields<'a> {
    /// Reads the field that is called `what`.
    fn field<T>(
        &mut self,
        what: &str,
        read: impl FnOnce(&mut Reader<'a>) -> Result<T>,
    ) -> Result<T> {
        let at = self.0.position();
        read(&mut self.0)
            .map_err(|_| malformed(format!("the basket's key ends before its {what}"), at))
    }

    fn size(&mut self, what: &str) -> Result<usize> {
        let at = self.0.position();
        let value = self.field(what, Reader::i32)?;
        usize::try_from(value).map_err(|_| malformed(format!("the basket's {what} is {value}"), at))
    }

    fn skip(&mut self, n: usize, what: &str) -> Result<()> {
        self.field(what, |r| r.skip(n))
    }
}

impl BasketHeader {
    /// Reads the key and header at the start of a basket's record; `bytes` may be longer. Offsets
    /// in errors are relative to the record.
    ///
    /// # Errors
    /// `Malformed` if sizes are negative or contradict one another; `Unsupported` for I/O
    /// features that this version does not know.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut cursor = Fields(Reader::new(bytes));
        let record_len = cursor.size("fNbytes")?;
        let key_version = cursor.field("version", Reader::i16)?;
        let uncompressed_len = cursor.size("fObjlen")?;
        cursor.skip(4, "date")?;
        let key_at = cursor.0.position();
        let key_len = cursor.field("fKeylen", Reader::i16)?;
        let key_len = usize::try_from(key_len)
            .map_err(|_| malformed(format!("the basket's fKeylen is {key_len}"), key_at))?;
        cursor.skip(2, "cycle")?;
        // Keys written beyond 2 GB have 8-byte seeks, and say so by a version above 1000.
        cursor.skip(if key_version > 1000 { 16 } else { 8 }, "seeks")?;
        for what in ["class name", "name", "title"] {
            cursor.field(what, Reader::string)?;
        }
        cursor.skip(2, "TBasket version")?;
        cursor.skip(4, "fBufferSize")?;
        let mut generated_offsets = false;
        // A negative size announces a byte of I/O features (TIOFeatures).
        if cursor.field("fNevBufSize", Reader::i32)? < 0 {
            let features = cursor.field("I/O features", Reader::u8)?;
            const GENERATE_OFFSET_MAP: u8 = 1;
            if features & !GENERATE_OFFSET_MAP != 0 {
                return Err(unsupported(format!(
                    "a basket with I/O features {features:#04x}"
                )));
            }
            generated_offsets = features & GENERATE_OFFSET_MAP != 0;
        }
        let entries = cursor.size("fNevBuf")?;
        let last_at = cursor.0.position();
        let last = cursor.size("fLast")?;
        cursor.skip(1, "flag")?;
        if cursor.0.position() > key_len || key_len > record_len {
            return Err(malformed(
                format!("the basket's fKeylen is {key_len} in a record of {record_len} bytes"),
                key_at,
            ));
        }
        let data_end = match last.checked_sub(key_len) {
            Some(data_end) if data_end <= uncompressed_len => data_end,
            _ => {
                return Err(malformed(
                    format!(
                        "the basket's fLast is {last} where its key has {key_len} bytes and its \
                         payload {uncompressed_len} bytes"
                    ),
                    last_at,
                ));
            }
        };
        Ok(BasketHeader {
            record_len,
            uncompressed_len,
            key_len,
            entries,
            data_end,
            generated_offsets,
        })
    }

    /// The entries' bytes of the uncompressed payload, without a look at what follows them.
    ///
    /// # Errors
    /// `Malformed` if the payload is shorter.
    pub fn data<'a>(&self, payload: &'a [u8]) -> Result<&'a [u8]> {
        payload.get(..self.data_end).ok_or_else(|| {
            malformed(
                format!(
                    "the basket's payload is shorter than its data of {} bytes",
                    self.data_end
                ),
                payload.len(),
            )
        })
    }

    /// Parts the uncompressed payload.
    ///
    /// # Errors
    /// `Malformed` if the entry offsets' count is not the number of entries.
    pub fn split<'a>(&self, payload: &'a [u8]) -> Result<Payload<'a>> {
        let data = self.data(payload)?;
        let tail = payload.get(self.data_end..).unwrap_or_default();
        // Some writers leave padding of less than a count.
        let Some((&count, offsets)) = tail.split_first_chunk::<4>() else {
            return Ok(Payload {
                data,
                stored_offsets: &[],
            });
        };
        let count = i32::from_be_bytes(count);
        let count_at = self.data_end;
        if count == 0 {
            return Ok(Payload {
                data,
                stored_offsets: &[],
            });
        }
        // ROOT writes fNevBuf + 1 offsets, the last without meaning; older writers fNevBuf.
        let stored = usize::try_from(count).unwrap_or(0);
        if stored != self.entries && stored != self.entries.saturating_add(1) {
            return Err(malformed(
                format!(
                    "the basket of {} entries has {count} entry offsets",
                    self.entries
                ),
                count_at,
            ));
        }
        let Some((stored_offsets, after)) = offsets.split_at_checked(stored.saturating_mul(4))
        else {
            return Err(malformed(
                format!("the basket's {count} entry offsets are cut short"),
                count_at,
            ));
        };
        // Displacements may follow (of baskets whose entries were moved in memory): by how much the places
        // of class names within an entry are off, which nothing here uses.
        displacements(after, self.entries, count_at)?;
        Ok(Payload {
            data,
            stored_offsets,
        })
    }

    /// Turns stored entry offsets into starts within the entries' bytes: `entries + 1` values
    /// that replace the contents of `starts`, the last one the end of the data. They ascend and
    /// lie within the data.
    ///
    /// # Errors
    /// `Malformed` if they do not.
    pub fn entry_starts(&self, payload: Payload<'_>, starts: &mut Vec<u32>) -> Result<()> {
        starts.clear();
        let (Ok(key_len), Ok(data_end)) =
            (u32::try_from(self.key_len), u32::try_from(self.data_end))
        else {
            return Err(malformed("the basket is longer than 4 GB", 0));
        };
        let (stored, _) = payload.stored_offsets.as_chunks::<4>();
        let stored = stored.iter().map(|&b| u32::from_be_bytes(b));
        starts.reserve(stored.len().saturating_add(1));
        if self.generated_offsets {
            // The first number has no meaning, and the one after the last entry's start neither.
            let sizes = stored.take(self.entries).skip(1);
            starts.extend((self.entries > 0).then_some(0));
            starts.extend(sizes.scan(0_u32, |end, size| {
                *end = end.saturating_add(size);
                Some(*end)
            }));
        } else {
            let offsets = stored.take(self.entries);
            starts.extend(offsets.map(|at| at.wrapping_sub(key_len)));
        }
        starts.push(data_end);
        // Offsets below the key wrap to huge numbers, and are found here as not ascending.
        if !ascending(starts) {
            return Err(malformed(
                "the basket's entry offsets do not ascend within its data",
                self.data_end,
            ));
        }
        Ok(())
    }
}

/// Whether the bytes after the entry offsets are nothing, a word of padding, or an array of displacements.
fn displacements(after: &[u8], entries: usize, at: usize) -> Result<()> {
    let Some((&count, array)) = after.split_first_chunk::<4>() else {
        return Ok(());
    };
    let count = u32::from_be_bytes(count) as usize;
    let known = [0, entries, entries.saturating_add(1)].contains(&count);
    if array.is_empty() || known && count.saturating_mul(4) <= array.len() {
        return Ok(());
    }
    Err(malformed(
        format!("the basket of {entries} entries has {count} displacements"),
        at,
    ))
}

/// Whether no value is smaller than the one before it. Without an early exit, so that it
/// is done many values at a time.
#[must_use]
pub fn ascending(values: &[u32]) -> bool {
    // Two slices and no `skip`, whose iterator is not done many at a time.
    let next = values.get(1..).unwrap_or_default();
    !values
        .iter()
        .zip(next)
        .fold(false, |bad, (a, b)| bad | (a > b))
}

#[cfg(test)]
mod tests;
