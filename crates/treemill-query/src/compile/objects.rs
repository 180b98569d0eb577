//! Records: collections of columns, their elements, joined collections, and vectors that the user
//! puts together; how they are carried from where they are stored to where they stand. Their members
//! are found in `members`.

use super::members::listed;
use super::{Bound, Compiler, EVENT, LevelId, Node, NodeId, Op, Result};
use crate::error::QueryError;
use crate::spec::Span;
use std::rc::Rc;

/// A record at every position of a level.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub source: Rc<Source>,
    /// The level of what is stored.
    pub base: LevelId,
    /// The way from there to `level`.
    pub moves: Vec<Move>,
    pub level: LevelId,
}

/// Where members are stored.
#[derive(Debug)]
pub(crate) enum Source {
    /// Columns `prefix_…` or `prefix.…`, with the definitions that were visible when the record was
    /// named: what is defined later does not change it.
    Columns {
        prefix: String,
        scope: Option<usize>,
    },
    /// A record, and members of it that were defined after it, newest first.
    Amended {
        name: String,
        of: Bound,
        members: Vec<(String, Bound)>,
    },
    /// Records one after another; they have the members that all of them have.
    Joined(Vec<Bound>),
    /// Named values.
    Made(Vec<(String, NodeId)>),
}

/// A step from one level to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Move {
    /// Picks (the k-th) of a level made from this one.
    Pick(LevelId, u8),
    /// To the items of a level below.
    Spread(LevelId),
    /// To the same items under another level.
    Align(LevelId),
    /// One item of each list; see `Op::At`.
    At {
        index: NodeId,
        list: Option<NodeId>,
        from_end: bool,
    },
}

