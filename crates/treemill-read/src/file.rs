//! Opens files: from the header to the key lists to the trees; the parser says which bytes each step needs.

use crate::fetch::Fetch;
use crate::first_look;
use crate::keys::{Keys, Kind, TreeKey};
use crate::limits::EARLY_INFOS;
use crate::rntuple::NTupleFile;
use crate::{ErrorKind, ReadError, Table, TreeFile, cache};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tracing::debug_span;
use treemill_format::directory::Directory;
use treemill_format::error::FormatError;
use treemill_format::header::FileHeader;
use treemill_format::key::Key;
use treemill_format::parse_tree;
use treemill_format::rntuple;
use treemill_format::streamer::StreamerInfos;
use treemill_source::Source;

/// A tree or RNTuple, once its metadata are read. Its own lock is held meanwhile, so that only threads that
/// want this one wait.
type Slot = Arc<Mutex<Option<Table>>>;

/// An open file. Shared by any number of threads; metadata of trees and RNTuples are read once.
///
/// ```
/// use std::sync::Arc;
/// use treemill_read::{ErrorKind, File};
/// use treemill_source::Local;
///
/// let file = File::open(Arc::new(Local::open("tests/data/muons.root")?))?;
/// assert_eq!(file.tables()[0].path, "Events");
/// assert_eq!(file.table("Events")?.entries(), 3);
///
/// let error = file.table("Event").unwrap_err();
/// assert_eq!(error.kind, ErrorKind::NotFound);
/// assert_eq!(error.message, "the file has no tree 'Event'; did you mean Events?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct File {
    source: Arc<dyn Source>,
    header: FileHeader,
    keys: Keys,
    infos: OnceLock<Arc<StreamerInfos>>,
    /// The record of the streamer information, if it was read with the key list and is not parsed yet.
    early: Mutex<Option<Vec<u8>>>,
    /// Tables by the place of their record.
    tables: Mutex<BTreeMap<u64, Slot>>,
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File")
            .field("source", &self.source.name())
            .field("keys", &self.keys)
            .finish_non_exhaustive()
    }
}

impl File {
    /// Reads the header and the key lists of all directories.
    ///
    /// # Errors
    /// `Format` if this is no ROOT file, `Truncated` if it ends too early; `Source` if bytes could not be had.
    pub fn open(source: Arc<dyn Source>) -> Result<Arc<Self>, ReadError> {
        let _span = debug_span!("open", file = source.name()).entered();
        let source = cache::recalled(source);
        let size = source.size();
        let mut fetch = Fetch::new(source.as_ref());
        let first = fetch.bytes(cache::first_bytes(size))?;
        let header = FileHeader::parse(&first, size).map_err(|e| fetch.wrong(&e, Some(0)))?;
        if size < header.end {
            let what = format!(
                "it has {size} of the {} bytes that its header announces",
                header.end
            );
            let error = FormatError::Truncated { what, at: 0 };
            return Err(fetch.wrong(&error, Some(size)));
        }
        let root = header.root_directory.clone();
        let record = match part(&first, &root) {
            Some(record) => record.to_vec(),
            None => fetch.bytes(root.clone())?,
        };
        let directory =
            Directory::parse(&record, size).map_err(|e| fetch.wrong(&e, Some(root.start)))?;
        // Where the key list is here, the streamer information comes with the record of the tree that is opened.
        let list = directory.key_list.as_ref();
        let is_listed = list.is_none_or(|list| part(&first, list).is_some());
        let infos = header.streamer_info.as_ref();
        let infos = infos.filter(|range| {
            !is_listed && range.end <= size && range.end.saturating_sub(range.start) <= EARLY_INFOS
        });
        let together = list.into_iter().chain(infos).cloned();
        fetch.keep(together.collect())?;
        let keys = Keys::read(&fetch, &directory)?;
        let early = infos.and_then(|range| fetch.kept(range));
        Ok(Arc::new(File {
            source,
            early: Mutex::new(early),
            header,
            keys,
            infos: OnceLock::new(),
            tables: Mutex::default(),
        }))
    }

