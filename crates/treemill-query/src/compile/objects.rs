//! Records: collections of columns and their elements, concatenated collections, and vectors that the user makes.
//! Moves them from the level where they are stored to the level where they are used. `members` finds their
//! members.

use super::spelling::listed;
use super::{Binding, Builder, EVENT, LevelId, Node, NodeId, Op, Resolver, Result};
use crate::error::QueryError;
use crate::spec::Span;
use std::rc::Rc;

/// A record at every position of a level.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    pub source: Rc<RecordSource>,
    /// The level of what is stored.
    pub base: LevelId,
    /// The way from there to `level`.
    pub moves: Vec<Move>,
    pub level: LevelId,
}

/// What a record's members come from.
#[derive(Debug)]
pub(crate) enum RecordSource {
    /// Columns `prefix_…` or `prefix.…`, with the definitions that were visible when the record was
    /// named. Later definitions do not change it.
    Columns {
        prefix: String,
        scope: Option<usize>,
    },
    /// A record, and members of it that were defined after it, newest first.
    Amended {
        name: String,
        of: Binding,
        members: Vec<(String, Binding)>,
    },
    /// Concatenated records. Their members are those that every part has.
    Joined(Vec<Binding>),
    /// Named values.
    Made(Vec<(String, NodeId)>),
}

/// A step from one level to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Move {
    /// The value goes through selection vector k of a level that is made from this one.
    Take(LevelId, u8),
    /// The value goes to each item of a level below.
    Spread(LevelId),
    /// The value goes to the same items under another level.
    Align(LevelId),
    /// One item of each list; see `Op::At`.
    At {
        index: NodeId,
        list: Option<NodeId>,
        from_end: bool,
    },
}