impl Compiler<'_> {
    /// The level of whatever an expression stands for.
    pub(super) fn level_of(&self, bound: &Bound) -> LevelId {
        match bound {
            Bound::Value(node) => self.graph.node(*node).level,
            Bound::Object(object) => object.level,
            Bound::Tuple { level, .. }
            | Bound::Sum { level, .. }
            | Bound::Scaled { level, .. }
            | Bound::Choice { level, .. } => *level,
        }
    }

    /// Whether there is one for each position of the innermost `for`, and not a list.
    pub(super) fn is_single(&self, level: LevelId) -> bool {
        self.graph.encloses(level, self.here)
    }

    pub(super) fn landing(&self, from: LevelId, how: Move) -> LevelId {
        match how {
            Move::Pick(level, _) | Move::Spread(level) | Move::Align(level) => level,
            Move::At {
                list: Some(list), ..
            } => self.graph.node(list).level,
            Move::At { list: None, .. } => self.graph.parent(from),
        }
    }

    /// It at another level.
    pub(super) fn carried(&mut self, bound: &Bound, how: Move) -> Bound {
        match bound {
            Bound::Value(node) => Bound::Value(self.carry(*node, how)),
            Bound::Object(object) => {
                let mut object = object.clone();
                object.moves.push(how);
                object.level = self.landing(object.level, how);
                Bound::Object(object)
            }
            Bound::Tuple { items, level } => Bound::Tuple {
                items: items
                    .iter()
                    .map(|item| self.carried_from(item, *level, how))
                    .collect(),
                level: self.landing(*level, how),
            },
            Bound::Sum {
                terms,
                minus,
                level,
            } => Bound::Sum {
                terms: Rc::new((self.carried(&terms.0, how), self.carried(&terms.1, how))),
                minus: *minus,
                level: self.landing(*level, how),
            },
            Bound::Scaled {
                vector,
                factor,
                level,
            } => Bound::Scaled {
                vector: Rc::new(self.carried(vector, how)),
                factor: self.carry(*factor, how),
                level: self.landing(*level, how),
            },
            Bound::Choice {
                condition,
                sides,
                level,
            } => Bound::Choice {
                condition: self.carry(*condition, how),
                sides: Rc::new((self.carried(&sides.0, how), self.carried(&sides.1, how))),
                level: self.landing(*level, how),
            },
        }
    }

    /// What stands at a level, or in lists below it, at another one: whole lists.
    pub(super) fn carried_from(&mut self, bound: &Bound, level: LevelId, how: Move) -> Bound {
        let own = self.level_of(bound);
        if own == level || !self.graph.encloses(level, own) {
            let bound = self.before_pick(bound.clone(), level, how);
            return self.carried(&bound, how);
        }
        let row = self.row(level);
        let list = self.carry(row, how);
        self.lists_of_rows(bound, level, list)
    }

    /// A constant once for each position of a level, where one item of its lists is picked: where there
    /// is none, it is missing. All else as it is.
    pub(super) fn before_pick(&mut self, bound: Bound, level: LevelId, how: Move) -> Bound {
        match (bound, how) {
            (Bound::Value(id), Move::At { .. })
                if level != EVENT && self.graph.as_const(id).is_some() =>
            {
                Bound::Value(self.moved(Op::Spread, id, level))
            }
            (bound, _) => bound,
        }
    }

    /// A value at another level.
    pub(super) fn carry(&mut self, node: NodeId, how: Move) -> NodeId {
        if self.graph.as_const(node).is_some() && !matches!(how, Move::At { .. }) {
            return node;
        }
        match how {
            Move::Pick(level, which) => self.moved(Op::Pick(which), node, level),
            Move::Spread(level) => self.moved(Op::Spread, node, level),
            Move::Align(level) => self.moved(Op::Align, node, level),
            Move::At {
                index,
                list,
                from_end,
            } => self.item(node, index, list, from_end),
        }
    }

    /// Everything of it at one level, which must enclose or be the one where it stands.
    pub(super) fn brought(&mut self, bound: &Bound, target: LevelId, at: Span) -> Result<Bound> {
        if let Bound::Value(node) = bound {
            return self.bring(*node, target, at).map(Bound::Value);
        }
        let level = self.level_of(bound);
        let mut brought = bound.clone();
        for how in self.way(level, target, at)? {
            brought = self.carried(&brought, how);
        }
        Ok(brought)
    }

    /// Values of several levels one after another, at the level that joins those.
    pub(super) fn joined_values(
        &mut self,
        parts: &[NodeId],
        level: LevelId,
        at: Span,
    ) -> Result<NodeId> {
        let (parts, ty) = self.alike(parts, at)?;
        let missing = parts.iter().any(|id| self.graph.node(*id).missing);
        Ok(self.graph.add(Node {
            op: Op::Concat,
            inputs: parts,
            level,
            ty,
            missing,
        }))
    }

    /// What to call it in messages.
    pub(super) fn title(&self, bound: &Bound) -> String {
        match bound {
            Bound::Value(id) => match self.graph.node(*id).op {
                Op::Column(column) => match self.schema.fields.get(column) {
                    Some(field) => format!("{} ({})", field.name, field.column_type),
                    None => "a value".to_owned(),
                },
                _ => "a value".to_owned(),
            },
            Bound::Tuple { items, .. } => format!("a tuple of {}", items.len()),
            Bound::Sum { .. } | Bound::Scaled { .. } => "the vector".to_owned(),
            Bound::Choice { sides, .. } => {
                format!("{} or {}", self.title(&sides.0), self.title(&sides.1))
            }
            Bound::Object(object) => match &*object.source {
                Source::Columns { prefix, .. } => prefix.clone(),
                Source::Amended { name, .. } => name.clone(),
                Source::Made(_) => "the vector".to_owned(),
                Source::Joined(parts) => {
                    let parts: Vec<String> = parts.iter().map(|part| self.title(part)).collect();
                    format!("concat({})", parts.join(", "))
                }
            },
        }
    }

    pub(super) fn not_a_value(&self, bound: &Bound, at: Span) -> QueryError {
        let title = self.title(bound);
        let message = match bound {
            Bound::Value(_) => "this is a value".to_owned(),
            Bound::Tuple { items, .. } => format!(
                "this is a tuple of {}, not a number: pick one of its elements, t[0]",
                items.len()
            ),
            Bound::Choice { .. } => {
                let title = self.title(bound);
                format!("this is a record ({title}), not a number: use one of its members")
            }
            Bound::Sum { .. } | Bound::Scaled { .. } => {
                "this is a vector, not a number: use .mass, .pt, .eta, .phi …".to_owned()
            }
            Bound::Object(object) if self.is_single(object.level) => {
                let members = self.members(bound);
                format!(
                    "{title} is a record, not a number: use one of its members ({})",
                    listed(&members)
                )
            }
            Bound::Object(_) => {
                let members = self.members(bound);
                format!(
                    "{title} is a collection, not a number: use one of its members ({}), or len({title})",
                    listed(&members)
                )
            }
        };
        QueryError::at(at, message)
    }
}
