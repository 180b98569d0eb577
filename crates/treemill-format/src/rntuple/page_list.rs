//! Page lists: the clusters' entries, and where their columns' pages lie.
//!
//! Source: RNTuple binary format specification 1.0, section "Page List Envelope".

use super::cursor::Cursor;
use super::envelope::{self, Kind};
use super::locator::Locator;
use super::metadata::{ClusterGroup, Metadata};
use crate::error::{Result, malformed, truncated, unsupported};
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// A checksum lies after a page's bytes.
pub const PAGE_CHECKSUM: u64 = 8;

/// The bits of a cluster's number of entries; the 8 above are flags.
const ENTRIES: u64 = (1 << 56) - 1;

/// The flag of clusters whose columns have clusters of their own: a later version's.
const SHARDED: u64 = 1 << 56;

/// A page: a run of a column's elements that is compressed as one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Page {
    /// How many elements.
    pub elements: u32,
    /// Whether an XXH3-64 of the stored bytes follows them.
    pub has_checksum: bool,
    /// Where the bytes are stored, the checksum not included.
    pub locator: Locator,
}

impl Page {
    /// The stored bytes and their checksum.
    #[must_use]
    pub fn bytes(&self) -> Range<u64> {
        let Range { start, end } = self.locator.bytes();
        let checksum = if self.has_checksum { PAGE_CHECKSUM } else { 0 };
        start..end.saturating_add(checksum)
    }
}

/// A column's part in a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRange {
    /// Its pages, in `Cluster::pages`.
    pub pages: Range<usize>,
    /// Elements in these pages.
    pub elements: u64,
    /// Index of the first element in the whole column; `None` if the column is suppressed in
    /// favour of another representation.
    pub first: Option<u64>,
}

/// Entries whose pages lie together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Its entries.
    pub entries: Range<u64>,
    /// One for each physical column; columns that came after the cluster was written may lack.
    pub columns: Vec<ColumnRange>,
    /// Pages of all columns.
    pub pages: Vec<Page>,
}

impl Cluster {
    /// The pages of a column.
    #[must_use]
    pub fn pages_of(&self, column: &ColumnRange) -> &[Page] {
        self.pages.get(column.pages.clone()).unwrap_or_default()
    }
}

/// Reads the uncompressed page list of a group, whose pages must lie within `file_size` bytes.
///
/// # Errors
/// `Malformed` if it is damaged or does not belong to the metadata; `Unsupported` for features
/// of later versions.
pub(super) fn parse(
    bytes: &[u8],
    metadata: &Metadata,
    group: &ClusterGroup,
    file_size: u64,
) -> Result<Vec<Cluster>> {
    let mut cursor = envelope::open(bytes, Kind::PageList)?.payload;
    let at = cursor.position();
    if cursor.u64()? != metadata.header_checksum {
        return Err(malformed("the page list belongs to another header", at));
    }
    let at = cursor.position();
    let (n, mut summaries) = cursor.list_frame()?;
    let (lists, mut clusters) = cursor.list_frame()?;
    if n != lists || u32::try_from(n) != Ok(group.clusters) {
        return Err(malformed(
            format!(
                "a page list has {n} clusters and the pages of {lists}, and the footer announces {}",
                group.clusters
            ),
            at,
        ));
    }
    let columns = metadata.schema.columns.len();
    let mut read = Vec::with_capacity(n.min(summaries.remaining() / 24));
    for _ in 0..n {
        let entries = parse_summary(summaries.record_frame()?)?;
        let (listed, list) = clusters.list_frame()?;
        if listed > columns {
            return Err(malformed(
                format!(
                    "a page list has pages of {listed} columns, and the schema has {columns} columns"
                ),
                list.position(),
            ));
        }
        read.push(parse_cluster(entries, listed, list, file_size)?);
    }
    Ok(read)
}

fn parse_summary(mut record: Cursor<'_>) -> Result<Range<u64>> {
    let at = record.position();
    let start = record.u64()?;
    let packed = record.u64()?;
    if packed & SHARDED != 0 {
        return Err(unsupported("an RNTuple with sharded clusters"));
    }
    match start.checked_add(packed & ENTRIES) {
        Some(end) => Ok(start..end),
        None => Err(malformed(
            format!("a cluster begins at entry {start} and ends beyond 2^64"),
            at,
        )),
    }
}

fn parse_cluster(
    entries: Range<u64>,
    columns: usize,
    mut list: Cursor<'_>,
    file_size: u64,
) -> Result<Cluster> {
    let mut cluster = Cluster {
        entries,
        columns: Vec::with_capacity(columns.min(list.remaining() / 20)),
        pages: Vec::new(),
    };
    for _ in 0..columns {
        let (n, mut pages) = list.list_frame()?;
        let first_page = cluster.pages.len();
        cluster.pages.reserve(n.min(pages.remaining() / 16));
        let mut elements = 0_u64;
        for _ in 0..n {
            let page = parse_page(&mut pages, file_size)?;
            // 2^32 pages of 2^31 elements do not overflow.
            elements = elements.saturating_add(u64::from(page.elements));
            cluster.pages.push(page);
        }
        let at = pages.position();
        let first = u64::try_from(pages.i64()?).ok();
        if first.is_some() {
            let _compression = pages.u32()?;
        } else if n > 0 {
            return Err(malformed("a suppressed column has pages", at));
        }
        cluster.columns.push(ColumnRange {
            pages: first_page..cluster.pages.len(),
            elements,
            first,
        });
    }
    Ok(cluster)
}

fn parse_page(cursor: &mut Cursor<'_>, file_size: u64) -> Result<Page> {
    let at = cursor.position();
    let elements = cursor.i32()?;
    let page = Page {
        elements: elements.unsigned_abs(),
        has_checksum: elements < 0,
        locator: Locator::parse(cursor)?,
    };
    let end = page.bytes().end;
    if end > file_size {
        return Err(truncated(
            format!("a page ends at byte {end} of a file of {file_size} bytes"),
            at,
        ));
    }
    Ok(page)
}

/// A page's stored bytes without their checksum, which was right; `stored` are the bytes of
/// [`Page::bytes`]. They are `length` bytes, the uncompressed size, if they are not compressed.
///
/// # Errors
/// `Malformed` if the checksum is wrong, or the bytes are more than they stand for.
pub fn check_page<'a>(page: &Page, stored: &'a [u8], length: usize) -> Result<&'a [u8]> {
    let (packed, checksum) = match stored.split_last_chunk::<8>() {
        Some((packed, checksum)) if page.has_checksum => (packed, Some(checksum)),
        None if page.has_checksum => return Err(malformed("a page lacks its checksum", 0)),
        _ => (stored, None),
    };
    if let Some(checksum) = checksum {
        let (found, checksum) = (xxh3_64(packed), u64::from_le_bytes(*checksum));
        if found != checksum {
            return Err(malformed(
                format!("a page's checksum is {found:016x}, and {checksum:016x} is stored"),
                packed.len(),
            ));
        }
    }
    if packed.len() > length {
        return Err(malformed(
            format!(
                "a page of {length} bytes is stored in {} bytes",
                packed.len()
            ),
            0,
        ));
    }
    Ok(packed)
}