    /// The number that the file got when it was made, which copies of it share.
    #[must_use]
    pub fn uuid(&self) -> Option<[u8; 16]> {
        self.header.uuid
    }

    /// Where the bytes come from.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// The trees and RNTuples of all directories, in the order of the file, every cycle.
    #[must_use]
    pub fn tables(&self) -> Vec<TreeKey> {
        self.listed(Kind::Any)
    }

    /// The trees of all directories, in the order of the file, every cycle.
    #[must_use]
    pub fn trees(&self) -> Vec<TreeKey> {
        self.listed(Kind::Tree)
    }

    /// The RNTuples of all directories, in the order of the file, every cycle.
    #[must_use]
    pub fn ntuples(&self) -> Vec<TreeKey> {
        self.listed(Kind::NTuple)
    }

    fn listed(&self, kind: Kind) -> Vec<TreeKey> {
        self.keys.of(kind).map(|(key, _)| key.clone()).collect()
    }

    /// The tree or RNTuple of this path, the newest cycle if none is named (`dir/Events;1`). An empty
    /// path stands for the only one.
    ///
    /// # Errors
    /// `NotFound` with near names of both kinds; `Unsupported` for RNTuples from before the format's
    /// release; and what reading the metadata brings.
    pub fn table(&self, path: &str) -> Result<Table, ReadError> {
        self.open_table(self.find(path, Kind::Any)?)
    }

    /// The tree or RNTuple of this path if its metadata are read already, as [`File::table`] gives it. Reads nothing.
    #[must_use]
    pub fn known_table(&self, path: &str) -> Option<Table> {
        let key = self.keys.find(path, Kind::Any).ok()?;
        let tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(tables.get(&key.seek)?);
        drop(tables);
        let slot = slot.try_lock().ok()?; // another thread reads them
        slot.clone()
    }

    /// The tree of this path, as [`File::table`].
    ///
    /// # Errors
    /// As [`File::table`]; an RNTuple is not found.
    pub fn tree(&self, path: &str) -> Result<Arc<TreeFile>, ReadError> {
        match self.open_table(self.find(path, Kind::Tree)?)? {
            Table::Tree(tree) => Ok(tree),
            Table::NTuple(_) => Err(self.missing(format!("'{path}' is an RNTuple, not a tree"))),
        }
    }

    /// The RNTuple of this path, as [`File::table`].
    ///
    /// # Errors
    /// As [`File::table`]; a tree is not found.
    pub fn ntuple(&self, path: &str) -> Result<Arc<NTupleFile>, ReadError> {
        match self.open_table(self.find(path, Kind::NTuple)?)? {
            Table::NTuple(ntuple) => Ok(ntuple),
            Table::Tree(_) => Err(self.missing(format!("'{path}' is a tree, not an RNTuple"))),
        }
    }

    fn find(&self, path: &str, kind: Kind) -> Result<&Key, ReadError> {
        let found = self.keys.find(path, kind);
        found.map_err(|message| self.missing(message))
    }

    fn missing(&self, message: String) -> ReadError {
        ReadError::not_found(message, self.source.name())
    }

    /// What the key is of, whose metadata are read at most once.
    fn open_table(&self, key: &Key) -> Result<Table, ReadError> {
        let mut tables = self.tables.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(tables.entry(key.seek).or_default());
        drop(tables);
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = slot.as_ref() {
            return Ok(table.clone());
        }
        let table = match key.is_tree() {
            true => Table::from(Arc::new(self.read_tree(key)?)),
            false => Table::from(Arc::new(self.read_ntuple(key)?)),
        };
        *slot = Some(table.clone());
        Ok(table)
    }

    fn read_ntuple(&self, key: &Key) -> Result<NTupleFile, ReadError> {
        if key.class != rntuple::CLASS {
            let what = format!(
                "treemill cannot read an RNTuple from before the format's release (class {})",
                key.class
            );
            return Err(ReadError {
                kind: ErrorKind::Unsupported,
                ..self.missing(what)
            });
        }
        NTupleFile::open(Arc::clone(&self.source), key)
    }

