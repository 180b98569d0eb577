//! Compounds: corrections one after another, each of which sees inputs that those before it have changed.

use crate::corrections::node::Node;
use crate::corrections::variable::{Kind, Slot, Variable, check_kind};
use crate::error::EvaluationError;
use std::collections::HashMap;
use std::sync::Arc;

/// How a value changes another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Update {
    Add,
    Multiply,
    Divide,
    /// It takes its place.
    Last,
}

impl Update {
    pub fn of(self, before: f64, value: f64) -> f64 {
        match self {
            Self::Add => before + value,
            Self::Multiply => before * value,
            Self::Divide => before / value,
            Self::Last => value,
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Compound {
    pub inputs: Arc<[Variable]>,
    /// The inputs that each correction changes; they are real numbers.
    pub updated: Box<[usize]>,
    pub input: Update,
    pub output: Update,
    pub stack: Box<[Layer]>,
}

/// A correction of a compound, with the compound's inputs that it takes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Layer {
    pub taken: Box<[usize]>,
    /// What the correction calls them.
    pub inputs: Arc<[Variable]>,
    pub node: Arc<Node>,
}

impl Compound {
    /// Checks that the inputs have the types that the corrections want.
    pub fn check(&self) -> Result<(), EvaluationError> {
        for layer in &self.stack {
            for (wanted, given) in layer.inputs.iter().zip(&layer.taken) {
                let kind = self
                    .inputs
                    .get(*given)
                    .map_or(Kind::Real, |input| input.kind);
                check_kind(wanted, kind)?;
            }
        }
        Ok(())
    }

    /// The value in a row. Changes `slots`; `inner` is memory for the corrections' inputs.
    pub fn evaluate<'a>(
        &self,
        slots: &mut [Slot<'a>],
        inner: &mut Vec<Slot<'a>>,
    ) -> Result<f64, EvaluationError> {
        let mut result: Option<f64> = None;
        for layer in &self.stack {
            inner.clear();
            inner.extend(layer.taken.iter().filter_map(|input| slots.get(*input)));
            let value = layer.node.evaluate(inner)?;
            for input in &self.updated {
                if let Some(slot) = slots.get_mut(*input) {
                    *slot = Slot::Real(self.input.of(slot.number(), value));
                }
            }
            result = Some(match result {
                None => value,
                Some(before) => self.output.of(before, value),
            });
        }
        Ok(result.unwrap_or(0.0))
    }

    /// The compound for known inputs; those that are updated are not known.
    pub fn specialised(&self, known: &[Option<Slot<'_>>]) -> Self {
        // A correction may stand in the stack many times.
        let mut made: HashMap<(*const Node, Box<[usize]>), Arc<Node>> = HashMap::new();
        let layer = |layer: &Layer| {
            let input = |input: &usize| match self.updated.contains(input) {
                true => None,
                false => known.get(*input).copied().flatten(),
            };
            let mut inner: Vec<Option<Slot<'_>>> = layer.taken.iter().map(input).collect();
            Layer {
                taken: layer.taken.clone(),
                inputs: Arc::clone(&layer.inputs),
                node: made
                    .entry((Arc::as_ptr(&layer.node), layer.taken.clone()))
                    .or_insert_with(|| Arc::new(layer.node.specialised(&mut inner)))
                    .clone(),
            }
        };
        Self {
            inputs: Arc::clone(&self.inputs),
            updated: self.updated.clone(),
            input: self.input,
            output: self.output,
            stack: self.stack.iter().map(layer).collect(),
        }
    }
}
