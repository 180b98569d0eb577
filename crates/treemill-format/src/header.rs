//! The TFile header: where the root directory, its keys and the streamer info lie. Reads nothing else.

use crate::error::{Result, malformed, truncated, unsupported};
use crate::reader::Reader;
use std::ops::Range;

/// Bytes from the start of a file that are enough for its header in either form.
pub const HEADER_BYTES: u64 = 75;

/// Files whose fVersion is at least this have 64-bit offsets (ROOT: TFile::Init, kStartBigFile).
/// The number is signed.
const BIG_FILE_VERSION: i32 = 1_000_000;

/// The first bytes of a ROOT file (ROOT: TFile::Init; both the 32- and the 64-bit form).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileHeader {
    /// ROOT version that wrote the file (62206 is 6.22/06), without the 1 000 000 of big files. Other
    /// writers may give any number.
    pub version: i32,
    /// fBEGIN: where the first record lies.
    pub begin: u64,
    /// fEND: where the file ends as ROOT sees it.
    pub end: u64,
    /// fCompress: 100 x algorithm + level.
    pub compression: u32,
    /// fNbytesName: bytes of the first record's key, name and title; the root directory follows.
    pub name_bytes: u64,
    /// The record of the TStreamerInfo list, its TKey included; `None` if the file has none.
    pub streamer_info: Option<Range<u64>>,
    /// The bytes that hold the root directory's TDirectory record.
    pub root_directory: Range<u64>,
    /// fUUID: the number that the file got when it was made, which copies share; `None` if the bytes end
    /// before it.
    pub uuid: Option<[u8; 16]>,
}

impl FileHeader {
    /// Reads the header from a file's first bytes (`HEADER_BYTES` of them, or all there are).
    ///
    /// # Errors
    /// `Malformed` if these are not a ROOT file's first bytes, or offsets lie beyond `file_size`.
    pub fn parse(bytes: &[u8], file_size: u64) -> Result<FileHeader> {
        let mut r = Reader::new(bytes);
        match r.take(4) {
            Ok(b"root") => {}
            Ok(other) if other.starts_with(b"PK") => {
                return Err(unsupported("a ZIP archive of ROOT files"));
            }
            _ => {
                return Err(malformed(
                    "this is not a ROOT file: it does not begin with 'root'",
                    0,
                ));
            }
        }
        let raw_version = r.i32()?;
        let big = raw_version >= BIG_FILE_VERSION;
        let offset = |r: &mut Reader| if big { r.u64() } else { r.u32().map(u64::from) };
        let begin = u64::from(r.u32()?);
        let end = offset(&mut r)?;
        let _seek_free = offset(&mut r)?;
        let _free_bytes = r.u32()?;
        let _free_count = r.u32()?;
        let name_bytes = u64::from(r.u32()?);
        let _units = r.u8()?;
        let compression = r.u32()?;
        let seek_info = offset(&mut r)?;
        let info_bytes = u64::from(r.u32()?);

        // Its version comes first.
        let uuid = r.u16().and_then(|_| r.take(16)).ok();
        let uuid = uuid.and_then(|bytes| <[u8; 16]>::try_from(bytes).ok());

        let directory = begin.saturating_add(name_bytes);
        if begin < 12 || directory >= file_size {
            return Err(truncated(
                format!("the root directory is at byte {directory} of a file of {file_size} bytes"),
                8,
            ));
        }
        let info_end = seek_info.saturating_add(info_bytes);
        if info_bytes > 0 && info_end > file_size {
            return Err(truncated(
                format!("the streamer info ends at byte {info_end} of a file of {file_size} bytes"),
                usize::try_from(seek_info).unwrap_or(usize::MAX),
            ));
        }
        Ok(FileHeader {
            version: if big {
                raw_version.saturating_sub(BIG_FILE_VERSION)
            } else {
                raw_version
            },
            begin,
            end,
            compression,
            name_bytes,
            streamer_info: (info_bytes > 0 && seek_info > 0).then_some(seek_info..info_end),
            root_directory: directory
                ..directory
                    .saturating_add(crate::directory::DIRECTORY_BYTES)
                    .min(file_size),
            uuid,
        })
    }
}

#[cfg(test)]
mod tests {
    #![allow(
        clippy::unwrap_used,
        clippy::indexing_slicing,
        clippy::arithmetic_side_effects
    )]
    use super::*;
    use crate::error::FormatErrorKind;

    fn header(big: bool) -> Vec<u8> {
        of_version(big, if big { 1_062_206 } else { 62_206 })
    }

    fn of_version(big: bool, version: i32) -> Vec<u8> {
        let mut b = b"root".to_vec();
        b.extend(version.to_be_bytes());
        b.extend(100u32.to_be_bytes());
        let offset = |b: &mut Vec<u8>, x: u64| {
            if big {
                b.extend(x.to_be_bytes())
            } else {
                b.extend(u32::try_from(x).unwrap().to_be_bytes())
            }
        };
        let far = if big { 5_000_000_000 } else { 5_000 };
        offset(&mut b, far + 400);
        offset(&mut b, far + 300);
        b.extend(10u32.to_be_bytes());
        b.extend(1u32.to_be_bytes());
        b.extend(60u32.to_be_bytes());
        b.push(if big { 8 } else { 4 });
        b.extend(505u32.to_be_bytes());
        offset(&mut b, far);
        b.extend(250u32.to_be_bytes());
        b.extend(1u16.to_be_bytes());
        b.extend(*b"sixteen bytes id");
        b
    }

    #[test]
    fn both_forms() {
        for (big, far) in [(false, 5_000), (true, 5_000_000_000)] {
            let h = FileHeader::parse(&header(big), far + 400).unwrap();
            assert_eq!(
                (h.version, h.begin, h.end, h.compression),
                (62_206, 100, far + 400, 505)
            );
            assert_eq!(h.streamer_info, Some(far..far + 250));
            assert_eq!(h.root_directory.start, 160);
            assert_eq!(h.uuid.as_ref(), Some(b"sixteen bytes id"));
            let short = FileHeader::parse(&header(big)[..60], far + 400);
            assert_eq!(short.map(|h| h.uuid).unwrap_or_default(), None);
        }
    }

    #[test]
    fn a_negative_version_is_a_small_files() {
        for version in [-1, i32::MIN, 999_999] {
            let h = FileHeader::parse(&of_version(false, version), 5_400).unwrap();
            assert_eq!((h.version, h.end, h.name_bytes), (version, 5_400, 60));
        }
    }

    #[test]
    fn what_is_not_a_root_file_or_is_cut_short() {
        assert!(FileHeader::parse(b"", 0).is_err());
        assert!(FileHeader::parse(b"PK\x03\x04 and so on", 100).is_err());
        assert!(FileHeader::parse(b"hello, world, this is no ROOT file", 100).is_err());
        let cut = FileHeader::parse(&header(false), 5_100).unwrap_err();
        assert_eq!(cut.kind(), FormatErrorKind::Truncated);
        assert!(
            cut.to_string()
                .starts_with("the file is truncated: the streamer info"),
            "{cut}"
        );
        assert!(FileHeader::parse(&header(false)[..40], 5_400).is_err());
    }
}
