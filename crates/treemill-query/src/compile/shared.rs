//! Arguments of calls whose values many positions share: a call gets those of the level where they were computed, and
//! their places. Nothing depends on it but speed and memory.

use super::{Compiler, LevelId, NodeId, Op, Type};
use std::sync::Arc;

/// Arguments, and which of them are shared. Places of these come after all arguments, in order.
pub(super) struct SharedArguments {
    pub inputs: Vec<NodeId>,
    pub shared: Arc<[bool]>,
}

impl Compiler<'_> {
    /// The arguments as they were before they were carried to their level; `None` if all were computed there.
    pub(super) fn shared_arguments(&mut self, arguments: &[NodeId]) -> Option<SharedArguments> {
        let mut inputs = Vec::with_capacity(2 * arguments.len());
        let mut places = Vec::with_capacity(arguments.len());
        let mut shared = Vec::with_capacity(arguments.len());
        for id in arguments {
            let found = self.source_and_place(*id);
            shared.push(found.is_some());
            let (source, place) = found.unzip();
            inputs.push(source.unwrap_or(*id));
            places.extend(place);
        }
        let some = !places.is_empty();
        inputs.extend(places);
        some.then(|| SharedArguments {
            inputs,
            shared: shared.into(),
        })
    }

    /// A value before it was repeated for the first time, and for each of the node's positions its place there.
    fn source_and_place(&mut self, id: NodeId) -> Option<(NodeId, NodeId)> {
        let mut steps: Vec<(Op, LevelId)> = Vec::new();
        let (mut walk, mut source, mut count) = (id, None, 0);
        loop {
            let node = self.graph.node(walk);
            let (Op::Take(_) | Op::Spread, [input]) = (&node.op, node.inputs.as_slice()) else {
                break;
            };
            let repeats = node.op == Op::Spread || self.graph.level(node.level).kind.expands();
            steps.push((node.op.clone(), node.level));
            walk = *input;
            if repeats {
                (source, count) = (Some(walk), steps.len());
            }
        }
        let source = source.filter(|source| {
            let node = self.graph.node(*source);
            !node.missing && node.ty == Type::Float && self.graph.as_const(*source).is_none()
        })?;
        steps.truncate(count);
        let row = self.row(self.graph.node(source).level);
        let steps = steps.into_iter().rev();
        let place = steps.fold(row, |node, (op, level)| self.moved(op, node, level));
        Some((source, place))
    }
}
