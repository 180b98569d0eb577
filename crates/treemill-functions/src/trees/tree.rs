//! A tree as it was checked: its nodes from the root down, each before its children, its leaves from left to right. No
//! file can make one with a circle or with a node in two places.

use crate::error::LoadError;
use crate::limits::NODES;
use std::sync::Arc;

/// Where values go that no threshold decides on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Missing {
    /// NaN goes left.
    Left,
    /// NaN goes right.
    Right,
    /// NaN is zero.
    IsZero,
    /// NaN and zero go left.
    ZeroLeft,
    /// NaN and zero go right.
    ZeroRight,
}

/// Categories by their numbers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Categories {
    /// A bit for each.
    Bits(Vec<u32>),
    /// The categories in order.
    Listed(Vec<u32>),
}

impl Categories {
    pub fn holds(&self, category: u32) -> bool {
        match self {
            Self::Bits(words) => {
                let word = words.get((category >> 5) as usize).copied();
                word.unwrap_or(0) >> (category & 31) & 1 == 1
            }
            Self::Listed(all) => all.binary_search(&category).is_ok(),
        }
    }
}

/// Which side values go to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Split<T> {
    /// Numbers below the threshold go left; in LightGBM the threshold itself, too.
    Number { threshold: T, missing: Missing },
    /// Categories of the set go to one side, all others to the other one.
    Category {
        set: Arc<Categories>,
        set_goes_left: bool,
        nan_goes_left: bool,
    },
}

/// A place that a node leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Child {
    Node(u32),
    Leaf(u32),
}

/// A question to a feature.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node<T> {
    pub feature: u32,
    pub split: Split<T>,
    pub left: Child,
    pub right: Child,
    /// The first of the leaves below it.
    pub first: u32,
    /// The first of those on its right.
    pub middle: u32,
}

/// What is added to a leaf's number: a sum of features.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Linear<T> {
    pub constant: T,
    /// Features, and what they are multiplied with.
    pub terms: Vec<(u32, T)>,
}

/// A tree.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Tree<T> {
    /// The root is the first one. None: the tree is one leaf.
    pub nodes: Vec<Node<T>>,
    /// The leaves from left to right.
    pub leaves: Vec<T>,
    /// One for each leaf, or none.
    pub linear: Vec<Linear<T>>,
}

/// What a file has at a place of a tree.
pub(crate) enum Found<T> {
    Split {
        feature: u32,
        split: Split<T>,
        left: i64,
        right: i64,
    },
    Leaf {
        value: T,
        linear: Option<Linear<T>>,
    },
}

/// What is waiting for a place.
#[derive(Clone, Copy)]
enum Waiting {
    Root,
    Left(usize),
    Right(usize),
}

impl<T> Tree<T> {
    /// The tree below a place. `look` tells what is there, for each place once; `places` is how many there are. Of two
    /// ways to the same place one is an error: `seen` tells the number of a place.
    pub fn grown(
        root: i64,
        places: usize,
        number: impl Fn(i64) -> Option<usize>,
        mut look: impl FnMut(i64) -> Result<Found<T>, LoadError>,
    ) -> Result<Self, LoadError> {
        let mut seen = vec![false; places];
        let mut tree = Self {
            nodes: Vec::new(),
            leaves: Vec::new(),
            linear: Vec::new(),
        };
        let mut stack = vec![(root, Waiting::Root)];
        while let Some((place, waiting)) = stack.pop() {
            match number(place).and_then(|number| seen.get_mut(number)) {
                None => return Err(LoadError::new(format!("there is no node {place}"))),
                Some(seen) if *seen => {
                    let message = format!("two ways lead to node {place}");
                    return Err(LoadError::new(message));
                }
                Some(seen) => *seen = true,
            }
            let first = index(tree.leaves.len())?;
            let child = match look(place)? {
                Found::Leaf { value, linear } => {
                    tree.leaves.push(value);
                    tree.linear.extend(linear);
                    Child::Leaf(first)
                }
                Found::Split {
                    feature,
                    split,
                    left,
                    right,
                } => {
                    let here = tree.nodes.len();
                    tree.nodes.push(Node {
                        feature,
                        split,
                        left: Child::Leaf(0),
                        right: Child::Leaf(0),
                        first,
                        middle: first,
                    });
                    stack.push((right, Waiting::Right(here)));
                    stack.push((left, Waiting::Left(here)));
                    Child::Node(index(here)?)
                }
            };
            match waiting {
                Waiting::Root => (),
                Waiting::Left(parent) => {
                    if let Some(parent) = tree.nodes.get_mut(parent) {
                        parent.left = child;
                    }
                }
                Waiting::Right(parent) => {
                    if let Some(parent) = tree.nodes.get_mut(parent) {
                        parent.right = child;
                        parent.middle = first;
                    }
                }
            }
        }
        if !tree.linear.is_empty() && tree.linear.len() != tree.leaves.len() {
            return Err(LoadError::new("some leaves are linear, and some are not"));
        }
        Ok(tree)
    }
}

fn index(number: usize) -> Result<u32, LoadError> {
    match u32::try_from(number) {
        Ok(index) if number < NODES => Ok(index),
        _ => Err(LoadError::unsupported("a tree has too many nodes")),
    }
}
