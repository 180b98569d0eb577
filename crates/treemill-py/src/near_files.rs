//! Files of this machine by their numbers, for Python: many of them take nothing of Python's for each.

use crate::file::uuid;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt, PyString, PyTuple};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use treemill_engine::{Files, Is, Place, at_once};
use treemill_source::{Identity, Source, SourceError};

/// What a file of this machine was when it was looked at, as `treemill.data.identity.Identity` has it: its bytes, when it was
/// changed last, and its marks.
pub type Looked<'py> = (
    u64,
    Number<'py>,
    (Number<'py>, u64, Number<'py>, Number<'py>),
);

/// What a file was that the core has opened, its entries and the first ones of its clusters, and whether it is known that they are in
/// their order.
type Found<'py> = (Looked<'py>, (u64, Bound<'py, PyTuple>), bool);

/// What a file was, and a digest of its first and last bytes.
type Ends<'py> = (Looked<'py>, Bound<'py, PyBytes>);

/// A number of Python's, for it is kept in several places.
type Number<'py> = Bound<'py, PyInt>;

/// What a file is, for Python.
pub fn looked<'py>(py: Python<'py>, identity: &Identity) -> PyResult<Looked<'py>> {
    let [device, inode] = identity.place;
    let [modified, changed] = times(identity);
    let is_modified_last = modified >= changed;
    let (modified, changed) = (modified.into_pyobject(py)?, changed.into_pyobject(py)?);
    let last = match is_modified_last {
        true => modified.clone(),
        false => changed.clone(),
    };
    let marks = (device.into_pyobject(py)?, inode, modified, changed);
    Ok((identity.size, last, marks))
}

/// Nanoseconds of a second.
const SECOND: i64 = 1_000_000_000;

/// When a file of this machine, and its inode, were changed, in nanoseconds since 1970.
fn times(identity: &Identity) -> [i64; 2] {
    let [modified, modified_ns, changed, changed_ns] = identity.state.map(u64::cast_signed);
    [(modified, modified_ns), (changed, changed_ns)].map(|(seconds, nanoseconds)| {
        let whole = seconds.saturating_mul(SECOND);
        whole.saturating_add(nanoseconds)
    })
}

/// What Python has looked at; `None` if files of this machine are not so.
fn identity(of: &Bound<'_, PyAny>) -> Option<Identity> {
    let (size, _, (device, inode, modified, changed)): (u64, i64, (u64, u64, i64, i64)) =
        of.extract().ok()?;
    let parts = |time: i64| [time.div_euclid(SECOND), time.rem_euclid(SECOND)];
    let ([modified, modified_ns], [changed, changed_ns]) = (parts(modified), parts(changed));
    let state = [modified, modified_ns, changed, changed_ns];
    Some(Identity {
        place: [device, inode],
        size,
        state: state.map(i64::cast_unsigned),
    })
}

/// The bytes of a UUID.
fn bytes(uuid: &str) -> Option<[u8; 16]> {
    let digits = uuid.replace('-', "");
    let number = u128::from_str_radix(&digits, 16).ok()?;
    Some(number.to_be_bytes())
}

/// Files of this machine.
pub struct Local;

impl Files for Local {
    fn open(&self, path: &str) -> Result<Arc<dyn Source>, SourceError> {
        treemill_remote::mounts::open(path)
    }

    fn identity(&self, path: &str) -> Option<Identity> {
        treemill_source::Local::identity_at(path)
    }

    fn state(&self, path: &str) -> Option<Identity> {
        treemill_source::Local::state_at(path)
    }

    fn ends(&self, path: &str) -> Option<(Identity, u128)> {
        treemill_source::Local::ends_at(path)
    }
}

/// What is asked of a `treemill.data.location.Location`.
#[derive(FromPyObject)]
struct Location<'py> {
    path: Bound<'py, PyString>,
    tree: Option<Bound<'py, PyString>>,
    replicas: Bound<'py, PyTuple>,
}

