//! `a if condition else b` of all that an expression can stand for: values, tuples, records, vectors.

use crate::compile::{Binding, Builder, NodeId, Result};
use crate::error::QueryError;
use crate::spec::Span;
use std::rc::Rc;

impl Builder<'_> {
    /// The first of two where the condition holds, else the second; where it is missing, so is the
    /// result.
    pub(in crate::compile) fn choice(
        &mut self,
        condition: NodeId,
        sides: (Binding, Binding),
        at: Span,
    ) -> Result<Binding> {
        match sides {
            (Binding::Value(a), Binding::Value(b)) => {
                self.select(condition, a, b, at).map(Binding::Value)
            }
            (Binding::Tuple { items: a, .. }, Binding::Tuple { items: b, .. })
                if a.len() == b.len() =>
            {
                let mut items = Vec::with_capacity(a.len());
                for sides in a.into_iter().zip(b) {
                    items.push(self.choice(condition, sides, at)?);
                }
                self.tuple_of(items, false, at)
            }
            (a, b) if is_record(&a) && is_record(&b) => {
                let all = [Binding::Value(condition), a, b];
                let level = self.common_of(&all, at)?;
                let [condition, a, b] = all;
                let Binding::Value(condition) = self.brought(&condition, level, at)? else {
                    return Err(QueryError::at(at, "a condition is a value"));
                };
                let sides = (self.brought(&a, level, at)?, self.brought(&b, level, at)?);
                Ok(Binding::Choice {
                    condition,
                    sides: Rc::new(sides),
                    level,
                })
            }
            (a, b) => {
                let (a, b) = (self.title(&a), self.title(&b));
                let message =
                    format!("{a} and {b} are of different kinds: one cannot stand for the other");
                Err(QueryError::at(at, message))
            }
        }
    }
}

fn is_record(bound: &Binding) -> bool {
    !matches!(
        bound,
        Binding::Value(_) | Binding::Tuple { .. } | Binding::Provided(_)
    )
}
