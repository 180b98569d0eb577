//! Corrections as functions that expressions call.

use std::collections::BTreeMap;
use std::sync::Arc;
use treemill_corrections::{Argument as Given, Constant, Correction, CorrectionSet, Kind};
use treemill_query::{Argument, Collection, Fixed, Function, Parameter, ParameterType, Provided};

/// A correction that expressions call.
struct Corrected(Arc<Correction>);

impl Function for Corrected {
    fn parameters(&self) -> Vec<Parameter> {
        let inputs = self.0.inputs().iter();
        let parameters = inputs.map(|input| Parameter {
            name: input.name.clone(),
            ty: match input.kind {
                Kind::Text => ParameterType::Str,
                Kind::Integer => ParameterType::Int,
                Kind::Real => ParameterType::Float,
            },
        });
        parameters.collect()
    }

    fn evaluate(&self, arguments: &[Argument<'_>], out: &mut [f64]) -> Result<(), String> {
        let given: Vec<Given<'_>> = arguments
            .iter()
            .map(|argument| match argument {
                Argument::Str(values) => Given::Text(values),
                Argument::Int(values) => Given::Integer(values),
                Argument::Float(values) => Given::Real(values),
            })
            .collect();
        self.0.evaluate(&given, out).map_err(|e| e.message)
    }

    fn specialised(&self, fixed: &[Option<Fixed>]) -> Result<Arc<dyn Function>, String> {
        let constant = |fixed: &Fixed| match fixed {
            Fixed::Str(x) => Constant::Text(x.clone()),
            Fixed::Int(x) => Constant::Integer(*x),
            Fixed::Float(x) => Constant::Real(*x),
        };
        let constants: Vec<Option<Constant>> = fixed
            .iter()
            .map(|fixed| fixed.as_ref().map(constant))
            .collect();
        let special = self.0.specialised(&constants).map_err(|e| e.message)?;
        Ok(Arc::new(Self(Arc::new(special))))
    }
}

/// A correction as a function.
#[must_use]
pub fn correction(correction: &Arc<Correction>) -> Provided {
    Provided::One(Arc::new(Corrected(Arc::clone(correction))))
}

/// The corrections of a document by name, with its compounds as the part `compound`.
#[must_use]
pub fn corrections(set: &CorrectionSet) -> Provided {
    let collected = |all: &BTreeMap<String, Arc<Correction>>| Collection {
        functions: all
            .iter()
            .map(|(name, correction)| {
                let function: Arc<dyn Function> = Arc::new(Corrected(Arc::clone(correction)));
                (name.clone(), function)
            })
            .collect(),
        parts: BTreeMap::new(),
    };
    let mut all = collected(set.corrections());
    let compounds = Provided::Many(Arc::new(collected(set.compounds())));
    all.parts.insert("compound".to_owned(), compounds);
    Provided::Many(Arc::new(all))
}
