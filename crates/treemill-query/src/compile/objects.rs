//! Records: collections of columns, their elements, joined collections, and vectors that the user
//! puts together. Members are found by name only when they are wanted, and carried from where they
//! are stored to where the record stands.

use super::{Bound, Compiler, EVENT, Level, LevelId, LevelKind, Node, NodeId, Op, Result};
use crate::error::{QueryError, near};
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
    /// Columns `prefix_…` or `prefix.…`.
    Columns { prefix: String },
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

    fn landing(&self, from: LevelId, how: Move) -> LevelId {
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
            return self.carried(bound, how);
        }
        let row = self.row(level);
        let list = self.carry(row, how);
        self.lists_of_rows(bound, level, list)
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

    /// A member of a record: a column, or what vector calls so.
    pub(super) fn member(&mut self, bound: &Bound, name: &str, at: Span) -> Result<Bound> {
        if let Some(found) = self.stored(bound, name, at)? {
            return Ok(found);
        }
        match bound {
            Bound::Value(id) => {
                let title = match self.graph.node(*id).op {
                    Op::Column(_) => format!(", and this is {}", self.title(bound)),
                    _ => String::new(),
                };
                let message =
                    format!("numbers have no attributes; .{name} goes with collections{title}");
                Err(QueryError::at(at, message))
            }
            Bound::Tuple { items, .. } => Err(QueryError::at(
                at,
                format!(
                    "this is a tuple of {}, which has no {name}: pick one of its elements, t[0].{name}",
                    items.len()
                ),
            )),
            Bound::Choice {
                condition, sides, ..
            } => {
                let (condition, sides) = (*condition, sides.clone());
                let a = self.member(&sides.0, name, at)?;
                let b = self.member(&sides.1, name, at)?;
                self.choice(condition, (a, b), at)
            }
            Bound::Object(_) | Bound::Sum { .. } | Bound::Scaled { .. } => {
                match self.derived(bound, name, at)? {
                    Some(node) => Ok(Bound::Value(node)),
                    None => Err(self.no_member(bound, name, at)),
                }
            }
        }
    }

    /// A member that is stored, where the record stands.
    pub(super) fn stored(&mut self, bound: &Bound, name: &str, at: Span) -> Result<Option<Bound>> {
        let Bound::Object(object) = bound else {
            return Ok(None);
        };
        let found = match &*object.source {
            Source::Columns { prefix } => self.joined_name(prefix, name, at)?,
            Source::Made(fields) => fields
                .iter()
                .find(|(field, _)| field == name)
                .map(|(_, node)| Bound::Value(*node)),
            Source::Joined(parts) => {
                let mut members = Vec::with_capacity(parts.len());
                for part in parts {
                    match self.stored(part, name, at)? {
                        Some(Bound::Value(node)) => members.push(node),
                        _ => return Ok(None),
                    }
                }
                let node = self.joined_values(&members, object.base, at)?;
                Some(Bound::Value(node))
            }
        };
        let Some(mut found) = found else {
            return Ok(None);
        };
        let own = self.level_of(&found);
        if own != object.base {
            let lists = self.graph.parent(own);
            if lists == object.base || (lists != EVENT && self.may_be_equal(lists, object.base)) {
                return Ok(Some(self.list_member(&found, own, object)));
            }
        }
        if own != object.base {
            let constant = matches!(found, Bound::Value(id) if self.graph.as_const(id).is_some());
            let way = self.way(self.level_of(&found), object.base, at);
            match way {
                _ if constant => (),
                Ok(way) if way.iter().all(|how| matches!(how, Move::Align(_))) => {
                    for how in way {
                        found = self.carried(&found, how);
                    }
                }
                _ => {
                    let prefix = self.title(bound);
                    let message =
                        format!("{prefix}.{name} has another length than the rest of {prefix}");
                    return Err(QueryError::at(at, message));
                }
            }
        }
        for how in &object.moves {
            found = self.carried(&found, *how);
        }
        Ok(Some(found))
    }

    /// A member that is a list itself: the lists of those items that the record is seen as.
    fn list_member(&mut self, found: &Bound, own: LevelId, object: &Object) -> Bound {
        if object.moves.is_empty() {
            return found.clone();
        }
        let lists = self.graph.parent(own);
        let mut row = self.row(lists);
        if lists != object.base {
            // Columns without a counter: that there are as many is found out when they are read.
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
        self.carried(found, Move::Pick(lists, 0))
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
                Source::Columns { prefix } => prefix.clone(),
                Source::Made(_) => "the vector".to_owned(),
                Source::Joined(parts) => {
                    let parts: Vec<String> = parts.iter().map(|part| self.title(part)).collect();
                    format!("concat({})", parts.join(", "))
                }
            },
        }
    }

    fn no_member(&mut self, bound: &Bound, name: &str, at: Span) -> QueryError {
        let title = self.title(bound);
        if let Bound::Object(object) = bound
            && let Source::Joined(parts) = &*object.source
        {
            for part in parts {
                if self.member(part, name, at).is_err() {
                    let part = self.title(part);
                    let message =
                        format!("{title} has no {name}, for {part} has none; it has what all have");
                    return QueryError::at(at, message);
                }
            }
        }
        let members = self.members(bound);
        let suggestions = near(name, members.iter().map(String::as_str));
        let message = format!("{title} has no {name}; it has {}", listed(&members));
        QueryError::at(at, message).suggest(suggestions)
    }

    /// Names of what is stored.
    pub(super) fn members(&self, bound: &Bound) -> Vec<String> {
        let Bound::Object(object) = bound else {
            return Vec::new();
        };
        match &*object.source {
            Source::Made(fields) => fields.iter().map(|(name, _)| name.clone()).collect(),
            Source::Joined(parts) => {
                let mut parts = parts.iter().map(|part| self.members(part));
                let first = parts.next().unwrap_or_default();
                let rest: Vec<Vec<String>> = parts.collect();
                let shared = |name: &String| rest.iter().all(|names| names.contains(name));
                first.into_iter().filter(shared).collect()
            }
            Source::Columns { prefix } => {
                let rest = |field: &crate::schema::Field| {
                    let rest = field.name.strip_prefix(prefix.as_str())?;
                    rest.strip_prefix(['_', '.']).map(str::to_owned)
                };
                self.schema.fields.iter().filter_map(rest).collect()
            }
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

/// The first of many names, for a message.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    if names.is_empty() {
        return "none of its own".to_owned();
    }
    let mut text = names
        .iter()
        .take(SHOWN)
        .cloned()
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > SHOWN {
        text.push_str(", …");
    }
    text
}
