//! Numbers by which nodes and levels name one another.

/// Index of a node; inputs have smaller ones.
pub(crate) type NodeId = u32;

/// Index of a level; 0 is the event.
pub(crate) type LevelId = u32;

/// The level of events.
pub(crate) const EVENT: LevelId = 0;
