//! Opening files: from the header to the key lists to the trees, each step's bytes fetched when the
//! parser has said where they are.

use crate::first_look;
use crate::near::near;
use crate::{ErrorKind, ReadError, TreeFile};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use treemill_format::compress::Decompressor;
use treemill_format::directory::{Directory, parse_key_list};
use treemill_format::error::FormatError;
use treemill_format::header::{FileHeader, HEADER_BYTES};
use treemill_format::key::Key;
use treemill_format::parse_tree;
use treemill_format::reader::Reader;
use treemill_format::streamer::StreamerInfos;
use treemill_source::{Request, Source};

/// What is asked for first: the header, and in most files the root directory behind it.
const FIRST_BYTES: u64 = 1024;

/// How deep directories may lie in one another.
const DEEPEST: usize = 64;

/// A tree in a file, not yet read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeKey {
    /// Directories and name: `dir/Events`.
    pub path: String,
    /// The newest of a name has the largest.
    pub cycle: u16,
    /// `TTree`, `TNtuple`, or another class that names a columnar object.
    pub class: String,
    /// The key's title.
    pub title: String,
}

/// A tree once it is parsed. Locked while it is, so that others wait for it and not for each other.
type Slot = Arc<Mutex<Option<Arc<TreeFile>>>>;

/// An open file. Shared by any number of threads; trees are parsed once.
pub struct File {
    source: Arc<dyn Source>,
    header: FileHeader,
    keys: Vec<(TreeKey, Key)>,
    infos: OnceLock<Arc<StreamerInfos>>,
    /// By the place of the record.
    trees: Mutex<BTreeMap<u64, Slot>>,
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
    /// `Format` where this is no ROOT file or is truncated; `Source` where bytes could not be had.
    pub fn open(source: Arc<dyn Source>) -> Result<Arc<Self>, ReadError> {
        let size = source.size();
        let fetch = Fetch {
            source: source.as_ref(),
        };
        let first = fetch.bytes(0..FIRST_BYTES.max(HEADER_BYTES).min(size))?;
        let header = FileHeader::parse(&first, size).map_err(|e| fetch.wrong(&e, Some(0)))?;
        if size < header.end {
            let what = format!("truncated: {size} bytes of {}", header.end);
            return Err(fetch.wrong(&FormatError::Malformed { what, at: 0 }, Some(size)));
        }
        let root = header.root_directory.clone();
        let record = match part(&first, &root) {
            Some(record) => record.to_vec(),
            None => fetch.bytes(root.clone())?,
        };
        let directory =
            Directory::parse(&record, size).map_err(|e| fetch.wrong(&e, Some(root.start)))?;
        let keys = Keys::walk(&fetch, &directory)?;
        Ok(Arc::new(File {
            source,
            header,
            keys,
            infos: OnceLock::new(),
            trees: Mutex::default(),
        }))
    }

    /// Where the bytes come from.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// The keys of trees and RNTuples, in the order of the file.
    pub(crate) fn keys(&self) -> &[(TreeKey, Key)] {
        &self.keys
    }

    /// The paths of such keys, in the order of the file, each once whatever its cycles.
    pub(crate) fn paths(&self, is_wanted: impl Fn(&Key) -> bool) -> Vec<&str> {
        let wanted = self.keys.iter().filter(|(_, key)| is_wanted(key));
        let mut seen = HashSet::new();
        let paths = wanted.map(|(tree, _)| tree.path.as_str());
        paths.filter(|path| seen.insert(*path)).collect()
    }

    /// The trees of all directories, in the order of the file, every cycle.
    #[must_use]
    pub fn trees(&self) -> Vec<TreeKey> {
        let trees = self.keys.iter().filter(|(_, key)| key.is_tree());
        trees.map(|(tree, _)| tree.clone()).collect()
    }

