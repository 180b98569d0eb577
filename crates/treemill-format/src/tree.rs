//! A TTree's metadata, as the rest of treemill sees it. Parsing is in other modules.

use crate::layout::Layout;
pub use crate::relations::Friend;
use std::ops::Range;

/// A TTree: its branches in depth-first order.
#[derive(Debug, Clone)]
pub struct Tree {
    /// Name and title as stored.
    pub name: String,
    /// Title as stored.
    pub title: String,
    /// Number of entries.
    pub entries: u64,
    /// First entries of the clusters, ascending, starting with 0 (empty where the tree has none
    /// recorded and no entries).
    pub clusters: Vec<u64>,
    /// Names and expressions of `TTree::SetAlias`.
    pub aliases: Vec<(String, String)>,
    /// The two expressions of `TTree::BuildIndex`.
    pub index: Option<(String, String)>,
    /// Trees given by `TTree::AddFriend`.
    pub friends: Vec<Friend>,
    /// What `TTree::SetWeight` has set: the weight of each entry in TTree::Draw.
    pub weight: f64,
    /// Whether the entries are in another order than those of the tree that they come from
    /// (`TTree::kEntriesReshuffled`).
    pub is_reshuffled: bool,
    /// All branches, parents before their children.
    pub branches: Vec<Branch>,
}

/// A TBranch, TBranchElement or TBranchObject, or a branch's sub-branch.
#[derive(Debug, Clone)]
pub struct Branch {
    /// Name as in the file (children of split objects may contain dots).
    pub name: String,
    /// Title as in the file.
    pub title: String,
    /// Index of the parent in `Tree::branches`.
    pub parent: Option<usize>,
    /// Indices of the children.
    pub children: Vec<usize>,
    /// C++ type for the user: `float`, `float[nJet]`, `vector<int>`, `TLorentzVector`.
    pub cpp_type: String,
    /// Index of the branch that counts this one's items, if one does.
    pub counter: Option<usize>,
    /// Whether it holds the members of a base class, which are members of the object itself too.
    pub is_base: bool,
    /// How an entry lies in a basket. A branch that only groups children and has no data of its
    /// own is `Layout::Record(vec![])`.
    pub layout: Layout,
    /// Entries in this branch.
    pub entries: u64,
    /// Whether baskets of this branch carry entry offsets (fEntryOffsetLen > 0).
    pub has_entry_offsets: bool,
    /// Baskets in the file, in entry order.
    pub baskets: Vec<BasketRef>,
    /// Baskets that were not flushed and lie in the tree's own record, in entry order, after `baskets`.
    pub embedded: Vec<EmbeddedBasket>,
    /// fTotBytes and fZipBytes: uncompressed and compressed size.
    pub total_bytes: u64,
    /// Compressed size, bytes.
    pub zip_bytes: u64,
}

/// Where a basket lies in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BasketRef {
    /// The entries that it holds.
    pub entries: Range<u64>,
    /// The bytes of the file that it takes, its TKey included.
    pub bytes: Range<u64>,
}

/// A basket that lies inside the tree's record, uncompressed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddedBasket {
    /// The entries that it holds.
    pub entries: Range<u64>,
    /// The entries' bytes.
    pub data: Vec<u8>,
    /// Start of each entry in `data`, and its end: `entries.len() + 1` values, if the branch has entry offsets.
    /// `None` also if they are generated from the counter (TIOFeatures' kGenerateOffsetMap).
    pub offsets: Option<Vec<u32>>,
}
