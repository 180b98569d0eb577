//! Errors of queries, with the place in the expression, and near names.

use crate::limits::SUGGESTED_NAMES;
use crate::spec::Span;
use std::error::Error;
use std::sync::Arc;
use treemill_names::distance;
use treemill_names::limits::{COMPARISONS, LETTERS};

/// What an error is about: callers decide by it, never by the message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QueryErrorKind {
    /// The expressions or the specification are wrong, over any data or over these columns.
    Query,
    /// An expression names a column that there is not: `QueryError::column`.
    Column,
    /// The data does not suit the query.
    Data,
    /// The query takes more than is allowed.
    Limit,
    /// A partial result is broken, or belongs to another query.
    Partial,
    /// The compiler and the evaluator disagree: an error of treemill.
    Internal,
}

/// An expression that cannot be computed over these columns, or a specification that cannot be run.
#[derive(Debug, Clone)]
pub struct QueryError {
    /// What it is about.
    pub kind: QueryErrorKind,
    /// What is wrong, in a line.
    pub message: String,
    /// The expression, where one is to blame.
    pub text: Option<Box<str>>,
    /// The place in it, in characters, half-open.
    pub span: Option<Span>,
    /// The column that an expression names and that there is not, where that is what is wrong.
    pub column: Option<Box<str>>,
    /// Names that the user may have meant, best first.
    pub suggestions: Box<[String]>,
    /// What it comes from, if it is another error. Also given by [`Error::source`].
    pub source: Option<Arc<dyn Error + Send + Sync>>,
}

impl std::fmt::Display for QueryError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

/// Gives the error inside the `Arc`, which a caller can downcast; thiserror would give the `Arc`.
impl Error for QueryError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let source = self.source.as_deref()?;
        Some(source)
    }
}

/// Equal if they say the same; sources are not compared.
impl PartialEq for QueryError {
    fn eq(&self, other: &Self) -> bool {
        let parts = |error: &Self| {
            let Self {
                kind,
                message,
                text,
                span,
                column,
                suggestions,
                source: _,
            } = error.clone();
            (kind, message, text, span, column, suggestions)
        };
        parts(self) == parts(other)
    }
}

impl QueryError {
    /// An error about no expression in particular.
    pub fn new(message: impl Into<String>) -> Self {
        Self::of(QueryErrorKind::Query, message)
    }

    /// An error of a kind, about no expression in particular.
    pub fn of(kind: QueryErrorKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            text: None,
            span: None,
            column: None,
            suggestions: Box::default(),
            source: None,
        }
    }

    /// Adds the error that it comes from.
    #[must_use]
    pub fn from_source(mut self, source: impl Error + Send + Sync + 'static) -> Self {
        self.source = Some(Arc::new(source));
        self
    }

    /// The data does not suit the query.
    pub(crate) fn data(message: impl Into<String>) -> Self {
        Self::of(QueryErrorKind::Data, message)
    }

    /// The query takes more than is allowed.
    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self::of(QueryErrorKind::Limit, message)
    }

    /// An expression, whose text is filled in later, names a column at this place that there is not.
    pub(crate) fn no_column(span: Span, name: &str) -> Self {
        Self {
            kind: QueryErrorKind::Column,
            column: Some(name.into()),
            ..Self::at(span, format!("there is no column {name}"))
        }
    }

    /// What cannot be: the compiler and the evaluator disagree.
    pub(crate) fn mistake(what: impl std::fmt::Display) -> Self {
        let advice = "an error of treemill, not of the query; please report it with the query";
        Self::of(QueryErrorKind::Internal, format!("{what}: {advice}"))
    }

    /// An error at a place of an expression whose text is filled in later.
    pub(crate) fn at(span: Span, message: impl Into<String>) -> Self {
        Self {
            span: Some(span),
            ..Self::new(message)
        }
    }

    /// Adds names that may have been meant.
    pub(crate) fn suggest(mut self, suggestions: impl Into<Box<[String]>>) -> Self {
        self.suggestions = suggestions.into();
        self
    }

    /// Adds the name of the variation, if there is one.
    pub(crate) fn in_variation(mut self, variation: Option<&str>) -> Self {
        if let Some(name) = variation {
            self.message = format!("{} (in the variation {name})", self.message);
        }
        self
    }

    /// Adds the expression's text, unless one is known already.
    pub(crate) fn in_text(mut self, text: &str) -> Self {
        self.text.get_or_insert_with(|| text.into());
        self
    }
}

