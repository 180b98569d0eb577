//! Corrections and models as functions that expressions call.

use std::collections::BTreeMap;
use std::sync::Arc;
use treemill_functions::corrections::{
    Argument as Given, Constant, Correction, CorrectionSet, Kind,
};
use treemill_functions::trees::{Model, Output};
use treemill_query::{
    Argument, Collection, Fixed, Function, Parameter, ParameterType, Provided, Shared,
};

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
        itself: None,
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

/// An output of a model that expressions call.
struct Predicted(Arc<Model>, Output);

impl Function for Predicted {
    fn parameters(&self) -> Vec<Parameter> {
        let features = self.0.features().iter();
        let parameters = features.map(|name| Parameter {
            name: name.clone(),
            ty: ParameterType::Float,
        });
        parameters.collect()
    }

    fn about(&self) -> String {
        let Self(model, output) = self;
        let which = if output.raw { ", margin" } else { "" };
        let (library, objective) = (model.library(), model.objective());
        format!("{library} {objective}, {} trees{which}", model.trees())
    }

    fn evaluate(&self, arguments: &[Argument<'_>], out: &mut [f64]) -> Result<(), String> {
        let mut given = Vec::with_capacity(arguments.len());
        for argument in arguments {
            match argument {
                Argument::Float(values) => given.push(*values),
                _ => return Err("a model takes numbers".to_owned()),
            }
        }
        let done = self.0.evaluate(&given, self.1, out);
        done.map_err(|e| e.message)
    }

    fn shares(&self) -> bool {
        true
    }

    fn evaluate_shared(
        &self,
        arguments: &[Shared<'_>],
        chosen: Option<&[u32]>,
        out: &mut [f64],
    ) -> Result<(), String> {
        let mut given = Vec::with_capacity(arguments.len());
        for Shared { values, places } in arguments.iter().copied() {
            given.push(treemill_functions::trees::Argument { values, places });
        }
        let done = self.0.evaluate_shared(&given, chosen, self.1, out);
        done.map_err(|e| e.message)
    }

    fn specialised(&self, _: &[Option<Fixed>]) -> Result<Arc<dyn Function>, String> {
        Ok(Arc::new(Self(Arc::clone(&self.0), self.1)))
    }
}

fn outputs(model: &Arc<Model>, raw: bool) -> Collection {
    let output = |number| -> Arc<dyn Function> {
        Arc::new(Predicted(Arc::clone(model), Output { number, raw }))
    };
    let count = model.outputs(raw);
    Collection {
        itself: (count == 1).then(|| output(0)),
        functions: (0..count)
            .map(|number| (number.to_string(), output(number)))
            .collect(),
        parts: BTreeMap::new(),
    }
}

/// A model as a function, or its outputs by their numbers; before their transformation as the part `raw`.
#[must_use]
pub fn model(model: &Arc<Model>, raw: bool) -> Provided {
    let mut all = outputs(model, raw);
    if !raw {
        let sums = Provided::Many(Arc::new(outputs(model, true)));
        all.parts.insert("raw".to_owned(), sums);
    }
    Provided::Many(Arc::new(all))
}

/// An output of a model as a function.
#[must_use]
pub fn model_output(model: &Arc<Model>, output: Output) -> Provided {
    Provided::One(Arc::new(Predicted(Arc::clone(model), output)))
}
