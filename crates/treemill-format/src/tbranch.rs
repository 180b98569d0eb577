//! TBranch and its subclasses as they are in the file: names, leaves, and where the baskets lie. `interpret`
//! says what the bytes of an entry mean.

use crate::embedded;
use crate::error::{Result, malformed, unsupported};
use crate::extent;
use crate::limits::{BASKET_BYTES, BRANCH_BYTES, BRANCH_DEPTH, LEAF_BYTES};
use crate::object::{Inline, header, named, obj_array, resolved, target};
use crate::program::{Fields, Programs, wanted};
use crate::reader::{Reader, text};
use crate::streamer::StreamerInfos;
use crate::tleaf::{Leaves, RawLeaf};
use crate::tree::{BasketRef, EmbeddedBasket};
use std::collections::HashMap;

wanted! {
    bases "TBranch";
    Named = "TNamed",
    EntryOffsetLen = "fEntryOffsetLen",
    WriteBasket = "fWriteBasket",
    FirstEntry = "fFirstEntry",
    Entries = "fEntries",
    TotBytes = "fTotBytes",
    ZipBytes = "fZipBytes",
    Branches = "fBranches",
    Leaves = "fLeaves",
    Baskets = "fBaskets",
    BasketBytes = "fBasketBytes",
    BasketEntry = "fBasketEntry",
    BasketSeek = "fBasketSeek",
    FileName = "fFileName",
    ClassName = "fClassName",
    CheckSum = "fCheckSum",
    ClassVersion = "fClassVersion",
    Id = "fID",
    Type = "fType",
    StreamerType = "fStreamerType",
    BranchCount = "fBranchCount",
    BranchCount2 = "fBranchCount2",
}

/// The fType of a TBranchElement that holds the members of a base class.
const BASE: i32 = 1;

/// A branch as stored.
#[derive(Debug)]
pub(crate) struct RawBranch<'a> {
    /// `TBranch`, `TBranchElement` and so on.
    pub class: &'a str,
    pub name: &'a [u8],
    pub title: &'a [u8],
    pub parent: Option<usize>,
    pub children: Vec<usize>,
    /// Indices into `RawTree::leaves`.
    pub leaves: Vec<usize>,
    pub entry_offset_len: i64,
    pub entries: u64,
    pub total_bytes: u64,
    pub zip_bytes: u64,
    pub baskets: Vec<BasketRef>,
    pub embedded: Vec<EmbeddedBasket>,
    /// Another file that holds the baskets; empty as a rule.
    pub file: &'a [u8],
    /// fClassName of a TBranchObject or TBranchElement.
    pub class_name: &'a [u8],
    pub element: Option<ElementBranch>,
}

impl<'a> RawBranch<'a> {
    /// One that has no more than name and title.
    fn empty(class: &'a str, (name, title): (&'a [u8], &'a [u8]), parent: Option<usize>) -> Self {
        RawBranch {
            class,
            name,
            title,
            parent,
            children: Vec::new(),
            leaves: Vec::new(),
            entry_offset_len: 0,
            entries: 0,
            total_bytes: 0,
            zip_bytes: 0,
            baskets: Vec::new(),
            embedded: Vec::new(),
            file: &[],
            class_name: &[],
            element: None,
        }
    }

    /// Whether it holds the members of a base class.
    pub fn is_base(&self) -> bool {
        self.element.is_some_and(|element| element.kind == BASE)
    }

    /// Bytes that it takes of the record at least.
    fn size(&self) -> usize {
        let texts = [self.name, self.title, self.class_name, self.file];
        let embedded = self.embedded.iter().map(|basket| basket.data.len());
        [
            BRANCH_BYTES,
            self.baskets.len().saturating_mul(BASKET_BYTES),
        ]
        .into_iter()
        .chain(texts.iter().map(|text| text.len()))
        .chain(embedded)
        .fold(0, usize::saturating_add)
    }
}

/// The further members of a TBranchElement.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ElementBranch {
    pub checksum: u32,
    pub version: i32,
    /// fID: index of the member in the class's streamer info; negative for whole objects.
    pub id: i32,
    /// fType: 0 leaf, 1 base, 2 object, 3/31 TClonesArray and member, 4/41 collection and member.
    pub kind: i32,
    /// fStreamerType: EReadWrite code of the member.
    pub code: i32,
    /// Offset of the branch that counts this one.
    pub counter: Option<usize>,
    /// Whether items have counts of their own.
    pub counted_twice: bool,
}

