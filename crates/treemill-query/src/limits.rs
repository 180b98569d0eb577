//! Limits on the memory, the size and the work of a query: the crate's policy in one place, so that one
//! sees that it adds up. Each constant is the most that there may be.

// Memory.

/// Bins of one axis.
pub(crate) const AXIS_BINS: i64 = 1 << 27;
/// Cells of one histogram.
pub(crate) const HISTOGRAM_CELLS: u64 = 1 << 27;
/// Axes of one histogram: as many as boost-histogram has.
pub(crate) const HISTOGRAM_AXES: usize = 32;
/// Bytes of all histograms of a query together: the merged partial has them once.
pub(crate) const HISTOGRAM_BYTES: u64 = 4 << 30;
/// Bytes of a histogram that is large, at least, if all of the query together take `LARGE_RESULTS_BYTES`: smaller ones
/// fit a cache of the second level, where each worker fills its own fastest.
pub(crate) const LARGE_RESULT_BYTES: u64 = 64 << 10;
/// Bytes of all histograms of a query of which each worker has its own: with more, 16 workers would have more than
/// 512 MB beside what is merged.
pub(crate) const LARGE_RESULTS_BYTES: u64 = 32 << 20;
/// The part of the bytes of large histograms that a worker's lists may take: those of 16 workers together take an
/// eighth of them.
pub(crate) const LIST_SHARE: usize = 128;
/// Bytes of a worker's lists, whatever their share is: so many fills take long beside handing them over.
pub(crate) const LIST_BYTES_LEAST: usize = 4 << 20;
/// Bytes of a worker's lists, at most: longer ones save nothing.
pub(crate) const LIST_BYTES_MOST: usize = 16 << 20;
/// Bytes of a piece of a large histogram, a power of two: memory comes and goes in such pieces.
pub(crate) const BLOCK_BYTES: usize = 4 << 20;
/// Bits of the mantissa that tell the cells of a sketch apart: 11 make them narrower than 0.05 % of their values.
pub(crate) const SKETCH_BITS: u32 = 11;
/// Pages of a sketch, of 48 KiB each.
pub(crate) const SKETCH_PAGES: usize = 512;
/// Items of a level in one batch: offsets have 32 bits.
pub(crate) const LEVEL_ITEMS: usize = i32::MAX as usize;
/// Combinations and products that are made of several events at a time; of more, the events are
/// halved.
pub(crate) const EXPANDED_TOGETHER: u64 = 1 << 21;
/// Combinations and products of one event.
pub(crate) const EXPANDED_OF_ONE: u64 = 1 << 24;
/// Combinations of one list that are reduced side by side with other lists': the positions of their items
/// are written down once for each length.
pub(crate) const COMBINATIONS_WRITTEN: u64 = 1 << 16;
/// Bytes of the values that a batch keeps until it ends, about: of very many values a batch has fewer events.
pub(crate) const BATCH_VALUE_BYTES: u64 = 128 << 20;
/// Events of such a batch at least: fewer do not repay the fixed cost of a value.
pub(crate) const BATCH_EVENTS: u64 = 4 << 10;
/// Buffers of one type at rest: a query with more live at once allocates the rest anew.
pub(crate) const POOL_BUFFERS: usize = 64;
/// Elements of a buffer at rest: a batch with huge collections is rare.
pub(crate) const POOL_ELEMENTS: usize = 1 << 22;
/// Bytes of one thread's buffers at rest: a query over triples needs some 60 MB.
pub(crate) const POOL_BYTES: usize = 128 << 20;
/// Bytes of scratch memory that queries which are done leave to later ones, in the process.
pub(crate) const SCRATCH_BYTES: usize = 64 << 20;

// What may be written.

