//! What is wrong with a query, with the place in the expression, and names that are near.

use crate::spec::Span;

/// An expression that cannot be computed over these columns, or a specification that cannot be run.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{message}")]
pub struct QueryError {
    /// What is wrong, in a line.
    pub message: String,
    /// The expression, where one is to blame.
    pub text: Option<String>,
    /// The place in it, in characters, half-open.
    pub span: Option<Span>,
    /// Names that the user may have meant, best first.
    pub suggestions: Vec<String>,
}

impl QueryError {
    /// An error about no expression in particular.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            text: None,
            span: None,
            suggestions: Vec::new(),
        }
    }

    /// An error at a place of an expression whose text is filled in later.
    pub(crate) fn at(span: Span, message: impl Into<String>) -> Self {
        Self {
            span: Some(span),
            ..Self::new(message)
        }
    }

    /// With names that may have been meant.
    pub(crate) fn suggest(mut self, suggestions: Vec<String>) -> Self {
        self.suggestions = suggestions;
        self
    }

    /// With the expression's text, unless one is known already.
    pub(crate) fn in_text(mut self, text: &str) -> Self {
        self.text.get_or_insert_with(|| text.to_owned());
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
    Column(Box<dyn std::error::Error + Send + Sync>),
}

/// The names nearest to `wanted`, at most five, best first.
pub(crate) fn near<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let lower = wanted.to_lowercase();
    let limit = (wanted.chars().count() / 3).max(2);
    let mut found: Vec<(usize, &str)> = names
        .filter_map(|name| {
            let other = name.to_lowercase();
            let mut far = distance(&lower, &other, limit)?;
            // The same letters in another case come first.
            far = if lower == other { 0 } else { far + 1 };
            Some((far, name))
        })
        .collect();
    found.sort();
    found.dedup();
    // Names much farther than the nearest are not meant.
    let nearest = found.first().map_or(0, |(far, _)| *far);
    found.retain(|(far, _)| *far <= nearest + 1);
    found.truncate(5);
    found.into_iter().map(|(_, name)| name.to_owned()).collect()
}

/// Edit distance with swaps of neighbours counted once; `None` above the limit.
fn distance(a: &str, b: &str, limit: usize) -> Option<usize> {
    let a: Vec<char> = a.chars().take(200).collect();
    let b: Vec<char> = b.chars().take(200).collect();
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (above[j - 1] + change)
                .min(above[j] + 1)
                .min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(before[j - 2] + 1);
            }
            row[j] = least;
        }
        before = std::mem::replace(&mut above, row);
    }
    above.last().copied().filter(|far| *far <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn near_names_come_best_first() {
        let names = ["Muon_pt", "Muon_eta", "Muon_phi", "nMuon", "MET_pt"];
        assert_eq!(near("muon_pt", names.into_iter()), ["Muon_pt"]);
        assert_eq!(near("Moun_pt", names.into_iter()), ["Muon_pt"]);
        assert_eq!(near("Muon_ptt", names.into_iter())[0], "Muon_pt");
        assert!(near("something_else", names.into_iter()).is_empty());
    }
}
