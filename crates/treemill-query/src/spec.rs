//! The query as data: what Python writes as JSON and any worker can read. Expressions are syntax
//! trees, reduced from Python's own; names and types are resolved later, against a schema.

mod edges;
mod expression;

pub use expression::{Expr, Expression, Literal, Loop, Operation, Target};

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Half-open range of characters in an expression's text.
pub type Span = (u32, u32);

/// One pass over a dataset: steps (filters and defined columns), and what is booked at them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spec {
    /// Version of this format; 1.
    pub version: u32,
    /// Steps in order; a step's parent comes before it.
    pub steps: Vec<Step>,
    /// What to compute.
    pub bookings: Vec<Booking>,
    /// How members that refer to other objects are known.
    #[serde(default, skip_serializing_if = "Relations::is_default")]
    pub relations: Relations,
}

/// How members that refer to other objects are known.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Relations {
    /// The formats whose references are followed; `None`: all.
    #[serde(default)]
    pub formats: Option<Vec<Format>>,
    /// What stands for collections in references, by their names, where a table in the file tells.
    #[serde(default)]
    pub ids: BTreeMap<String, i64>,
    /// The classes of collections' items, by the collections' names, where references depend on them.
    #[serde(default)]
    pub classes: BTreeMap<String, String>,
}

impl Relations {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Formats that have references from objects to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// CMS's NanoAOD.
    Nanoaod,
    /// ATLAS's PHYSLITE.
    Physlite,
    /// podio's, as of EDM4hep and FCC.
    Podio,
    /// Delphes's trees.
    Delphes,
}

/// A node of the graph: one filter or one defined column, after its parent's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Index of the step before; `None`: the whole dataset.
    pub parent: Option<usize>,
    /// What this step does.
    pub action: Action,
    /// The variation that it is of, for messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<String>,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Action {
    /// Keep the entries for which the expression (bool, one per entry) is true.
    Filter {
        /// The condition.
        expr: Expression,
        /// Name for the cut-flow report.
        name: Option<String>,
    },
    /// A new column, visible to the steps and bookings below.
    Define {
        /// Its name.
        name: String,
        /// Its value.
        expr: Expression,
    },
}

/// Something to compute at a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Booking {
    /// Index of the step whose entries and columns it sees; `None`: the whole dataset.
    pub at: Option<usize>,
    /// What to compute.
    pub result: Wanted,
    /// The variation that it is of, for messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variation: Option<String>,
}

/// What a booking computes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Wanted {
    /// A histogram of one or more axes; jagged values fill once per item, values of the event are
    /// repeated for each item.
    Hist {
        /// Axes with their expressions.
        axes: Vec<AxisFill>,
        /// Weight; with it bins hold sums of weights and of their squares.
        weight: Option<Expression>,
        /// Whether the sums of squared weights are wanted: without them bins take half of the memory.
        #[serde(default = "wanted", skip_serializing_if = "Clone::clone")]
        squares: bool,
    },
    /// A histogram each of whose bins holds the mean and the spread of a sample (boost-histogram's
    /// accumulators `mean`, and with a weight `weighted_mean`).
    Profile {
        /// Axes with their expressions.
        axes: Vec<AxisFill>,
        /// What is averaged.
        sample: Expression,
        /// Weight.
        weight: Option<Expression>,
    },
    /// Number of entries (events) that arrive here, u64.
    Count,
    /// Sums of the entries' weights and of their squares; one weight per event.
    Weights { expr: Expression },
    /// Number, sums of weights, mean and squared distances to the mean of all values.
    Moments {
        expr: Expression,
        weight: Option<Expression>,
    },
    /// The different values, ascending; an error where they are more than `limit`. Only those count
    /// beside which none of the values `beside` is missing: those that fill something.
    Unique {
        expr: Expression,
        limit: u64,
        #[serde(default)]
        beside: Vec<Expression>,
    },
    /// Quantiles at these probabilities, approximate (`sketch.rs` says how). `bounded`: of values
    /// however far apart, those next to nothing and those beyond all measure each as one.
    Quantiles {
        expr: Expression,
        probabilities: Vec<f64>,
        #[serde(default)]
        bounded: bool,
    },
    /// Values themselves, one row per entry.
    Rows { columns: Vec<NamedExpression> },
    /// Sum over all values (f64; exact i64 for integers).
    Sum { expr: Expression },
    /// Mean over all values, f64.
    Mean { expr: Expression },
    /// Smallest value; NaN and missing values are passed over.
    Min { expr: Expression },
    /// Largest value; NaN and missing values are passed over.
    Max { expr: Expression },
    /// Smallest and largest finite value, and their number: for automatic axes.
    Extent { expr: Expression },
}

fn wanted() -> bool {
    true
}

/// A column of rows.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedExpression {
    /// Its name.
    pub name: String,
    /// Its values.
    pub expr: Expression,
    /// Whether a pattern has found the name: of what was defined anew it means the new one's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub found: bool,
}

/// An axis and what fills it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisFill {
    /// The axis.
    pub axis: Axis,
    /// The values.
    pub expr: Expression,
}

/// A histogram axis, as boost-histogram has them (index rules are the same to the bit).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Axis {
    /// Equal bins in `[start, stop)`.
    Regular {
        bins: u32,
        start: f64,
        stop: f64,
        underflow: bool,
        overflow: bool,
        circular: bool,
        /// Bins are equal in this function of the value; not together with `circular`.
        #[serde(default)]
        transform: Option<Transform>,
    },
    /// Bins between ascending edges, of which the first and the last may be infinite.
    Variable {
        #[serde(with = "edges")]
        edges: Vec<f64>,
        underflow: bool,
        overflow: bool,
        circular: bool,
    },
    /// One bin per integer in `[start, stop)`.
    Integer {
        start: i64,
        stop: i64,
        underflow: bool,
        overflow: bool,
        circular: bool,
    },
    /// One bin per listed integer; others go to overflow (where it is on).
    IntCategory {
        categories: Vec<i64>,
        overflow: bool,
    },
    /// One bin per listed string; others go to overflow (where it is on).
    StrCategory {
        categories: Vec<String>,
        overflow: bool,
    },
    /// Two bins, false and true.
    Boolean,
}

/// What a regular axis is equal in, as boost-histogram keeps it: the range is in the function's
/// values, which the edges do not tell to the last bit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Transform {
    /// The function.
    pub function: Function,
    /// Its value at the first edge.
    pub min: f64,
    /// Its value at the last edge, less that at the first.
    pub delta: f64,
}

/// A function that rises.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Function {
    Log,
    Sqrt,
    Pow { power: f64 },
}
