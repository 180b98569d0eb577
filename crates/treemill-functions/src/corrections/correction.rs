//! Corrections, single ones and compounds, evaluated over columns.

use crate::corrections::batch;
use crate::corrections::compound::Compound;
use crate::corrections::node::Node;
use crate::corrections::variable::{Argument, Constant, Rows, Slot, Variable, check, check_kind};
use crate::error::EvaluationError;
use std::sync::Arc;

/// A function from an event's or object's quantities to a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Correction {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The version; a compound has none.
    pub(crate) version: Option<i32>,
    pub(crate) inputs: Arc<[Variable]>,
    pub(crate) output: Variable,
    pub(crate) content: Content,
}

/// What gives the number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Node(Arc<Node>),
    Compound(Compound),
}

impl Correction {
    /// Its name in the document.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is, in its author's words.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Its version; a compound has none.
    #[must_use]
    pub fn version(&self) -> Option<i32> {
        self.version
    }

    /// What it takes, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Variable] {
        &self.inputs
    }

    /// What it gives.
    #[must_use]
    pub fn output(&self) -> &Variable {
        &self.output
    }

    /// Writes a value for each row.
    ///
    /// # Errors
    /// For arguments that are not the inputs', and for values that the document has no answer for.
    pub fn evaluate(
        &self,
        arguments: &[Argument<'_>],
        out: &mut [f64],
    ) -> Result<(), EvaluationError> {
        check(&self.inputs, arguments, out.len())?;
        if out.is_empty() {
            return Ok(());
        }
        let rows = Rows::new(arguments);
        let mut slots = rows.first();
        match &self.content {
            Content::Node(node) if batch::evaluate(node, arguments, out).is_some() => (),
            Content::Node(node) => {
                for (row, to) in out.iter_mut().enumerate() {
                    rows.fill(row, &mut slots);
                    *to = node.evaluate(&mut slots)?;
                }
            }
            Content::Compound(compound) => {
                compound.check()?;
                let mut inner = Vec::new();
                for (row, to) in out.iter_mut().enumerate() {
                    // Each row changes them.
                    slots = rows.first();
                    rows.fill(row, &mut slots);
                    *to = compound.evaluate(&mut slots, &mut inner)?;
                }
            }
        }
        Ok(())
    }

    /// The same function, faster, if these inputs have these values: what they decide is decided once. The inputs
    /// stay what they are.
    ///
    /// # Errors
    /// For values that are not of the inputs' types.
    pub fn specialised(&self, constants: &[Option<Constant>]) -> Result<Self, EvaluationError> {
        for (input, constant) in self.inputs.iter().zip(constants) {
            if let Some(constant) = constant {
                check_kind(input, constant.kind())?;
            }
        }
        let mut known: Vec<Option<Slot<'_>>> = constants
            .iter()
            .map(|constant| constant.as_ref().map(Constant::slot))
            .collect();
        let content = match &self.content {
            Content::Node(node) => Content::Node(Arc::new(node.specialised(&mut known))),
            Content::Compound(compound) => Content::Compound(compound.specialised(&known)),
        };
        Ok(Self {
            content,
            ..self.clone()
        })
    }
}
