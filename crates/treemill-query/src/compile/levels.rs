//! Bringing values to one level.

use super::{Compiler, EVENT, Level, LevelId, LevelKind, Node, NodeId, Op, Result};
use crate::error::QueryError;
use crate::spec::Span;

impl Compiler<'_> {
    /// The values at the deepest of their levels, those of outer levels repeated for every item.
    /// Constants stay as they are.
    pub(crate) fn together(&mut self, ids: &[NodeId], at: Span) -> Result<Vec<NodeId>> {
        let mut target: Option<LevelId> = None;
        for id in ids {
            if self.graph.as_const(*id).is_some() {
                continue;
            }
            let level = self.graph.node(*id).level;
            target = Some(match target {
                Some(found) if self.graph.encloses(level, found) => found,
                Some(found) if self.graph.encloses(found, level) => level,
                Some(found) if self.may_be_equal(found, level) => found,
                None => level,
                Some(found) => return Err(self.different(found, level, at)),
            });
        }
        let Some(target) = target else {
            return Ok(ids.to_vec());
        };
        ids.iter().map(|id| self.bring(*id, target, at)).collect()
    }

    /// A value at a level.
    pub(super) fn bring(&mut self, id: NodeId, target: LevelId, at: Span) -> Result<NodeId> {
        let level = self.graph.node(id).level;
        if level == target || self.graph.as_const(id).is_some() {
            return Ok(id);
        }
        if self.graph.encloses(level, target) {
            // One step for every level between them.
            let mut path = Vec::new();
            let mut walk = target;
            while walk != level {
                path.push(walk);
                walk = self.graph.parent(walk);
            }
            return Ok(path
                .into_iter()
                .rev()
                .fold(id, |node, level| self.moved(Op::Spread, node, level)));
        }
        if self.may_be_equal(target, level) {
            return Ok(self.moved(Op::Align, id, target));
        }
        // A level beside a parent of the target.
        let mut walk = target;
        while walk != EVENT {
            walk = self.graph.parent(walk);
            if self.may_be_equal(walk, level) {
                let aligned = self.moved(Op::Align, id, walk);
                return self.bring(aligned, target, at);
            }
        }
        Err(self.different(target, level, at))
    }

    /// The value of a node at another level.
    pub(super) fn moved(&mut self, op: Op, id: NodeId, level: LevelId) -> NodeId {
        let node = self.graph.node(id);
        let node = Node {
            op,
            inputs: vec![id],
            level,
            ty: node.ty,
            missing: node.missing,
        };
        self.graph.add(node)
    }

    /// Whether two different levels may turn out to have the same items: one of them stems from a
    /// column that no counter ties to others.
    pub(super) fn may_be_equal(&self, a: LevelId, b: LevelId) -> bool {
        let (mut a, mut b) = (a, b);
        // The same steps from roots that may be equal.
        loop {
            if a == b || self.graph.parent(a) != self.graph.parent(b) {
                return false;
            }
            match (&self.graph.level(a).kind, &self.graph.level(b).kind) {
                (LevelKind::Filtered { of: of_a, .. }, LevelKind::Filtered { of: of_b, .. }) => {
                    (a, b) = (*of_a, *of_b)
                }
                (
                    LevelKind::Sliced {
                        of: of_a,
                        lower: lower_a,
                        upper: upper_a,
                        step: step_a,
                    },
                    LevelKind::Sliced {
                        of: of_b,
                        lower: lower_b,
                        upper: upper_b,
                        step: step_b,
                    },
                ) if (lower_a, upper_a, step_a) == (lower_b, upper_b, step_b) => {
                    (a, b) = (*of_a, *of_b);
                }
                (LevelKind::Items { counter: None, .. }, other)
                | (other, LevelKind::Items { counter: None, .. }) => {
                    return matches!(other, LevelKind::Items { .. } | LevelKind::Fixed(_));
                }
                _ => return false,
            }
        }
    }

    fn different(&self, a: LevelId, b: LevelId, at: Span) -> QueryError {
        QueryError::at(
            at,
            format!(
                "values of different lists do not go together: {} and {}",
                self.describe(a),
                self.describe(b)
            ),
        )
    }

    /// A level in words.
    pub(super) fn describe(&self, level: LevelId) -> String {
        let mut walk = level;
        let mut narrowed = "";
        loop {
            match &self.graph.level(walk).kind {
                LevelKind::Event => return "one per event".to_owned(),
                LevelKind::Items {
                    counter: Some(counter),
                    ..
                } => return format!("{narrowed}the items counted by {counter}"),
                LevelKind::Items { column, .. } => {
                    let name = self.schema.fields.get(*column);
                    let name = name.map_or("a column", |field| field.name.as_str());
                    return format!("{narrowed}the items of {name}");
                }
                LevelKind::Fixed(len) => return format!("{narrowed}arrays of {len}"),
                LevelKind::Filtered { of, .. } | LevelKind::Sliced { of, .. } => {
                    narrowed = "some of ";
                    walk = *of;
                }
            }
        }
    }

    /// The items that a mask keeps.
    pub(super) fn filtered(&mut self, of: LevelId, mask: NodeId) -> LevelId {
        let parent = self.graph.parent(of);
        self.graph.add_level(Level {
            parent,
            kind: LevelKind::Filtered { of, mask },
        })
    }
}
