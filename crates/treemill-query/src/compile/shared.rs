//! Arguments of calls whose values many positions share: a call gets those of the level where they were computed, and
//! their places. Nothing depends on it but speed and memory.

use super::{Builder, LevelId, NodeId, Op, Type};
use std::sync::Arc;

/// Arguments, and in how many steps each is found. After all arguments there are the places for each step of each
/// argument, in order, from the call's positions on.
pub(super) struct SharedArguments {
    pub inputs: Vec<NodeId>,
    pub steps: Arc<[usize]>,
}

impl Builder<'_> {
    /// The arguments as they were before they were carried to their level; `None` if all were computed there.
    pub(super) fn shared_arguments(&mut self, arguments: &[NodeId]) -> Option<SharedArguments> {
        let mut inputs = Vec::with_capacity(2 * arguments.len());
        let mut places = Vec::with_capacity(arguments.len());
        let mut steps = Vec::with_capacity(arguments.len());
        for id in arguments {
            let (source, mut found) = self.source_and_places(*id);
            steps.push(found.len());
            inputs.push(source);
            places.append(&mut found);
        }
        let some = !places.is_empty();
        inputs.extend(places);
        some.then(|| SharedArguments {
            inputs,
            steps: steps.into(),
        })
    }

    /// A value before it was repeated for the first time, and the places by which the node's positions find it: for each
    /// time that it is repeated those of the level before. That level's are fewer, and the last level's are the same for
    /// all that was repeated there, so that they need not be put together for each argument.
    pub(super) fn source_and_places(&mut self, id: NodeId) -> (NodeId, Vec<NodeId>) {
        let mut steps: Vec<(Op, LevelId, bool)> = Vec::new();
        let (mut walk, mut source, mut count) = (id, id, 0);
        loop {
            let node = self.graph.node(walk);
            let (Op::Take(_) | Op::Spread, [input]) = (&node.op, node.inputs.as_slice()) else {
                break;
            };
            let repeats = node.op == Op::Spread || self.graph.level(node.level).kind.expands();
            steps.push((node.op.clone(), node.level, repeats));
            walk = *input;
            if repeats {
                (source, count) = (walk, steps.len());
            }
        }
        let node = self.graph.node(source);
        if node.missing || node.ty != Type::Float || self.graph.as_const(source).is_some() {
            return (id, Vec::new());
        }
        let mut level = node.level;
        let mut places = Vec::new();
        steps.truncate(count);
        for (op, next, repeats) in steps.into_iter().rev() {
            let before = match places.pop() {
                Some(place) if !repeats => place,
                last => {
                    places.extend(last);
                    self.row(level)
                }
            };
            places.push(self.moved(op, before, next));
            level = next;
        }
        places.reverse();
        (source, places)
    }
}
