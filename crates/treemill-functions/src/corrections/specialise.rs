//! A correction's tree when some inputs are the same in all rows: what these decide is decided once.

use crate::corrections::bins::Place;
use crate::corrections::node::{Binning, Category, Contents, MultiBinning, Node, Transform};
use crate::corrections::variable::Slot;
use std::sync::Arc;

/// The inputs that are known.
pub(crate) type Known<'a> = [Option<Slot<'a>>];

fn known<'a>(inputs: &Known<'a>, input: usize) -> Option<Slot<'a>> {
    inputs.get(input).copied().flatten()
}

impl Node {
    /// The same tree for these inputs. What has no value for them says so where it is met.
    pub fn specialised(&self, inputs: &mut Known<'_>) -> Self {
        match self {
            Self::Binning(node) => node.specialised(inputs),
            Self::MultiBinning(node) => Self::MultiBinning(Box::new(MultiBinning {
                axes: node.axes.clone(),
                flow: node.flow,
                contents: node.contents.specialised(inputs),
                outside: node.outside.specialised(inputs),
            })),
            Self::Category(node) => node.specialised(inputs),
            Self::Transform(node) => {
                let rule = node.rule.specialised(inputs);
                let before = inputs.get_mut(node.input).and_then(Option::take);
                let content = node.content.specialised(inputs);
                if let Some(input) = inputs.get_mut(node.input) {
                    *input = before;
                }
                Self::Transform(Box::new(Transform {
                    input: node.input,
                    rule,
                    content,
                }))
            }
            other => other.clone(),
        }
    }
}

impl Contents {
    fn specialised(&self, inputs: &mut Known<'_>) -> Self {
        match self {
            Self::Values(values) => Self::Values(values.clone()),
            Self::Nodes(nodes) => {
                Self::new(nodes.iter().map(|node| node.specialised(inputs)).collect())
            }
        }
    }

    /// The node at a place.
    fn chosen(&self, place: usize, inputs: &mut Known<'_>) -> Node {
        match self {
            Self::Values(_) => self.node(place).unwrap_or(Node::Value(f64::NAN)),
            Self::Nodes(nodes) => match nodes.get(place) {
                Some(node) => node.specialised(inputs),
                None => Node::Value(f64::NAN),
            },
        }
    }
}

impl Binning {
    fn specialised(&self, inputs: &mut Known<'_>) -> Node {
        let Some(slot) = known(inputs, self.input) else {
            return Node::Binning(Box::new(Self {
                input: self.input,
                bins: self.bins.clone(),
                flow: self.flow,
                contents: self.contents.specialised(inputs),
                outside: self.outside.specialised(inputs),
            }));
        };
        match self.place(&slot) {
            Ok(Place::Bin(bin)) => self.contents.chosen(bin, inputs),
            Ok(Place::Outside) => self.outside.specialised(inputs),
            Err(error) => Node::Refused(Arc::new(error)),
        }
    }
}

impl Category {
    fn specialised(&self, inputs: &mut Known<'_>) -> Node {
        let Some(slot) = known(inputs, self.input) else {
            return Node::Category(Box::new(Self {
                input: self.input,
                keys: self.keys.clone(),
                contents: self.contents.specialised(inputs),
                default: self.default.as_ref().map(|node| node.specialised(inputs)),
            }));
        };
        match (self.place(&slot), &self.default) {
            (Some(place), _) => self.contents.chosen(place, inputs),
            (None, Some(default)) => default.specialised(inputs),
            (None, None) => Node::Refused(Arc::new(self.unknown(&slot))),
        }
    }
}
