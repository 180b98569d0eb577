//! Functions of one list that are made of sorts and reductions: its spread, its middle, its order, its different items,
//! its running sums.

use super::objects::Move;
use super::types::NO_STRINGS;
use super::{
    Binding, Compiler, Constant, Level, LevelId, LevelKind, Node, NodeId, Op, Reducer, Result,
    Type, span,
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
        match self.type_of(id) {
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
        let x = self.real_of(id);
        let mean = self.reduce(Reducer::Mean, x, at)?;
        let both = self.together(&[x, mean], at)?;
        let off = self.real(Arithmetic::Sub, both[0], both[1]);
        let square = self.square(off);
        let variance = self.reduce(Reducer::Mean, square, at)?;
        let ddof = match ddof {
            None => 0,
            Some(expr) => self.whole_constant("ddof=", expr)?,
        };
        if ddof == 0 {
            return Ok(variance);
        }
        let count = self.reduce(Reducer::Count, x, at)?;
        let count = self.real_of(count);
        let (less, zero) = (self.number(ddof as f64), self.number(0.0));
        let left = self.real(Arithmetic::Sub, count, less);
        let left = self.map(Map::Real2(Real2::Max), &[left, zero], Type::Float);
        let share = self.real(Arithmetic::Div, count, left);
        Ok(self.real(Arithmetic::Mul, variance, share))
    }

    /// A constant that is not negative.
    fn whole_constant(&mut self, name: &str, expr: &Expr) -> Result<i64> {
        let id = self.value(expr)?;
        match self.graph.as_const(id) {
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
        let x = self.real_of(id);
        let level = self.graph.node(x).level;
        let order = self.ordered(level, x, false);
        let sorted = self.carry(x, Move::Take(order, 0));
        let count = self.reduce(Reducer::Count, x, at)?;
        let (one, two) = (self.integer(1), self.integer(2));
        let less = self.arithmetic(Arithmetic::Sub, count, one, at)?;
        let mut middle = Vec::with_capacity(2);
        for twice in [less, count] {
            // Of an empty list it is the item -1, which there is not.
            let place = self.arithmetic(Arithmetic::FloorDiv, twice, two, at)?;
            middle.push(self.item(sorted, place, None, false));
        }
        // Half of each, because their sum may be too large.
        let half = self.number(0.5);
        let halves = middle
            .iter()
            .map(|id| self.real(Arithmetic::Mul, *id, half));
        let halves: Vec<NodeId> = halves.collect();
        let median = self.real(Arithmetic::Add, halves[0], halves[1]);
        let is_nan = self.map(Map::Test(Test::IsNan), &[x], Type::Bool);
        let has_nan = self.reduce(Reducer::Any, is_nan, at)?;
        let nan = self.number(f64::NAN);
        self.select(has_nan, nan, median, at)
    }

    /// `unique(x)`: the different items, ascending. All NaNs are one, and missing items are left out.
    pub(super) fn different_items(&mut self, name: &str, arg: &Expr, at: Span) -> Result<NodeId> {
        let id = self.listed_values(name, arg)?;
        let level = self.graph.node(id).level;
        let order = self.ordered(level, id, false);
        let sorted = self.carry(id, Move::Take(order, 0));
        let place = self.position(order);
        let one = self.integer(1);
        let before = self.arithmetic(Arithmetic::Sub, place, one, at)?;
        let (before, list) = self.below(before, self.graph.parent(order), at)?;
        let before = self.item(sorted, before, Some(list), false);
        let mut is_new = self.compare(Compare::Ne, sorted, before, at)?;
        if self.type_of(id) == Type::Float {
            let mut nan = |x| self.map(Map::Test(Test::IsNan), &[x], Type::Bool);
            let nans = [nan(sorted), nan(before)];
            let both = self.both(nans[0], nans[1]);
            let not_both = self.negated(both);
            is_new = self.both(is_new, not_both);
        }
        // The first item has none before it.
        let yes = self.graph.constant(Constant::Bool(true));
        let is_new = self.fill_missing(is_new, yes);
        let missing = self.is_missing(&Binding::Value(sorted))?;
        let is_there = self.negated(missing);
        let kept = match self.graph.as_const(is_there) {
            Some(_) => is_new,
            None => self.both(is_new, is_there),
        };
        let kept = self.filtered(order, kept);
        Ok(self.carry(sorted, Move::Take(kept, 0)))
    }

    /// `cumsum(x)`: the sum of the items up to each one. Missing items add nothing.
    pub(super) fn running_sum(&mut self, name: &str, arg: &Expr) -> Result<NodeId> {
        let id = self.listed_numbers(name, arg)?;
        let id = self.number_of(id);
        Ok(self.node(Op::RunningSum, &[id], self.type_of(id)))
    }

    /// `argsort(X, key=…, reverse=…)`: the numbers of the items, in the order of `sorted`.
    pub(super) fn argsort(
        &mut self,
        arg: &Expr,
        key: Option<&Expr>,
        reverse: Option<&Expr>,
    ) -> Result<Binding> {
        let (_, of, order) = self.order_of("argsort", arg, key, reverse)?;
        let place = self.position(of);
        Ok(Binding::Value(self.carry(place, Move::Take(order, 0))))
    }

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

    fn integer(&mut self, x: i64) -> NodeId {
        self.graph.constant(Constant::Int(x))
    }
}
