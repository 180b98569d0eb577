//! The keys of a file's trees and RNTuples, from a walk through the directories, and by name. Reads key lists;
//! opens no tree.

use crate::ReadError;
use crate::faults::malformed;
use crate::fetch::Fetch;
use crate::limits::{DIRECTORY_DEPTH, LISTS_TOGETHER};
use crate::near::near;
use std::collections::{BTreeSet, HashSet};
use std::hash::Hash;
use std::ops::Range;
use treemill_format::directory::{Directory, parse_key_list};
use treemill_format::key::Key;

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

/// The kind of table that is looked for by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tree,
    NTuple,
    /// A tree or an RNTuple; a tree comes before an RNTuple of the same path and cycle.
    Any,
}

impl Kind {
    fn has(self, key: &Key) -> bool {
        match self {
            Kind::Tree => key.is_tree(),
            Kind::NTuple => !key.is_tree(),
            Kind::Any => true,
        }
    }

    /// One of them, for messages.
    fn noun(self) -> &'static str {
        match self {
            Kind::Tree | Kind::Any => "tree",
            Kind::NTuple => "RNTuple",
        }
    }
}

/// The keys of all directories, in the order of the file.
#[derive(Debug)]
pub(crate) struct Keys(Vec<(TreeKey, Key)>);

impl Keys {
    /// The keys below the root directory.
    pub(crate) fn read(fetch: &Fetch<'_>, root: &Directory) -> Result<Self, ReadError> {
        let mut walk = Walk::default();
        walk.folders.push(Folder::default());
        let mut lists: Vec<Due> = root.key_list.iter().map(|list| (0, list.clone())).collect();
        for depth in 0.. {
            if lists.is_empty() {
                break;
            }
            lists = walk.enter(fetch, lists, depth)?;
        }
        let mut found = Vec::new();
        walk.drain(0, &mut found);
        Ok(Keys(found))
    }

    /// The keys of a kind, every cycle.
    pub(crate) fn of(&self, kind: Kind) -> impl Iterator<Item = &(TreeKey, Key)> {
        self.0.iter().filter(move |(_, key)| kind.has(key))
    }

    /// Their paths, each once whatever its cycles.
    fn paths(&self, kind: Kind) -> Vec<&str> {
        distinct(self.of(kind).map(|(tree, _)| tree.path.as_str()))
    }

    /// The key of this path, the newest cycle if none is named (`dir/Events;1`). An empty path stands for
    /// the only one of its kind.
    ///
    /// # Errors
    /// What there is instead, in words.
    pub(crate) fn find(&self, path: &str, kind: Kind) -> Result<&Key, String> {
        let (wanted, cycle) = match path.rsplit_once(';') {
            Some((stem, cycle)) if cycle.parse::<u16>().is_ok() => (stem, cycle.parse().ok()),
            _ => (path, None),
        };
        let wanted = wanted.trim_start_matches('/');
        let paths = self.paths(kind);
        let (noun, all) = (kind.noun(), || paths.join(", "));
        let wanted = match (wanted, paths.as_slice()) {
            (_, []) => return Err(format!("the file has no {noun}s")),
            ("", [only]) => only,
            ("", _) => {
                return Err(format!(
                    "the file has several {noun}s; name one of them: {}",
                    all()
                ));
            }
            (wanted, _) => wanted,
        };
        let named = self.of(kind);
        let named =
            named.filter(|(tree, _)| tree.path == wanted && cycle.is_none_or(|c| tree.cycle == c));
        let newest = named.max_by_key(|(tree, key)| (tree.cycle, key.is_tree()));
        newest.map(|(_, key)| key).ok_or_else(|| {
            match near(wanted, paths.iter().copied(), 3).as_slice() {
                [] => format!("the file has no {noun} '{path}'; it has {}", all()),
                likely => format!(
                    "the file has no {noun} '{path}'; did you mean {}?",
                    likely.join(", ")
                ),
            }
        })
    }
}