/// Levels of an expression's tree, and vectors in a sum of vectors.
pub(crate) const EXPRESSION_DEPTH: usize = 200;
/// Parts of all expressions of a query together.
pub(crate) const EXPRESSION_PARTS: usize = 1 << 20;
/// Loops of one comprehension.
pub(crate) const LOOPS: usize = 16;
/// Items of a combination for which there are fast kernels.
pub(crate) const COMBINATION_ITEMS: u8 = 4;
/// Items of a combination or a permutation.
pub(crate) const ARRANGED_ITEMS: i64 = 8;
/// Elements of a tuple, and constants of a list.
pub(crate) const TUPLE_ITEMS: usize = 10_000;
/// Floats or strings that `in` looks for: each is compared.
pub(crate) const COMPARED_MEMBERS: usize = 1000;
/// Collections that one reference may lead to: an expression reads a member of each.
pub(crate) const REFERENCE_TARGETS: usize = 32;
/// Arguments of a function that takes any number.
pub(crate) const FUNCTION_ARGUMENTS: usize = 64;
/// Lists in lists below the outermost.
pub(crate) const LISTS_IN_LISTS: usize = 7;

// What is done at once.

/// Integers that `in` compares one by one: longer lists are searched.
pub(crate) const COMPARED_INTEGERS: usize = 8;
/// Terms of a filter that become filters of their own; one of more is left whole.
pub(crate) const FILTER_PARTS: usize = 64;
/// Columns of a condition that are listed, so that others on the same columns are computed with it.
pub(crate) const CONDITION_COLUMNS: usize = 64;
/// Operations on a column in a row, of which a comparison is made one of the column itself.
pub(crate) const BOUND_STEPS: usize = 16;
/// Parts of a condition's form; one of more is like no other.
pub(crate) const FORM_PARTS: usize = 64;
/// Filters that are computed among the events of one beside them, if they are so many at least.
pub(crate) const NESTED_FILTERS: usize = 2;
/// Filters of one form, beside each other, of which others are computed among the events.
pub(crate) const WIDEST_FILTERS: usize = 8;
/// Steps of a program; what a larger expression has more of is computed for the whole batch.
pub(crate) const PROGRAM_STEPS: usize = 32;
/// Quick operations on one column that are done again wherever their value is wanted.
pub(crate) const STEPS_AGAIN: usize = 4;
/// Positions that a program treats at a time: so few that its registers stay in the first-level cache.
pub(crate) const PROGRAM_POSITIONS: usize = 512;
/// Positions of a column that are widened and filled at a time.
pub(crate) const CHUNK_POSITIONS: usize = 1024;
/// Items of lists that lie side by side at a time, at least: so few that several columns of them stay in the
/// first-level cache.
pub(crate) const INTERLEAVED_ITEMS: usize = 64;
/// Items of the longest list whose combinations are in a table, because counting them would mispredict many branches.
pub(crate) const TABLED_ITEMS: usize = 12;
/// Lists whose items that a mask keeps are counted together.
pub(crate) const COUNTED_LISTS: usize = 256;
/// Items of these lists whose running counts there is room for; a power of two.
pub(crate) const COUNTED_ITEMS: usize = 4096;
/// Values that one program computes: their registers fill the first-level cache.
pub(crate) const JOINT_VALUES: usize = 8;
/// One event in so many, or fewer, are few: only those are decoded and computed on.
pub(crate) const FEW_EVENTS: usize = 4;
/// One event in so many, or more, are most: what costs little is made for all events instead of for these.
pub(crate) const MOST_EVENTS: usize = 2;
/// Events that lie within one part in so many of a batch are few, too: what is around them need not
/// be read.
pub(crate) const NARROW_EVENTS: usize = 2;

// Words.

/// Names that an error suggests.
pub(crate) const SUGGESTED_NAMES: usize = 5;
/// Names that a message lists.
pub(crate) const LISTED_NAMES: usize = 8;
/// Levels of an expression that an explanation writes out.
pub(crate) const EXPLAINED_DEPTH: usize = 6;
/// Lines of one kind in an explanation.
pub(crate) const EXPLAINED_LINES: usize = 100;
