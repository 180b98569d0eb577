//! Levels: the event, and lists of items, each made from others. Knows neither syntax nor data.

use super::graph::NodeId;

/// Index of a level; 0 is the event.
pub(crate) type LevelId = u32;
/// The level of events.
pub(crate) const EVENT: LevelId = 0;

/// How a level's items come about.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum LevelKind {
    Event,
    /// The items of list columns that share a counter (by name), or of one column (by index).
    Items {
        counter: Option<String>,
        column: usize,
    },
    /// The lists in a column's lists, or in those.
    Inner {
        column: usize,
    },
    /// Always so many items.
    Fixed(u32),
    /// The items of a level for which a node (bool, at that level) is true. Pick 0: those items.
    Filtered {
        of: LevelId,
        mask: NodeId,
    },
    /// Python's slice of each list. Pick 0: the items.
    Sliced {
        of: LevelId,
        lower: Option<i64>,
        upper: Option<i64>,
        step: i64,
    },
    /// The items of a level under another name: those that a `for` goes through, or those that one
    /// has left over. So that a variable's values are never taken for the list that it comes from.
    Same {
        of: LevelId,
        role: Role,
    },
    /// For each position above, all items of one list of a level. `list`: number of the list, an
    /// integer at the level above; where it is missing there are no items. Pick 0: the items.
    Product {
        of: LevelId,
        list: NodeId,
    },
    /// The items of an inner level, whose lists become one for each position of an outer level.
    Flat {
        of: LevelId,
    },
    /// All combinations of so many items of each list, in order. Pick k: the k-th item.
    Combinations {
        of: LevelId,
        size: u8,
    },
    /// The lists of several levels one after another. Values come by `Op::Concat`.
    Joined {
        parts: Vec<LevelId>,
    },
    /// Items of several levels side by side, as many as the shortest list has. Pick k: those of the
    /// k-th level.
    Zipped {
        parts: Vec<LevelId>,
    },
    /// Each list in ascending (or descending) order of a node's values. Pick 0: the items.
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
            Self::Event | Self::Items { .. } | Self::Inner { .. } | Self::Fixed(_) => &[],
            Self::Filtered { of, .. }
            | Self::Sliced { of, .. }
            | Self::Same { of, .. }
            | Self::Product { of, .. }
            | Self::Flat { of }
            | Self::Combinations { of, .. }
            | Self::Sorted { of, .. } => std::slice::from_ref(of),
            Self::Joined { parts } | Self::Zipped { parts } => parts,
        }
    }

    /// The node whose values make it.
    pub fn node(&self) -> Option<NodeId> {
        match self {
            Self::Filtered { mask, .. } => Some(*mask),
            Self::Product { list, .. } => Some(*list),
            Self::Sorted { key, .. } => Some(*key),
            _ => None,
        }
    }

    /// Whether it may have many more items than what it is made of.
    pub fn expands(&self) -> bool {
        matches!(self, Self::Product { .. } | Self::Combinations { .. })
    }
}

/// A level.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Level {
    pub parent: LevelId,
    pub kind: LevelKind,
}
