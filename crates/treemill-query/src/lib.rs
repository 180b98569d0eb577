//! Typed expressions over columns: masks, columns and histogram fills. Knows columns, never files.
//!
//! A [`spec::Spec`] (what the user wrote, as data) is compiled against a [`Schema`] into a [`Query`],
//! which adds batches of columns to a [`Partial`]; partials merge, travel as bytes and end as
//! [`Outcome`]s.
#![forbid(unsafe_code)]
// Kernels index slices whose lengths the compiler of queries has made equal, and compute with data,
// where overflow is either impossible (lengths) or wanted to wrap (`wrapping_*` is used there).
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod axis;
mod binned;
mod bins;
mod booking;
mod cells;
mod chunk;
mod columns;
mod compile;
mod error;
mod eval;
mod explain;
mod fill;
mod filled;
mod function;
mod kernel;
mod limits;
mod load;
mod moments;
mod outcome;
mod partial;
mod pool;
mod query;
mod references;
mod row_columns;
mod rows;
mod run;
mod schema;
mod sketch;
pub mod spec;
mod sum;
mod unique;
mod value;
mod wide;

pub use columns::Columns;
pub use error::{ProcessError, QueryError, QueryErrorKind};
pub use explain::Explanation;
pub use filled::{BinField, FilledBins};
pub use function::{
    Argument, Collection, Fixed, Function, Functions, Given, GivenType, Numbers, Output, Parameter,
    ParameterType, Passed, Provided, ResultType, Returned, Shared,
};
pub use outcome::{Number, Outcome, Values};
pub use partial::Partial;
pub use query::{Query, Rows, Scratch};
pub use references::{called, referred};
pub use rows::{LISTS, NamedArray};
pub use schema::{ColumnType, DType, Field, Schema};
