//! Names and dotted names in expressions: variables first, then what the resolver finds.

use crate::compile::nodes::builtins::{CONSTANTS, FUNCTIONS};
use crate::compile::{Binding, Compiler, Constant, Result, too_deep};
use crate::error::{QueryError, near};
use crate::limits::EXPRESSION_DEPTH;
use crate::spec::{Expr, Span};
use std::collections::BTreeSet;

impl Compiler<'_> {
    pub(in crate::compile) fn name(&mut self, name: &str, at: Span) -> Result<Binding> {
        if let Some((_, bound)) = self.locals.iter().rev().find(|(known, _)| known == name) {
            return Ok(bound.clone());
        }
        if let Some(bound) = self.names.look_up(name, at)? {
            return Ok(bound);
        }
        if let Some((_, value)) = CONSTANTS.iter().find(|(known, _)| *known == name) {
            let node = self
                .names
                .nodes
                .graph
                .constant(Constant::Float(value.to_bits()));
            return Ok(Binding::Value(node));
        }
        if FUNCTIONS.iter().any(|function| function.name == name) {
            let message = format!("{name} is a function: write {name}(…)");
            return Err(QueryError::at(at, message));
        }
        Err(self.unknown(name, at))
    }

    pub(in crate::compile) fn attribute(
        &mut self,
        value: &Expr,
        name: &str,
        at: Span,
    ) -> Result<Binding> {
        let path = self.dotted(value);
        if let Some(path) = &path {
            // Before its beginnings are looked up: that takes the square of its length at each level.
            if path.len() >= EXPRESSION_DEPTH {
                return Err(too_deep(at));
            }
            let mut whole = path.clone();
            whole.push(name);
            if let Some((define, used)) = self.names.newest(&whole) {
                let found = self.of_definition(define, used, &whole, value, at)?;
                return Ok(self.for_each_of(found, value));
            }
            // Columns may have dots in their names, so names are tried from the longest on.
            if let Some(found) = self.names.joined_name(&path.join("."), name, at)? {
                return Ok(found);
            }
        }
        let bound = match self.bind(value) {
            Ok(bound) => bound,
            // `a.b.c`, where `a.b` is not a column but has members.
            Err(error) => match path
                .filter(|path| !self.names.refers(path))
                .and_then(|path| {
                    let mut joined = ["_", "."].into_iter().map(|sign| path.join(sign));
                    joined.find_map(|joined| self.names.collection(&joined))
                }) {
                Some(object) => Binding::Object(object),
                None => return Err(error),
            },
        };
        self.names.member(&bound, name, at)
    }

    /// A constant that was defined as a member of a collection: each item has it.
    fn for_each_of(&mut self, found: Binding, value: &Expr) -> Binding {
        match found {
            Binding::Value(id) if self.names.nodes.graph.as_const(id).is_some() => {
                match self.bind(value) {
                    Ok(Binding::Object(object)) => {
                        Binding::Value(self.names.nodes.at_each_of(id, object.level))
                    }
                    _ => Binding::Value(id),
                }
            }
            other => other,
        }
    }

    /// A path whose first `used` names spell a definition; `value` is all of it but its last name.
    fn of_definition(
        &mut self,
        define: usize,
        used: usize,
        path: &[&str],
        value: &Expr,
        at: Span,
    ) -> Result<Binding> {
        let Some(mut bound) = self.names.defined(define) else {
            return Err(QueryError::at(at, "there is no such definition"));
        };
        if let Some(names) = path.get(used..)
            && !names.is_empty()
        {
            for name in names {
                bound = self.names.member(&bound, name, at)?;
            }
            return Ok(bound);
        }
        // A list beside a collection is its member if both have the same lengths.
        if matches!(bound, Binding::Value(_))
            && !self
                .names
                .nodes
                .is_single(self.names.nodes.level_of(&bound))
            && let Ok(whole) = self.bind(value)
            && self.names.is_one_collection(&whole)
            && let Some(name) = path.last()
        {
            return self.names.member(&whole, name, at);
        }
        Ok(bound)
    }

    /// The names of an expression that is only `a.b.c`, if `a` is not a variable.
    fn dotted<'e>(&self, expr: &'e Expr) -> Option<Vec<&'e str>> {
        let mut names = Vec::new();
        let mut walk = expr;
        loop {
            match walk {
                Expr::Name { id, .. } => {
                    if self.locals.iter().any(|(name, _)| name == id) {
                        return None;
                    }
                    names.push(id.as_str());
                    names.reverse();
                    return Some(names);
                }
                Expr::Attribute { value, name, .. } => {
                    names.push(name);
                    walk = value;
                }
                _ => return None,
            }
        }
    }

    pub(in crate::compile) fn unknown(&mut self, name: &str, at: Span) -> QueryError {
        let visible: Vec<usize> = self
            .names
            .definitions(self.names.scope)
            .map(|(i, _)| i)
            .collect();
        for owner in visible {
            if let Some((whole, part, _)) = self.names.defined_member(owner, name, at) {
                let message = format!("there is no column {name}: write {whole}.{part}");
                return QueryError::at(at, message);
            }
        }
        let variables = self.locals.iter().map(|(name, _)| name.as_str());
        let defined = self
            .names
            .definitions(self.names.scope)
            .map(|(_, define)| define.name.as_str())
            // Users cannot write the names of variations.
            .filter(|name| !name.contains('@'));
        let mut known: BTreeSet<&str> = variables.chain(defined).collect();
        known.extend(self.names.collections());
        let one = singular(name);
        let of_it = known.iter().filter(|known| singular(known) == one);
        let mut suggestions: Vec<String> = of_it.map(|known| (*known).to_owned()).collect();
        if suggestions.is_empty() {
            let stored = self.names.nodes.schema.names().map(|(name, _)| name);
            suggestions = near(name, known.into_iter().chain(stored));
        }
        QueryError::no_column(at, name).suggest(suggestions)
    }
}

/// A name in small letters and without the sign of a plural.
fn singular(name: &str) -> String {
    name.to_lowercase().trim_end_matches('s').to_owned()
}
