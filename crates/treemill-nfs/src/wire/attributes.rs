//! Attributes of files (RFC 8881, section 5): those that reading needs. Knows no operation.

use super::xdr::{Malformed, Reader, Writer};
use crate::limits::{MOST_ATTRIBUTES, MOST_WORDS};

const TYPE: u32 = 1;
const CHANGE: u32 = 3;
const SIZE: u32 = 4;
const FSID: u32 = 8;
const LEASE_TIME: u32 = 10;
const READ_ERROR: u32 = 11;
const FILE_ID: u32 = 20;
const TIME_MODIFY: u32 = 53;
const LAYOUT_TYPES: u32 = 62;
/// Kinds of layouts that are read, the better one first: flex_files, files.
const LAYOUTS: [u32; 2] = [4, 1];

/// Attributes of an open file: type, change, size, file system, number, time, and
/// whether there are layouts.
pub const OF_FILE: &[u32] = &[TYPE, CHANGE, SIZE, FSID, FILE_ID, TIME_MODIFY, LAYOUT_TYPES];
/// What shows that a file has changed.
pub const OF_STATE: &[u32] = &[CHANGE, SIZE];
/// What a listing asks of each entry.
pub const OF_ENTRY: &[u32] = &[TYPE, READ_ERROR];
/// What is asked of a server.
pub const OF_SERVER: &[u32] = &[LEASE_TIME];

/// What kind of thing has a name (nfs_ftype4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A file with bytes.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// A device, a socket, a pipe …
    Other,
}

/// The attributes that a server has told; it leaves out those that it does not have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Attributes {
    /// What it is.
    pub kind: Option<Kind>,
    /// A number that is another one after each change.
    pub change: Option<u64>,
    /// Bytes.
    pub size: Option<u64>,
    /// The file system on the server.
    pub fsid: Option<(u64, u64)>,
    /// Seconds that the server keeps a silent client's state.
    pub lease: Option<u32>,
    /// The file's number in the file system.
    pub file_id: Option<u64>,
    /// When it was written: seconds and nanoseconds.
    pub modified: Option<(u64, u32)>,
    /// The kind of layouts that the file system gives, if it is one that is read.
    pub layout: Option<u32>,
}

/// Writes a set of attributes (bitmap4).
pub(crate) fn write_set(numbers: &[u32], out: &mut Writer) {
    let word = |number: &u32| usize::try_from(number / 32).unwrap_or(0);
    let count = numbers
        .iter()
        .map(word)
        .max()
        .map_or(0, |last| last.saturating_add(1));
    let mut words = vec![0_u32; count];
    for number in numbers {
        if let Some(place) = words.get_mut(word(number)) {
            *place |= 1 << (number % 32);
        }
    }
    out.u32(u32::try_from(count).unwrap_or(0));
    for word in words {
        out.u32(word);
    }
}

/// Reads a set of attributes: its numbers, ascending.
pub(crate) fn read_set(reader: &mut Reader) -> Result<Vec<u32>, Malformed> {
    let words = reader.list(MOST_WORDS, Reader::u32)?;
    let numbers = (0_u32..).zip(words).flat_map(|(place, word)| {
        (0..32_u32)
            .filter(move |bit| word & (1 << bit) != 0)
            .map(move |bit| place.saturating_mul(32).saturating_add(bit))
    });
    Ok(numbers.collect())
}

impl Attributes {
    /// Reads attributes (fattr4).
    ///
    /// # Errors
    /// If they are malformed, or have an attribute that was not asked for.
    pub fn read(reader: &mut Reader) -> Result<Self, Malformed> {
        let numbers = read_set(reader)?;
        let mut values = Reader::new(reader.opaque(MOST_ATTRIBUTES)?);
        let mut all = Attributes::default();
        for number in numbers {
            all.read_one(number, &mut values)?;
        }
        Ok(all)
    }

    fn read_one(&mut self, number: u32, values: &mut Reader) -> Result<(), Malformed> {
        match number {
            TYPE => self.kind = Some(kind(values.u32()?)),
            CHANGE => self.change = Some(values.u64()?),
            SIZE => self.size = Some(values.u64()?),
            FSID => self.fsid = Some((values.u64()?, values.u64()?)),
            LEASE_TIME => self.lease = Some(values.u32()?),
            READ_ERROR => {
                let _ = values.u32()?;
            }
            FILE_ID => self.file_id = Some(values.u64()?),
            LAYOUT_TYPES => {
                let found = values.list(MOST_WORDS, Reader::u32)?;
                self.layout = LAYOUTS.into_iter().find(|kind| found.contains(kind));
            }
            TIME_MODIFY => self.modified = Some((values.u64()?, values.u32()?)),
            other => {
                return Err(Malformed::new(format!(
                    "the attribute {other} was not asked for"
                )));
            }
        }
        Ok(())
    }
}

fn kind(number: u32) -> Kind {
    match number {
        1 => Kind::File,
        2 => Kind::Folder,
        5 => Kind::Link,
        _ => Kind::Other,
    }
}
