//! Records and vectors as what an expression may stand for, and how they are carried from level to level. Knows no
//! names but those for messages.

use crate::compile::nodes::provided::Named;
use crate::compile::{
    Builder, Constant, EVENT, Level, LevelId, LevelKind, Node, NodeId, Op, Result, Type,
};
use crate::kernel::{Compare, Map};
use crate::spec::Span;
use std::rc::Rc;

impl Builder<'_> {
    /// The places of those that have these numbers as their IDs.
    pub(in crate::compile) fn place_of(
        &mut self,
        ids: NodeId,
        wanted: NodeId,
        at: Span,
    ) -> Result<NodeId> {
        let lists = self.graph.parent(self.graph.node(ids).level);
        let (wanted, row) = self.below(wanted, lists, at)?;
        Ok(self.graph.add(Node {
            op: Op::Identified,
            inputs: vec![ids, wanted, row],
            level: self.graph.node(wanted).level,
            ty: Type::Int,
            missing: false,
        }))
    }

    /// A member that is a list itself: the lists of those items that the record is seen as.
    pub(in crate::compile) fn list_member(
        &mut self,
        found: &Binding,
        own: LevelId,
        object: &Object,
    ) -> Binding {
        if object.moves.is_empty() {
            return found.clone();
        }
        let lists = self.graph.parent(own);
        let mut row = self.row(lists);
        if lists != object.base {
            // Columns without a counter: their lengths are compared when they are read.
            row = self.carry(row, Move::Align(object.base));
        }
        let list = object
            .moves
            .iter()
            .fold(row, |node, how| self.carry(node, *how));
        let lists = self.graph.add_level(Level {
            parent: object.level,
            kind: LevelKind::Product { of: own, list },
        });
        self.carried(found, Move::Take(lists, 0))
    }
}

/// What an expression stands for.
#[derive(Debug, Clone)]
pub(crate) enum Binding {
    /// Numbers or strings.
    Value(NodeId),
    /// A collection, or an element of one.
    Object(Object),
    /// Several things side by side, all at one level, or in lists below it (or constant). `is_list`: they are written
    /// as the items of a list, `[a, b]`, and the list is there at every position of the level.
    Tuple {
        items: Vec<Binding>,
        level: LevelId,
        is_list: bool,
    },
    /// The sum, or difference, of two vectors at one level.
    Sum {
        terms: Rc<(Binding, Binding)>,
        minus: bool,
        level: LevelId,
    },
    /// A vector times a number, at one level.
    Scaled {
        vector: Rc<Binding>,
        factor: NodeId,
        level: LevelId,
    },
    /// One of two records, by a condition at the same level.
    Choice {
        condition: NodeId,
        sides: Rc<(Binding, Binding)>,
        level: LevelId,
    },
    /// Functions that the query does not define.
    Provided(Named),
}

impl Binding {
    /// Vectors in vectors that it is made of: how deep functions of it go.
    pub(in crate::compile) fn depth(&self) -> usize {
        match self {
            Self::Value(_) | Self::Object(_) | Self::Tuple { .. } | Self::Provided(_) => 0,
            Self::Sum { terms: sides, .. } | Self::Choice { sides, .. } => {
                1 + sides.0.depth().max(sides.1.depth())
            }
            Self::Scaled { vector, .. } => 1 + vector.depth(),
        }
    }
}

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

impl Builder<'_> {
    /// The level of what an expression stands for.
    pub(in crate::compile) fn level_of(&self, bound: &Binding) -> LevelId {
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
    pub(in crate::compile) fn is_single(&self, level: LevelId) -> bool {
        self.graph.encloses(level, self.here)
    }

    pub(in crate::compile) fn landing(&self, from: LevelId, how: Move) -> LevelId {
        match how {
            Move::Take(level, _) | Move::Spread(level) | Move::Align(level) => level,
            Move::At {
                list: Some(list), ..
            } => self.graph.node(list).level,
            Move::At { list: None, .. } => self.graph.parent(from),
        }
    }

    /// What is bound, at another level.
    pub(in crate::compile) fn carried(&mut self, bound: &Binding, how: Move) -> Binding {
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
    pub(in crate::compile) fn carried_from(
        &mut self,
        bound: &Binding,
        level: LevelId,
        how: Move,
    ) -> Binding {
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
    pub(in crate::compile) fn before_taking(
        &mut self,
        bound: Binding,
        level: LevelId,
        how: Move,
    ) -> Binding {
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
    pub(in crate::compile) fn carry(&mut self, node: NodeId, how: Move) -> NodeId {
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
    pub(in crate::compile) fn brought(
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
    pub(in crate::compile) fn joined_values(
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
    pub(in crate::compile) fn title(&self, bound: &Binding) -> String {
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

    /// Whether it is a key of 32 bits, which files may hold with a sign.
    pub(in crate::compile) fn is_key(&mut self, key: NodeId, number: i64) -> NodeId {
        let mut is = |number: i64| {
            let number = self.graph.constant(Constant::Int(number));
            self.map(Map::CompareInt(Compare::Eq), &[key, number], Type::Bool)
        };
        let found = is(number);
        if i32::try_from(number).is_ok() {
            return found;
        }
        let signed = is(number - (1 << 32));
        self.either(found, signed)
    }

    /// A list for each object: the items of the target whose index is the object's own.
    pub(in crate::compile) fn those_that_refer(
        &mut self,
        object: &Object,
        index: NodeId,
        target: Object,
    ) -> Binding {
        let of = self.graph.node(index).level;
        let list = self.graph.add_level(Level {
            parent: of,
            kind: LevelKind::Referring { of, index },
        });
        let found = self.carried(&Binding::Object(target), Move::Take(list, 0));
        self.list_member(&found, list, object)
    }
}
