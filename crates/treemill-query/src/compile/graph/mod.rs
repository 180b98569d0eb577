//! The compiled form of expressions: a graph of typed nodes in which equal nodes are one, and the
//! levels that they live on. Knows neither syntax nor data.

pub(super) mod fast_maps;
pub(super) mod ids;
pub(super) mod level;

use crate::compile::graph::fast_maps::FastMap;
use crate::compile::graph::ids::{EVENT, LevelId, NodeId};
use crate::compile::graph::level::{Level, LevelKind};
use crate::kernel::Map;
use std::collections::hash_map::Entry;
use std::hash::Hash;
use std::sync::Arc;

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
    /// The type's name in messages.
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

/// A constant. Floats are compared by their bits.
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

/// How a level's items are reduced to one value of the level above.
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

/// How a value is looked up in a table of constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Lookup {
    /// The item of that number; there may be none.
    Item,
    /// Interpolation between points: the first half of the table are their x, the rest their y.
    Interp,
    /// The number of the bin between edges.
    Digitize { right: bool },
    /// Whether an integer lies in ranges: the first numbers of each, and those after the last. `unsigned`:
    /// the integer's bits have no sign.
    InRanges { unsigned: bool },
}

/// What a node computes from its inputs.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Op {
    /// Column of `Query::columns` (at the compiler's numbering: of the schema).
    Column(usize),
    Const(Constant),
    /// Position by position.
    Map(Map),
    /// `and` or `or` of operands that may be missing: if one operand decides, the other may be missing.
    And,
    Or,
    /// A choice of operands that may be missing: the condition, and the two values.
    Select,
    /// Strings compared, byte by byte.
    StrCompare(crate::kernel::Compare),
    /// Whether the value is in a sorted list of integers, or of floats by their bits.
    InInts(Arc<[i64]>),
    /// The value looked up in a table of constants, integers or floats by their bits.
    Lookup {
        how: Lookup,
        table: Arc<[i64]>,
    },
    /// A function that the query does not define, by its number among the callees, of the arguments that
    /// are not constant.
    Call(usize),
    /// A call like `Call`, of arguments some of which are at levels of their own, whose values its positions share. They
    /// are found in so many `steps`, 0 if an argument is at the call's level; the places for all steps come after all
    /// arguments.
    CallShared {
        callee: usize,
        steps: Arc<[usize]>,
    },
    /// A call like `Call`, of a function that takes lists or gives several values: one part of what it gives. Parts
    /// are the lengths of its lists, then its outputs.
    Returned {
        callee: usize,
        part: usize,
    },
    /// The value if the condition holds, else missing.
    Only,
    /// Bool: whether the value is missing.
    IsMissing,
    /// The first value, or the second if the first is missing.
    FillMissing,
    /// Number of items of a level, per position of the level above.
    Len(LevelId),
    /// A value of the parent level, for every item.
    Spread,
    /// The value gathered through one of the level's selection vectors (see `LevelKind`), by its number.
    Take(u8),
    /// The inputs of the level's parts, concatenated list by list.
    Concat,
    /// Integer: number of the item in its list.
    Position,
    /// The sum of an item and those before it in its list. What is missing adds nothing.
    RunningSum,
    /// Integer: number of the position among all positions of the level. It is valid for one selection of events,
    /// and so is every value that is computed from it.
    Row,
    /// These integers, or floats by their bits, repeated.
    Cycle(Arc<[i64]>),
    /// The items under another level. It is an error if the offsets of the two levels turn out to differ.
    Align,
    /// Integer: the number, in its list, of the nearest ancestor of an item whose second value differs from the
    /// item's, or -1. The first value is the number of an item's parent, or negative.
    Ancestor,
    /// Integer: the number, in its list, of the item whose first value has the second one as its ID (see
    /// `kernel::references::identified`), or -1. The third value has the numbers of the lists.
    Identified,
    /// All items of the input's level per position of the level above.
    Reduce(Reducer),
    /// One item of each list, by the number in the second input, or missing. A third input has the numbers of the
    /// lists.
    At {
        /// Whether negative numbers count from the end. If not, their items are missing.
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

/// What may be wanted of a graph: the values of a node, or where the lists of a level begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in crate::compile) enum Want {
    Node(NodeId),
    Offsets(LevelId),
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
                (Op::Spread | Op::Take(_) | Op::Align | Op::At { .. }, Some(input)) => {
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

    /// The level of the outermost of nested lists, or the event's level if there is no list.
    pub fn root(&self, id: LevelId) -> LevelId {
        let mut level = id;
        while level != EVENT && self.parent(level) != EVENT {
            level = self.parent(level);
        }
        level
    }

    /// The level and the levels above it that are of a column's nested lists, from the innermost on.
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
