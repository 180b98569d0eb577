//! Functions that the query does not define: corrections, models and the like, which expressions call. Who makes
//! the query gives them by the ids that its expressions mention.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

/// The type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    Str,
    /// i64
    Int,
    /// f64
    Float,
}

/// What a function takes at one place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    pub name: String,
    pub ty: ParameterType,
}

/// The values of a parameter: one for each row, or one for all.
#[derive(Debug, Clone, Copy)]
pub enum Argument<'a> {
    Str(&'a [&'a [u8]]),
    Int(&'a [i64]),
    Float(&'a [f64]),
}

/// A value that is the same in all rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Fixed {
    Str(Vec<u8>),
    Int(i64),
    Float(f64),
}

/// A function from rows of values to numbers. Called by any number of threads.
pub trait Function: Send + Sync {
    /// What it takes, in order.
    fn parameters(&self) -> Vec<Parameter>;

    /// Writes the value of each row. There is one argument for each parameter, of its type.
    ///
    /// # Errors
    /// In words, for values for which there is none.
    fn evaluate(&self, arguments: &[Argument<'_>], out: &mut [f64]) -> Result<(), String>;

    /// The same function, faster, if the parameters that are not `None` have these values. It takes all parameters
    /// all the same.
    ///
    /// # Errors
    /// In words.
    fn specialised(&self, fixed: &[Option<Fixed>]) -> Result<Arc<dyn Function>, String>;
}

/// What stands for an id in expressions.
#[derive(Clone)]
pub enum Provided {
    /// A function: `f(x)`.
    One(Arc<dyn Function>),
    /// Functions by name: `f["name"](x)`.
    Many(Arc<Collection>),
}

/// Functions by name, and collections in it: `f.part["name"](x)`. The name may be a number: `f[2](x)`.
#[derive(Clone, Default)]
pub struct Collection {
    /// What `f(x)` calls, if anything.
    pub itself: Option<Arc<dyn Function>>,
    pub functions: BTreeMap<String, Arc<dyn Function>>,
    pub parts: BTreeMap<String, Provided>,
}

impl fmt::Debug for Provided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(_) => f.write_str("One"),
            Self::Many(many) => f.debug_set().entries(many.functions.keys()).finish(),
        }
    }
}

/// Functions by id.
pub type Functions = HashMap<String, Provided>;
