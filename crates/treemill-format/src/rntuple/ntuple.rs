//! An RNTuple's metadata as a whole, and the questions that readers ask of it.

use super::metadata::Metadata;
use super::page_list::{self, Cluster, Page};
use super::shape::Columns;
use super::tree::Tree;
use crate::error::{Result, malformed};

/// All metadata of an RNTuple. Made once, then only asked.
#[derive(Debug, Clone)]
pub struct NTuple {
    /// The contents of header and footer.
    pub metadata: Metadata,
    /// Clusters in the order of their entries, which they cover without gaps from 0.
    pub clusters: Vec<Cluster>,
    /// Number of entries.
    pub entries: u64,
    /// The fields as a tree.
    pub fields: Tree,
}

/// A column's elements in one cluster: first some zeros that are not stored, then pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Located<'a> {
    /// Index of the physical column.
    pub column: usize,
    /// Zeros before the first stored element: entries from before the column was added.
    pub zeros: u64,
    /// The stored elements.
    pub pages: &'a [Page],
    /// All elements: zeros and stored ones.
    pub elements: u64,
}

impl NTuple {
    /// Puts together the metadata and the uncompressed page lists of its groups, in their order.
    /// No page may lie beyond `file_size`.
    ///
    /// # Errors
    /// `Malformed` if a page list is damaged, or clusters do not cover the entries;
    /// `Unsupported` for features of later versions.
    pub fn new<B: AsRef<[u8]>>(
        metadata: Metadata,
        page_lists: &[B],
        file_size: u64,
    ) -> Result<NTuple> {
        let mut clusters = Vec::new();
        for (group, bytes) in metadata.groups.iter().zip(page_lists) {
            clusters.extend(page_list::parse(
                bytes.as_ref(),
                &metadata,
                group,
                file_size,
            )?);
        }
        clusters.sort_by_key(|cluster| (cluster.entries.start, cluster.entries.end));
        let mut entries = 0_u64;
        for cluster in &clusters {
            if cluster.entries.start != entries {
                return Err(malformed(
                    format!(
                        "a cluster begins at entry {} where entry {entries} is the next",
                        cluster.entries.start
                    ),
                    0,
                ));
            }
            entries = cluster.entries.end;
        }
        let spans = metadata.groups.iter().map(|group| group.entries.end).max();
        let announced = spans.unwrap_or(0);
        if announced != entries || page_lists.len() != metadata.groups.len() {
            return Err(malformed(
                format!(
                    "the clusters have {entries} entries, and the footer announces {announced}"
                ),
                0,
            ));
        }
        let fields = Tree::new(&metadata.schema)?;
        let ntuple = NTuple {
            metadata,
            clusters,
            entries,
            fields,
        };
        match ntuple.is_borne_out() {
            true => Ok(ntuple),
            false => Err(malformed(
                format!(
                    "the RNTuple announces {entries} entries, and no column has elements for them"
                ),
                0,
            )),
        }
    }

    /// Whether some column has an element for each entry, if there are any columns. Work is cut by the number
    /// of entries, which nothing else confirms.
    fn is_borne_out(&self) -> bool {
        let schema = &self.metadata.schema;
        let has_all = |field: usize| {
            let columns = || self.fields.columns(field).iter();
            let late = columns().filter_map(|&c| schema.columns.get(c)?.first_element);
            let stored = self.clusters.iter().flat_map(|cluster| {
                let ranges = columns().filter_map(|&c| cluster.columns.get(c));
                ranges.map(|range| range.elements)
            });
            let first = late.max().unwrap_or(0);
            stored.fold(first, u64::saturating_add) >= self.entries
        };
        schema.columns.is_empty() || (0..schema.fields.len()).any(has_all)
    }

    /// Column number `nth` of a field's columns in a cluster, in the representation that the
    /// cluster was written with.
    ///
    /// # Errors
    /// `Malformed` if the cluster has no such column, or not as many elements as entries.
    pub fn locate<'a>(
        &self,
        columns: &Columns,
        nth: usize,
        cluster: &'a Cluster,
    ) -> Result<Located<'a>> {
        let wrong = |what: &str| {
            let entries = &cluster.entries;
            Err(malformed(
                format!(
                    "{what} in the cluster of entries {}..{}",
                    entries.start, entries.end
                ),
                0,
            ))
        };
        let Some(column) = self
            .representation(columns, cluster)
            .and_then(|c| c.get(nth).copied())
        else {
            return wrong("a field is suppressed");
        };
        let range = cluster.columns.get(column);
        let pages = range.map_or(&[][..], |range| cluster.pages_of(range));
        let stored = range.map_or(0, |range| range.elements);
        // Columns after the first, and columns of items, may have any number of elements.
        let (Some(per_entry), 0) = (columns.per_entry, nth) else {
            return Ok(Located {
                column,
                zeros: 0,
                pages,
                elements: stored,
            });
        };
        let entries = &cluster.entries;
        let first = entries.start.checked_mul(per_entry);
        let elements = entries
            .end
            .saturating_sub(entries.start)
            .checked_mul(per_entry);
        let (Some(first), Some(elements)) = (first, elements) else {
            return wrong("a column has more than 2^64 elements");
        };
        let deferred = self
            .metadata
            .schema
            .columns
            .get(column)
            .and_then(|c| c.first_element);
        // Entries from before a column was added are zeros that are not stored.
        let zeros = deferred.unwrap_or(0).saturating_sub(first).min(elements);
        if zeros.checked_add(stored) != Some(elements) {
            return wrong("a column has not as many elements as entries");
        }
        Ok(Located {
            column,
            zeros,
            pages,
            elements,
        })
    }

    /// The columns of the representation that is not suppressed in a cluster.
    fn representation<'c>(&self, columns: &'c Columns, cluster: &Cluster) -> Option<&'c [usize]> {
        let listed = |rep: &[usize]| rep.first().and_then(|&column| cluster.columns.get(column));
        let stored = columns
            .representations
            .iter()
            .find(|rep| listed(rep).is_some_and(|range| range.first.is_some()));
        if let Some(stored) = stored {
            return Some(stored);
        }
        // The whole field came after the cluster was written.
        let first = columns.representations.first()?;
        if listed(first).is_some() {
            return None;
        }
        let schema = &self.metadata.schema;
        let is_late = |rep: &&Vec<usize>| {
            let column = rep.first().and_then(|&column| schema.columns.get(column));
            column.is_some_and(|column| !column.first_suppressed)
        };
        columns
            .representations
            .iter()
            .find(is_late)
            .map(Vec::as_slice)
    }
}
