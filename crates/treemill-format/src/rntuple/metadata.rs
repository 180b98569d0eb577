//! The header and footer envelopes: names, the schema, and where the page lists lie.
//!
//! Source: RNTuple binary format specification 1.0, sections "Header Envelope" and "Footer
//! Envelope".

use super::envelope::{self, Kind, check_feature_flags};
use super::locator::EnvelopeLink;
use super::schema::Schema;
use crate::error::{Result, malformed};
use std::ops::Range;

/// The contents of header and footer.
#[derive(Debug, Clone, PartialEq)]
pub struct Metadata {
    /// Name of the RNTuple.
    pub name: String,
    /// Description of the RNTuple.
    pub description: String,
    /// The program that wrote it.
    pub writer: String,
    /// Fields and columns, with those that were added while writing.
    pub schema: Schema,
    /// Where the page lists lie, in the order of the clusters.
    pub groups: Vec<ClusterGroup>,
    /// The header's checksum, which page lists repeat.
    pub(super) header_checksum: u64,
}

/// Clusters whose pages are listed in one envelope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterGroup {
    /// Entries of its clusters.
    pub entries: Range<u64>,
    /// How many clusters; not verified.
    pub clusters: u32,
    /// Its page list.
    pub page_list: EnvelopeLink,
}

impl Metadata {
    /// Reads the uncompressed header and footer envelopes.
    ///
    /// # Errors
    /// `Malformed` if they are damaged or do not belong together; `Unsupported` by number for
    /// features of later versions.
    pub fn parse(header: &[u8], footer: &[u8]) -> Result<Metadata> {
        let header = envelope::open(header, Kind::Header)?;
        let header_checksum = header.checksum;
        let mut cursor = header.payload;
        check_feature_flags(&mut cursor)?;
        let name = cursor.string()?;
        let description = cursor.string()?;
        let writer = cursor.string()?;
        let mut schema = Schema::default();
        schema.extend(&mut cursor)?;

        let mut cursor = envelope::open(footer, Kind::Footer)?.payload;
        check_feature_flags(&mut cursor)?;
        let at = cursor.position();
        if cursor.u64()? != header_checksum {
            return Err(malformed("the footer belongs to another header", at));
        }
        let mut extension = cursor.record_frame()?;
        if extension.remaining() > 0 {
            schema.extend(&mut extension)?;
        }
        let (n, mut list) = cursor.list_frame()?;
        let mut groups = Vec::with_capacity(n.min(list.remaining() / 40));
        for _ in 0..n {
            let mut record = list.record_frame()?;
            let start = record.u64()?;
            let span = record.u64()?;
            groups.push(ClusterGroup {
                entries: start..start.saturating_add(span),
                clusters: record.u32()?,
                page_list: EnvelopeLink::parse(&mut record)?,
            });
        }
        Ok(Metadata {
            name,
            description,
            writer,
            schema,
            groups,
            header_checksum,
        })
    }
}
