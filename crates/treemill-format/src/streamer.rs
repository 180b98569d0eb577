//! TStreamerInfo: how the file's own classes were written, member by member. Describes; decodes nothing.

mod parse;
pub(crate) mod range;

use std::collections::HashMap;

/// All TStreamerInfo records of a file.
#[derive(Debug, Clone, Default)]
pub struct StreamerInfos {
    infos: Vec<StreamerInfo>,
    by_name: HashMap<String, Vec<usize>>,
}

/// One class at one version (ROOT: TStreamerInfo).
#[derive(Debug, Clone)]
pub struct StreamerInfo {
    /// Class name.
    pub name: String,
    /// fCheckSum: identifies the layout where the version does not.
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
    /// The comment behind the member: ranges, counters and `->` are said here.
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
        /// Version of the base class (-1 where the file does not say).
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
    pub(crate) fn new(infos: Vec<StreamerInfo>) -> Self {
        let mut by_name: HashMap<String, Vec<usize>> = HashMap::new();
        for (i, info) in infos.iter().enumerate() {
            by_name.entry(info.name.clone()).or_default().push(i);
        }
        StreamerInfos { infos, by_name }
    }

    /// All records in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &StreamerInfo> {
        self.infos.iter()
    }

    /// All versions of a class that the file knows.
    pub fn versions(&self, class: &str) -> impl Iterator<Item = &StreamerInfo> {
        let indices = self.by_name.get(class).map_or(&[][..], Vec::as_slice);
        indices.iter().filter_map(|&i| self.infos.get(i))
    }

    /// A class at a version.
    pub fn find(&self, class: &str, version: i32) -> Option<&StreamerInfo> {
        self.versions(class).find(|info| info.version == version)
    }

    /// A class by its layout's checksum, for classes without versions.
    pub fn find_checksum(&self, class: &str, checksum: u32) -> Option<&StreamerInfo> {
        self.versions(class).find(|info| info.checksum == checksum)
    }
}
