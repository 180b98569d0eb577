//! The nodes of a correction, and their values in one row.

use crate::corrections::bins::{Bins, Flow, Place};
use crate::corrections::formula::Formula;
use crate::corrections::random::{Distribution, drawn};
use crate::corrections::variable::Slot;
use crate::error::EvaluationError;
use std::sync::Arc;

type Result<T> = std::result::Result<T, EvaluationError>;

/// What a correction is made of.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Node {
    Value(f64),
    Binning(Box<Binning>),
    MultiBinning(Box<MultiBinning>),
    Category(Box<Category>),
    Formula(Formula),
    Transform(Box<Transform>),
    Random {
        inputs: Arc<[usize]>,
        distribution: Distribution,
    },
    /// There is no value here.
    Refused(Arc<EvaluationError>),
}

/// Contents of bins in a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Contents {
    Values(Box<[f64]>),
    Nodes(Box<[Node]>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Binning {
    pub input: usize,
    pub bins: Bins,
    pub flow: Flow,
    pub contents: Contents,
    /// What values outside get, if the flow is `Flow::Value`.
    pub outside: Node,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MultiBinning {
    pub axes: Box<[Axis]>,
    pub flow: Flow,
    pub contents: Contents,
    /// What values outside get, if the flow is `Flow::Value`.
    pub outside: Node,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    pub input: usize,
    /// Cells from one bin to the next.
    pub stride: usize,
    pub bins: Bins,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Category {
    pub input: usize,
    pub keys: Keys,
    /// The contents in the order of the keys.
    pub contents: Contents,
    pub default: Option<Node>,
}

/// Keys, ascending.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Keys {
    Integers(Box<[i64]>),
    Texts(Box<[Box<[u8]>]>),
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Transform {
    pub input: usize,
    pub rule: Node,
    pub content: Node,
}

impl Contents {
    pub fn new(nodes: Vec<Node>) -> Self {
        let value = |node: &Node| match node {
            Node::Value(x) => Some(*x),
            _ => None,
        };
        match nodes.iter().map(value).collect() {
            Some(values) => Self::Values(values),
            None => Self::Nodes(nodes.into()),
        }
    }

    #[inline(always)]
    fn evaluate(&self, place: usize, slots: &mut [Slot<'_>]) -> Result<f64> {
        let found = match self {
            Self::Values(values) => return values.get(place).copied().ok_or_else(missing),
            Self::Nodes(nodes) => nodes.get(place),
        };
        found.ok_or_else(missing)?.evaluate(slots)
    }

    /// The node at a place.
    pub fn node(&self, place: usize) -> Option<Node> {
        match self {
            Self::Values(values) => values.get(place).copied().map(Node::Value),
            Self::Nodes(nodes) => nodes.get(place).cloned(),
        }
    }
}

/// Contents are as many as bins since the document was read.
#[cold]
fn missing() -> EvaluationError {
    EvaluationError::internal("a bin has no content: please report this with the document")
}

impl Node {
    /// The value in a row. `slots` is as before afterwards.
    pub fn evaluate(&self, slots: &mut [Slot<'_>]) -> Result<f64> {
        match self {
            Self::Value(x) => Ok(*x),
            Self::Binning(node) => node.evaluate(slots),
            Self::MultiBinning(node) => node.evaluate(slots),
            Self::Category(node) => node.evaluate(slots),
            Self::Formula(formula) => Ok(formula.evaluate(slots)),
            Self::Transform(node) => node.evaluate(slots),
            Self::Random {
                inputs,
                distribution,
            } => Ok(drawn(*distribution, inputs, slots)),
            Self::Refused(error) => Err((**error).clone()),
        }
    }
}

#[inline(always)]
fn slot<'a>(slots: &[Slot<'a>], input: usize) -> Slot<'a> {
    slots.get(input).copied().unwrap_or(Slot::Real(f64::NAN))
}

impl Binning {
    #[inline(always)]
    pub fn place(&self, slot: &Slot<'_>) -> Result<Place> {
        self.bins.place(slot, self.flow, self.input, "Binning")
    }

    #[inline(always)]
    fn evaluate(&self, slots: &mut [Slot<'_>]) -> Result<f64> {
        match self.place(&slot(slots, self.input))? {
            Place::Bin(bin) => self.contents.evaluate(bin, slots),
            Place::Outside => self.outside.evaluate(slots),
        }
    }
}

impl MultiBinning {
    #[inline(always)]
    fn evaluate(&self, slots: &mut [Slot<'_>]) -> Result<f64> {
        let mut cell = 0_usize;
        for axis in &self.axes {
            let value = slot(slots, axis.input);
            match axis
                .bins
                .place(&value, self.flow, axis.input, "MultiBinning")?
            {
                Place::Bin(bin) => cell = cell.saturating_add(bin.saturating_mul(axis.stride)),
                Place::Outside => return self.outside.evaluate(slots),
            }
        }
        self.contents.evaluate(cell, slots)
    }
}

impl Category {
    /// The number of a key.
    pub fn place(&self, slot: &Slot<'_>) -> Option<usize> {
        match (&self.keys, slot) {
            (Keys::Integers(keys), Slot::Integer(x)) => keys.binary_search(x).ok(),
            (Keys::Texts(keys), Slot::Text(x)) => keys.binary_search_by(|key| (**key).cmp(*x)).ok(),
            _ => None,
        }
    }

    pub fn unknown(&self, slot: &Slot<'_>) -> EvaluationError {
        let value = match slot {
            Slot::Integer(x) => x.to_string(),
            Slot::Text(x) => String::from_utf8_lossy(x).into_owned(),
            Slot::Real(_) => return EvaluationError::arguments("Invalid variable type"),
        };
        EvaluationError::values(format!(
            "Index not available in Category for input argument {} val: {value}",
            self.input
        ))
    }

    #[inline(always)]
    fn evaluate(&self, slots: &mut [Slot<'_>]) -> Result<f64> {
        let value = slot(slots, self.input);
        match (self.place(&value), &self.default) {
            (Some(place), _) => self.contents.evaluate(place, slots),
            (None, Some(default)) => default.evaluate(slots),
            (None, None) => Err(self.unknown(&value)),
        }
    }
}

impl Transform {
    fn evaluate(&self, slots: &mut [Slot<'_>]) -> Result<f64> {
        let found = self.rule.evaluate(slots)?;
        let before = slot(slots, self.input);
        let after = match before {
            Slot::Integer(_) => Slot::Integer(whole(found)?),
            _ => Slot::Real(found),
        };
        put_slot(slots, self.input, after);
        let found = self.content.evaluate(slots);
        put_slot(slots, self.input, before);
        found
    }
}

fn put_slot<'a>(slots: &mut [Slot<'a>], input: usize, value: Slot<'a>) {
    if let Some(slot) = slots.get_mut(input) {
        *slot = value;
    }
}

/// The nearest integer, halves away from zero.
fn whole(value: f64) -> Result<i64> {
    let rounded = value.round();
    // 2^63 itself does not fit.
    const END: f64 = 9_223_372_036_854_775_808.0;
    if (-END..END).contains(&rounded) {
        return Ok(rounded as i64);
    }
    Err(EvaluationError::values(format!(
        "Transform gives {value:.6}, which no 64-bit integer holds"
    )))
}