/// Each item once, at its first place. The cost of an item does not depend on how many there are.
fn distinct<T: Copy + Eq + Hash>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut seen = HashSet::new();
    items.filter(|item| seen.insert(*item)).collect()
}

/// A walk through the directories, level by level: what all directories of a level need is asked for together.
#[derive(Default)]
struct Walk {
    /// The first one is the root.
    folders: Vec<Folder>,
    /// Key lists that were seen: a damaged file's directories may go round in circles.
    seen: BTreeSet<u64>,
}

/// A directory: its path, which ends with a slash unless it is the root, and what lies in it, in order.
#[derive(Default)]
struct Folder {
    path: String,
    items: Vec<Item>,
}

enum Item {
    Table(TreeKey, Key),
    /// Its place in the walk.
    Folder(usize),
}

/// A directory of the next level: its place in the walk, and a range of the file that is to be read for it.
type Due = (usize, Range<u64>);

impl Walk {
    /// Enters the directories whose key lists these are; gives the key lists of those that lie in them.
    fn enter(
        &mut self,
        fetch: &Fetch<'_>,
        lists: Vec<Due>,
        depth: usize,
    ) -> Result<Vec<Due>, ReadError> {
        for (folder, range) in &lists {
            if !self.seen.insert(range.start) || depth > DIRECTORY_DEPTH {
                let path = self.folders.get(*folder).map_or("", |folder| &folder.path);
                let what = format!("the directory '{path}' lies in itself");
                return Err(fetch.wrong(&malformed(0, what), Some(range.start)));
            }
        }
        let mut records = Vec::new();
        each(fetch, lists, |folder, range, list| {
            let keys = parse_key_list(list, fetch.source.size())
                .map_err(|e| fetch.wrong(&e, Some(range.start)))?;
            self.fill(folder, keys, &mut records);
            Ok(())
        })?;
        let mut next = Vec::new();
        each(fetch, records, |folder, range, record| {
            let directory = Directory::parse(record, fetch.source.size())
                .map_err(|e| fetch.wrong(&e, Some(range.start)))?;
            next.extend(directory.key_list.map(|list| (folder, list)));
            Ok(())
        })?;
        Ok(next)
    }

    /// Notes what lies in a directory. Records of directories are to be read.
    fn fill(&mut self, folder: usize, keys: Vec<Key>, records: &mut Vec<Due>) {
        for key in keys {
            let above = self.folders.get(folder).map_or("", |folder| &folder.path);
            let path = format!("{above}{}", key.name);
            let item = if key.is_directory() {
                let number = self.folders.len();
                self.folders.push(Folder {
                    path: format!("{path}/"),
                    items: Vec::new(),
                });
                records.push((number, key.payload()));
                Item::Folder(number)
            } else if key.is_tree() || key.class.ends_with("RNTuple") {
                let tree = TreeKey {
                    path,
                    cycle: key.cycle,
                    class: key.class.clone(),
                    title: key.title.clone(),
                };
                Item::Table(tree, key)
            } else {
                continue;
            };
            if let Some(folder) = self.folders.get_mut(folder) {
                folder.items.push(item);
            }
        }
    }

    /// What was found below a directory, in the order of the file. A directory comes after the one that it lies in, so this
    /// ends.
    fn drain(&mut self, folder: usize, found: &mut Vec<(TreeKey, Key)>) {
        let items = self
            .folders
            .get_mut(folder)
            .map(|f| std::mem::take(&mut f.items));
        for item in items.unwrap_or_default() {
            match item {
                Item::Table(tree, key) => found.push((tree, key)),
                Item::Folder(number) => self.drain(number, found),
            }
        }
    }
}