/// All branches and leaves of a tree, parents before their children.
#[derive(Debug, Default)]
pub(crate) struct RawTree<'a> {
    pub branches: Vec<RawBranch<'a>>,
    pub leaves: Vec<RawLeaf<'a>>,
    /// Branch that owns each leaf.
    pub owners: Vec<usize>,
    pub leaf_at: HashMap<usize, usize>,
    pub branch_at: HashMap<usize, usize>,
}

/// Reads the branches of one tree's record.
pub(crate) struct Branches<'a, 'i> {
    bytes: &'a [u8],
    key_len: usize,
    programs: Programs<'i>,
    leaves: Leaves<'i>,
    tree: RawTree<'a>,
    /// Bytes of the record that the objects read so far took.
    taken: usize,
}

impl<'a, 'i> Branches<'a, 'i> {
    pub fn new(bytes: &'a [u8], key_len: usize, infos: &'i StreamerInfos) -> Self {
        Branches {
            bytes,
            key_len,
            programs: Programs::new(infos, WANTED),
            leaves: Leaves::new(infos, key_len),
            tree: RawTree::default(),
            taken: 0,
        }
    }

    /// Counts bytes of the record that an object took. In a sound record every byte belongs to one object, so
    /// overlapping objects are refused before they take more memory than the record.
    fn take(&mut self, bytes: usize, at: usize) -> Result<()> {
        self.taken = self.taken.saturating_add(bytes);
        if self.taken > self.bytes.len() {
            return Err(malformed("objects overlap", at));
        }
        Ok(())
    }

    /// Reads a tree's fBranches.
    pub fn read(mut self, array: Reader<'a>) -> Result<RawTree<'a>> {
        self.array(array, None, BRANCH_DEPTH)?;
        Ok(self.tree)
    }

    /// Reads a TObjArray of branches and says which they are.
    fn array(
        &mut self,
        mut r: Reader<'a>,
        parent: Option<usize>,
        depth: usize,
    ) -> Result<Vec<usize>> {
        let (n, _) = obj_array(&mut r)?;
        let mut indices = Vec::new();
        for _ in 0..n {
            if let Some(object) = resolved(&mut r, self.key_len)? {
                indices.push(self.branch(object, parent, depth)?);
            }
        }
        Ok(indices)
    }

    fn branch(&mut self, object: Inline<'a>, parent: Option<usize>, depth: usize) -> Result<usize> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(malformed("branches nest too deeply", object.start));
        };
        let index = self.tree.branches.len();
        if self.tree.branch_at.insert(object.start, index).is_some() {
            return Err(malformed(
                "a branch is its own sub-branch or is listed twice",
                object.start,
            ));
        }
        let class = std::str::from_utf8(object.class)
            .ok()
            .filter(|class| class.starts_with("TBranch"))
            .ok_or_else(|| {
                malformed(
                    format!(
                        "a list of branches has an object of class {}",
                        text(object.class)
                    ),
                    object.start,
                )
            })?;
        if class == "TBranchClones" {
            self.tree
                .branches
                .push(clones(self.bytes, object, class, parent)?);
            return Ok(index);
        }
        let fields = self
            .programs
            .locate(self.bytes, class, object.body, self.key_len)?;
        let mut branch = plain(&fields, class, parent, self.key_len)?;
        branch.element = element(&fields, self.key_len)?;
        self.take(branch.size(), object.start)?;
        self.tree.branches.push(branch);
        let leaves = match fields.reader(Wanted::Leaves) {
            Some(r) => self.leaves_of(r, index)?,
            None => Vec::new(),
        };
        let children = match fields.reader(Wanted::Branches) {
            Some(r) => self.array(r, Some(index), depth)?,
            None => Vec::new(),
        };
        if let Some(branch) = self.tree.branches.get_mut(index) {
            branch.leaves = leaves;
            branch.children = children;
        }
        Ok(index)
    }

    fn leaves_of(&mut self, mut r: Reader<'a>, owner: usize) -> Result<Vec<usize>> {
        let (n, _) = obj_array(&mut r)?;
        let mut indices = Vec::new();
        for _ in 0..n {
            let Some(object) = resolved(&mut r, self.key_len)? else {
                continue;
            };
            let index = self.tree.leaves.len();
            let leaf = self.leaves.read(self.bytes, object)?;
            self.take(
                LEAF_BYTES
                    .saturating_add(leaf.name.len())
                    .saturating_add(leaf.title.len()),
                object.start,
            )?;
            self.tree.leaves.push(leaf);
            self.tree.owners.push(owner);
            if self.tree.leaf_at.insert(object.start, index).is_some() {
                return Err(malformed("a leaf is listed twice", object.start));
            }
            indices.push(index);
        }
        Ok(indices)
    }
}

