//! Baskets that were not flushed when the tree was written and so lie, uncompressed, in its own record
//! (ROOT: TBasket::Streamer within TBranch's fBaskets).

use crate::error::{Result, malformed};
use crate::key::Key;
use crate::object::{Pointer, obj_array, pointer};
use crate::reader::Reader;
use crate::tree::EmbeddedBasket;

/// Upper byte of an entry offset that very old files use for something else (ROOT: kDisplacementMask).
const OFFSET_MASK: u32 = 0x00ff_ffff;

/// Reads fBaskets. The first `in_file` slots belong to baskets that are in the file; `first` is the first
/// entry after them.
pub(crate) fn baskets(
    mut r: Reader,
    key_len: usize,
    in_file: usize,
    first: u64,
) -> Result<Vec<EmbeddedBasket>> {
    let bytes = r.bytes();
    let (n, _) = obj_array(&mut r)?;
    let mut baskets = Vec::new();
    let mut next = first;
    for slot in 0..n {
        let Pointer::Object(object) = pointer(&mut r, key_len)? else {
            continue;
        };
        if slot < in_file {
            continue; // a copy kept in memory
        }
        if object.class != b"TBasket" {
            return Err(malformed(
                "an object in a list of baskets is not a basket",
                object.start,
            ));
        }
        if let Some(basket) = basket(&mut object.reader(bytes), next)? {
            next = basket.entries.end;
            baskets.push(basket);
        }
    }
    Ok(baskets)
}

/// Reads one basket; `None` if only its header was written.
fn basket(r: &mut Reader, first: u64) -> Result<Option<EmbeddedBasket>> {
    let start = r.position();
    let key = Key::parse(r)?;
    let version = r.u16()?;
    let _buffer_size = r.i32()?;
    if r.i32()? < 0 {
        r.skip(1)?; // fIOBits: the flag below says what matters here
    }
    let entries = r.count()?;
    let last = r.count()?;
    let mut flag = r.u8()?;
    let generated = flag >= 80;
    if generated {
        flag = flag.saturating_sub(80);
    }
    let mut offsets = None;
    if !generated && flag != 0 && flag % 10 != 2 {
        let mask = if (21..40).contains(&flag) {
            OFFSET_MASK
        } else {
            u32::MAX
        };
        // Without entries no arrays are written, whatever the flag says.
        let mut stored = match entries {
            0 => Vec::new(),
            _ => array(r)?,
        };
        for offset in &mut stored {
            *offset &= mask;
        }
        offsets = Some(stored);
        if flag > 40 && entries > 0 {
            array(r)?; // displacements, which nothing here uses
        }
    }
    if flag != 1 && flag <= 10 {
        return Ok(None);
    }
    let buffer = if version > 1 {
        r.take(last)?
    } else {
        let n = r.count()?;
        r.take(n)?
    };
    // The buffer begins with a copy of the key, from which offsets count.
    let Some(data) = buffer.get(key.key_len..last) else {
        return Err(malformed(
            format!(
                "a basket of {last} bytes has a key of {} bytes",
                key.key_len
            ),
            start,
        ));
    };
    let offsets = offsets
        .map(|stored| rebase(&stored, entries, key.key_len, data.len(), start))
        .transpose()?;
    let end = first.saturating_add(u64::try_from(entries).unwrap_or(u64::MAX));
    Ok(Some(EmbeddedBasket {
        entries: first..end,
        data: data.to_vec(),
        offsets,
    }))
}

/// An array of 32-bit numbers after their count (ROOT: TBuffer::ReadArray).
fn array(r: &mut Reader) -> Result<Vec<u32>> {
    let n = r.count()?;
    let bytes = r.take(n.saturating_mul(4))?;
    Ok(bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|chunk| u32::from_be_bytes(*chunk))
        .collect())
}

/// Offsets from the data's start, with its end after the last.
fn rebase(
    stored: &[u32],
    entries: usize,
    key_len: usize,
    len: usize,
    at: usize,
) -> Result<Vec<u32>> {
    let wrong = || {
        malformed(
            format!("a basket of {entries} entries has {} offsets", stored.len()),
            at,
        )
    };
    let key_len = u32::try_from(key_len).map_err(|_| wrong())?;
    let len = u32::try_from(len).map_err(|_| wrong())?;
    let mut offsets = Vec::with_capacity(stored.len().saturating_add(1));
    for offset in stored.get(..entries).ok_or_else(wrong)? {
        let offset = offset.checked_sub(key_len).ok_or_else(wrong)?;
        if offset > len || offsets.last().is_some_and(|&previous| previous > offset) {
            return Err(wrong());
        }
        offsets.push(offset);
    }
    offsets.push(len);
    Ok(offsets)
}