/// Where the file lies; `None` if it has several addresses, is no path, or if a name has other signs than those of ASCII: such names
/// are checked where files are opened one by one.
fn place<'l>(location: &'l Location<'_>) -> Option<Place<'l>> {
    let path = location.path.to_str().ok()?;
    let table = location.tree.as_ref().map_or(Ok(""), |tree| tree.to_str());
    let table = table.ok()?;
    if !location.replicas.is_empty() || path.contains("://") {
        return None;
    }
    (path.is_ascii() && table.is_ascii()).then_some(Place { path, table })
}

/// Threads that look at files at once, at most.
const THREADS: usize = 8;

/// Threads that look at files at once: as many as there are processors, so that none waits for another.
fn threads() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    processors.min(THREADS)
}

/// Which of these texts are the paths of files that are there, and have no sign that could mean something else than a path does.
#[pyfunction]
pub fn are_plain(py: Python<'_>, texts: Vec<Bound<'_, PyString>>) -> Vec<bool> {
    let is_plain = |text: &&str| {
        let has_sign =
            text.starts_with(['@', '~']) || text.ends_with('/') || text.contains([':', '\0']);
        text.is_ascii() && !has_sign
    };
    let paths = texts.iter().map(|text| text.to_str().ok());
    let paths: Vec<Option<&str>> = paths.map(|text| text.filter(is_plain)).collect();
    let are_there = |paths: &[Option<&str>]| -> Vec<bool> {
        let is_there = |path: &str| Path::new(path).symlink_metadata().is_ok();
        paths
            .iter()
            .map(|path| path.is_some_and(is_there))
            .collect()
    };
    py.detach(|| {
        at_once(&paths, threads(), are_there, |failed| {
            vec![false; failed.len()]
        })
    })
}

