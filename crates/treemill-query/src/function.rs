//! Functions that the query does not define: corrections, models and the like, which expressions call. The caller
//! that makes the query gives them by the ids that its expressions mention.

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
    /// A list of i64.
    Ints,
    /// A list of f64.
    Floats,
}

impl ParameterType {
    /// Whether a whole list is taken.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(self, Self::Ints | Self::Floats)
    }
}

/// The type of a value before a function takes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenType {
    Bool,
    Int,
    UInt,
    Float,
    Str,
}

/// What a call has at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    pub ty: GivenType,
    /// Whether it is a list, not one value.
    pub is_list: bool,
    /// Whether it is the same in all rows, as the query says.
    pub is_constant: bool,
}

/// The type of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultType {
    Bool,
    /// i64
    Int,
    /// f64
    Float,
}

/// One of the values that a function gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// What it is called; `None`: it is all that the function gives.
    pub name: Option<String>,
    pub ty: ResultType,
    /// The number of the list whose items it belongs to, among the lists that the function gives; `None`: it is one
    /// value.
    pub list: Option<usize>,
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

/// The values of a float parameter which many rows may share.
#[derive(Debug, Clone, Copy)]
pub struct Shared<'a> {
    pub values: &'a [f64],
    /// Where the value of each row is: what the first list has for the row is a place in the second one, and so on;
    /// what the last one has there is the place of the value. Empty: there is a value for each row, or one for all.
    pub places: &'a [&'a [u32]],
}

/// The values of a parameter that may be a list.
#[derive(Debug, Clone, Copy)]
pub enum Passed<'a> {
    One(Argument<'a>),
    /// The items of all rows' lists, and where each list begins and the last one ends.
    Lists {
        items: Argument<'a>,
        offsets: &'a [i32],
    },
}

/// Values of an output: of all rows, or of all items of all lists.
#[derive(Debug, Clone, PartialEq)]
pub enum Numbers {
    /// 0 or 1
    Bool(Vec<u8>),
    Int(Vec<i64>),
    Float(Vec<f64>),
}

impl Numbers {
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(values) => values.len(),
            Self::Int(values) => values.len(),
            Self::Float(values) => values.len(),
        }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// What a call has given.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Returned {
    /// The values of each output, in the order of the function's outputs.
    pub outputs: Vec<Numbers>,
    /// The lengths of each list in each row, by the list's number.
    pub lengths: Vec<Vec<i64>>,
}

/// A value that is the same in all rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Fixed {
    Str(Vec<u8>),
    Int(i64),
    Float(f64),
}

/// A function from rows of values to numbers. Called by any number of threads.
///
/// Most take numbers and give one number: `evaluate` is all that they need.
pub trait Function: Send + Sync {
    /// The function to take for arguments like these; `None`: this one, whatever is given.
    ///
    /// # Errors
    /// In words, if it cannot be called so.
    fn fitted(&self, _given: &[Given]) -> Result<Option<Arc<dyn Function>>, String> {
        Ok(None)
    }

    /// What it gives; `None`: one float, by `evaluate`. Others give it by `call`.
    fn outputs(&self) -> Option<Vec<Output>> {
        None
    }

    /// The values of `rows` rows.
    ///
    /// # Errors
    /// In words.
    fn call(&self, _rows: usize, _arguments: &[Passed<'_>]) -> Result<Returned, String> {
        Err("it gives one number".to_owned())
    }

    /// What it takes, in order.
    fn parameters(&self) -> Vec<Parameter>;

    /// What it is, for people; empty: nothing is known but its parameters.
    fn about(&self) -> String {
        String::new()
    }

    /// Writes the value of each row. There is one argument for each parameter, of its type.
    ///
    /// # Errors
    /// In words, for values for which there is none.
    fn evaluate(&self, arguments: &[Argument<'_>], out: &mut [f64]) -> Result<(), String>;

    /// Whether it takes arguments by `evaluate_shared`. All its parameters are floats then.
    fn shares(&self) -> bool {
        false
    }

    /// Writes the value of each row, from arguments whose values rows may share. `chosen`: the numbers of the rows to write
    /// values of, in order; `None`: all rows.
    ///
    /// # Errors
    /// In words, for values for which there is none.
    fn evaluate_shared(
        &self,
        _arguments: &[Shared<'_>],
        _chosen: Option<&[u32]>,
        _out: &mut [f64],
    ) -> Result<(), String> {
        Err("it takes a value for each row".to_owned())
    }

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
