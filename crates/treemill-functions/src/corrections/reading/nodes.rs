//! JSON → nodes.

use super::{Context, Result, complete, formula, numbers};
use crate::corrections::bins::{Bins, Flow};
use crate::corrections::formula::Formula;
use crate::corrections::json::Json;
use crate::corrections::node::{
    Axis, Binning, Category, Contents, Keys, MultiBinning, Node, Transform,
};
use crate::corrections::random::Distribution;
use crate::corrections::variable::Kind;
use crate::error::LoadError;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Reads a node, and those below it: as deep as the document's brackets.
pub(super) fn node(json: &Json, context: &Context<'_>) -> Result<Node> {
    if let Some(value) = json.as_number() {
        return Ok(Node::Value(value));
    }
    if json.get("nodetype").is_none() {
        return Err(LoadError::new("Invalid Content node type"));
    }
    match json.text("nodetype")? {
        "binning" => binning(json, context),
        "multibinning" => multibinning(json, context),
        "category" => category(json, context),
        "formula" => Ok(Node::Formula(complete(formula(json, context)?)?)),
        "formularef" => formularef(json, context),
        "transform" => transform(json, context),
        "hashprng" => random(json, context),
        "lwtnn" => Err(LoadError::unsupported(
            "treemill does not evaluate neural networks (nodetype lwtnn)",
        )),
        other => Err(LoadError::unsupported(format!(
            "Unrecognized Content object nodetype: {other}"
        ))),
    }
}

fn binned(name: &str, node: &str, context: &Context<'_>) -> Result<usize> {
    match context.typed(name)? {
        (_, Kind::Text) => Err(LoadError::new(format!(
            "{node} cannot use string inputs as binning variables"
        ))),
        (input, _) => Ok(input),
    }
}

fn binning(json: &Json, context: &Context<'_>) -> Result<Node> {
    let content = json.list("content")?;
    let bins = bins(json.required("edges")?, "Binning")?;
    if bins.len() != content.len() {
        let message = "Inconsistency in Binning: number of content nodes does not match binning";
        return Err(LoadError::new(message));
    }
    let input = binned(json.text("input")?, "Binning", context)?;
    let (flow, outside) = flow(json, context)?;
    Ok(Node::Binning(Box::new(Binning {
        input,
        bins,
        flow,
        contents: contents(content, context)?,
        outside,
    })))
}

fn contents(items: &[Json], context: &Context<'_>) -> Result<Contents> {
    // Most are numbers, which need no node each.
    let values: Option<Box<[f64]>> = items.iter().map(Json::as_number).collect();
    if let Some(values) = values {
        return Ok(Contents::Values(values));
    }
    let nodes: Result<Vec<Node>> = items.iter().map(|item| node(item, context)).collect();
    nodes.map(Contents::new)
}

fn flow(json: &Json, context: &Context<'_>) -> Result<(Flow, Node)> {
    let flow = json.required("flow")?;
    let known = match flow.as_text() {
        Some("clamp") => Flow::Clamp,
        Some("error") => Flow::Error,
        Some("wrap") => Flow::Wrap,
        _ => return Ok((Flow::Value, node(flow, context)?)),
    };
    Ok((known, Node::Value(0.0)))
}

fn bins(json: &Json, node: &str) -> Result<Bins> {
    let bins = match json {
        Json::List(items) => Bins::Edges(edges(items)?),
        Json::Object(_) => {
            let n = json.count("n")?;
            let (low, high) = (json.real("low")?, json.real("high")?);
            if low.partial_cmp(&high) != Some(std::cmp::Ordering::Less) {
                let message = format!("Error when processing {node}: its range is empty");
                return Err(LoadError::new(message));
            }
            Bins::Uniform { n, low, high }
        }
        _ => {
            return Err(LoadError::new(format!(
                "Error when processing {node}: edges are neither an array nor a UniformBinning object"
            )));
        }
    };
    match bins.len() {
        0 => Err(LoadError::new(format!(
            "Error when processing {node}: number of bins is zero"
        ))),
        _ => Ok(bins),
    }
}

fn edges(items: &[Json]) -> Result<Box<[f64]>> {
    let mut found: Vec<f64> = Vec::with_capacity(items.len());
    for item in items {
        let edge = match item.as_text() {
            Some("inf" | "+inf") => Some(f64::INFINITY),
            Some("-inf") => Some(f64::NEG_INFINITY),
            _ => item.as_real().filter(|edge| !edge.is_nan()),
        };
        let edge = edge.ok_or_else(|| LoadError::new("Invalid edge type"))?;
        if found.last().is_some_and(|last| *last >= edge) {
            return Err(LoadError::new("binning edges are not monotone increasing"));
        }
        found.push(edge);
    }
    Ok(found.into())
}

