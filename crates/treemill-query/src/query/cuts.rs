//! A query's filters as a tree. Knows no data.

use crate::compile::NodeId;
use crate::eval::Condition;

/// A chain of filters, as a tree: 0 is the whole dataset.
pub(super) struct Cut {
    pub parent: usize,
    pub mask: NodeId,
    /// Whether a booking, or a cut that leads to one, stands here.
    pub wanted: bool,
    /// Whether steps stand here, or else only the rest of the same filter.
    pub is_end: bool,
    /// Filters that stood beside this one, and are computed among its events.
    pub narrower: usize,
}

impl Cut {
    /// A cut at which nothing stands yet.
    pub fn new(parent: usize, mask: NodeId) -> Self {
        Self {
            parent,
            mask,
            wanted: false,
            is_end: false,
            narrower: 0,
        }
    }

    /// What its events are computed by.
    pub fn condition(&self) -> Condition {
        Condition {
            mask: self.mask,
            is_end: self.is_end,
            is_shared: self.narrower > 0,
        }
    }
}
