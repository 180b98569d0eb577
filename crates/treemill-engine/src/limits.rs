//! Limits on the memory and the work of a query over a file: the crate's policy in one place. Each constant is
//! the most that there may be. What a batch takes is treemill-read's policy, what is computed treemill-query's.

// Memory.

/// Entries of a foreign column that a provider is asked for at once. A call of the provider costs little beside
/// them, and memory stays bounded in long packets.
pub(crate) const PROVIDED_ENTRIES: u64 = 1 << 17;
/// Bytes of rows, about, in a partial: a packet with more ends early, so that they can be taken out.
pub(crate) const ROW_BYTES: usize = 32 << 20;
/// Compiled queries that a specification keeps, one for each schema: files of one dataset have few.
pub(crate) const COMPILED_QUERIES: usize = 4;
/// Bytes of a small file that is read as a whole: to copy them takes no longer than the five reads in its place.
pub(crate) const WHOLE_FILE: u64 = 32 << 10;
/// Files that one thread looks at, at least: to begin a thread takes as long as a few dozen looks.
pub(crate) const LOOKED_AT: usize = 1000;
/// Files that one thread opens, at least, for the same reason.
pub(crate) const OPENED_AT: usize = 50;

// Depth.

/// Brackets within brackets in the JSON of a specification. serde_json goes no deeper, so that no text can exhaust
/// the stack.
pub(crate) const JSON_DEPTH: usize = 127;
/// Records within records whose members are columns of their own.
pub(crate) const MEMBER_DEPTH: usize = 4;

// Distant files.

/// Packets whose bytes one bound query keeps ready: workers share it, and each is promised a few. More are asked for only
/// if their packets went elsewhere.
pub(crate) const MOST_PROMISED: usize = 256;
/// The share of the rest's bytes that is believed to be needed before a packet has been seen: filters keep little as a rule.
pub(crate) const BLIND_SHARE: f64 = 0.2;
/// How many times the time of bytes that nothing needs counts: the link and the server have other users, too.
pub(crate) const USELESS: f64 = 2.0;
/// The weight of all earlier packets beside the next one, in the share of bytes that were needed.
pub(crate) const REMEMBERED_SHARE: f64 = 0.7;
/// Items of the lists that stand for a column that a small file lacks, at most.
pub(crate) const DEFAULT_ITEMS: i32 = 1 << 24;
