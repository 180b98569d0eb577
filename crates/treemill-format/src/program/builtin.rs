//! Members of ROOT's own tree classes at the versions in use since ROOT 5, for files that do not carry
//! their streamer info. The file's own records come first; this is the fallback.

use crate::streamer::{Element, ElementKind, StreamerInfo};
use std::ops::RangeInclusive;

/// Member, EReadWrite code (0: base class), first version that has it.
type Member = (&'static str, i32, i32);

struct Class {
    names: &'static [&'static str],
    versions: RangeInclusive<i32>,
    members: &'static [Member],
    /// Member that counts the arrays.
    counter: &'static str,
}

const CLASSES: [Class; 7] = [
    Class {
        names: &["TTree"],
        versions: 16..=20,
        members: &[
            ("TNamed", 0, 0),
            ("TAttLine", 0, 0),
            ("TAttFill", 0, 0),
            ("TAttMarker", 0, 0),
            ("fEntries", 16, 0),
            ("fTotBytes", 16, 0),
            ("fZipBytes", 16, 0),
            ("fSavedBytes", 16, 0),
            ("fFlushedBytes", 16, 18),
            ("fWeight", 8, 0),
            ("fTimerInterval", 3, 0),
            ("fScanField", 3, 0),
            ("fUpdate", 3, 0),
            ("fDefaultEntryOffsetLen", 3, 17),
            ("fNClusterRange", 6, 19),
            ("fMaxEntries", 16, 0),
            ("fMaxEntryLoop", 16, 0),
            ("fMaxVirtualSize", 16, 0),
            ("fAutoSave", 16, 0),
            ("fAutoFlush", 16, 18),
            ("fEstimate", 16, 0),
            ("fClusterRangeEnd", 56, 19),
            ("fClusterSize", 56, 19),
            ("fIOFeatures", 62, 20),
            ("fBranches", 61, 0),
            ("fLeaves", 61, 0),
            ("fAliases", 64, 0),
            ("fIndexValues", 62, 0),
            ("fIndex", 62, 0),
            ("fTreeIndex", 64, 0),
            ("fFriends", 64, 0),
            ("fUserInfo", 64, 0),
            ("fBranchRef", 64, 0),
        ],
        counter: "fNClusterRange",
    },
    Class {
        names: &["TBranch"],
        versions: 10..=13,
        members: &[
            ("TNamed", 0, 0),
            ("TAttFill", 0, 0),
            ("fCompress", 3, 0),
            ("fBasketSize", 3, 0),
            ("fEntryOffsetLen", 3, 0),
            ("fWriteBasket", 3, 0),
            ("fEntryNumber", 16, 0),
            ("fIOFeatures", 62, 13),
            ("fOffset", 3, 0),
            ("fMaxBaskets", 6, 0),
            ("fSplitLevel", 3, 0),
            ("fEntries", 16, 0),
            ("fFirstEntry", 16, 11),
            ("fTotBytes", 16, 0),
            ("fZipBytes", 16, 0),
            ("fBranches", 61, 0),
            ("fLeaves", 61, 0),
            ("fBaskets", 61, 0),
            ("fBasketBytes", 43, 0),
            ("fBasketEntry", 56, 0),
            ("fBasketSeek", 56, 0),
            ("fFileName", 65, 0),
        ],
        counter: "fMaxBaskets",
    },
    Class {
        names: &["TBranchElement"],
        versions: 8..=9,
        members: &[
            ("TBranch", 0, 0),
            ("fClassName", 65, 0),
            ("fParentName", 65, 0),
            ("fClonesName", 65, 0),
            ("fCheckSum", 13, 0),
            ("fClassVersion", 3, 0),
            ("fID", 3, 0),
            ("fType", 3, 0),
            ("fStreamerType", 3, 0),
            ("fMaximum", 3, 0),
            ("fBranchCount", 64, 0),
            ("fBranchCount2", 64, 0),
        ],
        counter: "",
    },
    Class {
        names: &["TBranchElement"],
        versions: 10..=10,
        members: &[
            ("TBranch", 0, 0),
            ("fClassName", 65, 0),
            ("fParentName", 65, 0),
            ("fClonesName", 65, 0),
            ("fCheckSum", 13, 0),
            ("fClassVersion", 2, 0),
            ("fID", 3, 0),
            ("fType", 3, 0),
            ("fStreamerType", 3, 0),
            ("fMaximum", 3, 0),
            ("fBranchCount", 64, 0),
            ("fBranchCount2", 64, 0),
        ],
        counter: "",
    },
    Class {
        names: &["TLeaf"],
        versions: 2..=2,
        members: &[
            ("TNamed", 0, 0),
            ("fLen", 3, 0),
            ("fLenType", 3, 0),
            ("fOffset", 3, 0),
            ("fIsRange", 18, 0),
            ("fIsUnsigned", 18, 0),
            ("fLeafCount", 64, 0),
        ],
        counter: "",
    },
    Class {
        names: &["TLeafElement"],
        versions: 1..=1,
        members: &[("TLeaf", 0, 0), ("fID", 3, 0), ("fType", 3, 0)],
        counter: "",
    },
    Class {
        names: &[
            "TLeafO", "TLeafB", "TLeafS", "TLeafI", "TLeafG", "TLeafL", "TLeafF", "TLeafD",
            "TLeafC", "TLeafF16", "TLeafD32",
        ],
        versions: 1..=1,
        members: &[("TLeaf", 0, 0)],
        counter: "",
    },
];

/// Classes that only wrap another: whatever follows their base is not needed.
const WRAPPERS: [(&str, &str); 3] = [
    ("TNtuple", "TTree"),
    ("TNtupleD", "TTree"),
    ("TLeafObject", "TLeaf"),
];

/// The members of a class at a version.
pub(super) fn find(class: &str, version: i32) -> Option<StreamerInfo> {
    if let Some((_, base)) = WRAPPERS.iter().find(|(name, _)| *name == class) {
        return Some(info(class, version, &[(base, 0, 0)], ""));
    }
    let found = CLASSES
        .iter()
        .find(|c| c.names.contains(&class) && c.versions.contains(&version))?;
    Some(info(class, version, found.members, found.counter))
}

fn info(class: &str, version: i32, members: &[Member], counter: &str) -> StreamerInfo {
    let elements = members
        .iter()
        .filter(|(_, _, since)| *since <= version)
        .map(|(name, code, _)| Element {
            name: (*name).to_owned(),
            title: String::new(),
            code: *code,
            array_length: 0,
            dims: Vec::new(),
            type_name: match (*name, *code) {
                ("fIndexValues", _) => "TArrayD",
                ("fIndex", _) => "TArrayI",
                (_, 0) => "BASE",
                _ => "",
            }
            .to_owned(),
            kind: match code {
                0 => ElementKind::Base { version: -1 },
                41..=59 => ElementKind::CountedBy {
                    member: counter.to_owned(),
                    class: class.to_owned(),
                },
                _ => ElementKind::Plain,
            },
            stored_range: None,
        })
        .collect();
    StreamerInfo {
        name: class.to_owned(),
        checksum: 0,
        version,
        elements,
    }
}
