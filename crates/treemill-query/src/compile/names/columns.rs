//! Columns of the data and the collections that they make.

use crate::compile::nodes::objects::{Object, RecordSource};
use crate::compile::{Binding, EVENT, LevelId, Node, Op, Resolver, Result, Type};
use crate::error::QueryError;
use crate::schema::{ColumnType, DType};
use crate::spec::Span;
use std::collections::HashMap;
use std::rc::Rc;

impl Resolver<'_> {
    /// A column of the data.
    pub(in crate::compile) fn stored_column(
        &mut self,
        name: &str,
        at: Span,
    ) -> Result<Option<Binding>> {
        let Some(index) = self.by_name.get(name).copied() else {
            return Ok(None);
        };
        if self.counts_its_members(name, index)
            && let Some(object) = self.collection(name)
        {
            return Ok(Some(Binding::Object(object)));
        }
        self.column(index, at).map(Some)
    }

    /// Whether it is the branch of a split TClonesArray or vector of objects, of which only the number
    /// is stored: the collection is meant, whose length that is.
    pub(in crate::compile) fn counts_its_members(&self, name: &str, index: usize) -> bool {
        let schema = self.nodes.schema;
        let Some(field) = schema.fields.get(index) else {
            return false;
        };
        let counts = std::iter::once(&field.name).chain(&field.also);
        let counts = counts.filter(|counter| self.by_name.get(counter.as_str()) == Some(&index));
        let members = counts
            .flat_map(|counter| self.nodes.counted_by(counter))
            .filter_map(|place| schema.fields.get(*place))
            .flat_map(|member| std::iter::once(&member.name).chain(&member.also));
        let mut rest = members.filter_map(|member| member.strip_prefix(name));
        let has_values = matches!(
            field.column_type,
            ColumnType::Str
                | ColumnType::List { .. }
                | ColumnType::Lists { .. }
                | ColumnType::Array { .. }
        );
        !has_values && rest.any(|rest| rest.starts_with('.'))
    }

    /// The column that counts the items of a column's lists.
    pub(in crate::compile) fn counter_of(&self, column: usize) -> Option<usize> {
        let counter = self
            .nodes
            .schema
            .fields
            .get(column)?
            .column_type
            .counter()?;
        self.by_name.get(counter).copied()
    }

    pub(in crate::compile) fn column(&mut self, index: usize, at: Span) -> Result<Binding> {
        let schema = self.nodes.schema;
        let Some(field) = schema.fields.get(index) else {
            return Err(QueryError::at(at, "there is no such column"));
        };
        let (level, ty) = match &field.column_type {
            ColumnType::Scalar(item) => (EVENT, type_of(*item)),
            ColumnType::Str => (EVENT, Type::Str),
            ColumnType::List { item, counter } => (
                self.nodes.items_level(counter.as_deref(), index),
                type_of(*item),
            ),
            ColumnType::Lists {
                item,
                counter,
                below,
            } => {
                let outer = self.nodes.items_level(counter.as_deref(), index);
                (self.nodes.levels_below(outer, below, index), type_of(*item))
            }
            ColumnType::Array { item, len } => {
                (self.nodes.arrays_level(EVENT, *len), type_of(*item))
            }
            ColumnType::Arrays { item, len, below } => {
                let outer = self.nodes.arrays_level(EVENT, *len);
                (self.nodes.levels_below(outer, below, index), type_of(*item))
            }
            ColumnType::Other(name) => {
                // The branch of an object without data of its own, whose members are columns.
                if let Some(object) = self.collection(&field.name) {
                    return Ok(Binding::Object(object));
                }
                let name = if name.is_empty() {
                    "without a name"
                } else {
                    name
                };
                let message = format!(
                    "{} has type {name}, which expressions cannot use",
                    field.name
                );
                return Err(QueryError::at(at, message));
            }
        };
        Ok(Binding::Value(self.nodes.graph.add(Node {
            op: Op::Column(index),
            inputs: Vec::new(),
            level,
            ty,
            missing: field.nullable,
        })))
    }

    /// The columns `prefix_…` or `prefix.…`, or those that a format names otherwise: a collection, or one record per
    /// event.
    pub(in crate::compile) fn collection(&mut self, prefix: &str) -> Option<Object> {
        let base = match self.collections.get(prefix) {
            Some(known) => *known,
            None => {
                let found = self.level_of_collection(prefix);
                self.collections.insert(prefix.to_owned(), found);
                found
            }
        }?;
        Some(Object {
            source: Rc::new(RecordSource::Columns {
                prefix: prefix.to_owned(),
                scope: self.scope,
            }),
            base,
            moves: Vec::new(),
            level: base,
        })
    }

    pub(in crate::compile) fn level_of_collection(&mut self, prefix: &str) -> Option<LevelId> {
        let is_member = |name: &str| {
            let rest = name.strip_prefix(prefix);
            rest.is_some_and(|rest| rest.starts_with(['_', '.']) && rest.len() > 1)
        };
        let own = self.by_name.get(prefix).copied();
        let counts_it = |counter: &str, place: Option<usize>| {
            let is_named = counter.strip_prefix('n').is_some_and(|rest| rest == prefix);
            counter == prefix || is_named || (own.is_some() && own == place)
        };
        let found = self.level_of_columns(is_member, counts_it);
        found.or_else(|| {
            let mut stems = self.containers(prefix).into_iter();
            stems.find_map(|stem| {
                self.level_of_columns(|name| name.starts_with(&stem), |_, _| false)
            })
        })
    }

    /// The level of the columns that the collection's own counter counts, else that of most of its columns, if there
    /// are any. Others may be of another collection of this name, or of one whose name begins with it.
    pub(in crate::compile) fn level_of_columns(
        &mut self,
        is_member: impl Fn(&str) -> bool,
        counts_it: impl Fn(&str, Option<usize>) -> bool,
    ) -> Option<LevelId> {
        let schema = self.nodes.schema;
        // The counter that most of its list columns have; those that count one column each are like none.
        let mut counters: HashMap<Option<&str>, (usize, usize)> = HashMap::new();
        let mut scalars = 0_usize;
        let mut counted = None;
        for (name, index) in schema.names() {
            // A column with two such names is counted once.
            if counted == Some(index) || !is_member(name) {
                continue;
            }
            counted = Some(index);
            let Some(field) = schema.fields.get(index) else {
                continue;
            };
            match &field.column_type {
                ColumnType::List { counter, .. } | ColumnType::Lists { counter, .. } => {
                    let shared = counter
                        .as_deref()
                        .filter(|name| self.nodes.ties(Some(name)));
                    let found = counters.entry(shared).or_insert((0, index));
                    found.0 += 1;
                }
                ColumnType::Scalar(_) => scalars += 1,
                _ => (),
            }
        }
        let ranked = counters.into_iter().map(|(counter, (count, index))| {
            let is_own = counter.is_some_and(|counter| counts_it(counter, self.counter_of(index)));
            (is_own, count, usize::MAX - index, index)
        });
        match ranked.max() {
            Some((is_own, count, _, index)) if is_own || count >= scalars => {
                let counter = schema
                    .fields
                    .get(index)
                    .and_then(|field| field.column_type.counter());
                Some(self.nodes.items_level(counter, index))
            }
            _ if scalars > 0 => Some(EVENT),
            _ => None,
        }
    }
}

fn type_of(stored: DType) -> Type {
    match stored {
        DType::Bool => Type::Bool,
        DType::U64 => Type::UInt,
        DType::F32 | DType::F64 => Type::Float,
        DType::Str => Type::Str,
        _ => Type::Int,
    }
}
