//! Reductions, which close a level: `sum any all count mean min max argmin argmax first last len`.

use crate::compile::nodes::coordinates::Coordinate;
use crate::compile::nodes::objects::{Move, Object, RecordSource};
use crate::compile::{Binding, Compiler, Constant, LevelId, NodeId, Reducer, Result, span};
use crate::error::QueryError;
use crate::spec::{Expr, Span};
use std::rc::Rc;

impl Compiler<'_> {
    /// What a reduction is made over: the elements of a generator, or a list. With a key, elements may
    /// be lists.
    pub(in crate::compile) fn reducible(
        &mut self,
        name: &str,
        arg: &Expr,
        has_key: bool,
    ) -> Result<(Binding, LevelId)> {
        if let Expr::Comprehension { element, loops, at } = arg {
            let looped = self.looped(element, loops, *at)?;
            if !has_key && self.names.nodes.level_of(&looped.element) != looped.level {
                let message = format!("{name}(…) of lists: close the inner ones first");
                return Err(QueryError::at(span(element), message));
            }
            return Ok((looped.element, looped.level));
        }
        match has_key {
            true => self.items(name, arg),
            false => self.list(name, arg),
        }
    }

    /// `sum any all count mean`
    pub(in crate::compile) fn reduce_call(
        &mut self,
        name: &str,
        reducer: Reducer,
        arg: &Expr,
        at: Span,
    ) -> Result<Binding> {
        let (items, _) = self.reducible(name, arg, false)?;
        match items {
            Binding::Value(id) => self.names.nodes.reduce(reducer, id, at).map(Binding::Value),
            Binding::Tuple { .. } => Err(self.names.not_a_value(&items, span(arg))),
            vectors if reducer == Reducer::Sum => self.sum_of_vectors(&vectors, span(arg)),
            other => Err(self.names.not_a_value(&other, span(arg))),
        }
    }

    /// The vector that all vectors of a list make together.
    fn sum_of_vectors(&mut self, vectors: &Binding, at: Span) -> Result<Binding> {
        let mut fields = Vec::new();
        for part in [
            Coordinate::Px,
            Coordinate::Py,
            Coordinate::Pz,
            Coordinate::Energy,
        ] {
            let each = self.names.coordinate(vectors, part, at)?;
            fields.push((
                part.name().to_owned(),
                self.names.nodes.reduce(Reducer::Sum, each, at)?,
            ));
        }
        let level = self
            .names
            .nodes
            .graph
            .parent(self.names.nodes.level_of(vectors));
        Ok(Binding::Object(Object {
            source: Rc::new(RecordSource::Made(fields)),
            base: level,
            moves: Vec::new(),
            level,
        }))
    }

    /// `min max argmin argmax` of a list, with `key=` and `default=`.
    pub(in crate::compile) fn best_call(
        &mut self,
        name: &str,
        reducer: Reducer,
        arg: &Expr,
        key: Option<&Expr>,
        default: Option<&Expr>,
        at: Span,
    ) -> Result<Binding> {
        let (items, level) = self.reducible(name, arg, key.is_some())?;
        let index = matches!(reducer, Reducer::ArgMin | Reducer::ArgMax);
        let found = match (&items, key) {
            (Binding::Value(id), None) => {
                Binding::Value(self.names.nodes.reduce(reducer, *id, at)?)
            }
            _ => {
                let (items, level) = self.nested_for(key, items.clone(), level)?;
                let key = self.key(&items, level, key, span(arg))?;
                let place = match reducer {
                    Reducer::Min | Reducer::ArgMin => Reducer::ArgMin,
                    _ => Reducer::ArgMax,
                };
                let place = self.names.nodes.reduce(place, key, at)?;
                if index {
                    Binding::Value(place)
                } else {
                    let how = Move::At {
                        index: place,
                        list: None,
                        from_end: false,
                    };
                    self.names.nodes.carried_from(&items, level, how)
                }
            }
        };
        match default {
            None => Ok(found),
            Some(default) => self.or_default(found, default, at),
        }
    }

    fn or_default(&mut self, found: Binding, default: &Expr, at: Span) -> Result<Binding> {
        let Binding::Value(value) = found else {
            let default = self.bind(default)?;
            return self.filled_record(found, default, at);
        };
        let default = self.value(default)?;
        let ids = self.names.nodes.together(&[value, default], at)?;
        self.names.nodes.filled(&ids, at).map(Binding::Value)
    }

    /// `len(X)`
    pub(in crate::compile) fn len(&mut self, arg: &Expr) -> Result<NodeId> {
        let (_, level) = self.reducible("len", arg, false)?;
        Ok(self.names.nodes.length(level))
    }

    /// `first(X)`, `last(X)`
    pub(in crate::compile) fn end(
        &mut self,
        name: &str,
        arg: &Expr,
        index: i64,
        default: Option<&Expr>,
        at: Span,
    ) -> Result<Binding> {
        let (items, level) = self.reducible(name, arg, false)?;
        let index = self.names.nodes.graph.constant(Constant::Int(index));
        if !self
            .names
            .nodes
            .is_single(self.names.nodes.graph.parent(level))
        {
            return self.names.nodes.list_at(&items, level, index, at);
        }
        let found = self.names.nodes.carried(
            &items,
            Move::At {
                index,
                list: None,
                from_end: true,
            },
        );
        match default {
            None => Ok(found),
            Some(default) => self.or_default(found, default, at),
        }
    }

    /// The first record, tuple or vector, or where it is missing the second.
    pub(in crate::compile) fn filled_record(
        &mut self,
        found: Binding,
        with: Binding,
        at: Span,
    ) -> Result<Binding> {
        let missing = self.is_missing(&found)?;
        self.names.nodes.choice(missing, (with, found), at)
    }
}
