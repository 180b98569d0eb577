//! A tree or an RNTuple behind one interface, so that callers need not know which of them a file holds.
//! Forwards calls and knows nothing of how either is read.

use crate::near::near;
use crate::rntuple::NTupleFile;
use crate::{Inbox, ReadError, TreeFile, cache, plan};
use arrow_schema::Field;
use std::ops::Range;
use std::sync::Arc;
use treemill_source::Source;

/// A tree or an RNTuple of a file.
///
/// ```
/// use std::sync::Arc;
/// use treemill_read::File;
/// use treemill_source::Local;
///
/// let file = File::open(Arc::new(Local::open("tests/data/muons.root")?))?;
/// let table = file.table("Events")?;
/// assert_eq!((table.kind(), table.name(), table.title()), ("tree", "Events", "three events"));
/// let column = table.find("Muon_pt")?;
/// assert!(table.arrow_field(column)?.data_type().to_string().starts_with("List"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub enum Table {
    /// A TTree; its columns are branches.
    Tree(Arc<TreeFile>),
    /// An RNTuple; its columns are fields, members of records with dots.
    NTuple(Arc<NTupleFile>),
}

impl Table {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Table::Tree(tree) => &tree.tree().name,
            Table::NTuple(file) => &file.ntuple().metadata.name,
        }
    }

    /// Its title, or an RNTuple's description.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Table::Tree(tree) => &tree.tree().title,
            Table::NTuple(file) => &file.ntuple().metadata.description,
        }
    }

    /// Number of entries.
    #[must_use]
    pub fn entries(&self) -> u64 {
        match self {
            Table::Tree(tree) => tree.tree().entries,
            Table::NTuple(file) => file.ntuple().entries,
        }
    }

    /// First entries of its clusters.
    #[must_use]
    pub fn clusters(&self) -> Vec<u64> {
        match self {
            Table::Tree(tree) => tree.tree().clusters.clone(),
            Table::NTuple(file) => {
                let clusters = file.ntuple().clusters.iter();
                clusters.map(|cluster| cluster.entries.start).collect()
            }
        }
    }

    /// Where its bytes come from.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        match self {
            Table::Tree(tree) => tree.source(),
            Table::NTuple(file) => file.source(),
        }
    }

    /// Its bytes that were asked for; `None` if the source is a near one.
    #[must_use]
    pub fn inbox(&self) -> Option<&Arc<Inbox>> {
        match self {
            Table::Tree(tree) => tree.inbox(),
            Table::NTuple(file) => file.inbox(),
        }
    }

    /// Index of the column of this name.
    ///
    /// # Errors
    /// `NotFound` with the names that are near.
    pub fn find(&self, name: &str) -> Result<usize, ReadError> {
        let file = match self {
            Table::Tree(tree) => return tree.find(name),
            Table::NTuple(file) => file,
        };
        file.field(name).ok_or_else(|| {
            let names = file.fields().iter().map(|field| field.name.as_str());
            let mut message = format!("RNTuple '{}' has no field '{name}'", self.name());
            let likely = near(name, names, 3);
            if !likely.is_empty() {
                message.push_str(&format!("; did you mean {}?", likely.join(", ")));
            }
            ReadError::not_found(message, file.source().name())
        })
    }

    /// The Arrow field of the column at `index`.
    ///
    /// # Errors
    /// `Unsupported` with the reason; `NotFound` if there is no such index.
    pub fn arrow_field(&self, index: usize) -> Result<Field, ReadError> {
        match self {
            Table::Tree(file) => file.arrow_field(index),
            Table::NTuple(file) => file.arrow_field(index),
        }
    }

    /// Whether it is a tree or an RNTuple, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Table::Tree(_) => "tree",
            Table::NTuple(_) => "RNTuple",
        }
    }

    /// Good places for batches of these columns to end: first entries of baskets or clusters within `range`,
    /// ascending and distinct.
    #[must_use]
    pub fn boundaries(&self, columns: &[usize], range: &Range<u64>) -> Vec<u64> {
        match self {
            Table::Tree(file) => {
                let all = &file.tree().branches;
                plan::boundaries(columns.iter().filter_map(|&c| all.get(c)), range)
            }
            Table::NTuple(_) => {
                let mut starts = self.clusters();
                starts.retain(|start| range.contains(start));
                starts
            }
        }
    }

    /// The number of a column's baskets or pages.
    #[must_use]
    pub fn baskets(&self, column: usize) -> usize {
        match self {
            Table::Tree(file) => {
                let branch = file.tree().branches.get(column);
                branch.map_or(0, |b| b.baskets.len().saturating_add(b.embedded.len()))
            }
            Table::NTuple(file) => file.bytes(column).2,
        }
    }

    /// Bytes of all values of these columns, uncompressed.
    #[must_use]
    pub fn bytes(&self, columns: &[usize]) -> u64 {
        let each = columns.iter().map(|&column| match self {
            Table::Tree(file) => {
                let branch = file.tree().branches.get(column);
                branch.map_or(0, |b| b.total_bytes)
            }
            Table::NTuple(file) => file.bytes(column).0,
        });
        each.fold(0, u64::saturating_add)
    }

    /// Whether the cache has most of these columns' baskets or pages: then a caller that wants few entries of
    /// one need not decompress it for them.
    #[must_use]
    pub fn is_remembered(&self, columns: &[usize]) -> bool {
        let stored: Vec<Range<u64>> = match self {
            Table::Tree(file) => {
                let all = &file.tree().branches;
                let baskets = columns.iter().filter_map(|&c| all.get(c));
                let baskets = baskets.flat_map(|branch| &branch.baskets);
                baskets.map(|basket| basket.bytes.clone()).collect()
            }
            Table::NTuple(file) => {
                let pages = columns.iter().flat_map(|&c| file.pages(c));
                pages.map(|(_, page)| page.bytes()).collect()
            }
        };
        // Columns without stored bytes cannot be cached.
        !stored.is_empty() && cache::has_most(self.source().as_ref(), &stored)
    }
}

impl From<Arc<TreeFile>> for Table {
    fn from(file: Arc<TreeFile>) -> Self {
        Table::Tree(file)
    }
}

impl From<Arc<NTupleFile>> for Table {
    fn from(file: Arc<NTupleFile>) -> Self {
        Table::NTuple(file)
    }
}