impl Resolver<'_> {
    pub(super) fn not_a_value(&self, bound: &Binding, at: Span) -> QueryError {
        let title = self.nodes.title(bound);
        let message = match bound {
            Binding::Value(_) => "this is a value".to_owned(),
            Binding::Provided(_) => {
                format!("{title} is a function, not a number: write {title}(…)")
            }
            Binding::Tuple { items, .. } => format!(
                "this is a tuple of {}, not a number: pick one of its elements, t[0]",
                items.len()
            ),
            Binding::Choice { .. } => {
                let title = self.nodes.title(bound);
                format!("this is a record ({title}), not a number: use one of its members")
            }
            Binding::Sum { .. } | Binding::Scaled { .. } => {
                "this is a vector, not a number: use .mass, .pt, .eta, .phi …".to_owned()
            }
            Binding::Object(object) if self.nodes.is_single(object.level) => {
                let members = self.members(bound);
                format!(
                    "{title} is a record, not a number: use one of its members ({})",
                    listed(&members)
                )
            }
            Binding::Object(_) => {
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

impl Builder<'_> {
    /// The level of what an expression stands for.
    pub(super) fn level_of(&self, bound: &Binding) -> LevelId {
        match bound {
            Binding::Value(node) => self.graph.node(*node).level,
            Binding::Object(object) => object.level,
            Binding::Tuple { level, .. }
            | Binding::Sum { level, .. }
            | Binding::Scaled { level, .. }
            | Binding::Choice { level, .. } => *level,
            Binding::Provided(_) => EVENT,
        }
    }

    /// Whether there is one for each position of the innermost `for`, and not a list.
    pub(super) fn is_single(&self, level: LevelId) -> bool {
        self.graph.encloses(level, self.here)
    }

    pub(super) fn landing(&self, from: LevelId, how: Move) -> LevelId {
        match how {
            Move::Take(level, _) | Move::Spread(level) | Move::Align(level) => level,
            Move::At {
                list: Some(list), ..
            } => self.graph.node(list).level,
            Move::At { list: None, .. } => self.graph.parent(from),
        }
    }

    /// What is bound, at another level.
    pub(super) fn carried(&mut self, bound: &Binding, how: Move) -> Binding {
        match bound {
            Binding::Value(node) => Binding::Value(self.carry(*node, how)),
            Binding::Object(object) => {
                let mut object = object.clone();
                object.moves.push(how);
                object.level = self.landing(object.level, how);
                Binding::Object(object)
            }
            Binding::Tuple {
                items,
                level,
                is_list,
            } => Binding::Tuple {
                items: items
                    .iter()
                    .map(|item| self.carried_from(item, *level, how))
                    .collect(),
                level: self.landing(*level, how),
                // One that is picked may be missing.
                is_list: *is_list && !matches!(how, Move::At { .. }),
            },
            Binding::Sum {
                terms,
                minus,
                level,
            } => Binding::Sum {
                terms: Rc::new((self.carried(&terms.0, how), self.carried(&terms.1, how))),
                minus: *minus,
                level: self.landing(*level, how),
            },
            Binding::Scaled {
                vector,
                factor,
                level,
            } => Binding::Scaled {
                vector: Rc::new(self.carried(vector, how)),
                factor: self.carry(*factor, how),
                level: self.landing(*level, how),
            },
            Binding::Choice {
                condition,
                sides,
                level,
            } => Binding::Choice {
                condition: self.carry(*condition, how),
                sides: Rc::new((self.carried(&sides.0, how), self.carried(&sides.1, how))),
                level: self.landing(*level, how),
            },
            Binding::Provided(named) => Binding::Provided(named.clone()),
        }
    }

    /// Moves what is at a level, or in lists below it, to another level. Lists stay whole.
    pub(super) fn carried_from(&mut self, bound: &Binding, level: LevelId, how: Move) -> Binding {
        let own = self.level_of(bound);
        if own == level || !self.graph.encloses(level, own) {
            let bound = self.before_taking(bound.clone(), level, how);
            return self.carried(&bound, how);
        }
        let row = self.row(level);
        let list = self.carry(row, how);
        self.lists_of_rows(bound, level, list)
    }

    /// Repeats a constant for each position of a level before one item of its lists is taken, because the item may be
    /// missing. Anything else is returned unchanged.
    pub(super) fn before_taking(&mut self, bound: Binding, level: LevelId, how: Move) -> Binding {
        match (bound, how) {
            (Binding::Value(id), Move::At { .. })
                if level != EVENT && self.graph.as_const(id).is_some() =>
            {
                Binding::Value(self.moved(Op::Spread, id, level))
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
            Move::Take(level, which) => self.selected(node, level, which),
            Move::Spread(level) => self.moved(Op::Spread, node, level),
            Move::Align(level) => self.moved(Op::Align, node, level),
            Move::At {
                index,
                list,
                from_end,
            } => self.item(node, index, list, from_end),
        }
    }

    /// All of it at one level, which must be its own level or enclose it.
    pub(super) fn brought(
        &mut self,
        bound: &Binding,
        target: LevelId,
        at: Span,
    ) -> Result<Binding> {
        if let Binding::Value(node) = bound {
            return self.bring(*node, target, at).map(Binding::Value);
        }
        let level = self.level_of(bound);
        let mut brought = bound.clone();
        for how in self.way(level, target, at)? {
            brought = self.carried(&brought, how);
        }
        Ok(brought)
    }

    /// Concatenates values of several levels, at the level that joins those levels.
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
    pub(super) fn title(&self, bound: &Binding) -> String {
        match bound {
            Binding::Value(id) => match self.graph.node(*id).op {
                Op::Column(column) => match self.schema.fields.get(column) {
                    Some(field) => format!("{} ({})", field.name, field.column_type),
                    None => "a value".to_owned(),
                },
                _ => "a value".to_owned(),
            },
            Binding::Provided(named) => named.title.clone(),
            Binding::Tuple { items, .. } => format!("a tuple of {}", items.len()),
            Binding::Sum { .. } | Binding::Scaled { .. } => "the vector".to_owned(),
            Binding::Choice { sides, .. } => {
                format!("{} or {}", self.title(&sides.0), self.title(&sides.1))
            }
            Binding::Object(object) => match &*object.source {
                RecordSource::Columns { prefix, .. } => prefix.clone(),
                RecordSource::Amended { name, .. } => name.clone(),
                RecordSource::Made(_) => "the vector".to_owned(),
                RecordSource::Joined(parts) => {
                    let parts: Vec<String> = parts.iter().map(|part| self.title(part)).collect();
                    format!("concat({})", parts.join(", "))
                }
            },
        }
    }
}
