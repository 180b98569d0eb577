//! Explains names that mean nothing here or several things, and what may have been meant.

use crate::compile::names::identities::Stored;
use crate::compile::names::references::columns;
use crate::compile::names::spelling::listed;
use crate::compile::nodes::coordinates::ATTRIBUTES;
use crate::compile::nodes::objects::RecordSource;
use crate::compile::{Binding, Resolver, span};
use crate::error::{QueryError, near};
use crate::references;
use crate::references::{Reference, physlite};
use crate::spec::{Expression, Span};

impl Resolver<'_> {
    pub(in crate::compile) fn not_a_value(&self, bound: &Binding, at: Span) -> QueryError {
        let title = self.nodes.title(bound);
        let message = match bound {
            Binding::Value(_) => "this is a value".to_owned(),
            Binding::Provided(_) => {
                format!("{title} is a function, not a number: write {title}(…)")
            }
            Binding::Tuple { items, .. } => format!(
                "this is a tuple of {}, not a number: pick one of its elements, t[0]",
                items.len()
            ),
            Binding::Choice { .. } => {
                let title = self.nodes.title(bound);
                format!("this is a record ({title}), not a number: use one of its members")
            }
            Binding::Sum { .. } | Binding::Scaled { .. } => {
                "this is a vector, not a number: use .mass, .pt, .eta, .phi …".to_owned()
            }
            Binding::Object(object) if self.nodes.is_single(object.level) => {
                let members = self.members(bound);
                format!(
                    "{title} is a record, not a number: use one of its members ({})",
                    listed(&members)
                )
            }
            Binding::Object(_) => {
                let members = self.members(bound);
                format!(
                    "{title} is a collection, not a number: use one of its members ({}), or len({title})",
                    listed(&members)
                )
            }
        };
        QueryError::at(at, message)
    }

    /// What is said of a name that several columns share.
    pub(in crate::compile) fn ambiguous(&self, name: &str, at: Span) -> QueryError {
        let sharing = self.nodes.schema.shared.get(name).into_iter().flatten();
        let names: Vec<String> = sharing.map(|name| quoted(name)).collect();
        let message = format!(
            "{name} is ambiguous, because several branches are called so: write {}",
            names.join(" or ")
        );
        QueryError::at(at, message)
    }

    /// The names of collections and records that columns are members of.
    pub(in crate::compile) fn collections(&self) -> impl Iterator<Item = &str> {
        self.nodes.schema.names().filter_map(|(name, _)| {
            let own = physlite::collection(name);
            let first = || name.split_once(['_', '.']).map(|(first, _)| first);
            own.or_else(first).filter(|name| !name.is_empty())
        })
    }

    /// The references of a record, from indices beside its members to collections that there are.
    pub(in crate::compile) fn references_of(
        &mut self,
        bound: &Binding,
        at: Span,
    ) -> Vec<(String, Reference)> {
        let Some(prefix) = prefix(bound) else {
            return Vec::new();
        };
        let mut found = references::all(prefix, &Stored::of(self));
        found.retain(|(_, reference)| {
            let mut indices = reference.indices.members().into_iter();
            let mut targets = reference.targets.iter();
            indices.all(|index| matches!(self.stored(bound, index, at), Ok(Some(_))))
                && targets.any(|target| self.collection(&target.collection).is_some())
        });
        found
    }

    pub(in crate::compile) fn no_member(
        &mut self,
        bound: &Binding,
        name: &str,
        at: Span,
    ) -> QueryError {
        let title = self.nodes.title(bound);
        if let Binding::Object(object) = bound
            && let RecordSource::Joined(parts) = &*object.source
        {
            for part in parts {
                if self.member(part, name, at).is_err() {
                    let part = self.nodes.title(part);
                    let message =
                        format!("{title} has no {name}, for {part} has none; it has what all have");
                    return QueryError::at(at, message);
                }
            }
        }
        let references = self.references_of(bound, at);
        if let Some(prefix) = prefix(bound)
            && let Some(why) = references::unfollowed(prefix, name, &Stored::of(self))
        {
            return QueryError::at(at, why);
        }
        let mut members = self.members(bound);
        let vectors = ATTRIBUTES.iter().copied();
        let known = members
            .iter()
            .chain(references.iter().map(|(name, _)| name));
        // Every vector has many names, of which some are near any short one: the collection's own come first.
        let mut suggestions = near(name, known.map(String::as_str));
        let is_own = !suggestions.is_empty();
        if !is_own {
            suggestions = near(name, vectors);
        }
        let is_bare = members.is_empty();
        let mentioned = match suggestions.iter().any(|name| refers_to(&references, name)) {
            true => Vec::new(),
            false => first_names(&references),
        };
        if is_bare {
            members = ATTRIBUTES.iter().map(|name| (*name).to_owned()).collect();
        }
        let mut message = match is_own || (is_bare && !suggestions.is_empty()) {
            true => format!("{title} has no {name}"),
            false => format!("{title} has no {name}; it has {}", listed(&members)),
        };
        if !mentioned.is_empty() {
            message = format!("{message}, and refers to {}", listed(&mentioned));
        }
        if let Binding::Object(object) = bound
            && let RecordSource::Columns { prefix, .. } = &*object.source
            && let Some((define, 2)) = self.newest(&[prefix, name])
            && let Some(define) = self.defines.get(define)
        {
            message = format!(
                "{message}; {} was defined after what this is made of",
                define.name
            );
        }
        QueryError::at(at, message).suggest(suggestions)
    }
}

/// What is said of an expression whose text is a column's name as well.
pub(in crate::compile) fn in_doubt(expression: &Expression) -> QueryError {
    let name = expression.text.trim();
    let message = format!(
        "{name} is an expression and a column's name: write `{name}` for the column, or ({name}) for \
         the expression"
    );
    QueryError::at(span(&expression.tree), message)
}

/// A name as expressions can say it.
fn quoted(name: &str) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || sign == '_' || sign == '.';
    match name.chars().all(is_plain) {
        true => name.to_owned(),
        false => format!("`{name}`"),
    }
}

/// The name that the columns of a record begin with.
fn prefix(bound: &Binding) -> Option<&str> {
    match bound {
        Binding::Object(object) => columns(object).map(|(prefix, _)| prefix),
        _ => None,
    }
}

/// Whether this is the name of a reference.
fn refers_to(references: &[(String, Reference)], name: &str) -> bool {
    references.iter().any(|(known, _)| known == name)
}

/// One name of each reference, the first.
fn first_names(references: &[(String, Reference)]) -> Vec<String> {
    let first = references.iter().enumerate().filter(|(place, (_, this))| {
        let mut before = references.iter().take(*place);
        before.all(|(_, known)| known != this)
    });
    first.map(|(_, (name, _))| name.clone()).collect()
}
