//! TKey: the header of every record in a file. Knows where a record's bytes lie, not what they mean.

use crate::error::{Result, malformed};
use crate::reader::{Reader, text};
use std::ops::Range;

/// Keys whose version is above this have 64-bit offsets (ROOT: TKey::ReadKeyBuffer).
const BIG_KEY_VERSION: u16 = 1000;

/// A TKey (ROOT: TKey::ReadKeyBuffer; both the 32- and the 64-bit form).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// fSeekKey: where the record lies in the file.
    pub seek: u64,
    /// fNbytes: bytes of the record, this key included.
    pub record_bytes: u64,
    /// fKeylen: bytes of this key. References inside the object count from the record's start.
    pub key_len: usize,
    /// fObjlen: bytes of the object when decompressed.
    pub object_bytes: usize,
    /// fCycle: the largest is the newest.
    pub cycle: u16,
    /// fSeekPdir: where the directory that holds the key lies.
    pub parent: u64,
    /// fClassName of the object.
    pub class: String,
    /// fName.
    pub name: String,
    /// fTitle.
    pub title: String,
}

impl Key {
    /// Reads a key at the cursor, which then stands after the title.
    ///
    /// # Errors
    /// `Malformed` if lengths contradict each other.
    pub fn parse(r: &mut Reader) -> Result<Key> {
        let start = r.position();
        let record_bytes = r.i32()?;
        let version = r.u16()?;
        let object_bytes = r.i32()?;
        let _datime = r.u32()?;
        let key_len = usize::from(r.u16()?);
        let cycle = r.u16()?;
        let offset = |r: &mut Reader| {
            if version > BIG_KEY_VERSION {
                r.u64()
            } else {
                r.u32().map(u64::from)
            }
        };
        let seek = offset(r)?;
        let parent = offset(r)?;
        let (class, name, title) = (r.string()?, r.string()?, r.string()?);
        let (Ok(record_bytes), Ok(object_bytes)) =
            (u64::try_from(record_bytes), usize::try_from(object_bytes))
        else {
            return Err(malformed(
                format!(
                    "a key announces a record of {record_bytes} bytes with an object of {object_bytes}"
                ),
                start,
            ));
        };
        Ok(Key {
            seek,
            record_bytes,
            key_len,
            object_bytes,
            cycle,
            parent,
            class: text(class),
            name: text(name),
            title: text(title),
        })
    }

    /// The whole record's bytes in the file.
    pub fn record(&self) -> Range<u64> {
        self.seek..self.seek.saturating_add(self.record_bytes)
    }

    /// The object's bytes in the file: decompress them unless `is_compressed` is false.
    pub fn payload(&self) -> Range<u64> {
        let record = self.record();
        let start = record
            .start
            .saturating_add(u64::try_from(self.key_len).unwrap_or(u64::MAX));
        start.min(record.end)..record.end
    }

    /// Whether the object's bytes are fewer in the file than in memory (ROOT: TKey::ReadObj).
    pub fn is_compressed(&self) -> bool {
        let payload = self.payload();
        payload.end.saturating_sub(payload.start)
            < u64::try_from(self.object_bytes).unwrap_or(u64::MAX)
    }

    /// Whether the object is a directory.
    pub fn is_directory(&self) -> bool {
        matches!(self.class.as_str(), "TDirectory" | "TDirectoryFile")
    }

    /// Whether the object is a tree that `parse_tree` reads.
    pub fn is_tree(&self) -> bool {
        matches!(self.class.as_str(), "TTree" | "TNtuple" | "TNtupleD")
    }
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
    use super::*;

    pub(crate) fn key_bytes(
        big: bool,
        record_bytes: i32,
        object_bytes: i32,
        class: &str,
        name: &str,
    ) -> Vec<u8> {
        let key_len = (if big { 34 } else { 26 }) + class.len() + name.len() + 3;
        let mut b = record_bytes.to_be_bytes().to_vec();
        b.extend(if big { 1004u16 } else { 4 }.to_be_bytes());
        b.extend(object_bytes.to_be_bytes());
        b.extend([0; 4]);
        b.extend(u16::try_from(key_len).unwrap().to_be_bytes());
        b.extend(7u16.to_be_bytes());
        if big {
            b.extend(6_000_000_000u64.to_be_bytes());
            b.extend(100u64.to_be_bytes());
        } else {
            b.extend(600u32.to_be_bytes());
            b.extend(100u32.to_be_bytes());
        }
        for s in [class, name, ""] {
            b.push(u8::try_from(s.len()).unwrap());
            b.extend(s.as_bytes());
        }
        b
    }

    #[test]
    fn both_forms() {
        for (big, seek) in [(false, 600), (true, 6_000_000_000)] {
            let bytes = key_bytes(big, 200, 900, "TTree", "Events");
            let key = Key::parse(&mut Reader::new(&bytes)).unwrap();
            assert_eq!(
                (key.class.as_str(), key.name.as_str(), key.cycle),
                ("TTree", "Events", 7)
            );
            assert_eq!(key.record(), seek..seek + 200);
            assert_eq!(key.payload(), seek + bytes.len() as u64..seek + 200);
            assert!(key.is_compressed() && key.is_tree() && !key.is_directory());
        }
    }

    #[test]
    fn negative_lengths_are_malformed() {
        let bytes = key_bytes(false, -200, 900, "TTree", "Events");
        assert!(Key::parse(&mut Reader::new(&bytes)).is_err());
        let bytes = key_bytes(false, 200, -900, "TTree", "Events");
        assert!(Key::parse(&mut Reader::new(&bytes)).is_err());
    }
}