    /// The tree of this path, the newest cycle where none is named (`dir/Events;1`). An empty path
    /// stands for the file's only tree.
    ///
    /// # Errors
    /// `NotFound` with near names; `Unsupported` for RNTuples; and what reading its record brings.
    pub fn tree(&self, path: &str) -> Result<Arc<TreeFile>, ReadError> {
        let key = self.find(path)?;
        let mut trees = self.trees.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = Arc::clone(trees.entry(key.seek).or_default());
        drop(trees);
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tree) = slot.as_ref() {
            return Ok(Arc::clone(tree));
        }
        let fetch = Fetch {
            source: self.source.as_ref(),
        };
        let packed = fetch.bytes(key.payload())?;
        let mut unpacked = Vec::new();
        let object = fetch.unpack(key, &packed, &mut unpacked)?;
        let infos = self.infos(&fetch)?;
        let mut tree = parse_tree(&key.class, object, key.key_len, &infos)
            .map_err(|e| fetch.wrong(&e, None).at(key.seek))?;
        first_look::describe(&fetch, &mut tree, &infos)?;
        let tree = Arc::new(TreeFile::new(Arc::clone(&self.source), tree));
        *slot = Some(Arc::clone(&tree));
        Ok(tree)
    }

    fn infos(&self, fetch: &Fetch<'_>) -> Result<Arc<StreamerInfos>, ReadError> {
        if let Some(infos) = self.infos.get() {
            return Ok(Arc::clone(infos));
        }
        let infos = match &self.header.streamer_info {
            Some(range) => fetch.streamer_infos(range.clone())?,
            None => StreamerInfos::default(),
        };
        Ok(Arc::clone(self.infos.get_or_init(|| Arc::new(infos))))
    }

    fn find(&self, path: &str) -> Result<&Key, ReadError> {
        let name = self.source.name();
        let (wanted, cycle) = match path.rsplit_once(';') {
            Some((stem, cycle)) if cycle.parse::<u16>().is_ok() => (stem, cycle.parse().ok()),
            _ => (path, None),
        };
        let wanted = wanted.trim_start_matches('/');
        let paths = self.paths(Key::is_tree);
        let wanted = match (wanted, paths.as_slice()) {
            ("", [only]) => only,
            ("", [_, _, ..]) => {
                let all = paths.join(", ");
                return Err(ReadError::not_found(
                    format!("the file has several trees, name one: {all}"),
                    name,
                ));
            }
            (wanted, _) => wanted,
        };
        let named = self.keys.iter().filter(|(tree, _)| {
            (tree.path == wanted || wanted.is_empty()) && cycle.is_none_or(|c| tree.cycle == c)
        });
        match named.max_by_key(|(tree, key)| (key.is_tree(), tree.cycle)) {
            Some((_, key)) if key.is_tree() => Ok(key),
            Some((tree, _)) => Err(ReadError {
                kind: ErrorKind::Unsupported,
                message: format!("{} '{}' cannot be read yet", tree.class, tree.path),
                ..ReadError::not_found(String::new(), name)
            }),
            None if paths.is_empty() => Err(ReadError::not_found(
                "the file has no trees".to_owned(),
                name,
            )),
            None => {
                let mut message = format!("no tree '{path}'");
                let likely = near(wanted, paths.iter().copied(), 3);
                match likely.as_slice() {
                    [] => message.push_str(&format!("; there are: {}", paths.join(", "))),
                    _ => message.push_str(&format!("; near names: {}", likely.join(", "))),
                }
                Err(ReadError::not_found(message, name))
            }
        }
    }
}

/// Brings whole records.
pub(crate) struct Fetch<'a> {
    source: &'a dyn Source,
}

impl Fetch<'_> {
    pub(crate) fn bytes(&self, range: Range<u64>) -> Result<Vec<u8>, ReadError> {
        let mut request = [Request::new(range)];
        self.source.read(&mut request).map_err(ReadError::source)?;
        let [request] = request;
        Ok(request.buffer)
    }

    /// Several ranges, asked for together.
    pub(crate) fn all(&self, ranges: Vec<Range<u64>>) -> Result<Vec<Vec<u8>>, ReadError> {
        let mut requests: Vec<_> = ranges.into_iter().map(Request::new).collect();
        self.source.read(&mut requests).map_err(ReadError::source)?;
        Ok(requests.into_iter().map(|r| r.buffer).collect())
    }

    pub(crate) fn wrong(&self, error: &FormatError, base: Option<u64>) -> ReadError {
        ReadError::format(error, self.source.name(), base)
    }

    /// A key's object: the `packed` bytes after it, uncompressed where they are not so already.
    fn unpack<'b>(
        &self,
        key: &Key,
        packed: &'b [u8],
        unpacked: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], ReadError> {
        self.unpacked(packed, key.object_bytes, unpacked)
            .map_err(|e| self.wrong(&e, Some(key.payload().start)))
    }

    /// A record's bytes, uncompressed where they are not so already.
    pub(crate) fn unpacked<'b>(
        &self,
        packed: &'b [u8],
        len: usize,
        unpacked: &'b mut Vec<u8>,
    ) -> Result<&'b [u8], FormatError> {
        Decompressor::new().unpack(packed, len, unpacked)
    }

    fn streamer_infos(&self, range: Range<u64>) -> Result<StreamerInfos, ReadError> {
        let record = self.bytes(range.clone())?;
        let key =
            Key::parse(&mut Reader::new(&record)).map_err(|e| self.wrong(&e, Some(range.start)))?;
        let packed = record.get(key.key_len..).unwrap_or_default();
        let mut unpacked = Vec::new();
        let object = self.unpack(&key, packed, &mut unpacked)?;
        StreamerInfos::parse(object, key.key_len).map_err(|e| self.wrong(&e, None).at(range.start))
    }
}

