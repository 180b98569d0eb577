//! Functions of expressions, from documents that others have written: bytes → what was checked → values of columns.
//! [`corrections`] of correctionlib, and boosted [`trees`]. Knows no file, no expression and no thread.
//!
//! Both have [`LoadError`] and [`EvaluationError`]; they do not know one another.
#![forbid(unsafe_code)]

pub mod corrections;
mod error;
mod limits;
pub mod trees;

pub use error::{EvaluationError, EvaluationErrorKind, LoadError, LoadErrorKind};
