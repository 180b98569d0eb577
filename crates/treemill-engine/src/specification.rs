//! A query as data, before it is bound to a table.

use std::sync::{Arc, Mutex, PoisonError};
use treemill_query::spec::Spec;
use treemill_query::{Query, QueryError, Schema};

/// serde_json goes no deeper than this, so that no text can exhaust the stack.
const DEEPEST: usize = 127;

/// Schemas whose queries are kept: files of one dataset have few.
const MOST_KEPT: usize = 4;

/// A query that can be bound to any number of tables.
pub struct Specification {
    spec: Spec,
    /// What it compiles to, by schema, the latest last.
    compiled: Mutex<Vec<(Schema, Arc<Query>)>>,
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
        Self {
            spec,
            compiled: Mutex::default(),
        }
    }

    /// The query over these columns. It is compiled once for all tables that have the same ones; threads
    /// that ask meanwhile wait for it.
    pub(crate) fn query(&self, schema: &Schema) -> Result<Arc<Query>, QueryError> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let known = compiled.iter().position(|(known, _)| known == schema);
        let entry = match known {
            Some(place) => compiled.remove(place),
            None => {
                let query = Query::compile(&self.spec, schema)?;
                (schema.clone(), Arc::new(query))
            }
        };
        let query = Arc::clone(&entry.1);
        if compiled.len() >= MOST_KEPT {
            compiled.remove(0);
        }
        compiled.push(entry);
        Ok(query)
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