/// The keys of trees found on a walk through the directories.
#[derive(Default)]
struct Keys {
    found: Vec<(TreeKey, Key)>,
    /// Key lists that were seen: a damaged file's directories may go round in circles.
    seen: BTreeSet<u64>,
}

impl Keys {
    fn walk(fetch: &Fetch<'_>, root: &Directory) -> Result<Vec<(TreeKey, Key)>, ReadError> {
        let mut keys = Keys::default();
        keys.enter(fetch, root, "", 0)?;
        Ok(keys.found)
    }

    fn enter(
        &mut self,
        fetch: &Fetch<'_>,
        directory: &Directory,
        prefix: &str,
        depth: usize,
    ) -> Result<(), ReadError> {
        let Some(range) = directory.key_list.clone() else {
            return Ok(());
        };
        if !self.seen.insert(range.start) || depth > DEEPEST {
            return Err(fetch.wrong(
                &FormatError::Malformed {
                    what: format!("directory '{prefix}' lies in itself"),
                    at: 0,
                },
                Some(range.start),
            ));
        }
        let size = fetch.source.size();
        let list = fetch.bytes(range.clone())?;
        let keys = parse_key_list(&list, size).map_err(|e| fetch.wrong(&e, Some(range.start)))?;
        for key in keys {
            let path = format!("{prefix}{}", key.name);
            if key.is_directory() {
                let payload = key.payload();
                let record = fetch.bytes(payload.clone())?;
                let inner = Directory::parse(&record, size)
                    .map_err(|e| fetch.wrong(&e, Some(payload.start)))?;
                self.enter(fetch, &inner, &format!("{path}/"), depth.saturating_add(1))?;
            } else if key.is_tree() || key.class.ends_with("RNTuple") {
                let tree = TreeKey {
                    path,
                    cycle: key.cycle,
                    class: key.class.clone(),
                    title: key.title.clone(),
                };
                self.found.push((tree, key));
            }
        }
        Ok(())
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
    use treemill_source::{Latency, Memory};

    /// A file of zeros with such keys of trees.
    fn of_keys(paths: impl Iterator<Item = (String, u64)>) -> File {
        let keys = paths.map(|(path, seek)| {
            let key = Key {
                seek,
                record_bytes: 8,
                key_len: 0,
                object_bytes: 8,
                cycle: 1,
                parent: 0,
                class: "TTree".to_owned(),
                name: path.clone(),
                title: String::new(),
            };
            let tree = TreeKey {
                path,
                cycle: 1,
                class: "TTree".to_owned(),
                title: String::new(),
            };
            (tree, key)
        });
        File {
            source: Arc::new(Memory::new("zeros", vec![0; 100], Latency::Local)),
            header: FileHeader {
                version: 64_000,
                begin: 100,
                end: 100,
                compression: 0,
                name_bytes: 0,
                streamer_info: None,
                root_directory: 0..0,
            },
            keys: keys.collect(),
            infos: OnceLock::new(),
            trees: Mutex::default(),
        }
    }

    /// Each path is looked for among those before it once, not in all of them: that would take minutes.
    #[test]
    fn a_tree_is_found_among_very_many() {
        let many = 200_000;
        let file = of_keys((0..many).map(|i| (format!("dir/tree{}", i / 2), 0)));
        assert_eq!(file.paths(Key::is_tree).len(), many / 2);
        assert_eq!(file.find("dir/tree77").unwrap().name, "dir/tree77");
    }

    #[test]
    fn a_tree_that_is_being_opened_keeps_none_of_another_waiting() {
        let file = of_keys([("a".to_owned(), 10), ("b".to_owned(), 20)].into_iter());
        let being_opened = Arc::clone(file.trees.lock().unwrap().entry(10).or_default());
        let _opening = being_opened.lock().unwrap();
        let error = file.tree("b").unwrap_err();
        assert_eq!(
            error.kind,
            ErrorKind::Unsupported,
            "zeros are no tree: {error}"
        );
    }
}
