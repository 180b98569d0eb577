//! Nodes from nodes: operations on values, with their types and levels brought together. Knows neither names nor
//! expressions.

pub(super) mod again;
pub(super) mod bounds;
pub(super) mod builtins;
pub(super) mod callee;
pub(crate) mod combination_items;
pub(super) mod compare;
pub(super) mod conditional;
pub(super) mod conjuncts;
pub(super) mod coordinates;
pub(super) mod exact_integers;
pub(super) mod functions;
pub(super) mod hoist;
pub(super) mod implied;
pub(super) mod items;
pub(super) mod kinematics;
pub(super) mod largest;
pub(super) mod levels;
pub(super) mod lists;
pub(super) mod loops;
pub(super) mod objects;
pub(super) mod operators;
pub(super) mod provided;
pub(super) mod reduce;
pub(super) mod returned;
pub(super) mod tables;
pub(super) mod types;

use crate::compile::graph::Graph;
use crate::compile::graph::ids::{EVENT, LevelId};
use crate::compile::nodes::callee::Callee;
use crate::compile::nodes::conjuncts::Works;
use crate::schema::Schema;
use std::cell::OnceCell;
use std::collections::HashMap;

/// Adds nodes to a graph.
pub(crate) struct Builder<'a> {
    pub graph: Graph,
    pub(in crate::compile) schema: &'a Schema,
    /// The places of the list columns of each counter; made when first wanted.
    pub(in crate::compile) counted: OnceCell<HashMap<&'a str, Vec<usize>>>,
    /// The level of the innermost loop.
    pub(in crate::compile) here: LevelId,
    /// Functions that the query does not define, as far as they are called.
    pub(in crate::compile) callees: Vec<Callee>,
    /// How much work the conditions are that filters are split into.
    pub(in crate::compile) works: Works,
}

impl<'a> Builder<'a> {
    pub(in crate::compile) fn new(schema: &'a Schema) -> Self {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::compile::{Constant, Op, Type};
    use crate::kernel::Arithmetic;
    use crate::schema::{ColumnType, DType, Field};

    fn schema() -> Schema {
        let list = |counter: &str| ColumnType::List {
            item: DType::F32,
            counter: Some(counter.to_owned()),
        };
        Schema::new(vec![
            Field::new("MET", ColumnType::Scalar(DType::F32)),
            Field::new("Jet_pt", list("nJet")),
            Field::new("Muon_pt", list("nMuon")),
            Field::new("Jet_eta", list("nJet")),
            Field::new("Muon_eta", list("nMuon")),
        ])
    }

    /// The node of a column whose items are at this level.
    fn column(nodes: &mut Builder, index: usize, level: LevelId) -> u32 {
        nodes.graph.add(crate::compile::Node {
            op: Op::Column(index),
            inputs: Vec::new(),
            level,
            ty: Type::Float,
            missing: false,
        })
    }

    #[test]
    fn constants_are_computed_at_once() {
        let schema = schema();
        let mut nodes = Builder::new(&schema);
        let two = nodes.graph.constant(Constant::Int(2));
        let three = nodes.graph.constant(Constant::Int(3));
        let sum = nodes
            .arithmetic(Arithmetic::Add, two, three, (0, 0))
            .unwrap();
        assert_eq!(nodes.graph.as_const(sum), Some(&Constant::Int(5)));
    }

    #[test]
    fn equal_operations_are_one_node() {
        let schema = schema();
        let mut nodes = Builder::new(&schema);
        let met = column(&mut nodes, 0, EVENT);
        let one = nodes.arithmetic(Arithmetic::Mul, met, met, (0, 0)).unwrap();
        let before = nodes.graph.nodes.len();
        let other = nodes.arithmetic(Arithmetic::Mul, met, met, (0, 0)).unwrap();
        assert_eq!((one, before), (other, nodes.graph.nodes.len()));
    }

    #[test]
    fn a_value_of_the_event_goes_to_each_item_of_a_list() {
        let schema = schema();
        let mut nodes = Builder::new(&schema);
        let met = column(&mut nodes, 0, EVENT);
        let jets = nodes.items_level(Some("nJet"), 1);
        let pt = column(&mut nodes, 1, jets);
        let both = nodes.together(&[met, pt], (0, 0)).unwrap();
        assert!(both.iter().all(|id| nodes.graph.node(*id).level == jets));
        assert_eq!(nodes.graph.node(both[0]).op, Op::Spread);
        assert_eq!(both[1], pt);
    }

    #[test]
    fn lists_of_different_collections_do_not_meet() {
        let schema = schema();
        let mut nodes = Builder::new(&schema);
        let jets = nodes.items_level(Some("nJet"), 1);
        let muons = nodes.items_level(Some("nMuon"), 2);
        let (jet, muon) = (column(&mut nodes, 1, jets), column(&mut nodes, 2, muons));
        let error = nodes.together(&[jet, muon], (3, 9)).unwrap_err();
        assert!(error.to_string().contains("nJet"), "{error}");
    }
}
