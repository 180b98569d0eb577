//! The compiled form of expressions: a graph of typed nodes in which equal nodes are one, and the
//! levels that they live on. Knows neither syntax nor data.

use super::fast_maps::FastMap;
use super::level::{EVENT, Level, LevelId, LevelKind};
use super::tables::Lookup;
use crate::kernel::Map;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

/// Index of a node; inputs have smaller ones.
pub(crate) type NodeId = u32;

/// Type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Type {
    Bool,
    /// i64
    Int,
    /// u64
    UInt,
    /// f64
    Float,
    Str,
}

impl Type {
    /// For messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "a bool",
            Self::Int => "an integer",
            Self::UInt => "an unsigned integer",
            Self::Float => "a float",
            Self::Str => "a string",
        }
    }

    pub fn is_integral(self) -> bool {
        matches!(self, Self::Bool | Self::Int | Self::UInt)
    }
}

/// A constant; floats by their bits, so that equal ones are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Constant {
    Bool(bool),
    Int(i64),
    UInt(u64),
    Float(u64),
    Str(Arc<str>),
}

impl Constant {
    pub fn as_f64(&self) -> f64 {
        match self {
            Self::Bool(x) => f64::from(u8::from(*x)),
            Self::Int(x) => *x as f64,
            Self::UInt(x) => *x as f64,
            Self::Float(bits) => f64::from_bits(*bits),
            Self::Str(_) => f64::NAN,
        }
    }

    pub fn type_of(&self) -> Type {
        match self {
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::UInt(_) => Type::UInt,
            Self::Float(_) => Type::Float,
            Self::Str(_) => Type::Str,
        }
    }
}

/// How a level's items are put together into one value of the level above.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Reducer {
    Sum,
    Prod,
    Any,
    All,
    /// Number of values that are not missing.
    Count,
    Mean,
    Min,
    Max,
    ArgMin,
    ArgMax,
}

/// What a node computes from its inputs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Column of `Query::columns` (at the compiler's numbering: of the schema).
    Column(usize),
    Const(Constant),
    /// Position by position.
    Map(Map),
    /// `and`, `or` where operands may be missing: what one of them decides needs no other.
    And,
    Or,
    /// Condition, value, value, where operands may be missing.
    Select,
    /// Strings compared, byte by byte.
    StrCompare(crate::kernel::Compare),
    /// Whether the value is one of a sorted list: floats' bits or integers.
    InInts(Arc<[i64]>),
    /// The value looked up in a table of constants, integers or floats by their bits.
    Lookup {
        how: Lookup,
        table: Arc<[i64]>,
    },
    /// The value where the condition holds, else missing.
    Only,
    /// Bool: whether the value is missing.
    IsMissing,
    /// The first value, or where missing the second.
    FillMissing,
    /// Number of items of a level, per position of the level above.
    Len(LevelId),
    /// A value of the parent level, for every item.
    Spread,
    /// The value at the level's picks (see `LevelKind`), number `which` of them.
    Pick(u8),
    /// Inputs of the level's parts, one after another in every list.
    Concat,
    /// Integer: number of the item in its list.
    Position,
    /// Integer: number of the position among all of the level. It holds for one selection of events
    /// only, and so does all that is made from it.
    Row,
    /// These integers, or floats by their bits, again and again.
    Cycle(Arc<[i64]>),
    /// The items under another level, if the offsets of both turn out to be equal; else an
    /// error.
    Align,
    /// All items of the input's level per position of the level above.
    Reduce(Reducer),
    /// Item number `second input` of each list, or missing; of the lists whose numbers the third
    /// input has, where there is one.
    At {
        /// Negative numbers count from the end, else they are missing.
        from_end: bool,
    },
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Node {
    pub op: Op,
    pub inputs: Vec<NodeId>,
    pub level: LevelId,
    pub ty: Type,
    /// Whether values may be missing.
    pub missing: bool,
}

/// Nodes and levels.
#[derive(Debug)]
pub(crate) struct Graph {
    pub nodes: Vec<Node>,
    pub levels: Vec<Level>,
    known: FastMap<Node, NodeId>,
    known_levels: FastMap<Level, LevelId>,
}

impl Graph {
    pub fn new() -> Self {
        let event = Level {
            parent: EVENT,
            kind: LevelKind::Event,
        };
        Self {
            nodes: Vec::new(),
            levels: vec![event.clone()],
            known: FastMap::default(),
            known_levels: FastMap::from_iter([(event, EVENT)]),
        }
    }

    /// The node equal to this one.
    pub fn add(&mut self, node: Node) -> NodeId {
        match self.known.entry(node) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(place) => {
                // Expressions are limited to far fewer nodes than 2^32.
                let id = self.nodes.len() as NodeId;
                self.nodes.push(place.key().clone());
                *place.insert(id)
            }
        }
    }

    /// The level equal to this one.
    pub fn add_level(&mut self, level: Level) -> LevelId {
        match self.known_levels.entry(level) {
            Entry::Occupied(found) => *found.get(),
            Entry::Vacant(place) => {
                let id = self.levels.len() as LevelId;
                self.levels.push(place.key().clone());
                *place.insert(id)
            }
        }
    }

    pub fn constant(&mut self, value: Constant) -> NodeId {
        let ty = value.type_of();
        self.add(Node {
            op: Op::Const(value),
            inputs: Vec::new(),
            level: EVENT,
            ty,
            missing: false,
        })
    }

    /// Whether its values hold for one selection of events only: see `Op::Row`.
    pub fn is_local(&self, id: NodeId) -> bool {
        let mut walk = id;
        loop {
            let node = self.node(walk);
            match (&node.op, node.inputs.first()) {
                (Op::Row, _) => return true,
                (Op::Spread | Op::Pick(_) | Op::Align | Op::At { .. }, Some(input)) => {
                    walk = *input
                }
                _ => return false,
            }
        }
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub fn level(&self, id: LevelId) -> &Level {
        &self.levels[id as usize]
    }

    pub fn parent(&self, id: LevelId) -> LevelId {
        self.level(id).parent
    }

    /// The level of the outermost of lists in lists; the event's if there is no list.
    pub fn root(&self, id: LevelId) -> LevelId {
        let mut level = id;
        while level != EVENT && self.parent(level) != EVENT {
            level = self.parent(level);
        }
        level
    }

    /// The level itself and those above it that are of lists in a column's lists, from inside out.
    pub fn inner(&self, id: LevelId) -> impl Iterator<Item = LevelId> {
        let above = |level: &LevelId| (*level != EVENT).then(|| self.parent(*level));
        std::iter::successors(Some(id), above)
            .filter(|level| matches!(self.level(*level).kind, LevelKind::Inner { .. }))
    }

    pub fn as_const(&self, id: NodeId) -> Option<&Constant> {
        match &self.node(id).op {
            Op::Const(value) => Some(value),
            _ => None,
        }
    }

    /// Whether `above` is `level` or one of its parents.
    pub fn encloses(&self, above: LevelId, level: LevelId) -> bool {
        let mut walk = level;
        loop {
            if walk == above {
                return true;
            }
            if walk == EVENT {
                return false;
            }
            walk = self.parent(walk);
        }
    }
}
