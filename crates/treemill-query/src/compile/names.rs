//! Names to columns, defined columns, collections and their members.

use super::{
    Bound, Compiler, Constant, EVENT, Level, LevelId, LevelKind, Node, NodeId, Op, Result, Type,
};
use crate::error::{QueryError, near};
use crate::functions::{CONSTANTS, FUNCTIONS};
use crate::schema::{ColumnType, DType};
use crate::spec::{Expr, Span};

/// Columns with a common prefix and counter, seen as one collection, or an element of it.
#[derive(Debug, Clone)]
pub(crate) struct Object {
    /// `Muon` of `Muon_pt`.
    prefix: String,
    /// The level of its columns.
    base: LevelId,
    /// What is done to a column to get the member.
    views: Vec<View>,
    /// The level of its members.
    pub level: LevelId,
}

/// A step from a column to a member.
#[derive(Debug, Clone)]
pub(crate) enum View {
    /// Picks of a level made from the one before.
    Pick(LevelId),
    /// One item of each list.
    At(NodeId),
}

impl Compiler<'_> {
    pub(super) fn name(&mut self, name: &str, at: Span) -> Result<Bound> {
        if let Some(bound) = self.look_up(name, at)? {
            return Ok(bound);
        }
        if let Some(object) = self.collection(name) {
            return Ok(Bound::Object(object));
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            let node = self.graph.constant(Constant::Float(value.to_bits()));
            return Ok(Bound::Value(node));
        }
        if FUNCTIONS.iter().any(|function| function.name == name) {
            let message = format!("{name} is a function: write {name}(…)");
            return Err(QueryError::at(at, message));
        }
        Err(self.unknown(name, at))
    }

    /// A defined column or one of the data.
    fn look_up(&mut self, name: &str, at: Span) -> Result<Option<Bound>> {
        let mut scope = self.scope;
        while let Some(define) = scope.and_then(|i| self.defines.get(i)) {
            if define.name == name {
                return Ok(Some(define.value.clone()));
            }
            scope = define.before;
        }
        let Some(index) = self.by_name.get(name).copied() else {
            return Ok(None);
        };
        self.column(index, at).map(|node| Some(Bound::Value(node)))
    }

    fn column(&mut self, index: usize, at: Span) -> Result<NodeId> {
        let schema = self.schema;
        let Some(field) = schema.fields.get(index) else {
            return Err(QueryError::at(at, "no such column"));
        };
        let (level, ty) = match &field.column_type {
            ColumnType::Scalar(item) => (EVENT, type_of(*item)),
            ColumnType::Str => (EVENT, Type::Str),
            ColumnType::List { item, counter } => {
                (self.items_level(counter.as_deref(), index), type_of(*item))
            }
            ColumnType::Array { item, len } => {
                let kind = LevelKind::Fixed(*len);
                let parent = EVENT;
                (self.graph.add_level(Level { parent, kind }), type_of(*item))
            }
            ColumnType::Other(name) => {
                let message = format!(
                    "{} has type {name}, which expressions cannot use",
                    field.name
                );
                return Err(QueryError::at(at, message));
            }
        };
        Ok(self.graph.add(Node {
            op: Op::Column(index),
            inputs: Vec::new(),
            level,
            ty,
            missing: field.nullable,
        }))
    }

    fn items_level(&mut self, counter: Option<&str>, column: usize) -> LevelId {
        // Columns with one counter are one level, named by its first column.
        let column = counter.map_or(column, |_| {
            let same = |field: &crate::schema::Field| {
                matches!(&field.column_type, ColumnType::List { counter: found, .. }
                    if found.as_deref() == counter)
            };
            self.schema.fields.iter().position(same).unwrap_or(column)
        });
        self.graph.add_level(Level {
            parent: EVENT,
            kind: LevelKind::Items {
                counter: counter.map(str::to_owned),
                column,
            },
        })
    }

    /// The collection of the list columns `prefix_…` or `prefix.…`.
    fn collection(&mut self, prefix: &str) -> Option<Object> {
        let schema = self.schema;
        let (index, counter) = schema.fields.iter().enumerate().find_map(|(i, field)| {
            let rest = field.name.strip_prefix(prefix)?;
            match &field.column_type {
                ColumnType::List { counter, .. } if rest.starts_with(['_', '.']) => {
                    Some((i, counter.as_deref()))
                }
                _ => None,
            }
        })?;
        let base = self.items_level(counter, index);
        Some(Object {
            prefix: prefix.to_owned(),
            base,
            views: Vec::new(),
            level: base,
        })
    }

    pub(super) fn attribute(&mut self, value: &Expr, name: &str, at: Span) -> Result<Bound> {
        // Columns may have dots in their names, so names are tried from the longest on.
        if let Some(path) = dotted(value)
            && let Some(node) = self.joined(&path, name, at)?
        {
            return Ok(Bound::Value(node));
        }
        match self.bind(value)? {
            Bound::Object(object) => self.member(&object, name, at).map(Bound::Value),
            Bound::Value(_) => Err(QueryError::at(
                at,
                format!("numbers have no attributes; .{name} goes with collections"),
            )),
        }
    }

    /// `path.name`, `path_name`.
    fn joined(&mut self, path: &str, name: &str, at: Span) -> Result<Option<NodeId>> {
        for sign in ['_', '.'] {
            let joined = format!("{path}{sign}{name}");
            if let Some(Bound::Value(node)) = self.look_up(&joined, at)? {
                return Ok(Some(node));
            }
        }
        Ok(None)
    }

    /// A member of a collection or element.
    fn member(&mut self, object: &Object, name: &str, at: Span) -> Result<NodeId> {
        let prefix = &object.prefix;
        let Some(mut node) = self.joined(prefix, name, at)? else {
            let members = self.members(prefix);
            let suggestions = near(name, members.iter().map(String::as_str));
            let message = format!("{prefix} has no {name}; it has {}", listed(&members));
            return Err(QueryError::at(at, message).suggest(suggestions));
        };
        if self.graph.node(node).level != object.base {
            let message = format!("{prefix}.{name} has another length than the rest of {prefix}");
            return Err(QueryError::at(at, message));
        }
        for view in &object.views {
            node = match view {
                View::Pick(level) => self.moved(Op::Pick(0), node, *level),
                View::At(index) => self.item(node, *index),
            };
        }
        Ok(node)
    }

    fn members(&self, prefix: &str) -> Vec<String> {
        let rest = |field: &crate::schema::Field| {
            let rest = field.name.strip_prefix(prefix)?;
            rest.strip_prefix(['_', '.']).map(str::to_owned)
        };
        self.schema.fields.iter().filter_map(rest).collect()
    }

    /// The object seen through a level that picks from its own.
    pub(super) fn picked(&self, object: &Object, level: LevelId) -> Object {
        let mut object = object.clone();
        object.views.push(View::Pick(level));
        object.level = level;
        object
    }

    /// One element of a collection.
    pub(super) fn element(&self, object: &Object, index: NodeId) -> Object {
        let mut object = object.clone();
        object.views.push(View::At(index));
        object.level = self.graph.parent(object.level);
        object
    }

    pub(super) fn not_a_value(&self, object: &Object, at: Span) -> QueryError {
        let prefix = &object.prefix;
        let members = self.members(prefix);
        QueryError::at(
            at,
            format!(
                "{prefix} is a collection, not a number: use one of its members ({}), or len({prefix})",
                listed(&members)
            ),
        )
    }

    fn unknown(&self, name: &str, at: Span) -> QueryError {
        let mut visible: Vec<&str> = Vec::new();
        let mut scope = self.scope;
        while let Some(define) = scope.and_then(|i| self.defines.get(i)) {
            visible.push(&define.name);
            scope = define.before;
        }
        visible.extend(self.schema.fields.iter().map(|field| field.name.as_str()));
        let suggestions = near(name, visible.into_iter());
        QueryError::at(at, format!("there is no column {name}")).suggest(suggestions)
    }
}

fn type_of(stored: DType) -> Type {
    match stored {
        DType::Bool => Type::Bool,
        DType::U64 => Type::UInt,
        DType::F32 | DType::F64 => Type::Float,
        _ => Type::Int,
    }
}

/// `a.b.c` as written, if that is all there is to it.
fn dotted(expr: &Expr) -> Option<String> {
    let mut names = Vec::new();
    let mut walk = expr;
    loop {
        match walk {
            Expr::Name { id, .. } => {
                names.push(id.as_str());
                names.reverse();
                return Some(names.join("."));
            }
            Expr::Attribute { value, name, .. } => {
                names.push(name);
                walk = value;
            }
            _ => return None,
        }
    }
}

/// The first of many names, for a message.
fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
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
