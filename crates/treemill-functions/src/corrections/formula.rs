//! Formulas as ROOT's TFormula writes them, as far as correctionlib takes them: trees, and their values.

mod functions;
mod grammar;

pub(crate) use functions::{Binary, Unary};
pub(crate) use grammar::parse;

use crate::corrections::variable::Slot;
use std::sync::Arc;

/// A part of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Term {
    Literal(f64),
    /// An input of the correction, by its number.
    Input(usize),
    Parameter(usize),
    Unary(Unary, Box<Term>),
    Binary(Binary, Box<(Term, Term)>),
}

/// A formula with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Formula {
    pub term: Arc<Term>,
    pub parameters: Box<[f64]>,
}

impl Formula {
    pub fn evaluate(&self, slots: &[Slot<'_>]) -> f64 {
        self.term.evaluate(slots, &self.parameters)
    }
}

impl Term {
    fn evaluate(&self, slots: &[Slot<'_>], parameters: &[f64]) -> f64 {
        match self {
            Self::Literal(x) => *x,
            // Inputs and parameters are known to be there since the formula was read.
            Self::Input(input) => slots.get(*input).map_or(f64::NAN, Slot::number),
            Self::Parameter(i) => parameters.get(*i).copied().unwrap_or(f64::NAN),
            Self::Unary(op, operand) => op.of(operand.evaluate(slots, parameters)),
            Self::Binary(op, sides) => {
                let left = sides.0.evaluate(slots, parameters);
                op.of(left, sides.1.evaluate(slots, parameters))
            }
        }
    }

    /// How many parameters it needs.
    pub fn parameters(&self) -> usize {
        match self {
            Self::Literal(_) | Self::Input(_) => 0,
            Self::Parameter(i) => i.saturating_add(1),
            Self::Unary(_, operand) => operand.parameters(),
            Self::Binary(_, sides) => sides.0.parameters().max(sides.1.parameters()),
        }
    }
}
