//! Lists that are made from lists: combinations, concat, zip, enumerate, sorted; tuples and lists of
//! constants.

use super::objects::{Move, Object, RecordSource};
use super::{
    Binding, Compiler, Constant, EVENT, Level, LevelId, LevelKind, Node, NodeId, Op, Result, Type,
    span,
};
use crate::error::QueryError;
use crate::limits::{COMBINATION_ITEMS, TUPLE_ITEMS};
use crate::spec::{Expr, Span};
use std::rc::Rc;

impl Compiler<'_> {
    /// `(a, b)`, `[a, b]`
    pub(super) fn tuple(&mut self, items: &[Expr], at: Span) -> Result<Binding> {
        if items.is_empty() || items.len() > TUPLE_ITEMS {
            let message = format!("a tuple has 1 to {TUPLE_ITEMS} elements");
            return Err(QueryError::at(at, message));
        }
        let mut bounds = Vec::with_capacity(items.len());
        for item in items {
            bounds.push(self.bind(item)?);
        }
        self.tuple_of(bounds, at)
    }

    /// Things side by side, brought to one level.
    pub(super) fn tuple_of(&mut self, bounds: Vec<Binding>, at: Span) -> Result<Binding> {
        let level = self.common_of(&bounds, at)?;
        let items: Result<Vec<Binding>> = bounds
            .iter()
            .map(|bound| self.brought(bound, level, at))
            .collect();
        Ok(Binding::Tuple {
            items: items?,
            level,
        })
    }

    /// The common level.
    pub(super) fn common_of(&mut self, bounds: &[Binding], at: Span) -> Result<LevelId> {
        let levels: Vec<LevelId> = bounds
            .iter()
            .filter(
                |bound| !matches!(bound, Binding::Value(id) if self.graph.as_const(*id).is_some()),
            )
            .map(|bound| self.level_of(bound))
            .collect();
        Ok(self.common_level(&levels, at)?.unwrap_or(EVENT))
    }

    /// An argument that must be a list.
    pub(super) fn list(&mut self, name: &str, arg: &Expr) -> Result<(Binding, LevelId)> {
        let at = span(arg);
        let bound = match arg {
            Expr::Sequence { items, .. } => self.constants(items, at)?,
            _ => {
                let bound = self.bind(arg)?;
                self.as_list(bound)
            }
        };
        let level = self.level_of(&bound);
        if self.is_single(level) {
            let each = if self.here == EVENT { " per event" } else { "" };
            // Drawings write flatten(…) for what goes over all items.
            let name = if name == "flatten" {
                "this".to_owned()
            } else {
                format!("{name}(…)")
            };
            let message = match &bound {
                Binding::Value(id) => match self.graph.node(*id).op {
                    Op::Column(_) => {
                        let title = self.title(&bound);
                        format!("{name} needs a list, and {title} is one value{each}")
                    }
                    _ => format!("{name} needs a list, and this is one value{each}"),
                },
                other => {
                    let what = self.title(other);
                    format!("{name} needs a list, and this is {what}{each}")
                }
            };
            return Err(QueryError::at(at, message));
        }
        Ok((bound, level))
    }

    /// An argument whose items are taken as `for` takes them: the outermost of nested lists.
    pub(super) fn items(&mut self, name: &str, arg: &Expr) -> Result<(Binding, LevelId)> {
        let (bound, level) = self.list(name, arg)?;
        Ok((bound, self.outermost(level)))
    }

    /// `[1, 2, 3]` as a list.
    pub(super) fn constants(&mut self, items: &[Expr], at: Span) -> Result<Binding> {
        let mut found = None;
        if (1..=TUPLE_ITEMS).contains(&items.len()) {
            let mut bounds = Vec::with_capacity(items.len());
            for item in items {
                bounds.push(self.bind(item)?);
            }
            let (items, level) = (bounds, EVENT);
            found = self.numbers_of(&Binding::Tuple { items, level });
        }
        match found {
            Some(numbers) => Ok(Binding::Value(self.cycled(numbers))),
            None => {
                let message = format!(
                    "a list to go through has 1 to {TUPLE_ITEMS} constant numbers, or is a column"
                );
                Err(QueryError::at(at, message))
            }
        }
    }

    /// `combinations(X, n)`: tuples.
    pub(super) fn combinations(&mut self, args: &[Expr], at: Span) -> Result<Binding> {
        let [list, size] = args else {
            return Err(QueryError::at(at, "combinations(list, number)"));
        };
        let (items, of) = self.items("combinations", list)?;
        let number = self.value(size)?;
        let size = match self.graph.as_const(number) {
            Some(Constant::Int(n)) if (2..=COMBINATION_ITEMS).contains(n) => *n as u8,
            _ => {
                let message =
                    format!("combinations are of 2 to {COMBINATION_ITEMS} items, a constant");
                return Err(QueryError::at(span(size), message));
            }
        };
        let level = self.beside(of, LevelKind::Combinations { of, size });
        let items = (0..size)
            .map(|k| self.carried_from(&items, of, Move::Take(level, k)))
            .collect();
        Ok(Binding::Tuple { items, level })
    }

    /// A level with the parent of another.
    fn beside(&mut self, of: LevelId, kind: LevelKind) -> LevelId {
        let parent = self.graph.parent(of);
        self.graph.add_level(Level { parent, kind })
    }

    /// Several lists, and their levels, which must lie below one.
    fn lists_beside(&mut self, name: &str, args: &[Expr]) -> Result<(Vec<Binding>, Vec<LevelId>)> {
        let (mut lists, mut levels) = (Vec::new(), Vec::new());
        for arg in args {
            let (list, level) = self.items(name, arg)?;
            lists.push(list);
            levels.push(level);
        }
        let deepest = levels
            .iter()
            .map(|level| self.graph.parent(*level))
            .reduce(|a, b| if self.graph.encloses(a, b) { b } else { a });
        let Some(parent) = deepest else {
            return Ok((lists, levels));
        };
        for ((list, level), arg) in lists.iter_mut().zip(&mut levels).zip(args) {
            let nested = self.nested(*level, parent, span(arg))?;
            if nested != *level {
                *list = self.carried_from(list, *level, Move::Take(nested, 0));
                *level = nested;
            }
        }
        Ok((lists, levels))
    }

    /// `concat(A, B)`: the items of A, then those of B.
    pub(super) fn concat(&mut self, args: &[Expr], at: Span) -> Result<Binding> {
        let (lists, parts) = self.lists_beside("concat", args)?;
        for ((list, part), arg) in lists.iter().zip(&parts).zip(args) {
            if self.level_of(list) != *part {
                let message = "concat joins lists of items, and this is a list of lists: close the inner \
                               ones first, or concat them one by one";
                return Err(QueryError::at(span(arg), message));
            }
        }
        let Some(first) = parts.first().copied() else {
            return Err(QueryError::at(at, "concat(A, B) joins lists"));
        };
        let level = self.beside(first, LevelKind::Joined { parts });
        self.joined_bounds(&lists, level, at)
    }

    pub(super) fn joined_bounds(
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
            return Ok(Binding::Tuple { items, level });
        }
        if parts.iter().any(|part| {
            matches!(
                part,
                Binding::Value(_) | Binding::Tuple { .. } | Binding::Provided(_)
            )
        }) {
            let message = "concat joins lists of numbers, or collections, not both";
            return Err(QueryError::at(at, message));
        }
        Ok(Binding::Object(Object {
            source: Rc::new(RecordSource::Joined(parts.to_vec())),
            base: level,
            moves: Vec::new(),
            level,
        }))
    }

    /// `zip(A, B)`: tuples, as many as the shortest has items.
    pub(super) fn zip(&mut self, args: &[Expr], at: Span) -> Result<Binding> {
        let (lists, parts) = self.lists_beside("zip", args)?;
        let Some(first) = parts.first().copied() else {
            return Err(QueryError::at(at, "zip(A, B) takes lists"));
        };
        // Lists of one level are as long already.
        if parts.iter().all(|part| *part == first) {
            return Ok(Binding::Tuple {
                items: lists,
                level: first,
            });
        }
        let kind = LevelKind::Zipped {
            parts: parts.clone(),
        };
        let level = self.beside(first, kind);
        let items = lists
            .iter()
            .enumerate()
            .zip(&parts)
            .map(|((k, list), part)| self.carried_from(list, *part, Move::Take(level, k as u8)))
            .collect();
        Ok(Binding::Tuple { items, level })
    }

    /// `enumerate(X)`: tuples of a number and an item.
    pub(super) fn enumerate(&mut self, arg: &Expr) -> Result<Binding> {
        let (items, level) = self.items("enumerate", arg)?;
        let number = self.graph.add(Node {
            op: Op::Position,
            inputs: Vec::new(),
            level,
            ty: Type::Int,
            missing: false,
        });
        Ok(Binding::Tuple {
            items: vec![Binding::Value(number), items],
            level,
        })
    }

    /// `sorted(X, key=…, reverse=…)`
    pub(super) fn sorted(
        &mut self,
        arg: &Expr,
        key: Option<&Expr>,
        reverse: Option<&Expr>,
    ) -> Result<Binding> {
        // Without a key, what is sorted are numbers: those of the innermost lists.
        let (items, of) = match key {
            None => self.list("sorted", arg)?,
            Some(_) => self.items("sorted", arg)?,
        };
        let reverse = match reverse {
            None => false,
            Some(expr) => {
                let id = self.value(expr)?;
                match self.graph.as_const(id) {
                    Some(Constant::Bool(x)) => *x,
                    Some(Constant::Int(x)) => *x != 0,
                    _ => return Err(QueryError::at(span(expr), "reverse= is True or False")),
                }
            }
        };
        let (items, of) = self.nested_for(key, items, of)?;
        let key = self.key(&items, of, key, span(arg))?;
        let level = self.beside(of, LevelKind::Sorted { of, key, reverse });
        Ok(self.carried_from(&items, of, Move::Take(level, 0)))
    }
}
