//! What costs less to compute again wherever it is wanted than to write down for all items and to look up there: a few
//! quick operations on one column, as variations of an object's members are. Such values are steps of the programs that
//! want them. Nothing depends on it but speed.

use crate::compile::nodes::objects::Move;
use crate::compile::{Builder, Graph, LevelId, LevelKind, Node, NodeId, Op, Type};
use crate::limits::STEPS_AGAIN;

impl Graph {
    /// Whether a few quick operations give a node's values, all of them floats, from one list column and constants: so
    /// it takes one look into memory either way.
    pub(in crate::compile) fn is_light(&self, id: NodeId) -> bool {
        let node = self.node(id);
        if !matches!(node.op, Op::Map(_)) || node.ty != Type::Float || !self.has_items(node.level) {
            return false;
        }
        let (mut steps, mut column, mut left) = (0, None, vec![id]);
        while let Some(id) = left.pop() {
            let node = self.node(id);
            match &node.op {
                _ if node.missing => return false,
                Op::Const(_) => (),
                Op::Column(found) if *column.get_or_insert(*found) == *found => (),
                Op::Take(_) => left.extend(&node.inputs),
                Op::Map(map) if map.is_quick() && steps < STEPS_AGAIN => {
                    steps += 1;
                    left.extend(&node.inputs);
                }
                _ => return false,
            }
        }
        true
    }

    /// Whether a level's items are those of columns, all or some.
    fn has_items(&self, level: LevelId) -> bool {
        let mut walk = level;
        loop {
            match self.level(walk).kind {
                LevelKind::Same { of, .. } | LevelKind::Filtered { of, .. } => walk = of,
                LevelKind::Items { .. } => return true,
                _ => return false,
            }
        }
    }
}

impl Builder<'_> {
    /// A value of the items that a level selects: computed again from what those items have, or gathered.
    pub(in crate::compile) fn selected(&mut self, id: NodeId, level: LevelId, which: u8) -> NodeId {
        if !self.graph.is_light(id) || !self.graph.has_items(level) {
            return self.moved(Op::Take(which), id, level);
        }
        let node = self.graph.node(id).clone();
        let how = Move::Take(level, which);
        let inputs = node.inputs.iter().map(|input| self.carry(*input, how));
        let inputs = inputs.collect();
        self.graph.add(Node {
            inputs,
            level,
            ..node
        })
    }
}
