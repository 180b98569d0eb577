//! JSON → corrections. Whatever evaluation relies on is checked here: names, types, numbers of contents and
//! parameters.

mod nodes;

use crate::corrections::compound::{Compound, Layer, Update};
use crate::corrections::correction::{Content, Correction};
use crate::corrections::formula::{Formula, parse};
use crate::corrections::json::Json;
use crate::corrections::variable::{Kind, Variable};
use crate::error::LoadError;
use crate::limits::INPUTS;
use nodes::node;
use std::collections::BTreeMap;
use std::sync::Arc;

type Result<T> = std::result::Result<T, LoadError>;

/// What nodes refer to.
struct Context<'a> {
    inputs: &'a [Variable],
    formulas: &'a [Formula],
}

impl Context<'_> {
    fn input(&self, name: &str) -> Result<usize> {
        input_of(self.inputs, name)
    }

    /// The number and the type of an input.
    fn typed(&self, name: &str) -> Result<(usize, Kind)> {
        let input = self.input(name)?;
        let kind = self
            .inputs
            .get(input)
            .map_or(Kind::Real, |input| input.kind);
        Ok((input, kind))
    }
}

fn input_of(inputs: &[Variable], name: &str) -> Result<usize> {
    inputs
        .iter()
        .position(|input| input.name == name)
        .ok_or_else(|| LoadError::new(format!("Error: could not find variable {name} in inputs")))
}

/// Reads a correction.
pub(crate) fn correction(json: &Json) -> Result<Correction> {
    let name = name_of(json, "Correction")?;
    single(json, name).map_err(|error| error.within(format_args!("the correction {name:?}")))
}

fn name_of<'a>(json: &'a Json, what: &str) -> Result<&'a str> {
    match json {
        Json::Object(_) => json.text("name"),
        _ => Err(LoadError::new(format!("Expected {what} object"))),
    }
}

fn single(json: &Json, name: &str) -> Result<Correction> {
    let version = json.int("version")?;
    let output = output(json)?;
    let inputs = inputs(json)?;
    let mut formulas = Vec::new();
    let generic = json.optional("generic_formulas", Json::as_list)?;
    let mut context = Context {
        inputs: &inputs,
        formulas: &[],
    };
    for item in generic.unwrap_or_default() {
        formulas.push(formula(item, &context)?);
    }
    context.formulas = &formulas;
    let data = node(json.required("data")?, &context)?;
    Ok(Correction {
        name: name.to_owned(),
        description: description(json)?,
        version: Some(version),
        inputs: inputs.into(),
        output,
        content: Content::Node(Arc::new(data)),
    })
}

fn description(json: &Json) -> Result<String> {
    let found = json.optional("description", Json::as_text)?;
    Ok(found.unwrap_or_default().to_owned())
}

fn output(json: &Json) -> Result<Variable> {
    let output = variable(json.required("output")?)?;
    match output.kind {
        Kind::Real => Ok(output),
        _ => Err(LoadError::new("Outputs can only be real-valued")),
    }
}

fn inputs(json: &Json) -> Result<Vec<Variable>> {
    let listed = json.list("inputs")?;
    if listed.len() > INPUTS {
        return Err(LoadError::new(format!(
            "a correction has more than {INPUTS} inputs"
        )));
    }
    listed.iter().map(variable).collect()
}

fn variable(json: &Json) -> Result<Variable> {
    if !matches!(json, Json::Object(_)) {
        return Err(LoadError::new("invalid input item type"));
    }
    let kind = match json.text("type")? {
        "string" => Kind::Text,
        "int" => Kind::Integer,
        "real" => Kind::Real,
        _ => return Err(LoadError::new("Unrecognized variable type")),
    };
    Ok(Variable {
        name: json.text("name")?.to_owned(),
        description: description(json)?,
        kind,
    })
}

