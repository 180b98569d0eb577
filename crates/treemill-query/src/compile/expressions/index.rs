//! `value[…]`: masks, integers, lists of integers and slices.

use crate::compile::{
    Binding, Compiler, Constant, EVENT, Level, LevelId, LevelKind, NodeId, Result, Type, span,
};
use crate::error::QueryError;
use crate::spec::{Expr, Span};

impl Compiler<'_> {
    pub(in crate::compile) fn index(
        &mut self,
        value: &Expr,
        index: &Expr,
        at: Span,
    ) -> Result<Binding> {
        let mut bound = self.bind(value)?;
        if let Binding::Provided(named) = &bound {
            return self.function_of(named, index, at);
        }
        if let Binding::Tuple { items, level, .. } = &bound
            && self.names.nodes.is_single(*level)
        {
            if !matches!(index, Expr::Slice { .. } | Expr::Sequence { .. })
                && let Some(numbers) = self.names.nodes.numbers_of(&bound)
            {
                let place = self.value(index)?;
                return self
                    .names
                    .nodes
                    .item_of_constants(numbers, place, span(index));
            }
            let list = match is_constant(index) {
                true => bound.clone(),
                false => self.names.nodes.as_list(bound.clone(), span(value))?,
            };
            match list {
                Binding::Tuple { .. } => return self.element_of_tuple(items, index),
                list => bound = list,
            }
        }
        let level = self.names.nodes.level_of(&bound);
        if self.names.nodes.is_single(level) {
            let title = match self.names.nodes.title(&bound) {
                nameless if nameless == "a value" => "this".to_owned(),
                title => title,
            };
            let message = match self.names.nodes.here {
                EVENT => {
                    format!("{title} is one value per event, not a list: leave out the index")
                }
                _ => format!("{title} is one value, not a list: leave out the index"),
            };
            return Err(QueryError::at(span(value), message));
        }
        let outer = self.names.nodes.outermost(level);
        if let Expr::Slice {
            lower, upper, step, ..
        } = index
        {
            let lower = self.bound_of_slice(lower.as_deref())?;
            let upper = self.bound_of_slice(upper.as_deref())?;
            let step = self.bound_of_slice(step.as_deref())?.unwrap_or(1);
            if step == 0 {
                return Err(QueryError::at(span(index), "a slice's step is not 0"));
            }
            let parent = self.names.nodes.graph.parent(outer);
            let kind = LevelKind::Sliced {
                of: outer,
                lower,
                upper,
                step,
            };
            let sliced = self.names.nodes.graph.add_level(Level { parent, kind });
            return Ok(self.names.nodes.kept_below(&bound, outer, sliced));
        }
        let holds_lists = matches!(&bound, Binding::Tuple { items, .. }
            if items.iter().any(|item| self.names.nodes.level_of(item) != level));
        if holds_lists && !is_constant(index) {
            let message =
                "of tuples that hold lists a constant integer picks one, and a slice some";
            return Err(QueryError::at(span(index), message));
        }
        if outer != level {
            return self.index_lists(bound, level, index, at);
        }
        let place = span(index);
        let selected = match self.picked(index)? {
            Picked::Constant(indices) => {
                return self
                    .names
                    .nodes
                    .at_each(&bound, level, indices, true, place);
            }
            Picked::Computed(id) => id,
        };
        match self.names.nodes.type_of(selected) {
            Type::Bool => self.names.nodes.masked(bound, level, selected, place),
            Type::Int | Type::UInt => self.names.nodes.at_index(bound, level, selected, at, place),
            ty => Err(QueryError::at(
                place,
                format!(
                    "an index is an integer, a mask or a slice, not {}",
                    ty.name()
                ),
            )),
        }
    }

    /// What stands in the brackets.
    fn picked(&mut self, index: &Expr) -> Result<Picked> {
        let bound = self.bind(index)?;
        let place = span(index);
        if let Some(numbers) = self.names.nodes.numbers_of(&bound) {
            if numbers.ty == Type::Float {
                return Err(QueryError::at(place, "a list of indices is of integers"));
            }
            return Ok(Picked::Constant(self.names.nodes.cycled(numbers)));
        }
        match self.names.nodes.as_list(bound, place)? {
            Binding::Value(id) => Ok(Picked::Computed(id)),
            other => Err(self.names.not_a_value(&other, place)),
        }
    }

    /// Indexes a list of lists: an integer takes one list, a mask selects lists or the items of all lists.
    fn index_lists(
        &mut self,
        bound: Binding,
        level: LevelId,
        index: &Expr,
        at: Span,
    ) -> Result<Binding> {
        let place = span(index);
        let index = match self.picked(index)? {
            Picked::Constant(indices) => {
                return self.names.nodes.lists_at(&bound, level, indices, place);
            }
            Picked::Computed(id) => id,
        };
        match self.names.nodes.type_of(index) {
            Type::Bool => return self.names.nodes.masked(bound, level, index, place),
            Type::Int | Type::UInt => return self.names.nodes.list_at(&bound, level, index, at),
            _ => (),
        }
        let message = "this is a list of lists, of which an integer picks one, a slice or a list of \
                       integers some, and a mask lists or items: write [v[…] for v in …] for \
                       something of each";
        Err(QueryError::at(place, message))
    }

    /// `t[0]`
    fn element_of_tuple(&mut self, items: &[Binding], index: &Expr) -> Result<Binding> {
        let place = span(index);
        let number = self.value(index)?;
        let n = items.len() as i64;
        let found = match self.names.nodes.graph.as_const(number) {
            Some(Constant::Int(x)) if *x < 0 => items.get((x + n).try_into().unwrap_or(usize::MAX)),
            Some(Constant::Int(x)) => items.get(usize::try_from(*x).unwrap_or(usize::MAX)),
            _ => None,
        };
        found.cloned().ok_or_else(|| {
            let message = format!("a tuple of {n} has the elements 0 to {}", n - 1);
            QueryError::at(place, message)
        })
    }

    fn bound_of_slice(&mut self, bound: Option<&Expr>) -> Result<Option<i64>> {
        let Some(expr) = bound else {
            return Ok(None);
        };
        let id = self.value(expr)?;
        match self.names.nodes.graph.as_const(id) {
            Some(Constant::Int(x)) => Ok(Some(*x)),
            _ => Err(QueryError::at(
                span(expr),
                "the bounds of a slice are constant integers",
            )),
        }
    }
}

/// Whether the text of an index is a number.
fn is_constant(index: &Expr) -> bool {
    matches!(index, Expr::Const { .. } | Expr::Unary { .. })
}

/// What picks items.
enum Picked {
    /// A list of constants, which may count from the end.
    Constant(NodeId),
    /// A mask, a number or numbers.
    Computed(NodeId),
}
