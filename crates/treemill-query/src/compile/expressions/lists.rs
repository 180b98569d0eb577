//! Lists that are made from lists: combinations, concat, zip, enumerate, sorted; tuples, and lists of values.

use crate::compile::nodes::objects::Move;
use crate::compile::{Binding, Compiler, Constant, EVENT, LevelId, LevelKind, Op, Result, span};
use crate::error::QueryError;
use crate::limits::{ARRANGED_ITEMS, COMBINATION_ITEMS, TUPLE_ITEMS};
use crate::spec::{Expr, Span};

impl Compiler<'_> {
    /// `(a, b)`, or `[a, b]`, which is a list.
    pub(in crate::compile) fn tuple(
        &mut self,
        items: &[Expr],
        is_list: bool,
        at: Span,
    ) -> Result<Binding> {
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
    pub(in crate::compile) fn list(
        &mut self,
        name: &str,
        arg: &Expr,
    ) -> Result<(Binding, LevelId)> {
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
    pub(in crate::compile) fn items(
        &mut self,
        name: &str,
        arg: &Expr,
    ) -> Result<(Binding, LevelId)> {
        let (bound, level) = self.list(name, arg)?;
        Ok((bound, self.names.nodes.outermost(level)))
    }

    /// `combinations(X, n)`, or `permutations(X, n)`, which are in any order: tuples.
    pub(in crate::compile) fn tuples_of(
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
                let message =
                    format!("{name}(X, n) takes a constant number n from 1 to {ARRANGED_ITEMS}");
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
    pub(in crate::compile) fn concat(&mut self, args: &[Expr], at: Span) -> Result<Binding> {
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
    pub(in crate::compile) fn zip(&mut self, args: &[Expr], at: Span) -> Result<Binding> {
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
    pub(in crate::compile) fn enumerate(&mut self, arg: &Expr) -> Result<Binding> {
        let (items, level) = self.items("enumerate", arg)?;
        let number = self.names.nodes.position(level);
        Ok(Binding::Tuple {
            items: vec![Binding::Value(number), items],
            level,
            is_list: false,
        })
    }

    /// `sorted(X, key=…, reverse=…)`
    pub(in crate::compile) fn sorted(
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
    pub(in crate::compile) fn order_of(
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