    fn read_tree(&self, key: &Key) -> Result<TreeFile, ReadError> {
        let _span = debug_span!("metadata", table = key.name).entered();
        let fetch = Fetch::new(self.source.as_ref());
        let mut ranges = vec![key.payload()];
        let early = self.early.lock();
        let early = early.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(record) = early {
            self.parsed(&fetch, Some(record))?;
        }
        let known = self.infos.get();
        // Together, since each may lie where nothing was read yet.
        ranges.extend(
            self.header
                .streamer_info
                .clone()
                .filter(|_| known.is_none()),
        );
        let mut records = fetch.all(ranges)?.into_iter();
        let packed = records.next().unwrap_or_default();
        let mut unpacked = Vec::new();
        let object = fetch.unpack(key, &packed, &mut unpacked)?;
        let infos = match known {
            Some(infos) => Arc::clone(infos),
            None => self.parsed(&fetch, records.next())?,
        };
        let mut tree = parse_tree(&key.class, object, key.key_len, &infos)
            .map_err(|e| fetch.wrong(&e, None).at(key.seek))?;
        first_look::describe(&fetch, &mut tree, &infos)?;
        Ok(TreeFile::new(Arc::clone(&self.source), tree))
    }

    /// The file's streamer information, from its record.
    fn parsed(
        &self,
        fetch: &Fetch<'_>,
        record: Option<Vec<u8>>,
    ) -> Result<Arc<StreamerInfos>, ReadError> {
        let infos = match (&self.header.streamer_info, record) {
            (Some(range), Some(record)) => fetch.streamer_infos(range.start, &record)?,
            _ => Arc::default(),
        };
        Ok(Arc::clone(self.infos.get_or_init(|| infos)))
    }
}

/// The bytes of a range of a file whose first bytes are here.
fn part<'a>(first: &'a [u8], range: &Range<u64>) -> Option<&'a [u8]> {
    first.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::keys::tests::keys;
    use std::sync::Weak;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use treemill_source::{Costs, Info, Request, SourceError};
    use treemill_testing::FAR;

    /// A source of zeros that notes, at each read, whether a thread could open another tree meanwhile.
    struct Probe {
        info: Info,
        file: OnceLock<Weak<File>>,
        reads: AtomicUsize,
        blocked: AtomicUsize,
    }

    impl Source for Probe {
        fn info(&self) -> &Info {
            &self.info
        }

        fn costs(&self) -> Costs {
            FAR
        }

        fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
            self.reads.fetch_add(1, Ordering::Relaxed);
            let file = self.file.get().and_then(Weak::upgrade).unwrap();
            let is_free = file.tables.try_lock().is_ok();
            self.blocked
                .fetch_add(usize::from(!is_free), Ordering::Relaxed);
            for request in requests {
                request.prepare(self.size()).unwrap();
            }
            Ok(())
        }
    }

    #[test]
    fn while_a_tree_is_opened_others_can_be_opened() {
        let source = Arc::new(Probe {
            info: Info::new("zeros", 1000),
            file: OnceLock::new(),
            reads: AtomicUsize::new(0),
            blocked: AtomicUsize::new(0),
        });
        let file = Arc::new(File {
            source: Arc::clone(&source) as Arc<dyn Source>,
            header: FileHeader {
                version: 64_000,
                begin: 100,
                end: 100,
                compression: 0,
                name_bytes: 0,
                streamer_info: None,
                root_directory: 0..0,
                uuid: None,
            },
            keys: keys([("TTree", "a"), (rntuple::CLASS, "b")]),
            infos: OnceLock::new(),
            early: Mutex::default(),
            tables: Mutex::default(),
        });
        source.file.set(Arc::downgrade(&file)).unwrap();
        for path in ["a", "b"] {
            file.table(path).unwrap_err(); // zeros are neither
        }
        let [reads, blocked] = [&source.reads, &source.blocked].map(|n| n.load(Ordering::Relaxed));
        assert!(reads >= 2, "{reads}");
        assert_eq!(blocked, 0);
    }
}
