//! A query as data, before it is bound to a table.

use crate::limits::{COMPILED_QUERIES, JSON_DEPTH};
use crate::stages::Share;
use std::sync::{Arc, Mutex, PoisonError};
use treemill_query::spec::Spec;
use treemill_query::{Functions, Query, QueryError, QueryErrorKind, Schema};

/// A query that can be bound to any number of tables.
///
/// ```
/// use treemill_engine::Specification;
///
/// let json = r#"{"version": 1, "steps": [], "bookings": []}"#;
/// assert!(Specification::parse(json).is_ok());
/// let error = Specification::parse("[]").err().map(|error| error.to_string());
/// assert!(error.is_some_and(|message| message.starts_with("this is not a query: ")));
/// ```
pub struct Specification {
    spec: Spec,
    /// What its expressions call that is no function of the language, by id.
    functions: Functions,
    /// What it compiles to, by schema, the latest last.
    compiled: Mutex<Vec<(Schema, Arc<Query>)>>,
    /// How much of what its filters come before was needed, of distant files.
    pub(crate) share: Arc<Mutex<Share>>,
}

impl Specification {
    /// Parses the JSON form of [`Spec`].
    ///
    /// # Errors
    /// The text is something else, or nested too deep.
    pub fn parse(json: &str) -> Result<Self, QueryError> {
        if nesting(json) > JSON_DEPTH {
            let message = format!("the query is nested more than {JSON_DEPTH} levels deep");
            return Err(QueryError::of(QueryErrorKind::Limit, message));
        }
        serde_json::from_str(json)
            .map(Self::new)
            .map_err(|e| QueryError::new(format!("this is not a query: {e}")).from_source(e))
    }

    /// Takes a specification as data.
    #[must_use]
    pub fn new(spec: Spec) -> Self {
        Self {
            spec,
            functions: Functions::new(),
            compiled: Mutex::default(),
            share: Arc::default(),
        }
    }

    /// Adds the functions that its expressions call by their ids.
    #[must_use]
    pub fn with_functions(mut self, functions: Functions) -> Self {
        self.functions = functions;
        self
    }

    /// The query over these columns. It is compiled once for all tables that have the same ones; threads
    /// that ask meanwhile wait for it.
    pub(crate) fn query(&self, schema: &Schema) -> Result<Arc<Query>, QueryError> {
        let mut compiled = self.compiled.lock().unwrap_or_else(PoisonError::into_inner);
        let known = compiled.iter().position(|(known, _)| known == schema);
        let entry = match known {
            Some(place) => compiled.remove(place),
            None => {
                let query = Query::with_functions(&self.spec, schema, &self.functions)?;
                (schema.clone(), Arc::new(query))
            }
        };
        let query = Arc::clone(&entry.1);
        if compiled.len() >= COMPILED_QUERIES {
            compiled.remove(0);
        }
        compiled.push(entry);
        Ok(query)
    }
}

/// How deep brackets stand in one another, those in strings left out.
fn nesting(json: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let (mut is_string, mut is_escaped) = (false, false);
    for byte in json.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            _ if is_string => (),
            b'[' | b'{' => {
                depth = depth.saturating_add(1);
                deepest = deepest.max(depth);
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => (),
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_in_strings_do_not_nest() {
        assert_eq!(nesting(r#"{"a": ["[[{", "\\", "\"[["], "b": {}}"#), 2);
        assert_eq!(nesting("]]]][["), 2);
    }

    #[test]
    fn deep_ones_are_refused_before_they_are_parsed() {
        let message = |json: &str| Specification::parse(json).err().map(|e| e.message);
        let deep = "[".repeat(JSON_DEPTH + 1);
        assert_eq!(
            message(&deep).as_deref(),
            Some("the query is nested more than 127 levels deep")
        );
        let shallow = message(&"[".repeat(JSON_DEPTH)).unwrap_or_default();
        assert!(shallow.starts_with("this is not a query: "), "{shallow}");
        assert!(!shallow.contains("recursion"), "{shallow}");
    }
}
