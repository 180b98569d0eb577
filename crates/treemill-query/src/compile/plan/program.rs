//! Programs: operations position by position that run together, a chunk at a time, so that intermediate
//! values never leave the first-level cache. Knows neither how they are made nor run.

use crate::compile::{LevelId, NodeId};
use crate::kernel::{Bundle, Kernel, Lane, Map, Squares};

/// An argument's place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Argument {
    /// A value from outside, by its number among the leaves.
    Leaf(usize),
    /// The result of an earlier step, by its register.
    Register(usize),
}

/// A value from outside, read as a type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Leaf {
    pub node: NodeId,
    pub lane: Lane,
    pub read: Read,
}

/// How a leaf's value is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Read {
    /// Position by position.
    Along,
    /// The value is one of items, and the program goes through combinations of them: this one of each.
    Item { which: u8 },
    /// The sum of the values of a combination's items, from the first on.
    Sum,
    /// The items' values themselves: the step makes the sums.
    Items,
}

/// What a step does.
#[derive(Clone, Copy)]
pub(crate) enum Operation {
    /// One operation, position by position.
    Map(Map, Kernel),
    /// Squares of sums over combinations' items, without the sums.
    SquaresOfSums(Squares),
    /// Two operations on the same arguments.
    Bundle(Bundle),
}

/// One step.
#[derive(Clone)]
pub(crate) struct Step {
    pub work: Operation,
    pub arguments: Vec<Argument>,
    /// The registers that take the results.
    pub results: Vec<usize>,
}

/// Steps in order. Each result has a register of its own (the form is SSA) until the last pass
/// allocates registers.
#[derive(Clone, Default)]
pub(crate) struct Program {
    pub leaves: Vec<Leaf>,
    pub steps: Vec<Step>,
    /// The registers that hold the program's results in the end.
    pub results: Vec<usize>,
    /// Types of the registers.
    pub registers: Vec<Lane>,
    /// The level of combinations that it goes through, if a leaf is read by items.
    pub tuples: Option<LevelId>,
    /// Whether it computes for all of those, and the value is wanted at some of them only.
    pub is_cut: bool,
}

impl Operation {
    pub fn of(map: Map) -> Self {
        Self::Map(map, map.kernel())
    }

    /// Types of the arguments: one after another, or all alike.
    pub fn takes(&self, lanes: &[Option<Lane>]) -> bool {
        let all_float = || lanes.iter().all(|lane| *lane == Some(Lane::F));
        match self {
            Self::Map(_, kernel) => {
                let wanted = kernel.arguments().iter().copied().map(Some);
                lanes.iter().copied().eq(wanted)
            }
            Self::SquaresOfSums(_) => all_float(),
            Self::Bundle(bundle) => lanes.len() == bundle.arguments() && all_float(),
        }
    }

    /// Types of the results.
    pub fn gives(&self) -> &'static [Lane] {
        use Lane::{B, F, I};
        match self {
            Self::Map(_, kernel) => match kernel.result() {
                F => &[F],
                I => &[I],
                B => &[B],
            },
            Self::SquaresOfSums(_) => &[F],
            Self::Bundle(_) => &[F, F],
        }
    }
}

impl Program {
    /// The operation of a step, if it does one position by position.
    pub fn map(&self, step: usize) -> Option<Map> {
        match self.steps.get(step)?.work {
            Operation::Map(map, _) => Some(map),
            Operation::SquaresOfSums(_) | Operation::Bundle(_) => None,
        }
    }
}
