//! Functions of one list that are made of sorts and reductions: its spread, its middle, its order, its different items,
//! its running sums.

use super::objects::Move;
use super::types::NO_STRINGS;
use super::{
    Binding, Builder, Compiler, Constant, Level, LevelId, LevelKind, Node, NodeId, Op, Reducer,
    Result, Type, span,
};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Compare, Map, Real2, Test};
use crate::spec::{Expr, Span};

impl Compiler<'_> {
    /// The values of a list, or those that a generator gives.
    fn listed_values(&mut self, name: &str, arg: &Expr) -> Result<NodeId> {
        match self.reducible(name, arg, false)? {
            (Binding::Value(id), _) => Ok(id),
            (other, _) => Err(self.not_a_value(&other, span(arg))),
        }
    }

    fn listed_numbers(&mut self, name: &str, arg: &Expr) -> Result<NodeId> {
        let id = self.listed_values(name, arg)?;
        match self.builder.type_of(id) {
            Type::Str => Err(QueryError::at(span(arg), NO_STRINGS)),
            _ => Ok(id),
        }
    }

    /// `var(x, ddof=…)`: the mean square of the distances from the mean, as in NumPy.
    pub(super) fn variance(
        &mut self,
        name: &str,
        arg: &Expr,
        ddof: Option<&Expr>,
        at: Span,
    ) -> Result<NodeId> {
        let id = self.listed_numbers(name, arg)?;
        let x = self.builder.real_of(id);
        let mean = self.builder.reduce(Reducer::Mean, x, at)?;
        let both = self.builder.together(&[x, mean], at)?;
        let off = self.builder.real(Arithmetic::Sub, both[0], both[1]);
        let square = self.builder.square(off);
        let variance = self.builder.reduce(Reducer::Mean, square, at)?;
        let ddof = match ddof {
            None => 0,
            Some(expr) => self.whole_constant("ddof=", expr)?,
        };
        if ddof == 0 {
            return Ok(variance);
        }
        let count = self.builder.reduce(Reducer::Count, x, at)?;
        let count = self.builder.real_of(count);
        let (less, zero) = (self.builder.number(ddof as f64), self.builder.number(0.0));
        let left = self.builder.real(Arithmetic::Sub, count, less);
        let left = self
            .builder
            .map(Map::Real2(Real2::Max), &[left, zero], Type::Float);
        let share = self.builder.real(Arithmetic::Div, count, left);
        Ok(self.builder.real(Arithmetic::Mul, variance, share))
    }

    /// A constant that is not negative.
    fn whole_constant(&mut self, name: &str, expr: &Expr) -> Result<i64> {
        let id = self.value(expr)?;
        match self.builder.graph.as_const(id) {
            Some(Constant::Int(x)) if *x >= 0 => Ok(*x),
            _ => {
                let message = format!("{name} is a constant integer that is not negative");
                Err(QueryError::at(span(expr), message))
            }
        }
    }

    /// `median(x)`: the middle one, or the mean of the two in the middle. NaN if there is a NaN.
    pub(super) fn median(&mut self, name: &str, arg: &Expr, at: Span) -> Result<NodeId> {
        let id = self.listed_numbers(name, arg)?;
        let x = self.builder.real_of(id);
        let level = self.builder.graph.node(x).level;
        let order = self.builder.ordered(level, x, false);
        let sorted = self.builder.carry(x, Move::Take(order, 0));
        let count = self.builder.reduce(Reducer::Count, x, at)?;
        let (one, two) = (self.builder.integer(1), self.builder.integer(2));
        let less = self.builder.arithmetic(Arithmetic::Sub, count, one, at)?;
        let mut middle = Vec::with_capacity(2);
        for twice in [less, count] {
            // Of an empty list it is the item -1, which there is not.
            let place = self
                .builder
                .arithmetic(Arithmetic::FloorDiv, twice, two, at)?;
            middle.push(self.builder.item(sorted, place, None, false));
        }
        // Half of each, because their sum may be too large.
        let half = self.builder.number(0.5);
        let halves = middle
            .iter()
            .map(|id| self.builder.real(Arithmetic::Mul, *id, half));
        let halves: Vec<NodeId> = halves.collect();
        let median = self.builder.real(Arithmetic::Add, halves[0], halves[1]);
        let is_nan = self.builder.map(Map::Test(Test::IsNan), &[x], Type::Bool);
        let has_nan = self.builder.reduce(Reducer::Any, is_nan, at)?;
        let nan = self.builder.number(f64::NAN);
        self.builder.select(has_nan, nan, median, at)
    }

    /// `unique(x)`: the different items, ascending. All NaNs are one, and missing items are left out.
    pub(super) fn different_items(&mut self, name: &str, arg: &Expr, at: Span) -> Result<NodeId> {
        let id = self.listed_values(name, arg)?;
        let level = self.builder.graph.node(id).level;
        let order = self.builder.ordered(level, id, false);
        let sorted = self.builder.carry(id, Move::Take(order, 0));
        let place = self.builder.position(order);
        let one = self.builder.integer(1);
        let before = self.builder.arithmetic(Arithmetic::Sub, place, one, at)?;
        let (before, list) = self
            .builder
            .below(before, self.builder.graph.parent(order), at)?;
        let before = self.builder.item(sorted, before, Some(list), false);
        let mut is_new = self.builder.compare(Compare::Ne, sorted, before, at)?;
        if self.builder.type_of(id) == Type::Float {
            let mut nan = |x| self.builder.map(Map::Test(Test::IsNan), &[x], Type::Bool);
            let nans = [nan(sorted), nan(before)];
            let both = self.builder.both(nans[0], nans[1]);
            let not_both = self.builder.negated(both);
            is_new = self.builder.both(is_new, not_both);
        }
        // The first item has none before it.
        let yes = self.builder.graph.constant(Constant::Bool(true));
        let is_new = self.builder.fill_missing(is_new, yes);
        let missing = self.is_missing(&Binding::Value(sorted))?;
        let is_there = self.builder.negated(missing);
        let kept = match self.builder.graph.as_const(is_there) {
            Some(_) => is_new,
            None => self.builder.both(is_new, is_there),
        };
        let kept = self.builder.filtered(order, kept);
        Ok(self.builder.carry(sorted, Move::Take(kept, 0)))
    }

    /// `cumsum(x)`: the sum of the items up to each one. Missing items add nothing.
    pub(super) fn running_sum(&mut self, name: &str, arg: &Expr) -> Result<NodeId> {
        let id = self.listed_numbers(name, arg)?;
        let id = self.builder.number_of(id);
        Ok(self
            .builder
            .node(Op::RunningSum, &[id], self.builder.type_of(id)))
    }

    /// `argsort(X, key=…, reverse=…)`: the numbers of the items, in the order of `sorted`.
    pub(super) fn argsort(
        &mut self,
        arg: &Expr,
        key: Option<&Expr>,
        reverse: Option<&Expr>,
    ) -> Result<Binding> {
        let (_, of, order) = self.order_of("argsort", arg, key, reverse)?;
        let place = self.builder.position(of);
        Ok(Binding::Value(
            self.builder.carry(place, Move::Take(order, 0)),
        ))
    }
}

impl Builder<'_> {
    /// The items of a level in the order of a key.
    pub(super) fn ordered(&mut self, of: LevelId, key: NodeId, reverse: bool) -> LevelId {
        let parent = self.graph.parent(of);
        let kind = LevelKind::Sorted { of, key, reverse };
        self.graph.add_level(Level { parent, kind })
    }

    /// The number of each item in its list.
    pub(super) fn position(&mut self, level: LevelId) -> NodeId {
        self.graph.add(Node {
            op: Op::Position,
            inputs: Vec::new(),
            level,
            ty: Type::Int,
            missing: false,
        })
    }

    pub(super) fn integer(&mut self, x: i64) -> NodeId {
        self.graph.constant(Constant::Int(x))
    }
}