/// Why a batch could not be processed.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The data does not suit the query.
    #[error(transparent)]
    Query(#[from] QueryError),
    /// More items would have to be made than memory is to be spent on: of how many events, and what
    /// to do.
    #[error("{message}")]
    TooMany {
        /// What is too many, in a line.
        message: String,
    },
    /// A column could not be had: whatever `Columns::column` returned.
    #[error(transparent)]
    Column(Box<dyn Error + Send + Sync>),
}

/// The names nearest to `wanted`, best first. None where that would take long: for names
/// that are too long to be a typing mistake, and beyond a number of comparisons.
pub(crate) fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let letters = wanted.chars().take(LETTERS + 1).count();
    if letters > LETTERS {
        return Vec::new();
    }
    let lower: Vec<char> = wanted.to_lowercase().chars().collect();
    // A name that has little in common with a short one is not meant.
    let limit = (letters / 3).max(usize::from(letters > 1));
    let mut steps = 0_usize;
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|name| {
            // Others in length are too far; nothing is done for them.
            if name.len() / 4 > letters + limit {
                return None;
            }
            let other: Vec<char> = name.to_lowercase().chars().collect();
            if lower.len().abs_diff(other.len()) > limit {
                return None;
            }
            steps = steps.saturating_add(lower.len().saturating_mul(other.len()));
            if steps > COMPARISONS {
                return None;
            }
            let mut far = distance(&lower, &other, limit)?;
            // Names that differ in case only come first.
            far = if lower == other { 0 } else { far + 1 };
            Some((far, name))
        })
        .collect();
    found.sort();
    found.dedup();
    // Names much farther than the nearest are not meant.
    let nearest = found.first().map_or(0, |(far, _)| *far);
    found.retain(|(far, _)| *far <= nearest + 1);
    found.truncate(SUGGESTED_NAMES);
    found.into_iter().map(|(_, name)| name.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_keep_their_words_and_have_a_source() {
        let error = QueryError::new("not a query").from_source(std::fmt::Error);
        assert_eq!(error.to_string(), "not a query");
        let source = error.source().and_then(|source| source.downcast_ref());
        assert_eq!(source, Some(&std::fmt::Error));
        assert_eq!(error, QueryError::new("not a query"));
        let missing = QueryError::no_column((0, 1), "x");
        assert_eq!(missing.kind, QueryErrorKind::Column);
        assert_eq!(QueryError::mistake("a").kind, QueryErrorKind::Internal);
        assert_ne!(QueryError::data("a"), QueryError::limit("a"));
    }

    #[test]
    fn near_names_come_best_first() {
        let names = ["Muon_pt", "Muon_eta", "Muon_phi", "nMuon", "MET_pt"];
        assert_eq!(near("muon_pt", names.into_iter()), ["Muon_pt"]);
        assert_eq!(near("Moun_pt", names.into_iter()), ["Muon_pt"]);
        assert_eq!(near("Muon_ptt", names.into_iter())[0], "Muon_pt");
        assert!(near("something_else", names.into_iter()).is_empty());
    }

    #[test]
    fn near_names_of_huge_ones_are_not_looked_for() {
        let huge = "a".repeat(100_000);
        assert!(near(&huge, ["Muon_pt", &huge].into_iter()).is_empty());
        assert!(near("Muon_pt", std::iter::once(&huge[..])).is_empty());
        // With many long names the number of comparisons is bounded.
        let names: Vec<String> = (1..200_000).map(|i| format!("{i:0>150}")).collect();
        let found = near(&"0".repeat(150), names.iter().map(String::as_str));
        assert_eq!(found.len(), 5);
    }
}
