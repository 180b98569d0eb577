//! Lists of values: written ones, ones beside each other, and joined ones.

use crate::compile::nodes::objects::{Move, Object, RecordSource};
use crate::compile::{Binding, Builder, EVENT, Level, LevelId, LevelKind, NodeId, Op, Result};
use crate::error::QueryError;
use crate::spec::Span;
use std::rc::Rc;

impl Builder<'_> {
    /// Things side by side, brought to one level.
    pub(in crate::compile) fn tuple_of(
        &mut self,
        bounds: Vec<Binding>,
        is_list: bool,
        at: Span,
    ) -> Result<Binding> {
        let level = self.common_of(&bounds, at)?;
        let items: Result<Vec<Binding>> = bounds
            .iter()
            .map(|bound| self.brought(bound, level, at))
            .collect();
        Ok(Binding::Tuple {
            items: items?,
            level,
            is_list,
        })
    }

    /// The common level.
    pub(in crate::compile) fn common_of(
        &mut self,
        bounds: &[Binding],
        at: Span,
    ) -> Result<LevelId> {
        let levels: Vec<LevelId> = bounds
            .iter()
            .filter(
                |bound| !matches!(bound, Binding::Value(id) if self.graph.as_const(*id).is_some()),
            )
            .map(|bound| self.level_of(bound))
            .collect();
        Ok(self.common_level(&levels, at)?.unwrap_or(EVENT))
    }

    /// `[a, b]` as a list, where `(a, b)` is none.
    pub(in crate::compile) fn written_list(&mut self, bound: Binding, at: Span) -> Result<Binding> {
        match bound {
            list @ Binding::Tuple { is_list: true, .. } => self.as_list(list, at),
            other => Ok(other),
        }
    }

    /// `[a, b]` as a list: of constants, or of what has one value at each position. Anything else is unchanged.
    pub(in crate::compile) fn as_list(&mut self, bound: Binding, at: Span) -> Result<Binding> {
        if let Some(numbers) = self.numbers_of(&bound) {
            return Ok(Binding::Value(self.cycled(numbers)));
        }
        let Binding::Tuple {
            items,
            level,
            is_list: true,
        } = &bound
        else {
            return Ok(bound);
        };
        let level = *level;
        let is_single = |item: &Binding| self.is_single(self.level_of(item));
        if !(self.is_single(level) && items.iter().all(is_single)) {
            return Ok(bound);
        }
        // A list of one item for each, one after the other.
        let parent = level;
        let one = self.graph.add_level(Level {
            parent,
            kind: LevelKind::Fixed(1),
        });
        let mut lists = Vec::with_capacity(items.len());
        for item in items {
            lists.push(match item {
                Binding::Value(id) if self.graph.as_const(*id).is_some() => {
                    Binding::Value(self.moved(Op::Spread, *id, one))
                }
                item => self.carried(item, Move::Spread(one)),
            });
        }
        let parts = vec![one; lists.len()];
        let kind = LevelKind::Joined { parts };
        let joined = self.graph.add_level(Level { parent, kind });
        self.joined_bounds(&lists, joined, at)
    }

    /// A level with the parent of another.
    pub(in crate::compile) fn beside(&mut self, of: LevelId, kind: LevelKind) -> LevelId {
        let parent = self.graph.parent(of);
        self.graph.add_level(Level { parent, kind })
    }

    pub(in crate::compile) fn joined_bounds(
        &mut self,
        parts: &[Binding],
        level: LevelId,
        at: Span,
    ) -> Result<Binding> {
        let values: Option<Vec<NodeId>> = parts
            .iter()
            .map(|part| match part {
                Binding::Value(id) => Some(*id),
                _ => None,
            })
            .collect();
        if let Some(values) = values {
            return self.joined_values(&values, level, at).map(Binding::Value);
        }
        let tuples: Option<Vec<&Vec<Binding>>> = parts
            .iter()
            .map(|part| match part {
                Binding::Tuple { items, .. } => Some(items),
                _ => None,
            })
            .collect();
        if let Some(tuples) = tuples {
            let size = tuples.first().map_or(0, |items| items.len());
            if tuples.iter().any(|items| items.len() != size) {
                return Err(QueryError::at(at, "these are tuples of different lengths"));
            }
            let mut items = Vec::with_capacity(size);
            for k in 0..size {
                let column: Vec<Binding> = tuples
                    .iter()
                    .filter_map(|items| items.get(k).cloned())
                    .collect();
                items.push(self.joined_bounds(&column, level, at)?);
            }
            return Ok(Binding::Tuple {
                items,
                level,
                is_list: false,
            });
        }
        if parts.iter().any(|part| {
            matches!(
                part,
                Binding::Value(_) | Binding::Tuple { .. } | Binding::Provided(_)
            )
        }) {
            let message = "the items of a list are all numbers, or all records";
            return Err(QueryError::at(at, message));
        }
        Ok(Binding::Object(Object {
            source: Rc::new(RecordSource::Joined(parts.to_vec())),
            base: level,
            moves: Vec::new(),
            level,
        }))
    }
}
