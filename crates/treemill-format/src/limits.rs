//! Bounds for the parsing of metadata that the bytes themselves do not give. Together they keep a
//! record of N bytes from taking much more than N bytes and N steps.

// Depth: recursion takes stack.

/// Depth of branches within branches; real objects are not as deep.
pub(crate) const BRANCH_DEPTH: usize = 64;
/// Depth of objects within objects.
pub(crate) const OBJECT_DEPTH: usize = 16;
/// Depth of base classes within base classes; ROOT's own metadata needs four.
pub(crate) const BASE_DEPTH: usize = 16;
/// Depth of an RNTuple's fields, also of those that get names. No useful C++ type is as deep.
pub(crate) const FIELD_DEPTH: usize = 64;
/// Dimensions of an array that are told apart; ROOT's own members have at most five.
pub(crate) const DIMENSIONS: usize = 16;

// Sizes: descriptions that name one another can stand for more than any memory.

/// Parts of objects that the branches of one tree may have in all.
pub(crate) const PARTS_OF_TREE: usize = 200_000;
/// Parts of objects that are described for one tree after a look into its data.
pub(crate) const PARTS_OF_DATA: usize = 20_000;
/// Versions of one class that are searched; real files have a few.
pub(crate) const VERSIONS: usize = 100;
/// Length of a name that is repeated in the metadata of other branches.
pub(crate) const NAME_LENGTH: usize = 4096;
/// Length of a number in a member's comment.
pub(crate) const NUMBER_LENGTH: usize = 64;
/// Members that one table of a metadata class may ask for.
pub(crate) const MEMBERS_WANTED: usize = 32;
/// Counters (`fMaxBaskets`) in one metadata class.
pub(crate) const COUNTERS: usize = 4;

// The least bytes of things that a record counts: a count is compared to the bytes that are left.

/// Bytes of a branch without its texts.
pub(crate) const BRANCH_BYTES: usize = 100;
/// Bytes of a leaf without its texts.
pub(crate) const LEAF_BYTES: usize = 40;
/// Bytes of a basket's row in the three tables.
pub(crate) const BASKET_BYTES: usize = 12;
/// Entries of a basket: their number is a signed one of 32 bits (ROOT: `TBasket::fNevBuf`).
pub(crate) const BASKET_ENTRIES: u64 = i32::MAX as u64;

/// Memory that liblzma may take for a stream's dictionary: the 64 MiB of the highest preset, and some more. A
/// stream's header can ask for 4 GiB.
pub(crate) const LZMA_MEMORY: u64 = 80 << 20;
