//! Nodes from nodes: operations on values, with their types and levels brought together. Knows neither names nor
//! expressions.

use super::callee::Callee;
use super::conjuncts::Works;
use super::graph::Graph;
use super::ids::{EVENT, LevelId};
use crate::schema::Schema;
use std::cell::OnceCell;
use std::collections::HashMap;

/// Adds nodes to a graph.
pub(crate) struct Builder<'a> {
    pub graph: Graph,
    pub(super) schema: &'a Schema,
    /// The places of the list columns of each counter; made when first wanted.
    pub(super) counted: OnceCell<HashMap<&'a str, Vec<usize>>>,
    /// The level of the innermost loop.
    pub(super) here: LevelId,
    /// Functions that the query does not define, as far as they are called.
    pub(super) callees: Vec<Callee>,
    /// How much work the conditions are that filters are split into.
    pub(super) works: Works,
}

impl<'a> Builder<'a> {
    pub(super) fn new(schema: &'a Schema) -> Self {
        Self {
            graph: Graph::new(),
            schema,
            counted: OnceCell::new(),
            here: EVENT,
            callees: Vec::new(),
            works: Works::default(),
        }
    }
}
