//! Reductions of lists to one value, lengths, order, and the places of items.

use crate::compile::nodes::types::NO_STRINGS;
use crate::compile::{
    Builder, Constant, Level, LevelId, LevelKind, Node, NodeId, Op, Reducer, Result, Type,
};
use crate::error::QueryError;
use crate::spec::Span;

impl Builder<'_> {
    /// The number of each item in the list that a `for` goes through, whatever has been left out.
    pub(in crate::compile) fn place_in_loop(&mut self, level: LevelId) -> NodeId {
        let of = match self.graph.level(level).kind {
            LevelKind::Filtered { of, .. } | LevelKind::Product { of, .. } => of,
            _ => {
                return self.graph.add(Node {
                    op: Op::Position,
                    inputs: Vec::new(),
                    level,
                    ty: Type::Int,
                    missing: false,
                });
            }
        };
        let place = self.place_in_loop(of);
        self.moved(Op::Take(0), place, level)
    }

    /// All items of each list as one value.
    pub(in crate::compile) fn reduce(
        &mut self,
        reducer: Reducer,
        value: NodeId,
        at: Span,
    ) -> Result<NodeId> {
        let node = self.graph.node(value);
        let (level, items_missing) = (node.level, node.missing);
        if self.is_single(level) {
            return Err(QueryError::at(
                at,
                "this needs a list, and there is one value",
            ));
        }
        let mut value = value;
        let mut ty = node.ty;
        if ty == Type::Str && reducer != Reducer::Count {
            return Err(QueryError::at(at, NO_STRINGS));
        }
        match reducer {
            Reducer::Any | Reducer::All => {
                value = self.truth(value, at)?;
                ty = Type::Bool;
            }
            Reducer::Count if ty == Type::Bool => {
                let message = "count of bools could mean two things: \
                               write sum(…) for those that are true, len(…) for all";
                return Err(QueryError::at(at, message));
            }
            Reducer::Count => ty = Type::Int,
            Reducer::Sum if ty == Type::Bool => ty = Type::Int,
            Reducer::Prod if ty == Type::Bool => {
                value = self.number_of(value);
                ty = Type::Int;
            }
            Reducer::Mean => {
                value = self.real_of(value);
                ty = Type::Float;
            }
            Reducer::ArgMin | Reducer::ArgMax => ty = Type::Int,
            Reducer::Sum | Reducer::Prod | Reducer::Min | Reducer::Max => (),
        }
        let empty = match reducer {
            Reducer::Sum | Reducer::Prod | Reducer::Any | Reducer::All | Reducer::Count => false,
            Reducer::Mean | Reducer::Min | Reducer::Max | Reducer::ArgMin | Reducer::ArgMax => {
                let never = matches!(self.graph.level(level).kind, LevelKind::Fixed(1..));
                items_missing || !never
            }
        };
        let parent = self.graph.parent(level);
        Ok(self.graph.add(Node {
            op: Op::Reduce(reducer),
            inputs: vec![value],
            level: parent,
            ty,
            missing: empty,
        }))
    }

    /// Number of items of a level.
    pub(in crate::compile) fn length(&mut self, level: LevelId) -> NodeId {
        let parent = self.graph.parent(level);
        match &self.graph.level(level).kind {
            // The number of items kept is the number of trues of the mask: no list needs to be made.
            LevelKind::Filtered { mask, .. } => {
                let mask = *mask;
                self.graph.add(Node {
                    op: Op::Reduce(Reducer::Sum),
                    inputs: vec![mask],
                    level: parent,
                    ty: Type::Int,
                    missing: false,
                })
            }
            LevelKind::Fixed(len) => {
                let len = i64::from(*len);
                let length = self.graph.constant(Constant::Int(len));
                self.at_each_of(length, parent)
            }
            LevelKind::Same { of, .. } if self.graph.parent(*of) == parent => {
                let of = *of;
                self.length(of)
            }
            _ => self.graph.add(Node {
                op: Op::Len(level),
                inputs: Vec::new(),
                level: parent,
                ty: Type::Int,
                missing: false,
            }),
        }
    }

    /// The first value, or where it is missing the second.
    pub(in crate::compile) fn filled(&mut self, ids: &[NodeId], at: Span) -> Result<NodeId> {
        let &[value, with] = ids else {
            return Err(QueryError::at(at, "fill_missing(value, instead)"));
        };
        // Both types are checked in any case: a value that is never missing in one file may be in another.
        let (sides, _) = self.alike(&[value, with], at)?;
        if !self.graph.node(value).missing {
            return Ok(sides[0]);
        }
        Ok(self.fill_missing(sides[0], sides[1]))
    }

    /// The items of a level in the order of a key.
    pub(in crate::compile) fn ordered(
        &mut self,
        of: LevelId,
        key: NodeId,
        reverse: bool,
    ) -> LevelId {
        let parent = self.graph.parent(of);
        let kind = LevelKind::Sorted { of, key, reverse };
        self.graph.add_level(Level { parent, kind })
    }

    /// The number of each item in its list.
    pub(in crate::compile) fn position(&mut self, level: LevelId) -> NodeId {
        self.graph.add(Node {
            op: Op::Position,
            inputs: Vec::new(),
            level,
            ty: Type::Int,
            missing: false,
        })
    }

    pub(in crate::compile) fn integer(&mut self, x: i64) -> NodeId {
        self.graph.constant(Constant::Int(x))
    }
}
