//! Functions that the query does not define, as expressions call them.

use crate::error::QueryError;
use crate::function::{Fixed, Function, Given, Output, ParameterType};
use crate::spec::Span;
use std::sync::Arc;

/// A function as an expression calls it.
pub(crate) struct Callee {
    /// The name that the user writes.
    pub title: String,
    /// Its own constants are what the call's constants are.
    pub function: Arc<dyn Function>,
    pub parameters: Vec<ParameterType>,
    pub fixed: Vec<Option<Fixed>>,
    /// What it gives, if that is not one float.
    pub outputs: Option<Vec<Output>>,
    /// What it was fitted to.
    pub(in crate::compile) given: Vec<Given>,
    /// The function without constants: equal calls of the same one call this.
    pub(in crate::compile) of: Arc<dyn Function>,
    /// The expression that calls it first.
    pub(in crate::compile) text: Box<str>,
    /// The call's place in that expression.
    pub(in crate::compile) at: Span,
}

impl Callee {
    /// How it is called, and what it is.
    pub fn in_words(&self) -> String {
        let parameters = self.of.parameters();
        let names: Vec<&str> = parameters.iter().map(|each| each.name.as_str()).collect();
        let call = format!("{}({})", self.title, names.join(", "));
        match self.of.about() {
            about if about.is_empty() => call,
            about => format!("{call}: {about}"),
        }
    }

    /// What the function says of the values that it got, with the place of its call.
    pub fn refused(&self, message: &str) -> QueryError {
        QueryError {
            text: Some(self.text.clone()),
            span: Some(self.at),
            ..QueryError::data(format!("{}: {message}", self.title))
        }
    }

    /// Whether it is the same function, called alike.
    pub(in crate::compile) fn is_as(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.of, &other.of) && self.fixed == other.fixed && self.given == other.given
    }
}