/// Reads a formula, whose parameters may be given later.
fn formula(json: &Json, context: &Context<'_>) -> Result<Formula> {
    let expression = json.text("expression")?;
    match json.text("parser")? {
        "TFormula" => (),
        "numexpr" => {
            return Err(LoadError::unsupported(
                "numexpr formula parser is not yet supported",
            ));
        }
        _ => return Err(LoadError::new("Unrecognized formula parser type")),
    }
    let mut variables = Vec::new();
    for item in json.list("variables")? {
        let name = item.as_text();
        let name = name.ok_or_else(|| LoadError::new("invalid formula variable type"))?;
        let (input, kind) = context.typed(name)?;
        if kind != Kind::Real {
            return Err(LoadError::new(format!(
                "Formulas only accept real-valued inputs, got type {} for variable {name}",
                kind.name()
            )));
        }
        variables.push(input);
    }
    let term = Arc::new(parse(expression, &variables)?);
    let parameters = match json.optional("parameters", Json::as_list)? {
        Some(items) => numbers(items)?,
        None => Box::default(),
    };
    Ok(Formula { term, parameters })
}

fn numbers(items: &[Json]) -> Result<Box<[f64]>> {
    let found: Option<Box<[f64]>> = items.iter().map(Json::as_number).collect();
    found.ok_or_else(|| LoadError::new("a formula's parameters are numbers"))
}

/// A formula that has all its parameters.
fn complete(formula: Formula) -> Result<Formula> {
    match formula.term.parameters() > formula.parameters.len() {
        true => Err(LoadError::new("Insufficient parameters for formula")),
        false => Ok(formula),
    }
}

/// Reads a compound of these corrections.
pub(crate) fn compound(
    json: &Json,
    corrections: &BTreeMap<String, Arc<Correction>>,
) -> Result<Correction> {
    let name = name_of(json, "CompoundCorrection")?;
    stacked(json, name, corrections)
        .map_err(|error| error.within(format_args!("the correction {name:?}")))
}

fn stacked(
    json: &Json,
    name: &str,
    corrections: &BTreeMap<String, Arc<Correction>>,
) -> Result<Correction> {
    let output = output(json)?;
    let inputs: Arc<[Variable]> = inputs(json)?.into();
    let mut updated = Vec::new();
    for item in json.list("inputs_update")? {
        let wanted = item.as_text();
        let wanted = wanted.ok_or_else(|| LoadError::new("invalid inputs_update item type"))?;
        let input = input_of(&inputs, wanted)?;
        if inputs
            .get(input)
            .is_some_and(|input| input.kind != Kind::Real)
        {
            let message = "CompoundCorrection updatable inputs must be real-valued";
            return Err(LoadError::new(message));
        }
        updated.push(input);
    }
    let update = |word: &str| match word {
        "+" => Some(Update::Add),
        "*" => Some(Update::Multiply),
        "/" => Some(Update::Divide),
        _ => None,
    };
    let input = update(json.text("input_op")?)
        .ok_or_else(|| LoadError::new("Invalid CompoundCorrection input update op"))?;
    let last = match json.text("output_op")? {
        "last" => Some(Update::Last),
        word => update(word),
    };
    let last = last.ok_or_else(|| LoadError::new("Invalid CompoundCorrection output update op"))?;
    let mut stack = Vec::new();
    for item in json.list("stack")? {
        let wanted = item
            .as_text()
            .ok_or_else(|| LoadError::new("Invalid type"))?;
        let correction = corrections.get(wanted).ok_or_else(|| {
            LoadError::new(format!(
                "CompoundCorrection constituent {wanted} not found in the CorrectionSet"
            ))
        })?;
        let Content::Node(node) = &correction.content else {
            return Err(LoadError::new("a compound is made of single corrections"));
        };
        let taken = correction.inputs.iter();
        let taken: Result<Box<[usize]>> =
            taken.map(|input| input_of(&inputs, &input.name)).collect();
        stack.push(Layer {
            taken: taken?,
            inputs: Arc::clone(&correction.inputs),
            node: Arc::clone(node),
        });
    }
    Ok(Correction {
        name: name.to_owned(),
        description: description(json)?,
        version: None,
        inputs: Arc::clone(&inputs),
        output,
        content: Content::Compound(Compound {
            inputs,
            updated: updated.into(),
            input,
            output: last,
            stack: stack.into(),
        }),
    })
}
