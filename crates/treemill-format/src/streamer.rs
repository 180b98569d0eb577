//! TStreamerInfo: how the file's own classes were written, member by member. Describes; decodes nothing.

mod parse;
pub(crate) mod range;

use crate::limits::VERSIONS;
use std::any::Any;
use std::cmp::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

/// All TStreamerInfo records of a file.
///
/// ```
/// use treemill_format::{header::FileHeader, key::Key, reader::Reader, streamer::StreamerInfos};
///
/// let file = std::fs::read("../treemill-read/tests/data/muons.root")?;
/// let header = FileHeader::parse(&file, file.len() as u64)?;
/// let place = header.streamer_info.ok_or("no streamer info")?;
/// let record = &file[place.start as usize..place.end as usize];
/// let key = Key::parse(&mut Reader::new(record))?;
/// assert!(!key.is_compressed());
/// let infos = StreamerInfos::parse(&record[key.key_len..], key.key_len)?;
/// let branch = infos.newest("TBranch").ok_or("no TBranch")?;
/// assert_eq!((branch.version, branch.elements[0].name.as_str()), (13, "TNamed"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct StreamerInfos {
    /// The descriptions, in the order of name, version and checksum.
    infos: Vec<StreamerInfo>,
    made: Made,
}

/// What was made of descriptions, kept with them: files of one production share theirs. By who has made it, and by class
/// and version.
#[derive(Default)]
struct Made(Mutex<Vec<Of>>);

type Of = (usize, String, i32, Arc<dyn Any + Send + Sync>);

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Made")
    }
}

impl Clone for Made {
    /// What was made can be made again.
    fn clone(&self) -> Self {
        Made::default()
    }
}

/// One class at one version (ROOT: TStreamerInfo).
#[derive(Debug, Clone)]
pub struct StreamerInfo {
    /// Class name.
    pub name: String,
    /// fCheckSum: identifies the layout if the version does not.
    pub checksum: u32,
    /// fClassVersion.
    pub version: i32,
    /// Bases and members in the order of the bytes.
    pub elements: Vec<Element>,
}

/// One base class or data member (ROOT: TStreamerElement and its subclasses).
#[derive(Debug, Clone)]
pub struct Element {
    /// Member or base-class name.
    pub name: String,
    /// The comment after the member: ranges, counters and `->` are said here.
    pub title: String,
    /// fType: TVirtualStreamerInfo::EReadWrite.
    pub code: i32,
    /// fArrayLength: product of the dimensions, 0 or 1 for scalars.
    pub array_length: u32,
    /// Fixed dimensions, outermost first; empty for scalars.
    pub dims: Vec<u32>,
    /// C++ type.
    pub type_name: String,
    /// What only some elements have.
    pub kind: ElementKind,
    /// fXmin and fFactor of `Double32_t` and `Float16_t` as the file stores them (element version 3 only;
    /// otherwise they follow from the title).
    pub stored_range: Option<(f64, f64)>,
}

/// What only some elements have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ElementKind {
    /// TStreamerBase: fBaseVersion.
    Base {
        /// Version of the base class (-1 if the file does not say).
        version: i32,
    },
    /// TStreamerBasicPointer, TStreamerLoop: as many items as another member says.
    CountedBy {
        /// Member that counts.
        member: String,
        /// Class of that member.
        class: String,
    },
    /// TStreamerSTL: ROOT::ESTLType of the container and EDataType of the items.
    Stl {
        /// fSTLtype.
        container: i32,
        /// fCtype.
        item: i32,
    },
    /// TStreamerBasicType, TStreamerObject, TStreamerString and so on.
    Plain,
}

impl Element {
    /// fXmin and fFactor, which say how a `Double32_t` or `Float16_t` is stored.
    pub(crate) fn range(&self) -> (f64, f64) {
        self.stored_range
            .unwrap_or_else(|| range::from_title(&self.title))
    }
}

impl StreamerInfos {
    pub(crate) fn new(mut infos: Vec<StreamerInfo>) -> Self {
        infos.sort_by(|a, b| a.order(&b.name, b.version, b.checksum));
        StreamerInfos {
            infos,
            made: Made::default(),
        }
    }

    /// What was made of a class at a version, by `make` if it is not there yet. `by`: tells those apart who make something,
    /// each of which makes values of one type.
    pub(crate) fn made<T: Send + Sync + 'static, E>(
        &self,
        by: usize,
        class: &str,
        version: i32,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let mut made = self.made.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut those = made.iter();
        let found = those.find(|(b, c, v, _)| (*b, *v) == (by, version) && c == class);
        let found = found.map(|(.., what)| Arc::clone(what));
        if let Some(found) = found.and_then(|found| found.downcast::<T>().ok()) {
            return Ok(found);
        }
        let what = Arc::new(make()?);
        made.push((by, class.to_owned(), version, Arc::clone(&what) as _));
        Ok(what)
    }

    /// All records, by class and version.
    pub fn iter(&self) -> impl Iterator<Item = &StreamerInfo> {
        self.infos.iter()
    }

    /// A class at a version; of several that share the version, the one with this checksum if it is there.
    pub fn find(&self, class: &str, version: i32, checksum: Option<u32>) -> Option<&StreamerInfo> {
        let at_version = |checksum| {
            let first = self
                .infos
                .partition_point(|info| info.order(class, version, checksum).is_lt());
            self.infos
                .get(first)
                .filter(|info| info.version == version && info.name == class)
        };
        checksum
            .and_then(|checksum| at_version(checksum).filter(|info| info.checksum == checksum))
            .or_else(|| at_version(0))
    }

    /// The highest version of a class.
    pub fn newest(&self, class: &str) -> Option<&StreamerInfo> {
        let end = self
            .infos
            .partition_point(|info| info.name.as_str() <= class);
        self.infos
            .get(end.checked_sub(1)?)
            .filter(|info| info.name == class)
    }

    /// Whether several descriptions have this class.
    pub fn has_several(&self, class: &str) -> bool {
        let first = self
            .infos
            .partition_point(|info| info.name.as_str() < class);
        let is_it = |index: usize| self.infos.get(index).is_some_and(|info| info.name == class);
        is_it(first) && is_it(first.saturating_add(1))
    }

    /// A class by its layout's checksum, for classes without versions.
    pub fn find_checksum(&self, class: &str, checksum: u32) -> Option<&StreamerInfo> {
        let first = self
            .infos
            .partition_point(|info| info.name.as_str() < class);
        let same_class = self
            .infos
            .get(first..)?
            .iter()
            .take_while(|info| info.name == class);
        same_class
            .take(VERSIONS)
            .find(|info| info.checksum == checksum)
    }
}

impl StreamerInfo {
    fn order(&self, class: &str, version: i32, checksum: u32) -> Ordering {
        let name = self.name.as_str().cmp(class);
        name.then(self.version.cmp(&version))
            .then(self.checksum.cmp(&checksum))
    }
}
