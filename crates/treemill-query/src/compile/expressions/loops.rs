//! `for … in … if …`: variables, the levels that they go through, and conditions. Each condition is decided at the
//! outermost level where that is possible, so that fewer items are left.

use crate::compile::expressions::free_names;
use crate::compile::names::spelling::PAIR;
use crate::compile::nodes::loops::Looped;
use crate::compile::{Binding, Compiler, Level, LevelId, LevelKind, NodeId, Op, Result, span};
use crate::error::QueryError;
use crate::limits::LOOPS;
use crate::spec::{Expr, Loop, Span, Target};

impl Compiler<'_> {
    /// A comprehension as a list.
    pub(in crate::compile) fn comprehension(
        &mut self,
        element: &Expr,
        loops: &[Loop],
        at: Span,
    ) -> Result<Binding> {
        let looped = self.looped(element, loops, at)?;
        Ok(self.names.nodes.listed(looped))
    }

    /// The elements of a comprehension, before they are a list.
    pub(in crate::compile) fn looped(
        &mut self,
        element: &Expr,
        loops: &[Loop],
        at: Span,
    ) -> Result<Looped> {
        if loops.len() > LOOPS {
            let message = format!("a comprehension has more than {LOOPS} loops");
            return Err(QueryError::at(at, message));
        }
        let (outside, variables) = (self.names.nodes.here, self.locals.len());
        let found = self
            .loops(loops)
            .and_then(|()| self.element(element, outside));
        self.names.nodes.here = outside;
        self.locals.truncate(variables);
        found
    }

    fn element(&mut self, element: &Expr, outside: LevelId) -> Result<Looped> {
        let bound = self.bind(element)?;
        let mut level = self.names.nodes.here;
        let own = self.names.nodes.level_of(&bound);
        let mut bound = match bound {
            // A constant is repeated for every item.
            Binding::Value(id) if self.names.nodes.graph.as_const(id).is_some() => {
                Binding::Value(self.names.nodes.moved(Op::Spread, id, level))
            }
            bound if self.names.nodes.is_single(own) => {
                self.names.nodes.brought(&bound, level, span(element))?
            }
            // A list without variables is repeated for every item.
            bound if !self.names.nodes.graph.encloses(level, own) => {
                let nested = self.names.nodes.nested(own, level, span(element))?;
                self.names.nodes.brought(&bound, nested, span(element))?
            }
            bound => bound,
        };
        if self.names.nodes.graph.parent(level) != outside {
            let flat = self.names.nodes.graph.add_level(Level {
                parent: outside,
                kind: LevelKind::Flat { of: level },
            });
            bound = self.names.nodes.kept_below(&bound, level, flat);
            level = flat;
        }
        Ok(Looped {
            element: bound,
            level,
        })
    }

    /// Goes into the loops: variables become visible.
    fn loops(&mut self, loops: &[Loop]) -> Result<()> {
        let conditions = placed(loops);
        for (each, conditions) in loops.iter().zip(conditions) {
            let bound = self.bind(&each.iter)?;
            let items = self.names.nodes.as_list(bound, span(&each.iter))?;
            let element = self.names.nodes.entered(items, span(&each.iter))?;
            self.enter(each, element, &conditions)?;
        }
        Ok(())
    }

    fn enter(&mut self, each: &Loop, element: Binding, conditions: &[&Expr]) -> Result<()> {
        let outside = self.names.nodes.here;
        let mut level = self.names.nodes.loop_of(&element);
        let mut element = element;
        let above = self.names.nodes.graph.parent(level);
        let variables = self.locals.len();
        // Conditions that know no variable from below `above` are decided before the items are
        // repeated for each of its values.
        let (early, late): (Vec<&Expr>, Vec<&Expr>) = if above == outside {
            (conditions.to_vec(), Vec::new())
        } else {
            let deeper: Vec<String> = self
                .locals
                .iter()
                .filter(|(_, bound)| {
                    !self
                        .names
                        .nodes
                        .graph
                        .encloses(self.names.nodes.level_of(bound), above)
                })
                .map(|(name, _)| name.clone())
                .filter(|name| !Target::names(&each.targets).contains(&name.as_str()))
                .collect();
            conditions.iter().copied().partition(|condition| {
                let names = free_names::names(condition);
                !(names.any_of(deeper.iter().map(String::as_str)) || free_names::draws(condition))
            })
        };
        (element, level) = self.kept_items(each, element, level, &early)?;
        if above != outside {
            self.locals.truncate(variables);
            let nested = self.names.nodes.nested(level, outside, span(&each.iter))?;
            element = self.names.nodes.kept_below(&element, level, nested);
            (element, level) = self.kept_items(each, element, nested, &late)?;
        }
        self.locals.truncate(variables);
        self.names.nodes.here = level;
        self.set_variables(each, element)
    }

    fn set_variables(&mut self, each: &Loop, element: Binding) -> Result<()> {
        self.unpack(&each.targets, element, span(&each.iter))
    }

    /// Binds names to a value, or to the elements of a tuple.
    pub(in crate::compile) fn unpack(
        &mut self,
        names: &[Target],
        value: Binding,
        at: Span,
    ) -> Result<()> {
        match names {
            [Target::Name(name)] => {
                self.locals.push((name.clone(), value));
                return Ok(());
            }
            [Target::Elements(names)] => return self.unpack(names, value, at),
            _ => (),
        }
        match value {
            Binding::Tuple { items, .. } if items.len() == names.len() => {
                for (name, item) in names.iter().zip(items) {
                    self.unpack(std::slice::from_ref(name), item, at)?;
                }
                Ok(())
            }
            Binding::Tuple { items, .. } => Err(QueryError::at(
                at,
                format!(
                    "for names {} variables, and its tuples have {} elements",
                    names.len(),
                    items.len()
                ),
            )),
            pair @ Binding::Object(_)
                if names.len() == PAIR.len()
                    && self
                        .names
                        .members(&pair)
                        .iter()
                        .eq(PAIR.iter().map(|(_, place)| place)) =>
            {
                for (name, (_, place)) in names.iter().zip(PAIR) {
                    let item = self.names.member(&pair, place, at)?;
                    self.unpack(std::slice::from_ref(name), item, at)?;
                }
                Ok(())
            }
            _ => Err(QueryError::at(
                at,
                format!(
                    "{} names, and the items are no tuples: those come from combinations, zip and \
                     enumerate",
                    names.len()
                ),
            )),
        }
    }

    /// The items for which conditions hold. Cheap conditions are decided together, costly ones only where those hold.
    fn kept_items(
        &mut self,
        each: &Loop,
        element: Binding,
        level: LevelId,
        conditions: &[&Expr],
    ) -> Result<(Binding, LevelId)> {
        let (mut element, mut level) = (element, level);
        let variables = self.locals.len();
        let mut rest = conditions;
        while let Some((first, others)) = rest.split_first() {
            self.names.nodes.here = level;
            self.set_variables(each, element.clone())?;
            let mut mask = self.kept(first)?;
            rest = others;
            while let Some((next, others)) = rest.split_first() {
                if !(free_names::is_cheap(first) && free_names::is_cheap(next)) {
                    break;
                }
                let more = self.kept(next)?;
                mask = self.names.nodes.both(mask, more);
                rest = others;
            }
            self.locals.truncate(variables);
            let mask = self.names.nodes.passed(mask);
            let filtered = self.names.nodes.filtered(level, mask);
            element = self.names.nodes.kept_below(&element, level, filtered);
            level = filtered;
        }
        Ok((element, level))
    }

    /// `flatten(X)`: all items of nested lists, to any depth, as one list. A plain list is unchanged.
    pub(in crate::compile) fn flatten(&mut self, arg: &Expr) -> Result<Binding> {
        let (items, level) = self.list("flatten", arg)?;
        let outer = self.names.nodes.outermost(level);
        if outer == level {
            return Ok(items);
        }
        let parent = self.names.nodes.graph.parent(outer);
        let flat = self.names.nodes.graph.add_level(Level {
            parent,
            kind: LevelKind::Flat { of: level },
        });
        Ok(self.names.nodes.kept_below(&items, level, flat))
    }

    /// A condition's node at the level of the loop.
    fn kept(&mut self, condition: &Expr) -> Result<NodeId> {
        let at = span(condition);
        let id = self.value(condition)?;
        let id = self.names.nodes.truth(id, at)?;
        if !self
            .names
            .nodes
            .is_single(self.names.nodes.graph.node(id).level)
        {
            let message = "this is a list: close it with any(…), all(…), or sum(…) >= n";
            return Err(QueryError::at(at, message));
        }
        if self.names.nodes.graph.as_const(id).is_some() {
            return Ok(self
                .names
                .nodes
                .moved(Op::Spread, id, self.names.nodes.here));
        }
        self.names.nodes.bring(id, self.names.nodes.here, at)
    }
}

/// Each loop's conditions, taken apart at `and`: a condition goes to the first loop after which it
/// knows all of its names.
fn placed(loops: &[Loop]) -> Vec<Vec<&Expr>> {
    let mut found: Vec<Vec<&Expr>> = vec![Vec::new(); loops.len()];
    for (own, each) in loops.iter().enumerate() {
        let mut parts = Vec::new();
        for condition in &each.conditions {
            free_names::conjuncts(condition, &mut parts);
        }
        for part in parts {
            let names = free_names::names(part);
            let last = (0..=own)
                .rev()
                .find(|i| names.any_of(Target::names(&loops[*i].targets)))
                .unwrap_or(0);
            found[if free_names::draws(part) { own } else { last }].push(part);
        }
    }
    found
}
