//! Lists that are made from lists: combinations, concat, zip, enumerate, sorted; tuples, and lists of values.

use super::objects::{Move, Object, RecordSource};
use super::{
    Binding, Builder, Compiler, Constant, EVENT, Level, LevelId, LevelKind, NodeId, Op, Result,
    span,
};
use crate::error::QueryError;
use crate::limits::{ARRANGED_ITEMS, COMBINATION_ITEMS, TUPLE_ITEMS};
use crate::spec::{Expr, Span};
use std::rc::Rc;

impl Compiler<'_> {
    /// `(a, b)`, or `[a, b]`, which is a list.
    pub(super) fn tuple(&mut self, items: &[Expr], is_list: bool, at: Span) -> Result<Binding> {
        if items.is_empty() || items.len() > TUPLE_ITEMS {
            let message = format!("a tuple has 1 to {TUPLE_ITEMS} elements");
            return Err(QueryError::at(at, message));
        }
        let mut bounds = Vec::with_capacity(items.len());
        for item in items {
            bounds.push(self.bind(item)?);
        }
        self.names.nodes.tuple_of(bounds, is_list, at)
    }

    /// An argument that must be a list.
    pub(super) fn list(&mut self, name: &str, arg: &Expr) -> Result<(Binding, LevelId)> {
        let at = span(arg);
        let bound = self.bind(arg)?;
        let bound = self.names.nodes.as_list(bound, at)?;
        let level = self.names.nodes.level_of(&bound);
        if self.names.nodes.is_single(level) {
            let each = if self.names.nodes.here == EVENT {
                " per event"
            } else {
                ""
            };
            // Drawings write flatten(…) for what goes over all items.
            let name = if name == "flatten" {
                "this".to_owned()
            } else {
                format!("{name}(…)")
            };
            let message = match &bound {
                Binding::Value(id) => match self.names.nodes.graph.node(*id).op {
                    Op::Column(_) => {
                        let title = self.names.nodes.title(&bound);
                        format!("{name} needs a list, and {title} is one value{each}")
                    }
                    _ => format!("{name} needs a list, and this is one value{each}"),
                },
                other => {
                    let what = self.names.nodes.title(other);
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
        Ok((bound, self.names.nodes.outermost(level)))
    }

    /// `combinations(X, n)`, or `permutations(X, n)`, which are in any order: tuples.
    pub(super) fn tuples_of(
        &mut self,
        name: &str,
        ordered: bool,
        args: &[Expr],
        at: Span,
    ) -> Result<Binding> {
        let [list, size] = args else {
            return Err(QueryError::at(at, format!("{name}(list, number)")));
        };
        let (items, of) = self.items(name, list)?;
        let number = self.value(size)?;
        let size = match self.names.nodes.graph.as_const(number) {
            Some(Constant::Int(n)) if (1..=ARRANGED_ITEMS).contains(n) => *n as u8,
            _ => {
                let message = format!("{name} are of 1 to {ARRANGED_ITEMS} items, a constant");
                return Err(QueryError::at(span(size), message));
            }
        };
        let kind = match ((2..=COMBINATION_ITEMS).contains(&size), ordered) {
            (true, false) => LevelKind::Combinations { of, size },
            _ => LevelKind::Arrangements { of, size, ordered },
        };
        let level = self.names.nodes.beside(of, kind);
        let items = (0..size)
            .map(|k| {
                self.names
                    .nodes
                    .carried_from(&items, of, Move::Take(level, k))
            })
            .collect();
        Ok(Binding::Tuple {
            items,
            level,
            is_list: false,
        })
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
            .map(|level| self.names.nodes.graph.parent(*level))
            .reduce(|a, b| {
                if self.names.nodes.graph.encloses(a, b) {
                    b
                } else {
                    a
                }
            });
        let Some(parent) = deepest else {
            return Ok((lists, levels));
        };
        for ((list, level), arg) in lists.iter_mut().zip(&mut levels).zip(args) {
            let nested = self.names.nodes.nested(*level, parent, span(arg))?;
            if nested != *level {
                *list = self
                    .names
                    .nodes
                    .carried_from(list, *level, Move::Take(nested, 0));
                *level = nested;
            }
        }
        Ok((lists, levels))
    }

    /// `concat(A, B)`: the items of A, then those of B.
    pub(super) fn concat(&mut self, args: &[Expr], at: Span) -> Result<Binding> {
        let (lists, parts) = self.lists_beside("concat", args)?;
        for ((list, part), arg) in lists.iter().zip(&parts).zip(args) {
            if self.names.nodes.level_of(list) != *part {
                let message = "concat joins lists of items, and this is a list of lists: close the inner \
                               ones first, or concat them one by one";
                return Err(QueryError::at(span(arg), message));
            }
        }
        let Some(first) = parts.first().copied() else {
            return Err(QueryError::at(at, "concat(A, B) joins lists"));
        };
        let level = self.names.nodes.beside(first, LevelKind::Joined { parts });
        self.names.nodes.joined_bounds(&lists, level, at)
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
                is_list: false,
            });
        }
        let kind = LevelKind::Zipped {
            parts: parts.clone(),
        };
        let level = self.names.nodes.beside(first, kind);
        let items = lists
            .iter()
            .enumerate()
            .zip(&parts)
            .map(|((k, list), part)| {
                self.names
                    .nodes
                    .carried_from(list, *part, Move::Take(level, k as u8))
            })
            .collect();
        Ok(Binding::Tuple {
            items,
            level,
            is_list: false,
        })
    }

    /// `enumerate(X)`: tuples of a number and an item.
    pub(super) fn enumerate(&mut self, arg: &Expr) -> Result<Binding> {
        let (items, level) = self.items("enumerate", arg)?;
        let number = self.names.nodes.position(level);
        Ok(Binding::Tuple {
            items: vec![Binding::Value(number), items],
            level,
            is_list: false,
        })
    }

    /// `sorted(X, key=…, reverse=…)`
    pub(super) fn sorted(
        &mut self,
        arg: &Expr,
        key: Option<&Expr>,
        reverse: Option<&Expr>,
    ) -> Result<Binding> {
        let (items, of, order) = self.order_of("sorted", arg, key, reverse)?;
        Ok(self
            .names
            .nodes
            .carried_from(&items, of, Move::Take(order, 0)))
    }

    /// A list's items, their level, and that of the same items in the order of a key.
    pub(super) fn order_of(
        &mut self,
        name: &str,
        arg: &Expr,
        key: Option<&Expr>,
        reverse: Option<&Expr>,
    ) -> Result<(Binding, LevelId, LevelId)> {
        // Without a key, what is sorted are numbers: those of the innermost lists.
        let (items, of) = match key {
            None => self.list(name, arg)?,
            Some(_) => self.items(name, arg)?,
        };
        let reverse = match reverse {
            None => false,
            Some(expr) => {
                let id = self.value(expr)?;
                match self.names.nodes.graph.as_const(id) {
                    Some(Constant::Bool(x)) => *x,
                    Some(Constant::Int(x)) => *x != 0,
                    _ => return Err(QueryError::at(span(expr), "reverse= is True or False")),
                }
            }
        };
        let (items, of) = self.nested_for(key, items, of)?;
        let key = self.key(&items, of, key, span(arg))?;
        let order = self.names.nodes.ordered(of, key, reverse);
        Ok((items, of, order))
    }
}

impl Builder<'_> {
    /// Things side by side, brought to one level.
    pub(super) fn tuple_of(
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

    /// `[a, b]` as a list, where `(a, b)` is none.
    pub(super) fn written_list(&mut self, bound: Binding, at: Span) -> Result<Binding> {
        match bound {
            list @ Binding::Tuple { is_list: true, .. } => self.as_list(list, at),
            other => Ok(other),
        }
    }

    /// `[a, b]` as a list: of constants, or of what has one value at each position. Anything else is unchanged.
    pub(super) fn as_list(&mut self, bound: Binding, at: Span) -> Result<Binding> {
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
    pub(super) fn beside(&mut self, of: LevelId, kind: LevelKind) -> LevelId {
        let parent = self.graph.parent(of);
        self.graph.add_level(Level { parent, kind })
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