/// The members of every branch.
fn plain<'a>(
    fields: &Fields<'a>,
    class: &'a str,
    parent: Option<usize>,
    key_len: usize,
) -> Result<RawBranch<'a>> {
    let unsigned = |slot| Ok(u64::try_from(fields.integer(slot)?.unwrap_or(0)).unwrap_or(0));
    let entries = unsigned(Wanted::Entries)?;
    let first = unsigned(Wanted::FirstEntry)?;
    let baskets = baskets(fields, first.saturating_add(entries))?;
    let stored = baskets.last().map_or(first, |basket| basket.entries.end);
    // Looking into fBaskets takes time, and a branch whose baskets are all in the file has none there.
    let embedded = match fields.reader(Wanted::Baskets) {
        Some(r) if stored < first.saturating_add(entries) => {
            embedded::baskets(r, key_len, baskets.len(), stored)?
        }
        _ => Vec::new(),
    };
    Ok(RawBranch {
        entry_offset_len: fields.integer(Wanted::EntryOffsetLen)?.unwrap_or(0),
        entries,
        total_bytes: unsigned(Wanted::TotBytes)?,
        zip_bytes: unsigned(Wanted::ZipBytes)?,
        baskets,
        embedded,
        file: fields.string(Wanted::FileName)?,
        class_name: fields.string(Wanted::ClassName)?,
        ..RawBranch::empty(class, fields.named(Wanted::Named)?, parent)
    })
}

/// The baskets that are in the file: of the first fWriteBasket, those that have a place there. `end` is the
/// entry after the branch's last.
fn baskets(fields: &Fields, end: u64) -> Result<Vec<BasketRef>> {
    let written = usize::try_from(fields.integer(Wanted::WriteBasket)?.unwrap_or(0)).unwrap_or(0);
    let at = fields.get(Wanted::BasketSeek).map_or(0, |field| field.at);
    let mut starts = fields.integers(Wanted::BasketEntry, usize::MAX);
    let seeks = fields.integers(Wanted::BasketSeek, written);
    let sizes = fields.integers(Wanted::BasketBytes, written);
    let many = fields
        .get(Wanted::BasketSeek)
        .map_or(0, |field| field.count);
    let mut baskets = Vec::with_capacity(written.min(many));
    let mut next = starts.next().transpose()?;
    for (seek, size) in seeks.zip(sizes) {
        let (seek, size) = (seek?, size?);
        let Some(first) = next else { break };
        next = starts.next().transpose()?;
        if seek == 0 {
            break;
        }
        // If the table has no further row, the branch's entries end the last basket.
        let last = next.unwrap_or_else(|| end.cast_signed());
        let (Ok(first), Ok(last), Ok(seek), Ok(size)) = (
            u64::try_from(first),
            u64::try_from(last),
            u64::try_from(seek),
            u64::try_from(size),
        ) else {
            return Err(malformed(
                format!("a basket announces {size} bytes at {seek} for entries {first} to {last}"),
                at,
            ));
        };
        baskets.push(BasketRef {
            entries: extent::of_basket(first, last, at)?,
            bytes: seek..seek.saturating_add(size),
        });
    }
    Ok(baskets)
}

fn element(fields: &Fields, key_len: usize) -> Result<Option<ElementBranch>> {
    let small = |slot| -> Result<Option<i32>> {
        Ok(fields
            .integer(slot)?
            .map(|value| i32::try_from(value).unwrap_or(-1)))
    };
    let (Some(id), Some(kind), Some(code)) = (
        small(Wanted::Id)?,
        small(Wanted::Type)?,
        small(Wanted::StreamerType)?,
    ) else {
        return Ok(None);
    };
    let target = |slot| match fields.reader(slot) {
        Some(mut r) => target(&mut r, key_len),
        None => Ok(None),
    };
    Ok(Some(ElementBranch {
        checksum: u32::try_from(fields.integer(Wanted::CheckSum)?.unwrap_or(0)).unwrap_or(0),
        version: small(Wanted::ClassVersion)?.unwrap_or(0),
        id,
        kind,
        code,
        counter: target(Wanted::BranchCount)?,
        counted_twice: target(Wanted::BranchCount2)?.is_some(),
    }))
}

/// TBranchClones streams itself, so only its name is known.
fn clones<'a>(
    bytes: &'a [u8],
    object: Inline<'a>,
    class: &'a str,
    parent: Option<usize>,
) -> Result<RawBranch<'a>> {
    let mut r = Reader::at(bytes, object.body);
    if header(&mut r)?.version < 2 {
        return Err(unsupported("TBranchClones version 1"));
    }
    Ok(RawBranch::empty(class, named(&mut r)?, parent))
}
