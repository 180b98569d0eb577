//! TDirectory records and key lists. Says which bytes come next; never fetches them.

use crate::error::{Result, truncated};
use crate::key::Key;
use crate::reader::Reader;
use std::ops::Range;

/// Bytes of a TDirectory record, in the larger form with its UUID.
pub const DIRECTORY_BYTES: u64 = 60;

/// Directory records whose version is above this have 64-bit offsets (ROOT: TDirectoryFile::Streamer).
const BIG_DIRECTORY_VERSION: u16 = 1000;

/// A TDirectory or TDirectoryFile record (ROOT: TDirectoryFile::ReadKeys).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Directory {
    /// fSeekDir: where the directory's own record lies.
    pub seek: u64,
    /// fSeekParent.
    pub parent: u64,
    /// The record that lists the directory's keys, its own TKey included; `None` if the directory was
    /// never saved (a file that was not closed).
    pub key_list: Option<Range<u64>>,
}

impl Directory {
    /// Reads a TDirectory record: the bytes of `FileHeader::root_directory`, or a directory key's payload.
    ///
    /// # Errors
    /// `Malformed` if the record is too short or its key list lies beyond `file_size`.
    pub fn parse(bytes: &[u8], file_size: u64) -> Result<Directory> {
        let mut r = Reader::new(bytes);
        let version = r.u16()?;
        r.skip(8)?; // fDatimeC, fDatimeM
        let key_list_bytes = u64::from(r.u32()?);
        let _name_bytes = r.u32()?;
        let offset = |r: &mut Reader| {
            if version > BIG_DIRECTORY_VERSION {
                r.u64()
            } else {
                r.u32().map(u64::from)
            }
        };
        let seek = offset(&mut r)?;
        let parent = offset(&mut r)?;
        let keys = offset(&mut r)?;
        let end = keys.saturating_add(key_list_bytes);
        let saved = keys > 0 && key_list_bytes > 0;
        if saved && end > file_size {
            return Err(truncated(
                format!("a key list ends at byte {end} of a file of {file_size} bytes"),
                usize::try_from(keys).unwrap_or(usize::MAX),
            ));
        }
        Ok(Directory {
            seek,
            parent,
            key_list: saved.then_some(keys..end),
        })
    }
}

/// Reads the record of a key list (the bytes of `Directory::key_list`): its keys in the order of the file.
///
/// # Errors
/// `Malformed` if keys end early or point beyond `file_size`.
pub fn parse_key_list(bytes: &[u8], file_size: u64) -> Result<Vec<Key>> {
    let mut r = Reader::new(bytes);
    let own = Key::parse(&mut r)?;
    r.seek(own.key_len)?;
    let n = r.count()?;
    let mut keys = Vec::with_capacity(n.min(r.remaining() / 26));
    for _ in 0..n {
        let at = r.position();
        let key = Key::parse(&mut r)?;
        if key.record().end > file_size {
            return Err(truncated(
                format!(
                    "{} '{}' ends at byte {} of a file of {file_size} bytes",
                    key.class,
                    key.name,
                    key.record().end
                ),
                at,
            ));
        }
        keys.push(key);
    }
    Ok(keys)
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )]
    use super::*;
    use crate::key::tests::key_bytes;

    #[test]
    fn directories_of_both_forms() {
        let mut small = 5u16.to_be_bytes().to_vec();
        small.extend([0; 8]);
        for x in [300u32, 60, 100, 0, 4_000] {
            small.extend(x.to_be_bytes());
        }
        let directory = Directory::parse(&small, 5_000).unwrap();
        assert_eq!(
            directory,
            Directory {
                seek: 100,
                parent: 0,
                key_list: Some(4_000..4_300)
            }
        );
        assert!(Directory::parse(&small, 4_299).is_err());

        let mut big = 1005u16.to_be_bytes().to_vec();
        big.extend([0; 8]);
        big.extend(300u32.to_be_bytes());
        big.extend(60u32.to_be_bytes());
        for x in [100u64, 0, 4_000_000_000_000] {
            big.extend(x.to_be_bytes());
        }
        let directory = Directory::parse(&big, 5_000_000_000_000).unwrap();
        assert_eq!(
            directory.key_list,
            Some(4_000_000_000_000..4_000_000_000_300)
        );
    }

    #[test]
    fn key_lists() {
        let mut list = key_bytes(false, 500, 400, "TFile", "f.root");
        list.extend(2u32.to_be_bytes());
        list.extend(key_bytes(false, 200, 900, "TTree", "Events"));
        list.extend(key_bytes(true, 200, 900, "TDirectory", "more"));
        let keys = parse_key_list(&list, 7_000_000_000).unwrap();
        assert_eq!(
            keys.iter().map(|k| k.name.as_str()).collect::<Vec<_>>(),
            ["Events", "more"]
        );
        assert!(keys[1].is_directory());
        assert!(
            parse_key_list(&list, 1_000).is_err(),
            "a key points beyond the file"
        );
        assert!(parse_key_list(&list[..list.len() - 4], 7_000_000_000).is_err());
    }
}
