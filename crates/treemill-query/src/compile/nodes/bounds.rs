//! Comparisons of what rises or falls with a column: `x * 1.02 > 30` holds for the numbers above some bound, which is found
//! once, among all floats. Then the column is compared as it is stored, and nothing is multiplied. Every number passes that
//! passed before, and no other. Nothing depends on it but speed.

use crate::compile::{Builder, Constant, Graph, NodeId, Op, Type};
use crate::kernel::{Arithmetic, Compare, Map, arithmetic, comparison};
use crate::limits::BOUND_STEPS;
#[cfg(test)]
use crate::schema::walked;

/// An operation with a constant: of all numbers that are not NaN it makes none that is, and their order stays or turns.
#[derive(Debug, Clone, Copy)]
enum Step {
    /// The constant is the second operand.
    With(Arithmetic, f64),
    /// The constant is the first one.
    From(Arithmetic, f64),
    Negate,
}

impl Step {
    /// What a node does with a number; and the node that gives it.
    fn of(graph: &Graph, id: NodeId) -> Option<(Self, NodeId)> {
        let node = graph.node(id);
        let number = |id: NodeId| graph.as_const(id).map(Constant::as_f64);
        match (&node.op, node.inputs.as_slice()) {
            (Op::Map(Map::Negate), &[of]) => Some((Self::Negate, of)),
            (Op::Map(Map::Real(op)), &[a, b]) => {
                let (step, constant, of) = match (number(a), number(b)) {
                    (None, Some(with)) => (Self::With(*op, with), with, a),
                    (Some(from), None) => (Self::From(*op, from), from, b),
                    _ => return None,
                };
                let is_known = match (op, step) {
                    (Arithmetic::Add | Arithmetic::Sub, _) => true,
                    (Arithmetic::Mul, _) | (Arithmetic::Div, Self::With(..)) => constant != 0.0,
                    _ => false,
                };
                (is_known && constant.is_finite()).then_some((step, of))
            }
            _ => None,
        }
    }

    fn apply(self, x: f64) -> f64 {
        let mut out = [0.0];
        match self {
            Self::With(op, y) => arithmetic::real(op)(&[x], &[y], &mut out),
            Self::From(op, y) => arithmetic::real(op)(&[y], &[x], &mut out),
            Self::Negate => arithmetic::negate(&[x], &mut out),
        }
        out[0]
    }
}

/// A comparison of a number with a constant.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bound {
    op: Compare,
    with: f64,
}

impl Bound {
    fn holds(self, x: f64) -> bool {
        let mut out = [0];
        comparison::real(self.op)(&[x], &[self.with], &mut out);
        out[0] != 0
    }

    /// The comparison that holds for just those numbers of which these steps, the last one first, make one for which this
    /// one holds. `None` if there is none, or if it holds for all numbers or for no number.
    fn before(self, steps: &[Step]) -> Option<Self> {
        if self.with.is_nan() || matches!(self.op, Compare::Eq | Compare::Ne) {
            return None;
        }
        let passes = |key: i64| {
            let made = steps
                .iter()
                .rev()
                .fold(number(key), |x, step| step.apply(x));
            self.holds(made)
        };
        let (mut low, mut high) = (key(f64::NEG_INFINITY), key(f64::INFINITY));
        let (first, last) = (passes(low), passes(high));
        if first == last {
            return None;
        }
        while high - 1 > low {
            let middle = low.midpoint(high);
            match passes(middle) == first {
                true => low = middle,
                false => high = middle,
            }
        }
        // As strict as it was, so that where nothing is rounded the bound is the number that one expects.
        let is_strict = matches!(self.op, Compare::Lt | Compare::Gt);
        let (op, bound) = match (last, is_strict) {
            (true, true) => (Compare::Gt, low),
            (true, false) => (Compare::Ge, high),
            (false, true) => (Compare::Lt, high),
            (false, false) => (Compare::Le, low),
        };
        Some(Self {
            op,
            with: number(bound),
        })
    }
}

/// An integer for each number that is not NaN, in their order.
fn key(x: f64) -> i64 {
    turned(x.to_bits().cast_signed())
}

fn number(key: i64) -> f64 {
    f64::from_bits(turned(key).cast_unsigned())
}

/// Negative numbers have the order of their magnitudes, turned.
fn turned(bits: i64) -> i64 {
    if bits < 0 { bits ^ i64::MAX } else { bits }
}

