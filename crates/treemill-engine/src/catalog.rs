//! A table with the columns that it offers to queries. Knows no query.

use crate::columns::Columns;
use crate::{ntuple_columns, tree_columns};
use std::sync::OnceLock;
use treemill_query::Schema;
use treemill_read::Table;

/// A tree or an RNTuple, and what queries may ask of it. Shared by any number of queries.
#[derive(Debug)]
pub struct Catalog {
    table: Table,
    columns: OnceLock<Columns>,
}

impl Catalog {
    /// The table's; its columns are looked at when a query first needs them.
    #[must_use]
    pub fn new(table: Table) -> Self {
        Self {
            table,
            columns: OnceLock::new(),
        }
    }

    /// The table.
    #[must_use]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// The columns that expressions may name, with their types.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.columns().schema
    }

    /// What queries may ask of it: a tree of thousands of branches is asked often, so it is kept.
    pub(crate) fn columns(&self) -> &Columns {
        self.columns.get_or_init(|| match &self.table {
            Table::Tree(file) => tree_columns::columns(file),
            Table::NTuple(file) => ntuple_columns::columns(file),
        })
    }
}
