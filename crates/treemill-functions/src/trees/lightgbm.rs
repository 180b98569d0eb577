//! LightGBM's text → a model: lines `key=value`, first about the model, then about each tree.

use crate::error::LoadError;
use crate::limits::{FEATURES, OUTPUTS};
use crate::trees::forest::Forest;
use crate::trees::model::{Model, Trees};
use crate::trees::transform::{LIGHTGBM, Transform64};
use crate::trees::tree::{Categories, Found, Linear, Missing, Split, Tree};
use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;

type Result<T> = std::result::Result<T, LoadError>;
type Lines<'a> = HashMap<&'a str, &'a str>;

/// Versions of the text whose trees are read alike.
const VERSIONS: [&str; 3] = ["v2", "v3", "v4"];
/// Bits of a node's `decision_type`.
const CATEGORY: u8 = 1;
const DEFAULT_LEFT: u8 = 2;

impl Model {
    /// Reads a model that LightGBM has written as text, not compressed.
    ///
    /// # Errors
    /// For anything else, and for models of kinds that are not supported, by name.
    pub fn from_lightgbm(text: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(text).map_err(|e| {
            LoadError::new("this is no model of LightGBM: it is no text").with_source(e)
        })?;
        let mut lines = text.lines().map(str::trim_end);
        if lines.next() != Some("tree") {
            return Err(LoadError::new(
                "this is no model of LightGBM: it does not begin with the line `tree`",
            ));
        }
        let (head, mut next) = section(&mut lines);
        let version = required(&head, "version")?;
        if !VERSIONS.contains(&version) {
            let message = format!("version {version} of LightGBM's text is not supported");
            return Err(LoadError::unsupported(message));
        }
        let features: Vec<String> = required(&head, "feature_names")?
            .split(' ')
            .map(str::to_owned)
            .collect();
        let last: usize = one(&head, "max_feature_idx")?;
        if features.len() != last.saturating_add(1) || features.len() > FEATURES {
            let message = format!(
                "feature_names has {} names, and max_feature_idx is {last}",
                features.len()
            );
            return Err(LoadError::new(message));
        }
        let classes: usize = one(&head, "num_class")?;
        let groups = match head.contains_key("num_tree_per_iteration") {
            true => one(&head, "num_tree_per_iteration")?,
            false => classes,
        };
        if groups == 0 || groups > OUTPUTS {
            return Err(LoadError::new(format!(
                "there are {groups} trees per iteration"
            )));
        }
        let objective = head.get("objective").copied().unwrap_or("none");
        let transform = transform(objective)?;
        let mut trees = Vec::new();
        while next == Next::Tree {
            let lines = section(&mut lines);
            next = lines.1;
            if next != Next::Nothing {
                let tree = tree(&lines.0, features.len());
                trees.push(tree.map_err(|e| e.within(format_args!("tree {}", trees.len())))?);
            }
        }
        if next == Next::Nothing {
            return Err(LoadError::new(
                "the file is cut off: there is no line `end of trees`",
            ));
        }
        recoding(&mut lines)?;
        // What does not fill a round is not evaluated.
        let rounds = trees.len().checked_div(groups).unwrap_or(0);
        trees.truncate(rounds.saturating_mul(groups));
        let tree_groups: Vec<usize> = (0..groups).cycle().take(trees.len()).collect();
        let named = !features
            .iter()
            .enumerate()
            .all(|(i, name)| *name == format!("Column_{i}"));
        Ok(Self {
            count: trees.len(),
            trees: Trees::LightGbm {
                forest: Forest::new(trees, &tree_groups, vec![0.0; groups], true)?,
                transform,
                rounds: head.contains_key("average_output").then_some(rounds as f64),
            },
            features,
            named,
            objective: objective.split(' ').next().unwrap_or(objective).to_owned(),
            best: None,
        })
    }
}

/// What follows a section of lines.
#[derive(PartialEq)]
enum Next {
    Tree,
    /// The trees are complete.
    End,
    /// Nothing, which is an error: the file may end within a number.
    Nothing,
}

/// The lines about the model or about a tree, and what follows them.
fn section<'a>(lines: &mut impl Iterator<Item = &'a str>) -> (Lines<'a>, Next) {
    let mut found = HashMap::new();
    for line in lines {
        if line.starts_with("Tree=") {
            return (found, Next::Tree);
        }
        if line == "end of trees" {
            return (found, Next::End);
        }
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        found.insert(key, value);
    }
    (found, Next::Nothing)
}

