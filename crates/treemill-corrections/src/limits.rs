//! Limits of documents: the crate's policy in one place. Each constant is the most that there may be.

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
