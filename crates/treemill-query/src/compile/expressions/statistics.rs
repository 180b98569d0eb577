//! Functions of one list that are made of sorts and reductions: its spread, its middle, its order, its different items,
//! its running sums.

use crate::compile::nodes::objects::Move;
use crate::compile::nodes::types::NO_STRINGS;
use crate::compile::{Binding, Compiler, Constant, NodeId, Op, Reducer, Result, Type, span};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Compare, Map, Real2, Test};
use crate::spec::{Expr, Span};

impl Compiler<'_> {
    /// The values of a list, or those that a generator gives.
    fn listed_values(&mut self, name: &str, arg: &Expr) -> Result<NodeId> {
        match self.reducible(name, arg, false)? {
            (Binding::Value(id), _) => Ok(id),
            (other, _) => Err(self.names.not_a_value(&other, span(arg))),
        }
    }

    fn listed_numbers(&mut self, name: &str, arg: &Expr) -> Result<NodeId> {
        let id = self.listed_values(name, arg)?;
        match self.names.nodes.type_of(id) {
            Type::Str => Err(QueryError::at(span(arg), NO_STRINGS)),
            _ => Ok(id),
        }
    }

    /// `var(x, ddof=…)`: the mean square of the distances from the mean, as in NumPy.
    pub(in crate::compile) fn variance(
        &mut self,
        name: &str,
        arg: &Expr,
        ddof: Option<&Expr>,
        at: Span,
    ) -> Result<NodeId> {
        let id = self.listed_numbers(name, arg)?;
        let x = self.names.nodes.real_of(id);
        let mean = self.names.nodes.reduce(Reducer::Mean, x, at)?;
        let both = self.names.nodes.together(&[x, mean], at)?;
        let off = self.names.nodes.real(Arithmetic::Sub, both[0], both[1]);
        let square = self.names.nodes.square(off);
        let variance = self.names.nodes.reduce(Reducer::Mean, square, at)?;
        let ddof = match ddof {
            None => 0,
            Some(expr) => self.whole_constant("ddof=", expr)?,
        };
        if ddof == 0 {
            return Ok(variance);
        }
        let count = self.names.nodes.reduce(Reducer::Count, x, at)?;
        let count = self.names.nodes.real_of(count);
        let (less, zero) = (
            self.names.nodes.number(ddof as f64),
            self.names.nodes.number(0.0),
        );
        let left = self.names.nodes.real(Arithmetic::Sub, count, less);
        let left = self
            .names
            .nodes
            .map(Map::Real2(Real2::Max), &[left, zero], Type::Float);
        let share = self.names.nodes.real(Arithmetic::Div, count, left);
        Ok(self.names.nodes.real(Arithmetic::Mul, variance, share))
    }

    /// A constant that is not negative.
    fn whole_constant(&mut self, name: &str, expr: &Expr) -> Result<i64> {
        let id = self.value(expr)?;
        match self.names.nodes.graph.as_const(id) {
            Some(Constant::Int(x)) if *x >= 0 => Ok(*x),
            _ => {
                let message = format!("{name} is a constant integer that is not negative");
                Err(QueryError::at(span(expr), message))
            }
        }
    }

    /// `median(x)`: the middle one, or the mean of the two in the middle. NaN if there is a NaN.
    pub(in crate::compile) fn median(
        &mut self,
        name: &str,
        arg: &Expr,
        at: Span,
    ) -> Result<NodeId> {
        let id = self.listed_numbers(name, arg)?;
        let x = self.names.nodes.real_of(id);
        let level = self.names.nodes.graph.node(x).level;
        let order = self.names.nodes.ordered(level, x, false);
        let sorted = self.names.nodes.carry(x, Move::Take(order, 0));
        let count = self.names.nodes.reduce(Reducer::Count, x, at)?;
        let (one, two) = (self.names.nodes.integer(1), self.names.nodes.integer(2));
        let less = self
            .names
            .nodes
            .arithmetic(Arithmetic::Sub, count, one, at)?;
        let mut middle = Vec::with_capacity(2);
        for twice in [less, count] {
            // Of an empty list it is the item -1, which there is not.
            let place = self
                .names
                .nodes
                .arithmetic(Arithmetic::FloorDiv, twice, two, at)?;
            middle.push(self.names.nodes.item(sorted, place, None, false));
        }
        // Half of each, because their sum may be too large.
        let half = self.names.nodes.number(0.5);
        let halves = middle
            .iter()
            .map(|id| self.names.nodes.real(Arithmetic::Mul, *id, half));
        let halves: Vec<NodeId> = halves.collect();
        let median = self.names.nodes.real(Arithmetic::Add, halves[0], halves[1]);
        let is_nan = self
            .names
            .nodes
            .map(Map::Test(Test::IsNan), &[x], Type::Bool);
        let has_nan = self.names.nodes.reduce(Reducer::Any, is_nan, at)?;
        let nan = self.names.nodes.number(f64::NAN);
        self.names.nodes.select(has_nan, nan, median, at)
    }

    /// `unique(x)`: the different items, ascending. All NaNs are one, and missing items are left out.
    pub(in crate::compile) fn different_items(
        &mut self,
        name: &str,
        arg: &Expr,
        at: Span,
    ) -> Result<NodeId> {
        let id = self.listed_values(name, arg)?;
        let level = self.names.nodes.graph.node(id).level;
        let order = self.names.nodes.ordered(level, id, false);
        let sorted = self.names.nodes.carry(id, Move::Take(order, 0));
        let place = self.names.nodes.position(order);
        let one = self.names.nodes.integer(1);
        let before = self
            .names
            .nodes
            .arithmetic(Arithmetic::Sub, place, one, at)?;
        let (before, list) =
            self.names
                .nodes
                .below(before, self.names.nodes.graph.parent(order), at)?;
        let before = self.names.nodes.item(sorted, before, Some(list), false);
        let mut is_new = self.names.nodes.compare(Compare::Ne, sorted, before, at)?;
        if self.names.nodes.type_of(id) == Type::Float {
            let mut nan = |x| {
                self.names
                    .nodes
                    .map(Map::Test(Test::IsNan), &[x], Type::Bool)
            };
            let nans = [nan(sorted), nan(before)];
            let both = self.names.nodes.both(nans[0], nans[1]);
            let not_both = self.names.nodes.negated(both);
            is_new = self.names.nodes.both(is_new, not_both);
        }
        // The first item has none before it.
        let yes = self.names.nodes.graph.constant(Constant::Bool(true));
        let is_new = self.names.nodes.fill_missing(is_new, yes);
        let missing = self.is_missing(&Binding::Value(sorted))?;
        let is_there = self.names.nodes.negated(missing);
        let kept = match self.names.nodes.graph.as_const(is_there) {
            Some(_) => is_new,
            None => self.names.nodes.both(is_new, is_there),
        };
        let kept = self.names.nodes.filtered(order, kept);
        Ok(self.names.nodes.carry(sorted, Move::Take(kept, 0)))
    }

    /// `cumsum(x)`: the sum of the items up to each one. Missing items add nothing.
    pub(in crate::compile) fn running_sum(&mut self, name: &str, arg: &Expr) -> Result<NodeId> {
        let id = self.listed_numbers(name, arg)?;
        let id = self.names.nodes.number_of(id);
        Ok(self
            .names
            .nodes
            .node(Op::RunningSum, &[id], self.names.nodes.type_of(id)))
    }

    /// `argsort(X, key=…, reverse=…)`: the numbers of the items, in the order of `sorted`.
    pub(in crate::compile) fn argsort(
        &mut self,
        arg: &Expr,
        key: Option<&Expr>,
        reverse: Option<&Expr>,
    ) -> Result<Binding> {
        let (_, of, order) = self.order_of("argsort", arg, key, reverse)?;
        let place = self.names.nodes.position(of);
        Ok(Binding::Value(
            self.names.nodes.carry(place, Move::Take(order, 0)),
        ))
    }
}
