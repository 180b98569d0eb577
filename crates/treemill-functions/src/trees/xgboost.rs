//! XGBoost's JSON → a model. Numbers are read as 32 bits, as XGBoost reads them. What evaluation does not need is
//! skipped.

use crate::error::LoadError;
use crate::limits::{FEATURES, OUTPUTS, SET_WORDS_PER_CATEGORY};
use crate::trees::forest::Forest;
use crate::trees::model::{Model, Trees};
use crate::trees::transform::{Link, XGBOOST};
use crate::trees::tree::{Categories, Found, Missing, Split, Tree};
use serde::Deserialize;
use std::collections::HashMap;
use std::sync::Arc;

type Result<T> = std::result::Result<T, LoadError>;

#[derive(Deserialize)]
struct File {
    learner: Learner,
    #[serde(default)]
    version: Vec<u32>,
}

#[derive(Deserialize)]
struct Learner {
    #[serde(default)]
    attributes: HashMap<String, serde_json::Value>,
    #[serde(default)]
    feature_names: Vec<String>,
    gradient_booster: Booster,
    learner_model_param: LearnerParameters,
    objective: Objective,
}

#[derive(Deserialize)]
struct LearnerParameters {
    base_score: String,
    num_class: String,
    num_feature: String,
    #[serde(default)]
    num_target: Option<String>,
}

#[derive(Deserialize)]
struct Objective {
    name: String,
}

/// `gbtree` has `model`; `dart` has `gbtree` and `weight_drop`; `gblinear` has neither's trees.
#[derive(Deserialize)]
struct Booster {
    name: String,
    #[serde(default)]
    model: Option<Content>,
    #[serde(default)]
    gbtree: Option<Box<Booster>>,
    #[serde(default)]
    weight_drop: Vec<f32>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(default)]
    trees: Vec<WrittenTree>,
    #[serde(default)]
    tree_info: Vec<i64>,
    #[serde(default)]
    cats: Option<Recoding>,
}

