//! Levels: the event, and lists of items, each made from others. Knows neither syntax nor data.

use crate::compile::graph::ids::{LevelId, NodeId};

/// How a level's items come about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum LevelKind {
    Event,
    /// The items of list columns that share a counter (by name), or of one column (by index).
    Items {
        counter: Option<String>,
        column: usize,
    },
    /// The lists in a column's lists, to any depth.
    Inner {
        column: usize,
    },
    /// The same number of items in every list.
    Fixed(u32),
    /// The items of a level for which a node (bool, at that level) is true. Selection vector 0: those items.
    Filtered {
        of: LevelId,
        mask: NodeId,
    },
    /// Python's slice of each list. Selection vector 0: the items.
    Sliced {
        of: LevelId,
        lower: Option<i64>,
        upper: Option<i64>,
        step: i64,
    },
    /// The same items under another name: a `for` goes through them, or a comprehension has made them. A
    /// variable's values are never taken for the list that it comes from.
    Same {
        of: LevelId,
        role: Role,
    },
    /// All items of one list of a level, for each position above. `list`: number of the list, an
    /// integer at the level above. If it is missing there are no items. Selection vector 0: the items.
    Product {
        of: LevelId,
        list: NodeId,
    },
    /// The items of a list, for each item of a level: those whose value of a node (an integer, at that level) is the
    /// item's number in the list. Selection vector 0: those items.
    Referring {
        of: LevelId,
        index: NodeId,
    },
    /// The number of items for each position above is what a node (an integer, at the level above) says.
    Counted {
        count: NodeId,
    },
    /// The items of an inner level, whose lists become one for each position of an outer level.
    Flat {
        of: LevelId,
    },
    /// All combinations of a number of items of each list, in order. Selection vector k: the k-th item.
    Combinations {
        of: LevelId,
        size: u8,
    },
    /// All combinations of any number of items of each list, or if `ordered` all permutations. They have no pieces: see
    /// `kernel::arrangements`. Selection vector k: the k-th item.
    Arrangements {
        of: LevelId,
        size: u8,
        ordered: bool,
    },
    /// The lists of several levels, concatenated. Their values come by `Op::Concat`.
    Joined {
        parts: Vec<LevelId>,
    },
    /// Items of several levels side by side, as many as the shortest list has. Selection vector k:
    /// the items of the k-th level.
    Zipped {
        parts: Vec<LevelId>,
    },
    /// Lists that a function has given, whose lengths are a node at the level above.
    Returned {
        lengths: NodeId,
    },
    /// Each list in ascending (or descending) order of a node's values. Selection vector 0: the items.
    Sorted {
        of: LevelId,
        key: NodeId,
        reverse: bool,
    },
}

/// What a level of the same items is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Role {
    /// A `for` goes through it.
    Loop,
    /// The result of a comprehension.
    List,
}

impl LevelKind {
    /// Levels that it is made of.
    pub fn sources(&self) -> &[LevelId] {
        match self {
            Self::Event
            | Self::Items { .. }
            | Self::Inner { .. }
            | Self::Fixed(_)
            | Self::Returned { .. }
            | Self::Counted { .. } => &[],
            Self::Filtered { of, .. }
            | Self::Sliced { of, .. }
            | Self::Same { of, .. }
            | Self::Product { of, .. }
            | Self::Referring { of, .. }
            | Self::Flat { of }
            | Self::Combinations { of, .. }
            | Self::Arrangements { of, .. }
            | Self::Sorted { of, .. } => std::slice::from_ref(of),
            Self::Joined { parts } | Self::Zipped { parts } => parts,
        }
    }

    /// The node whose values make it.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Self::Filtered { mask, .. } => Some(*mask),
            Self::Product { list, .. } => Some(*list),
            Self::Referring { index, .. } => Some(*index),
            Self::Counted { count } => Some(*count),
            Self::Sorted { key, .. } => Some(*key),
            Self::Returned { lengths } => Some(*lengths),
            _ => None,
        }
    }

    /// Whether it may have many more items than what it is made of.
    pub fn expands(&self) -> bool {
        matches!(
            self,
            Self::Product { .. } | Self::Combinations { .. } | Self::Arrangements { .. }
        )
    }
}

/// A level.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Level {
    pub parent: LevelId,
    pub kind: LevelKind,
}
