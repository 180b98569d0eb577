//! Limits of corrections, of models and of what is done at once: the crate's policy in one place.

// Of corrections.

/// Brackets in one another in a document: each is a level of the stack.
pub(crate) const JSON_DEPTH: usize = 256;
/// Levels of a formula's tree, as many as a row of operators has.
pub(crate) const FORMULA_DEPTH: usize = 1000;
/// Brackets in one another in a formula.
pub(crate) const FORMULA_BRACKETS: usize = 200;
/// Inputs of a correction.
pub(crate) const INPUTS: usize = 100;
/// Edges of bins that are compared one by one: more are searched.
pub(crate) const COUNTED_EDGES: usize = 48;
/// Rows from which on it pays to sort them into bins.
pub(crate) const SORTED_ROWS: usize = 32;
/// Rows that are sorted at a time: what belongs to them stays in the cache.
pub(crate) const BATCH_ROWS: u32 = 8192;
/// Inputs of a random number whose bits need no memory of their own.
pub(crate) const SEED_INPUTS: usize = 8;
/// Inputs of a random number that are hashed column by column.
pub(crate) const HASHED_INPUTS: usize = 3;
/// Rows whose random numbers are drawn together: their places fit into a byte.
pub(crate) const DRAWN_ROWS: usize = 256;

// Of models.

/// Rows that go through all trees together: their ranks stay in the first cache.
pub(crate) const ROWS: usize = 256;
/// Thresholds of a feature that are counted one by one: more are searched.
pub(crate) const COUNTED_THRESHOLDS: usize = 40;
/// Thresholds that are compared with a number together, when a feature has many.
pub(crate) const BUCKET: usize = 16;
/// Leaves up to which all nodes of a tree are compared, when a rank has one byte: more are walked through.
pub(crate) const COMPARED_LEAVES_8: usize = 256;
/// Leaves up to which all nodes of a tree are compared, when a rank has two bytes.
pub(crate) const COMPARED_LEAVES_16: usize = 128;
/// Leaves up to which all nodes of a tree are compared, when a rank has four bytes.
pub(crate) const COMPARED_LEAVES_32: usize = 48;
/// Rows that walk through a tree side by side.
pub(crate) const LANES: usize = 8;
/// Inputs of a model.
pub(crate) const FEATURES: usize = 100_000;
/// Outputs of a model.
pub(crate) const OUTPUTS: usize = 10_000;
/// Nodes and leaves of a model.
pub(crate) const NODES: usize = 1 << 30;
/// Words of a set of categories for each category that it names, at most: others are kept as a list.
pub(crate) const SET_WORDS_PER_CATEGORY: usize = 4;