/// Refuses models whose columns LightGBM codes anew by the categories of a data frame.
fn recoding<'a>(lines: &mut impl Iterator<Item = &'a str>) -> Result<()> {
    let Some(all) = lines.find_map(|line| line.strip_prefix("pandas_categorical:")) else {
        return Ok(());
    };
    let wrong = |e| LoadError::new("pandas_categorical is no list").with_source(e);
    let columns: Option<Vec<Vec<serde_json::Value>>> = serde_json::from_str(all).map_err(wrong)?;
    let is_coded = |column: &Vec<serde_json::Value>| {
        (0_u64..)
            .zip(column)
            .all(|(code, value)| value.as_u64() == Some(code))
    };
    if columns.unwrap_or_default().iter().all(is_coded) {
        return Ok(());
    }
    Err(LoadError::unsupported(
        "the model holds categories of a data frame, by which LightGBM codes columns anew. Train it with numbers of \
         categories (`column.cat.codes`, and `categorical_feature=`)",
    ))
}

fn required<'a>(lines: &Lines<'a>, key: &str) -> Result<&'a str> {
    let found = lines.get(key).copied();
    found.ok_or_else(|| LoadError::new(format!("the line {key}= is missing")))
}

fn one<T>(lines: &Lines<'_>, key: &str) -> Result<T>
where
    T: FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    let text = required(lines, key)?;
    let wrong = |e| LoadError::new(format!("{key} is {text:?}")).with_source(e);
    text.trim().parse().map_err(wrong)
}

/// The numbers of a line, of which there must be `count`.
fn list<T: FromStr>(lines: &Lines<'_>, key: &str, count: usize) -> Result<Vec<T>> {
    let wrong = |what: &str| LoadError::new(format!("{key}= has {what}"));
    let mut all = Vec::new();
    for item in required(lines, key)?.split_ascii_whitespace() {
        all.push(item.parse().map_err(|_| wrong(&format!("{item:?}")))?);
    }
    match all.len() == count {
        true => Ok(all),
        false => Err(wrong(&format!("{} numbers, and not {count}", all.len()))),
    }
}

fn optional<T: FromStr>(lines: &Lines<'_>, key: &str, count: usize) -> Result<Option<Vec<T>>> {
    match lines.contains_key(key) {
        true => list(lines, key, count).map(Some),
        false => Ok(None),
    }
}

fn transform(objective: &str) -> Result<Transform64> {
    let mut words = objective.split(' ');
    let name = words.next().unwrap_or_default();
    let Some((_, transform)) = LIGHTGBM.iter().find(|row| row.0 == name) else {
        let message = format!("the objective {name:?} of LightGBM is not supported");
        return Err(LoadError::unsupported(message));
    };
    let mut transform = *transform;
    for word in words {
        match (word.split_once(':'), word) {
            (Some(("sigmoid", factor)), _) => {
                let wrong = |e: std::num::ParseFloatError| {
                    LoadError::new(format!("the objective is {objective:?}")).with_source(e)
                };
                let factor = factor.parse().map_err(wrong)?;
                if matches!(transform, Transform64::Sigmoid(_)) {
                    transform = Transform64::Sigmoid(factor);
                }
            }
            (None, "sqrt") if transform == Transform64::Same => transform = Transform64::Square,
            // Others do not touch predictions.
            _ => (),
        }
    }
    Ok(transform)
}

/// The lists of a tree.
struct Written {
    features: Vec<u32>,
    thresholds: Vec<f64>,
    decisions: Vec<u8>,
    left: Vec<i64>,
    right: Vec<i64>,
    values: Vec<f64>,
    sets: Vec<Arc<Categories>>,
    linear: Vec<Linear<f64>>,
}

fn tree(lines: &Lines<'_>, features: usize) -> Result<Tree<f64>> {
    let leaves: usize = one(lines, "num_leaves")?;
    let values: Vec<f64> = list(lines, "leaf_value", leaves)?;
    let Some(inner) = leaves.checked_sub(1) else {
        return Err(LoadError::new("a tree has no leaf"));
    };
    let written = Written {
        features: match inner {
            0 => Vec::new(),
            _ => list(lines, "split_feature", inner)?,
        },
        thresholds: match inner {
            0 => Vec::new(),
            _ => list(lines, "threshold", inner)?,
        },
        decisions: optional(lines, "decision_type", inner)?.unwrap_or_else(|| vec![0; inner]),
        left: match inner {
            0 => Vec::new(),
            _ => list(lines, "left_child", inner)?,
        },
        right: match inner {
            0 => Vec::new(),
            _ => list(lines, "right_child", inner)?,
        },
        sets: sets(lines)?,
        linear: linear(lines, &values, features)?,
        values,
    };
    let number = |place: i64| match place < 0 {
        true => inner.checked_add(usize::try_from(place.wrapping_neg().wrapping_sub(1)).ok()?),
        false => usize::try_from(place).ok().filter(|place| *place < inner),
    };
    let root = if inner == 0 { -1 } else { 0 };
    let places = inner.saturating_add(leaves);
    Tree::grown(root, places, number, |place| written.found(place, features))
}