/// Reads ranges for directories, as many together as fit into the memory that is meant for that.
fn each(
    fetch: &Fetch<'_>,
    due: Vec<Due>,
    mut then: impl FnMut(usize, &Range<u64>, &[u8]) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let mut bytes = 0_u64;
    let together = |_: &Due, (_, next): &Due| {
        let more = next.end.saturating_sub(next.start);
        bytes = bytes.saturating_add(more);
        let fits = bytes <= LISTS_TOGETHER;
        bytes = if fits { bytes } else { more };
        fits
    };
    for some in due.chunk_by(together) {
        let ranges = some.iter().map(|(_, range)| range.clone()).collect();
        for ((folder, range), read) in some.iter().zip(fetch.all(ranges)?) {
            then(*folder, range, &read)?;
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    #![allow(clippy::unwrap_used, clippy::arithmetic_side_effects)]
    use super::*;
    use std::cell::Cell;
    use std::hash::Hasher;

    /// Keys of these classes and paths, each a cycle newer than the one before.
    pub(crate) fn keys<'a>(named: impl IntoIterator<Item = (&'a str, &'a str)>) -> Keys {
        let keys = named.into_iter().zip(1..).map(|((class, path), cycle)| {
            let key = Key {
                seek: u64::from(cycle),
                record_bytes: 8,
                key_len: 0,
                object_bytes: 8,
                cycle,
                parent: 0,
                class: class.to_owned(),
                name: path.to_owned(),
                title: String::new(),
            };
            let tree = TreeKey {
                path: path.to_owned(),
                cycle,
                class: class.to_owned(),
                title: String::new(),
            };
            (tree, key)
        });
        Keys(keys.collect())
    }

    const NTUPLE: &str = "ROOT::RNTuple";

    #[test]
    fn a_name_means_the_newest_of_its_kind() {
        let keys = keys([
            ("TTree", "a"),
            ("TTree", "a"),
            (NTUPLE, "a"),
            ("TTree", "d/b"),
        ]);
        let cycle = |path, kind| keys.find(path, kind).map(|key| key.cycle);
        assert_eq!(cycle("a", Kind::Tree), Ok(2));
        assert_eq!(cycle("a", Kind::Any), Ok(3));
        assert_eq!(cycle("/a;1", Kind::Any), Ok(1));
        assert_eq!(cycle("d/b", Kind::Any), Ok(4));
        assert_eq!(cycle("", Kind::NTuple), Ok(3), "the only one");
    }

    #[test]
    fn what_there_is_instead_is_said() {
        let keys = keys([("TTree", "Events"), ("TTree", "Runs")]);
        let error = |path, kind| keys.find(path, kind).unwrap_err();
        let several = "the file has several trees; name one of them: Events, Runs";
        assert_eq!(error("", Kind::Any), several);
        assert_eq!(error("", Kind::Tree), several);
        assert_eq!(
            error("Event", Kind::Any),
            "the file has no tree 'Event'; did you mean Events?"
        );
        assert_eq!(
            error("x", Kind::Tree),
            "the file has no tree 'x'; it has Events, Runs"
        );
        assert_eq!(
            error("Events;7", Kind::Tree),
            "the file has no tree 'Events;7'; did you mean Events?"
        );
        assert_eq!(error("x", Kind::NTuple), "the file has no RNTuples");
    }

    /// A file may have 100,000 trees: a comparison of each path with all others takes minutes.
    #[test]
    fn few_paths_are_compared_with_one_another() {
        #[derive(Clone, Copy)]
        struct Path<'a>(usize, &'a Cell<usize>);
        impl PartialEq for Path<'_> {
            fn eq(&self, other: &Self) -> bool {
                self.1.set(self.1.get().saturating_add(1));
                self.0 == other.0
            }
        }
        impl Eq for Path<'_> {}
        impl Hash for Path<'_> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.0.hash(state);
            }
        }
        let (many, compared) = (20_000, Cell::new(0));
        let paths = (0..many).map(|i| Path(i / 2, &compared));
        assert_eq!(distinct(paths).len(), many / 2);
        assert!(compared.get() < 2 * many, "{} comparisons", compared.get());
    }
}