#[derive(Deserialize)]
struct Recoding {
    #[serde(default)]
    enc: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct WrittenTree {
    #[serde(default)]
    id: Option<usize>,
    left_children: Vec<i64>,
    right_children: Vec<i64>,
    split_indices: Vec<u32>,
    split_conditions: Vec<f32>,
    default_left: Vec<Flag>,
    #[serde(default)]
    split_type: Vec<u8>,
    #[serde(default)]
    categories: Vec<u32>,
    #[serde(default)]
    categories_nodes: Vec<i64>,
    #[serde(default)]
    categories_segments: Vec<usize>,
    #[serde(default)]
    categories_sizes: Vec<usize>,
    tree_param: TreeParameters,
}

#[derive(Deserialize)]
struct TreeParameters {
    #[serde(default)]
    size_leaf_vector: Option<String>,
}

/// 0 and 1, or `false` and `true` in files of old versions.
#[derive(Deserialize, Clone, Copy)]
#[serde(untagged)]
enum Flag {
    Number(u8),
    Bool(bool),
}

impl Flag {
    fn is_set(self) -> bool {
        match self {
            Self::Number(number) => number != 0,
            Self::Bool(flag) => flag,
        }
    }
}

impl Model {
    /// Reads a model that XGBoost has written as JSON, not compressed.
    ///
    /// # Errors
    /// For anything else, and for models of kinds that are not supported, by name.
    pub fn from_xgboost(text: &[u8]) -> Result<Self> {
        let file: File = serde_json::from_slice(text).map_err(|e| {
            LoadError::new(format!("this is no model in XGBoost's JSON: {e}")).with_source(e)
        })?;
        let learner = file.learner;
        let named = !learner.feature_names.is_empty();
        let count = number(
            &learner.learner_model_param.num_feature,
            "num_feature",
            FEATURES,
        )?;
        if named && learner.feature_names.len() != count {
            let names = learner.feature_names.len();
            let message = format!("feature_names has {names} names for {count} features");
            return Err(LoadError::new(message));
        }
        let objective = learner.objective.name;
        let Some((_, transform, link)) = XGBOOST.iter().find(|row| row.0 == objective) else {
            let message = format!("the objective {objective:?} of XGBoost is not supported");
            return Err(LoadError::unsupported(message));
        };
        // Version 2 changed what the base score means.
        if objective == "binary:logitraw" && file.version.first().is_some_and(|major| *major < 2) {
            return Err(LoadError::unsupported(
                "models for binary:logitraw of XGBoost before version 2 are not supported: their base score meant \
                 something else",
            ));
        }
        let (content, weights) = booster(learner.gradient_booster)?;
        let groups = groups(&learner.learner_model_param)?;
        let (trees, tree_groups) = trees(content, &weights, groups, count)?;
        // A file need not say how many features there are in full: names are made for those that it has.
        let features = match named {
            true => learner.feature_names,
            false => (0..count).map(|i| format!("f{i}")).collect(),
        };
        let start = base(&learner.learner_model_param.base_score, *link, groups)?;
        let best = learner.attributes.get("best_iteration");
        Ok(Self {
            count: trees.len(),
            trees: Trees::XgBoost(Forest::new(trees, &tree_groups, start, false)?, *transform),
            features,
            named,
            objective,
            best: best.and_then(|best| best.as_str()?.parse().ok()),
        })
    }
}

/// The trees, and the weight of each if they have some.
fn booster(booster: Booster) -> Result<(Content, Vec<f32>)> {
    let without = || LoadError::new("the model has no trees: `model` is missing");
    match booster.name.as_str() {
        "gbtree" => Ok((booster.model.ok_or_else(without)?, Vec::new())),
        "dart" => {
            let inner = booster.gbtree.ok_or_else(without)?;
            let content = inner.model.ok_or_else(without)?;
            if booster.weight_drop.len() != content.trees.len() {
                return Err(LoadError::new("weight_drop has no weight for each tree"));
            }
            Ok((content, booster.weight_drop))
        }
        other => {
            let message = format!("the booster {other:?} of XGBoost is not supported");
            Err(LoadError::unsupported(message))
        }
    }
}

fn number(text: &str, what: &str, most: usize) -> Result<usize> {
    match text.parse() {
        Ok(number) if number <= most => Ok(number),
        Ok(_) => Err(LoadError::unsupported(format!(
            "{what} is {text}: at most {most} are supported"
        ))),
        Err(e) => {
            Err(LoadError::new(format!("{what} is {text:?}, which is no count")).with_source(e))
        }
    }
}

fn groups(parameters: &LearnerParameters) -> Result<usize> {
    let classes = number(&parameters.num_class, "num_class", OUTPUTS)?;
    let targets = match &parameters.num_target {
        Some(text) => number(text, "num_target", OUTPUTS)?,
        None => 1,
    };
    Ok(classes.max(targets).max(1))
}

/// What the sums of the groups begin with. Written as one number, or as a list of them.
fn base(text: &str, link: Link, groups: usize) -> Result<Vec<f32>> {
    let list = text.trim().trim_start_matches('[').trim_end_matches(']');
    let mut scores = Vec::new();
    for item in list.split(',') {
        match item.trim().parse::<f32>() {
            Ok(score) if score.is_finite() => scores.push(link.of(score)),
            _ => return Err(LoadError::new(format!("base_score is {text:?}"))),
        }
    }
    match scores.as_slice() {
        [only] => Ok(vec![*only; groups]),
        _ if scores.len() == groups => Ok(scores),
        _ => Err(LoadError::new(format!(
            "base_score has {} numbers for {groups} outputs",
            scores.len()
        ))),
    }
}

fn trees(
    content: Content,
    weights: &[f32],
    groups: usize,
    features: usize,
) -> Result<(Vec<Tree<f32>>, Vec<usize>)> {
    if content.cats.is_some_and(|cats| !cats.enc.is_empty()) {
        return Err(LoadError::unsupported(
            "the model holds categories of a data frame, by which XGBoost codes columns anew. Train it with numbers \
             of categories (`column.cat.codes`, and the feature type \"c\")",
        ));
    }
    if content.trees.is_empty() {
        let advice =
            "the model has no trees, and what XGBoost makes of that is not known: train it";
        return Err(LoadError::unsupported(advice));
    }
    if content.tree_info.len() != content.trees.len() {
        return Err(LoadError::new(
            "tree_info does not say the group of each tree",
        ));
    }
    let mut tree_groups = Vec::with_capacity(content.trees.len());
    for (number, group) in content.tree_info.iter().enumerate() {
        match usize::try_from(*group) {
            Ok(group) if group < groups => tree_groups.push(group),
            _ => {
                return Err(LoadError::new(format!("there is no group {group}"))
                    .within(format_args!("tree {number}")));
            }
        }
    }
    let mut all = Vec::with_capacity(content.trees.len());
    for (number, written) in content.trees.into_iter().enumerate() {
        if written.id.is_some_and(|id| id != number) {
            return Err(LoadError::unsupported("the trees are not in order")
                .within(format_args!("tree {number}")));
        }
        let mut tree =
            tree(&written, features).map_err(|e| e.within(format_args!("tree {number}")))?;
        if let Some(weight) = weights.get(number) {
            tree.leaves.iter_mut().for_each(|leaf| *leaf *= weight);
        }
        all.push(tree);
    }
    Ok((all, tree_groups))
}

fn tree(written: &WrittenTree, features: usize) -> Result<Tree<f32>> {
    if let Some(size) = &written.tree_param.size_leaf_vector
        && !matches!(size.as_str(), "0" | "1")
    {
        let message =
            "trees with several outputs (multi_strategy=\"multi_output_tree\") are not supported";
        return Err(LoadError::unsupported(message));
    }
    let places = written.left_children.len();
    let alike = [
        written.right_children.len(),
        written.split_indices.len(),
        written.split_conditions.len(),
        written.default_left.len(),
    ];
    if alike.iter().any(|len| *len != places) {
        return Err(LoadError::new("the lists of nodes have different lengths"));
    }
    let sets = sets(written)?;
    let number = |place: i64| usize::try_from(place).ok();
    Tree::grown(0, places, number, |place| {
        let missing = || LoadError::new(format!("there is no node {place}"));
        let at = number(place).ok_or_else(missing)?;
        let left = *written.left_children.get(at).ok_or_else(missing)?;
        let right = *written.right_children.get(at).ok_or_else(missing)?;
        let threshold = *written.split_conditions.get(at).ok_or_else(missing)?;
        if left == -1 {
            return Ok(Found::Leaf {
                value: threshold,
                linear: None,
            });
        }
        let feature = *written.split_indices.get(at).ok_or_else(missing)?;
        if feature as usize >= features {
            return Err(LoadError::new(format!(
                "node {place} asks for feature {feature} of {features}"
            )));
        }
        let nan_goes_left = written
            .default_left
            .get(at)
            .is_some_and(|flag| flag.is_set());
        let split = match written.split_type.get(at).copied().unwrap_or(0) {
            0 => Split::Number {
                threshold,
                missing: match nan_goes_left {
                    true => Missing::Left,
                    false => Missing::Right,
                },
            },
            1 => Split::Category {
                set: Arc::clone(
                    sets.get(&place)
                        .ok_or_else(|| LoadError::new(format!("node {place} has no categories")))?,
                ),
                set_goes_left: false,
                nan_goes_left,
            },
            other => {
                let message = format!("node {place} is a split of the type {other}");
                return Err(LoadError::unsupported(message));
            }
        };
        Ok(Found::Split {
            feature,
            split,
            left,
            right,
        })
    })
}

/// The categories of nodes. No two nodes may be told by the same part of the file.
fn sets(written: &WrittenTree) -> Result<HashMap<i64, Arc<Categories>>> {
    let wrong = || LoadError::new("the categories of nodes do not fit one another");
    let nodes = &written.categories_nodes;
    if written.categories_segments.len() != nodes.len()
        || written.categories_sizes.len() != nodes.len()
    {
        return Err(wrong());
    }
    let mut sets = HashMap::with_capacity(nodes.len());
    let mut end = 0_usize;
    let each = written.categories_segments.iter();
    for ((start, size), node) in each.zip(&written.categories_sizes).zip(nodes) {
        if *start < end {
            return Err(wrong());
        }
        end = start.saturating_add(*size);
        let listed = written.categories.get(*start..end).ok_or_else(wrong)?;
        sets.insert(*node, Arc::new(set(listed)));
    }
    Ok(sets)
}

fn set(listed: &[u32]) -> Categories {
    let most = listed.iter().max().map_or(0, |most| most >> 5) as usize;
    if most > listed.len().saturating_mul(SET_WORDS_PER_CATEGORY) {
        let mut listed = listed.to_vec();
        listed.sort_unstable();
        return Categories::Listed(listed);
    }
    let mut words = vec![0_u32; most.saturating_add(1)];
    for category in listed {
        if let Some(word) = words.get_mut((category >> 5) as usize) {
            *word |= 1 << (category & 31);
        }
    }
    Categories::Bits(words)
}