impl Builder<'_> {
    /// A comparison of floats, and the same as one of a column.
    pub(in crate::compile) fn bounded(
        &mut self,
        op: Compare,
        value: NodeId,
        with: NodeId,
    ) -> (Compare, NodeId, NodeId) {
        let given = (op, value, with);
        let Some(constant) = self.graph.as_const(with).map(Constant::as_f64) else {
            return given;
        };
        let (mut steps, mut column) = (Vec::new(), value);
        while let Some((step, of)) = Step::of(&self.graph, column) {
            #[cfg(test)]
            walked::one_more();
            if steps.len() >= BOUND_STEPS {
                return given;
            }
            steps.push(step);
            column = of;
        }
        if steps.is_empty() || !self.graph.is_looked_up(column) {
            return given;
        }
        let bound = Bound { op, with: constant };
        match bound.before(&steps) {
            Some(Bound { op, with }) => {
                let with = Constant::Float(with.to_bits());
                (op, column, self.graph.constant(with))
            }
            None => given,
        }
    }
}

impl Graph {
    /// Whether a value is one of a column of floats: it takes one look into memory.
    fn is_looked_up(&self, id: NodeId) -> bool {
        let mut walk = id;
        loop {
            let node = self.node(walk);
            match (&node.op, node.inputs.first()) {
                (Op::Column(_), _) => return node.ty == Type::Float,
                (Op::Take(_) | Op::Spread, Some(input)) => walk = *input,
                _ => return false,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use Arithmetic::{Add, Div, Mul, Sub};
    use proptest::prelude::*;

    fn constant() -> impl Strategy<Value = f64> {
        prop_oneof![
            4 => (1..2000_i32).prop_map(|x| f64::from(x) / 1000.0),
            2 => (-40..40_i32).prop_map(f64::from),
            1 => any::<f64>().prop_filter("finite", |x| x.is_finite()),
        ]
    }

    fn step() -> impl Strategy<Value = Step> {
        let other = |x: f64| if x == 0.0 { 1.0 } else { x };
        prop_oneof![
            3 => constant().prop_map(move |x| Step::With(Mul, other(x))),
            1 => constant().prop_map(move |x| Step::From(Mul, other(x))),
            1 => constant().prop_map(move |x| Step::With(Div, other(x))),
            1 => constant().prop_map(|x| Step::With(Add, x)),
            1 => constant().prop_map(|x| Step::With(Sub, x)),
            1 => constant().prop_map(|x| Step::From(Sub, x)),
            1 => Just(Step::Negate),
        ]
    }

    proptest! {
        #[test]
        fn a_bound_holds_for_the_same_numbers(
            steps in prop::collection::vec(step(), 1..4),
            with in constant(),
            op in prop::sample::select(vec![Compare::Lt, Compare::Le, Compare::Gt, Compare::Ge]),
            others in prop::collection::vec(any::<f64>(), 20),
        ) {
            let given = Bound { op, with };
            let made = |x: f64| steps.iter().rev().fold(x, |x, step| step.apply(x));
            let Some(bound) = given.before(&steps) else {
                // The same for all numbers.
                for x in others.into_iter().filter(|x| !x.is_nan()) {
                    prop_assert_eq!(given.holds(made(x)), given.holds(made(0.0)), "{}", x);
                }
                return Ok(());
            };
            let near = [bound.with, bound.with.next_up(), bound.with.next_down()];
            let ends = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];
            for x in near.into_iter().chain(ends).chain(others) {
                prop_assert_eq!(bound.holds(x), given.holds(made(x)), "{} {:?}", x, bound);
            }
        }
    }

    #[test]
    fn bounds_are_those_that_one_expects() {
        let half = Bound {
            op: Compare::Gt,
            with: 30.0,
        };
        let found = half.before(&[Step::With(Mul, 2.0)]).unwrap();
        assert_eq!((found.op, found.with), (Compare::Gt, 15.0));
        let turned = half.before(&[Step::From(Sub, 10.0)]).unwrap();
        assert_eq!((turned.op, turned.with), (Compare::Lt, -20.0));
        let equal = Bound {
            op: Compare::Eq,
            ..half
        };
        assert_eq!(equal.before(&[Step::Negate]), None);
        let never = Bound {
            with: f64::INFINITY,
            ..half
        };
        assert_eq!(never.before(&[Step::Negate]), None);
    }
}
