//! The reader's policy in numbers: what is read together, how much memory is kept, and how much of a file's
//! claims is believed. Beside the cache, which has its own limit, a process keeps at most 256 MB for reuse
//! ([`POOL_BYTES`] twice, [`RESULTS_BYTES`], and [`KEPT_ENTRIES`] of 4 bytes). Each column of each reader has
//! at most one window. What is asked of a distant source has the limits of its `Costs`.

use std::time::Duration;

/// Bytes of a branch's full name: the names of the objects that it lies in are repeated in it.
pub(crate) const NAME_LENGTH: usize = 4 << 10;
/// Branches of one name that an error lists.
pub(crate) const SHARING: usize = 5;

// Batches: the defaults of `Options`, which says what they are.

/// Entries of a batch at most: what its columns take should fit the processor's second-level cache.
pub const BATCH_ENTRIES: u64 = 32 << 10;
/// Entries of a batch at least: fewer do not repay the fixed cost of a batch.
pub const LEAST_ENTRIES: u64 = 4 << 10;
/// Bytes that the columns of a batch take, about, unless its first entry alone takes more: entries may be large, and what is
/// made of a batch takes as much again.
pub(crate) const BATCH_BYTES: u64 = 64 << 20;
/// Rows between two wanted ones that are decoded with them: it costs less than a new start.
pub(crate) const GAP_ROWS: u32 = 256;
/// The part of a nested column that is asked for beside the part that some entries of a cluster probably need: the
/// lengths of lists vary.
pub(crate) const NESTED_MARGIN: u64 = 16;

// What is decoded at once: it stays in the processor's first-level cache.

/// Bytes of values that are gathered before they are decoded.
pub(crate) const PACKED_BYTES: usize = 16 << 10;
/// Bytes that are copied at a time, whatever the length of a shorter piece: a copy of a length that is known beforehand
/// is some instructions, any other a call.
pub(crate) const COPIED_BYTES: usize = 32;
/// Bytes by which memory for gathered values grows.
pub(crate) const HEAP_GROWTH: usize = 16 << 10;
/// Bytes of a leaf that memory is taken for before it is known how many there are.
pub(crate) const LEAF_ROOM: usize = 16 << 10;
/// Bytes of objects that are compared with those of their class at a time.
pub(crate) const PATTERN_BYTES: usize = 512;

// Opening.

/// Bytes of a file that are read first: the header, in most files the root directory after it, and in those of uproot the key
/// list.
pub(crate) const FIRST_BYTES: u64 = 4096;
/// Bytes of streamer information that are read together with the key list of a distant file, before it is known whether it
/// has a tree: most have less than 50 KB.
pub(crate) const EARLY_INFOS: u64 = 1 << 20;
/// Records of streamer information that are kept when they are parsed: a dataset has few.
pub(crate) const DESCRIPTIONS: usize = 16;
/// Bytes of such a record as it is stored, at most.
pub(crate) const DESCRIPTION_BYTES: usize = 1 << 20;
/// Depth of directories within directories.
pub(crate) const DIRECTORY_DEPTH: usize = 64;
/// Bytes of directories' records and key lists that are read together.
pub(crate) const LISTS_TOGETHER: u64 = 8 << 20;
/// Bytes of baskets that are read together for the first look into them.
pub(crate) const LOOK_TOGETHER: u64 = 8 << 20;
/// Bytes of one basket that the first look decodes, unless its first entry alone has more.
pub(crate) const LOOK_BYTES: usize = 256 << 10;
/// Classes that the first look finds for one branch: a class may have arrays of itself.
pub(crate) const LOOK_CLASSES: usize = 64;

// Waiting for distant sources.

/// Steps of a worker, and ranges of its reads, that are kept until they are taken after a packet: some MB.
pub(crate) const STEPS_KEPT: usize = 20_000;
/// How often a thread that waits for bytes looks whether its pass was stopped, and whether more can be asked for: what is in
/// flight on a fast link lasts some times as long.
pub(crate) const STOP_LOOK: Duration = Duration::from_millis(50);
/// How long after a pass was stopped its readers wait for bytes: some round trips over an ocean. What comes by then completes a
/// batch, and what the worker has done is merged.
pub(crate) const STOP_GRACE: Duration = Duration::from_millis(500);

// Memory for values that are announced and not yet seen, or not stored at all.

/// Values that memory is taken for before their bytes have been seen.
pub(crate) const RESERVED_VALUES: u64 = 1 << 20;
/// Beyond [`RESERVED_VALUES`], as many values as would be if the stored bytes had this compression ratio.
pub(crate) const RESERVED_RATIO: u64 = 4;
/// Zeros of a field from before it was added, in one column of one batch. A larger file may have as many as it
/// has bytes.
pub(crate) const ZEROS: u64 = 1 << 22;
/// Values that are made up for missing arrays of a fixed size, in one batch.
pub(crate) const MADE_UP: usize = 1 << 25;
/// Beyond [`MADE_UP`], values that are made up for each row.
pub(crate) const MADE_UP_PER_ROW: usize = 16;

// Memory that is kept for reuse.

/// Bytes of buffers that readers leave in each of the two pools.
pub(crate) const POOL_BYTES: usize = 32 << 20;
/// Bytes from which on the memory of a result is kept.
pub(crate) const RESULT_BYTES: usize = 32 << 10;
/// Bytes of all results that are kept.
pub(crate) const RESULTS_BYTES: usize = 128 << 20;
/// Results that are kept: all are looked at when one is wanted.
pub(crate) const MOST_RESULTS: usize = 64;
/// How many times larger than asked for the memory of a result may be.
pub(crate) const RESULT_SLACK: usize = 4;
/// Entries whose list ends are kept, of all files and counters, four bytes each.
pub(crate) const KEPT_ENTRIES: u64 = 16 << 20;
/// Entries of a counter whose list ends a reader remembers between batches.
pub(crate) const COUNTED_ENTRIES: u64 = 1 << 20;
/// Selections of a counter's entries that a reader remembers.
pub(crate) const COUNTED_SELECTIONS: usize = 4;

// The cache, whose limit users set.

/// Bytes that an entry takes beside its payload, about.
pub(crate) const CACHE_OVERHEAD: u64 = 256;
/// Keys that are looked up under one lock.
pub(crate) const CACHE_KEYS: usize = 256;
/// Passes whose values the cache protects, beside the current one. A query with automatic ranges takes two passes,
/// the first over fewer columns: what it used last time is at most two passes old.
pub(crate) const CACHE_PASSES: u64 = 2;