impl Written {
    fn found(&self, place: i64, features: usize) -> Result<Found<f64>> {
        let missing = || LoadError::new(format!("there is no node {place}"));
        if place < 0 {
            let leaf = place.wrapping_neg().wrapping_sub(1);
            let leaf = usize::try_from(leaf).map_err(|_| missing())?;
            return Ok(Found::Leaf {
                value: *self.values.get(leaf).ok_or_else(missing)?,
                linear: self.linear.get(leaf).cloned(),
            });
        }
        let at = usize::try_from(place).map_err(|_| missing())?;
        let feature = *self.features.get(at).ok_or_else(missing)?;
        if feature as usize >= features {
            return Err(LoadError::new(format!(
                "node {place} asks for feature {feature} of {features}"
            )));
        }
        let threshold = *self.thresholds.get(at).ok_or_else(missing)?;
        let decision = *self.decisions.get(at).ok_or_else(missing)?;
        let split = match decision & CATEGORY {
            0 => Split::Number {
                threshold,
                missing: self.missing(decision)?,
            },
            _ => {
                let set = (threshold >= 0.0)
                    .then(|| self.sets.get(threshold as usize))
                    .flatten();
                let wrong = || LoadError::new(format!("node {place} has no categories"));
                Split::Category {
                    set: Arc::clone(set.ok_or_else(wrong)?),
                    set_goes_left: true,
                    nan_goes_left: false,
                }
            }
        };
        Ok(Found::Split {
            feature,
            split,
            left: *self.left.get(at).ok_or_else(missing)?,
            right: *self.right.get(at).ok_or_else(missing)?,
        })
    }

    fn missing(&self, decision: u8) -> Result<Missing> {
        Ok(match ((decision >> 2) & 3, decision & DEFAULT_LEFT != 0) {
            (0, _) => Missing::IsZero,
            (1, true) => Missing::ZeroLeft,
            (1, false) => Missing::ZeroRight,
            (2, true) => Missing::Left,
            (2, false) => Missing::Right,
            _ => return Err(LoadError::new(format!("a decision_type is {decision}"))),
        })
    }
}

fn sets(lines: &Lines<'_>) -> Result<Vec<Arc<Categories>>> {
    let count: usize = match lines.contains_key("num_cat") {
        true => one(lines, "num_cat")?,
        false => 0,
    };
    if count == 0 {
        return Ok(Vec::new());
    }
    let boundaries: Vec<usize> = list(lines, "cat_boundaries", count.saturating_add(1))?;
    let last = boundaries.last().copied().unwrap_or(0);
    let words: Vec<u32> = list(lines, "cat_threshold", last)?;
    let mut sets = Vec::new();
    for pair in boundaries.windows(2) {
        let [from, to] = pair else { continue };
        let words = words.get(*from..*to);
        let wrong = || LoadError::new("the numbers of cat_boundaries= are not in order");
        sets.push(Arc::new(Categories::Bits(
            words.ok_or_else(wrong)?.to_vec(),
        )));
    }
    Ok(sets)
}

/// Numbers of leaves that depend on features.
fn linear(lines: &Lines<'_>, values: &[f64], features: usize) -> Result<Vec<Linear<f64>>> {
    if lines.get("is_linear").is_none_or(|flag| flag.trim() == "0") {
        return Ok(Vec::new());
    }
    let leaves = values.len();
    let constants: Vec<f64> = list(lines, "leaf_const", leaves)?;
    let counts: Vec<usize> = list(lines, "num_features", leaves)?;
    let all = counts.iter().fold(0_usize, |sum, n| sum.saturating_add(*n));
    let asked: Vec<u32> = optional(lines, "leaf_features", all)?.unwrap_or_default();
    let factors: Vec<f64> = optional(lines, "leaf_coeff", all)?.unwrap_or_default();
    if asked.len() != all || factors.len() != all {
        return Err(LoadError::new("leaf_features= or leaf_coeff= is missing"));
    }
    if let Some(feature) = asked.iter().find(|feature| **feature as usize >= features) {
        let message = format!("a leaf asks for feature {feature} of {features}");
        return Err(LoadError::new(message));
    }
    let mut terms = asked.into_iter().zip(factors);
    let each = constants.into_iter().zip(counts);
    let linear = each.map(|(constant, count)| Linear {
        constant,
        terms: terms.by_ref().take(count).collect(),
    });
    Ok(linear.collect())
}