/// A digest of the first and last bytes of a file; `None` if it cannot be read.
#[pyfunction]
pub fn ends(py: Python<'_>, path: PathBuf) -> Option<Bound<'_, PyBytes>> {
    let found = py.detach(|| treemill_source::Local::ends_at(path));
    found.map(|(_, digest)| PyBytes::new(py, &digest.to_le_bytes()))
}

/// Files by their numbers.
#[pyclass(frozen)]
pub struct NearFiles {
    inner: treemill_engine::NearFiles,
}

impl NearFiles {
    /// For the engine.
    pub fn inner(&self) -> &treemill_engine::NearFiles {
        &self.inner
    }
}

#[pymethods]
impl NearFiles {
    /// `locations`: of the type `treemill.data.location.Location`. Those that are not opened here have no place in this.
    #[new]
    fn new(locations: Vec<Location<'_>>) -> Self {
        Self {
            inner: treemill_engine::NearFiles::new(locations.iter().map(place)),
        }
    }

    /// The same files for one pass.
    fn pinned(&self) -> Self {
        Self {
            inner: self.inner.pinned(),
        }
    }

    /// Notes what a file is. Gives what the pass goes by, for the first look holds; `None` if it has no place here.
    fn note<'py>(
        &self,
        py: Python<'py>,
        number: usize,
        seen: &Bound<'py, PyAny>,
    ) -> PyResult<Option<Looked<'py>>> {
        let seen = self.inner.place(number).and_then(|_| identity(seen));
        let held = seen.map(|seen| self.inner.note(number, seen));
        held.map(|held| looked(py, &held)).transpose()
    }

    /// Notes what a file was that was opened, and its UUID. False if the pass has seen it otherwise; `None` if it has no place here.
    fn opened(&self, number: usize, seen: &Bound<'_, PyAny>, uuid: Option<&str>) -> Option<bool> {
        let identity = self.inner.place(number).and_then(|_| identity(seen))?;
        let uuid = uuid.and_then(bytes);
        Some(self.inner.opened(number, Is { identity, uuid }))
    }

    /// What the pass has seen of a file; `None` if nothing.
    fn identity<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Option<Looked<'py>>> {
        let seen = self.inner.seen(number);
        seen.map(|seen| looked(py, &seen.identity)).transpose()
    }

    /// Whether the pass has seen the file.
    fn is_seen(&self, number: usize) -> bool {
        self.inner.seen(number).is_some()
    }

    /// The numbers of all files that the pass has seen, in order.
    fn all_seen(&self) -> Vec<usize> {
        self.inner.all_seen()
    }

    /// What a file was that the pass has opened, with its UUID; `None` of others.
    fn state<'py>(
        &self,
        py: Python<'py>,
        number: usize,
    ) -> PyResult<Option<(Looked<'py>, Option<String>)>> {
        let seen = self.inner.seen(number).filter(|seen| seen.is_open);
        seen.map(|seen| Ok((looked(py, &seen.identity)?, seen.uuid.map(uuid))))
            .transpose()
    }

    /// What the core has found in a file; `None` if it has not opened it.
    fn found<'py>(&self, py: Python<'py>, number: usize) -> PyResult<Option<Found<'py>>> {
        let found = self.inner.known(number).map(|found| {
            let clusters = PyTuple::new(py, found.clusters.iter())?;
            let seen = looked(py, &found.identity)?;
            Ok((seen, (found.entries, clusters), found.has_order))
        });
        found.transpose()
    }

    /// Whether the core has opened the file.
    fn is_found(&self, number: usize) -> bool {
        self.inner.is_known(number)
    }

    /// Forgets what is known of a file, and what the pass has seen of it.
    fn forget(&self, number: usize) {
        self.inner.forget(number);
    }

    /// Has the pass look at these files, if it has not yet and they are there.
    fn look(&self, py: Python<'_>, numbers: Vec<usize>) {
        py.detach(|| self.inner.look(&Local, &numbers));
    }

    /// What the pass goes by of each of these files, and a digest of its first and last bytes as they are now; `None` of a file that
    /// has no place here, that cannot be read, or that the pass has seen otherwise.
    fn ends<'py>(&self, py: Python<'py>, numbers: Vec<usize>) -> PyResult<Vec<Option<Ends<'py>>>> {
        let found = py.detach(|| self.inner.ends(&Local, &numbers, threads()));
        let of = |(identity, digest): (Identity, u128)| {
            let digest = PyBytes::new(py, &digest.to_le_bytes());
            Ok((looked(py, &identity)?, digest))
        };
        found
            .into_iter()
            .map(|each| each.map(of).transpose())
            .collect()
    }

    /// The numbers of those of these files that are what they were, of which each is a number and what the file was. A file that has
    /// no place here is none of them.
    fn unchanged(&self, py: Python<'_>, known: Vec<(usize, Bound<'_, PyAny>)>) -> Vec<usize> {
        let known = known.iter();
        let known: Vec<_> = known
            .filter_map(|(number, of)| Some((*number, identity(of)?)))
            .collect();
        py.detach(|| self.inner.unchanged(&Local, &known, threads()))
    }

    /// Opens these files, but for those that are unusual, or that the pass has seen otherwise, and gives the numbers of the others.
    /// `unordered`: the titles of tables whose entries have lost their order. `most`: how many threads may open files at once.
    fn open(
        &self,
        py: Python<'_>,
        numbers: Vec<usize>,
        unordered: Vec<String>,
        most: usize,
    ) -> Vec<usize> {
        let threads = threads().min(most);
        py.detach(|| self.inner.open(&Local, &numbers, &unordered, threads))
    }

    /// The numbers of the files of which nothing is known; without those that have no place here.
    fn unknown(&self) -> Vec<usize> {
        self.inner.unknown()
    }

    /// The entries of each file, `None` of one of which they are not known as the pass sees it; and the numbers of the files of
    /// which it is not known that their entries are in their order.
    fn tables(&self, py: Python<'_>) -> (Vec<Option<u64>>, Vec<usize>) {
        let found = py.detach(|| self.inner.tables(&Local, threads()));
        let has_order = |table: &Option<(u64, bool)>| matches!(table, Some((_, true)));
        let numbered = found.iter().enumerate();
        let unordered = numbered.filter(|(_, table)| !has_order(table));
        let unordered = unordered.map(|(number, _)| number).collect();
        let entries = found.iter().map(|table| table.map(|(entries, _)| entries));
        (entries.collect(), unordered)
    }

    /// Which of these files, `None`: of all, are not what the pass has seen of them. `threads`: how many may look at once.
    #[pyo3(signature = (numbers=None, threads=1))]
    fn changed(&self, py: Python<'_>, numbers: Option<Vec<usize>>, threads: usize) -> Vec<usize> {
        py.detach(|| self.inner.changed(&Local, numbers.as_deref(), threads))
    }
}
