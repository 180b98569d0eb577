//! TLeaf and its subclasses as they are in the file. `interpret` says what they mean.

use crate::error::{Result, malformed};
use crate::object::{Inline, target};
use crate::program::{Programs, wanted};
use crate::reader::text;
use crate::streamer::StreamerInfos;

wanted! {
    bases "TLeaf";
    Named = "TNamed",
    Len = "fLen",
    Unsigned = "fIsUnsigned",
    Count = "fLeafCount",
}

/// A leaf as stored.
#[derive(Debug, Clone)]
pub(crate) struct RawLeaf<'a> {
    /// `TLeafF`, `TLeafElement` and so on.
    pub class: &'a str,
    pub name: &'a [u8],
    pub title: &'a [u8],
    /// fLen: items per entry, or per unit of the counter.
    pub len: u32,
    pub unsigned: bool,
    /// Offset of the leaf that counts this one.
    pub counter: Option<usize>,
}

/// Reads leaves of one record.
pub(crate) struct Leaves<'i> {
    programs: Programs<'i>,
    key_len: usize,
}

impl<'i> Leaves<'i> {
    pub fn new(infos: &'i StreamerInfos, key_len: usize) -> Self {
        Leaves {
            programs: Programs::new(infos, WANTED),
            key_len,
        }
    }

    /// Reads the leaf at `object`.
    pub fn read<'a>(&mut self, bytes: &'a [u8], object: Inline<'a>) -> Result<RawLeaf<'a>> {
        let class = std::str::from_utf8(object.class)
            .ok()
            .filter(|class| class.starts_with("TLeaf"))
            .ok_or_else(|| {
                malformed(
                    format!(
                        "a list of leaves has an object of class {}",
                        text(object.class)
                    ),
                    object.start,
                )
            })?;
        let fields = self
            .programs
            .locate(bytes, class, object.body, self.key_len)?;
        let (name, title) = fields.named(Wanted::Named)?;
        let len = fields.integer(Wanted::Len)?.unwrap_or(1);
        let counter = match fields.reader(Wanted::Count) {
            Some(mut r) => target(&mut r, self.key_len)?,
            None => None,
        };
        Ok(RawLeaf {
            class,
            name,
            title,
            len: u32::try_from(len).unwrap_or(0),
            unsigned: fields.integer(Wanted::Unsigned)?.unwrap_or(0) != 0,
            counter,
        })
    }
}
