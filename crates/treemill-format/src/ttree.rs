//! A TTree's record to `Tree`: finds the tree's own members and its branches, has each interpreted, and
//! puts them together (ROOT: TTree, TNtuple, TNtupleD).

use crate::clusters::{self, Recorded};
use crate::error::Result;
use crate::extent;
use crate::interpret;
use crate::object::{named_list, resolved};
use crate::program::{Fields, Programs, wanted};
use crate::reader::{Reader, text};
use crate::relations;
use crate::streamer::StreamerInfos;
use crate::tbranch::{Branches, RawTree};
use crate::tree::{Branch, Tree};

wanted! {
    bases "TTree";
    Named = "TNamed",
    Entries = "fEntries",
    AutoFlush = "fAutoFlush",
    ClusterRangeEnd = "fClusterRangeEnd",
    ClusterSize = "fClusterSize",
    Branches = "fBranches",
    Aliases = "fAliases",
    TreeIndex = "fTreeIndex",
    Friends = "fFriends",
    Weight = "fWeight",
}

/// The bit of a TTree whose entries RDataFrame wrote on several threads (`TTree::kEntriesReshuffled`).
const RESHUFFLED: u32 = 1 << 19;

/// Reads a tree. `class` and `key_len` are those of its key, `object` the record's decompressed object, and
/// `infos` the file's.
///
/// # Errors
/// `Malformed` if the record breaks off or contradicts itself; `Unsupported` if the file uses a class
/// version that it does not describe, by name. Branches that cannot be read are no error here: their
/// layout says so.
pub fn parse_tree(
    class: &str,
    object: &[u8],
    key_len: usize,
    infos: &StreamerInfos,
) -> Result<Tree> {
    let fields = Programs::new(infos, WANTED).locate(object, class, 0, key_len)?;
    let (name, title) = fields.named(Wanted::Named)?;
    let entries = u64::try_from(fields.integer(Wanted::Entries)?.unwrap_or(0)).unwrap_or(0);
    let raw = match fields.reader(Wanted::Branches) {
        Some(array) => Branches::new(object, key_len, infos).read(array)?,
        None => RawTree::default(),
    };
    let branches = branches(raw, infos);
    extent::check(entries, &branches)?;
    let recorded = Recorded {
        auto_flush: fields.integer(Wanted::AutoFlush)?.unwrap_or(0),
        ranges: fields
            .integers(Wanted::ClusterRangeEnd, usize::MAX)
            .zip(fields.integers(Wanted::ClusterSize, usize::MAX))
            .map(|(end, size)| Ok((end?, size?)))
            .collect::<Result<_>>()?,
    };
    Ok(Tree {
        name: text(name),
        title: text(title),
        entries,
        clusters: clusters::clusters(&recorded, &branches, entries),
        aliases: aliases(&fields, key_len)?,
        index: match fields.reader(Wanted::TreeIndex) {
            Some(r) => relations::index(r, key_len)?,
            None => None,
        },
        friends: match fields.reader(Wanted::Friends) {
            Some(r) => relations::friends(r, key_len, infos)?,
            None => Vec::new(),
        },
        weight: fields.real(Wanted::Weight)?.unwrap_or(1.0),
        is_reshuffled: fields.bits(Wanted::Named)? & RESHUFFLED != 0,
        branches,
    })
}

fn branches(raw: RawTree, infos: &StreamerInfos) -> Vec<Branch> {
    let classes = interpret::Classes::new(infos);
    let interpretations: Vec<_> = raw
        .branches
        .iter()
        .map(|branch| interpret::interpret(branch, &raw, &classes))
        .collect();
    raw.branches
        .into_iter()
        .zip(interpretations)
        .map(|(branch, interpretation)| Branch {
            is_base: branch.is_base(),
            name: text(branch.name),
            title: text(branch.title),
            parent: branch.parent,
            children: branch.children,
            cpp_type: interpretation.cpp_type,
            counter: interpretation.counter,
            layout: interpretation.layout,
            entries: branch.entries,
            has_entry_offsets: branch.entry_offset_len > 0,
            baskets: branch.baskets,
            embedded: branch.embedded,
            total_bytes: branch.total_bytes,
            zip_bytes: branch.zip_bytes,
        })
        .collect()
}

/// fAliases: a TList of TNamed.
fn aliases(fields: &Fields, key_len: usize) -> Result<Vec<(String, String)>> {
    let Some(mut r) = fields.reader(Wanted::Aliases) else {
        return Ok(Vec::new());
    };
    match resolved(&mut r, key_len)? {
        Some(list) => named_list(&mut Reader::at(r.bytes(), list.body), key_len),
        None => Ok(Vec::new()),
    }
}