fn multibinning(json: &Json, context: &Context<'_>) -> Result<Node> {
    let inputs = json.list("inputs")?;
    let edges = json.list("edges")?;
    if edges.is_empty() || inputs.len() < edges.len() {
        let message = "Inconsistency in MultiBinning: number of inputs does not match binning";
        return Err(LoadError::new(message));
    }
    let mut axes = Vec::with_capacity(edges.len());
    for (input, edges) in inputs.iter().zip(edges) {
        let name = input.as_text();
        let name = name.ok_or_else(|| LoadError::new("invalid multibinning input type"))?;
        axes.push(Axis {
            bins: bins(edges, "MultiBinning")?,
            input: binned(name, "MultiBinning", context)?,
            stride: 0,
        });
    }
    let mut cells = Some(1_usize);
    for axis in axes.iter_mut().rev() {
        axis.stride = cells.unwrap_or(0);
        cells = cells.and_then(|cells| cells.checked_mul(axis.bins.len()));
    }
    let content = json.list("content")?;
    if cells != Some(content.len()) {
        let message =
            "Inconsistency in MultiBinning: number of content nodes does not match binning";
        return Err(LoadError::new(message));
    }
    let (flow, outside) = flow(json, context)?;
    Ok(Node::MultiBinning(Box::new(MultiBinning {
        axes: axes.into(),
        flow,
        contents: contents(content, context)?,
        outside,
    })))
}

fn category(json: &Json, context: &Context<'_>) -> Result<Node> {
    let (input, kind) = context.typed(json.text("input")?)?;
    let mut integers: BTreeMap<i64, Node> = BTreeMap::new();
    let mut texts: BTreeMap<Box<[u8]>, Node> = BTreeMap::new();
    for item in json.list("content")? {
        let (Some(key), Some(value)) = (item.get("key"), item.get("value")) else {
            return Err(LoadError::new("Expected CategoryItem object"));
        };
        let wrong = |got: &str| {
            LoadError::new(format!(
                "Category got a key of type {got}, but its input is type {}",
                kind.name()
            ))
        };
        // Of several values of a key the first one counts.
        if let Some(text) = key.as_text() {
            if kind != Kind::Text {
                return Err(wrong("string"));
            }
            let value = node(value, context)?;
            texts.entry(text.as_bytes().into()).or_insert(value);
        } else if let Some(number) = key.as_int() {
            if kind != Kind::Integer {
                return Err(wrong("int"));
            }
            let value = node(value, context)?;
            integers.entry(i64::from(number)).or_insert(value);
        } else {
            return Err(LoadError::new("Invalid key type in Category"));
        }
    }
    let (keys, nodes): (Keys, Vec<Node>) = match kind {
        Kind::Text => {
            let (keys, nodes): (Vec<_>, Vec<_>) = texts.into_iter().unzip();
            (Keys::Texts(keys.into()), nodes)
        }
        _ => {
            let (keys, nodes): (Vec<_>, Vec<_>) = integers.into_iter().unzip();
            (Keys::Integers(keys.into()), nodes)
        }
    };
    let default = match json.get("default") {
        None | Some(Json::Null) => None,
        Some(default) => Some(node(default, context)?),
    };
    Ok(Node::Category(Box::new(Category {
        input,
        keys,
        contents: Contents::new(nodes),
        default,
    })))
}

fn formularef(json: &Json, context: &Context<'_>) -> Result<Node> {
    let index = json.int("index")?;
    let known = usize::try_from(index).ok();
    let Some(generic) = known.and_then(|index| context.formulas.get(index)) else {
        let message = format!("there is no generic formula {index}");
        return Err(LoadError::new(message));
    };
    let parameters = numbers(json.list("parameters")?)?;
    let term = Arc::clone(&generic.term);
    complete(Formula { term, parameters }).map(Node::Formula)
}

fn transform(json: &Json, context: &Context<'_>) -> Result<Node> {
    let (input, kind) = context.typed(json.text("input")?)?;
    if kind == Kind::Text {
        return Err(LoadError::new("Transform cannot rewrite string inputs"));
    }
    Ok(Node::Transform(Box::new(Transform {
        input,
        rule: node(json.required("rule")?, context)?,
        content: node(json.required("content")?, context)?,
    })))
}

fn random(json: &Json, context: &Context<'_>) -> Result<Node> {
    let mut inputs = Vec::new();
    for item in json.list("inputs")? {
        let name = item.as_text();
        let name = name.ok_or_else(|| LoadError::new("invalid hashprng input type"))?;
        let (input, kind) = context.typed(name)?;
        if kind == Kind::Text {
            let message = "HashPRNG cannot use string inputs as entropy sources";
            return Err(LoadError::new(message));
        }
        inputs.push(input);
    }
    let distribution = match json.text("distribution")? {
        "stdflat" => Distribution::Flat,
        "stdnormal" => Distribution::StandardNormal,
        "normal" => Distribution::Normal,
        _ => return Err(LoadError::new("invalid distribution type for hashprng")),
    };
    Ok(Node::Random {
        inputs: inputs.into(),
        distribution,
    })
}
