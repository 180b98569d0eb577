//! References by the numbers that objects have, wherever they lie; and what formats' tables may ask of the columns.

use crate::compile::nodes::objects::{Object, RecordSource};
use crate::compile::{Binding, Constant, NodeId, Resolver, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Compare, Map};
use crate::references;
use crate::references::{Class, Columns, Indices};
use crate::schema::Schema;
use crate::spec::{Format, Relations, Span};
use std::collections::HashMap;

impl Resolver<'_> {
    /// The objects whose member of the second name has the numbers that the first member holds. They are looked for in
    /// one collection after another.
    pub(in crate::compile) fn identified(
        &mut self,
        bound: &Binding,
        members: (&str, &str),
        targets: Vec<(Object, i64)>,
        at: Span,
    ) -> Result<Binding> {
        let wanted = self.index_in(bound, members.0, at)?;
        let mut found = None;
        for (target, _) in targets.into_iter().rev() {
            let ids = self.ids(&target, members.1, at)?;
            // Another collection may have the same name: the objects meant are those that have numbers.
            let level = self.nodes.graph.node(ids).level;
            let target = Binding::Object(Object {
                base: level,
                level,
                ..target
            });
            let index = self.nodes.place_of(ids, wanted, at)?;
            let this = self.nodes.at_index(target, level, index, at, at)?;
            found = Some(match found {
                None => this,
                Some(others) => {
                    let zero = self.nodes.graph.constant(Constant::Int(0));
                    let is_here = Map::CompareInt(Compare::Ge);
                    let is_here = self.nodes.map(is_here, &[index, zero], Type::Bool);
                    self.nodes.choice(is_here, (this, others), at)?
                }
            });
        }
        found.ok_or_else(|| QueryError::at(at, "the reference names no collection"))
    }

    /// The column of a collection that has the numbers of its objects.
    pub(in crate::compile) fn ids(
        &mut self,
        target: &Object,
        name: &str,
        at: Span,
    ) -> Result<NodeId> {
        let found = match &*target.source {
            RecordSource::Columns { prefix, .. } => {
                self.stored_column(&format!("{prefix}.{name}"), at)?
            }
            _ => None,
        };
        match found {
            Some(Binding::Value(id)) if self.nodes.type_of(id) == Type::Int => Ok(id),
            _ => Err(QueryError::at(
                at,
                format!("{name} is no column of numbers"),
            )),
        }
    }

    /// Whether the last of these names is a reference of what the others name.
    pub(in crate::compile) fn refers(&self, path: &[&str]) -> bool {
        let Some((name, collection)) = path.split_last() else {
            return false;
        };
        references::reference(&collection.join("."), name, &Stored::of(self)).is_some()
    }

    /// Whether the member's own columns are the numbers of objects, which are meant.
    pub(in crate::compile) fn identifies(&self, prefix: &str, name: &str) -> bool {
        let found = references::reference(prefix, name, &Stored::of(self));
        found.is_some_and(|found| matches!(found.indices, Indices::Numbers { .. }))
    }
}

/// The columns of the data, by name, and how those are known that refer to others.
pub(in crate::compile) struct Stored<'a> {
    schema: &'a Schema,
    by_name: &'a HashMap<&'a str, usize>,
    relations: &'a Relations,
}

impl<'a> Stored<'a> {
    pub fn of(names: &'a Resolver<'_>) -> Self {
        Self {
            schema: names.nodes.schema,
            by_name: &names.by_name,
            relations: names.relations,
        }
    }
}

impl Columns for Stored<'_> {
    fn has(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
    }

    fn names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(self.schema.names().map(|(name, _)| name))
    }

    fn follows(&self, format: Format) -> bool {
        let formats = self.relations.formats.as_ref();
        formats.is_none_or(|formats| formats.contains(&format))
    }

    fn id(&self, collection: &str) -> Option<i64> {
        self.relations.ids.get(collection).copied()
    }

    fn class(&self, collection: &str) -> Class<'_> {
        let known = self.relations.classes.get(collection);
        Class::Named(known.map_or("", String::as_str))
    }
}
