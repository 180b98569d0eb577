//! The columns that a table offers to queries, and where in the table each lies. Data only.

use treemill_query::Schema;

/// The columns, and the location of each.
#[derive(Debug)]
pub(crate) struct Columns {
    pub(crate) schema: Schema,
    /// One for each of the schema's fields.
    pub(crate) locations: Vec<Location>,
}

/// The location of a column in a table: a branch, or one member of a branch that is a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    /// Index in the tree's branches, or in the RNTuple's fields.
    pub(crate) branch: usize,
    /// The way to a member of its record; empty: all of it.
    pub(crate) member: Vec<usize>,
}
