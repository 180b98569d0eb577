//! A query as data, before it is bound to a table.

use treemill_query::QueryError;
use treemill_query::spec::Spec;

/// serde_json goes no deeper than this, so that no text can exhaust the stack.
const DEEPEST: usize = 127;

/// A query that can be bound to any number of tables.
#[derive(Debug)]
pub struct Specification {
    spec: Spec,
}

impl Specification {
    /// From the JSON form of [`Spec`].
    ///
    /// # Errors
    /// Where the text is something else.
    pub fn parse(json: &str) -> Result<Self, QueryError> {
        serde_json::from_str(json)
            .map(Self::new)
            .map_err(|e| not_a_query(&e))
    }

    /// From data.
    #[must_use]
    pub fn new(spec: Spec) -> Self {
        Self { spec }
    }

    pub(crate) fn spec(&self) -> &Spec {
        &self.spec
    }
}

fn not_a_query(error: &serde_json::Error) -> QueryError {
    let message = error.to_string();
    // serde_json has no other sign of it.
    QueryError::new(match message.contains("recursion limit") {
        true => format!("the query is nested more than {DEEPEST} levels deep"),
        false => format!("not a query: {message}"),
    })
}
