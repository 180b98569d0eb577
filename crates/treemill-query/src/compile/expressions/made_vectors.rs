//! Vectors of the user's own values.

use crate::compile::nodes::coordinates::{COORDINATES, Coordinate};
use crate::compile::nodes::objects::{Object, RecordSource};
use crate::compile::{Binding, Compiler, EVENT, Result, Type, span};
use crate::error::QueryError;
use crate::spec::{Expr, Span};
use std::rc::Rc;

/// Coordinates that say the same of a vector: it is made of those of one side.
const EITHER: &[(&[Coordinate], &[Coordinate])] = &[
    (
        &[Coordinate::Pt, Coordinate::Phi],
        &[Coordinate::Px, Coordinate::Py],
    ),
    (&[Coordinate::Eta], &[Coordinate::Pz]),
    (&[Coordinate::Mass], &[Coordinate::Energy]),
];

impl Compiler<'_> {
    /// `vector(pt=…, eta=…, phi=…, mass=…)`
    pub(in crate::compile) fn made_vector(
        &mut self,
        keywords: &[(String, Expr)],
        at: Span,
    ) -> Result<Binding> {
        let mut ids = Vec::with_capacity(keywords.len());
        let mut parts: Vec<Coordinate> = Vec::with_capacity(keywords.len());
        for (name, value) in keywords {
            let Some((_, part)) = COORDINATES.iter().find(|(known, _)| known == name) else {
                let mut names: Vec<&str> =
                    COORDINATES.iter().map(|(_, part)| part.name()).collect();
                names.dedup();
                let near = crate::error::near(name, names.iter().copied());
                let message = format!("vector(…) takes {}, and no {name}", names.join(", "));
                return Err(QueryError::at(span(value), message).suggest(near));
            };
            let says = |of: &[Coordinate]| of.contains(part);
            let same = EITHER
                .iter()
                .find_map(|(one, other)| match (says(one), says(other)) {
                    (true, _) => Some(*other),
                    (_, true) => Some(*one),
                    _ => None,
                });
            let is_known = |known: &&Coordinate| {
                *known == part || same.is_some_and(|same| same.contains(known))
            };
            if let Some(known) = parts.iter().find(is_known) {
                let message = match known == part {
                    true => format!("vector(…) takes {} once", part.name()),
                    false => format!(
                        "vector(…) takes {} or {}, not both",
                        known.name(),
                        part.name()
                    ),
                };
                return Err(QueryError::at(span(value), message));
            }
            let id = self.value(value)?;
            if self.names.nodes.type_of(id) == Type::Str {
                return Err(QueryError::at(span(value), "a coordinate is a number"));
            }
            parts.push(*part);
            ids.push(id);
        }
        if ids.is_empty() {
            let message = "vector(pt=…, eta=…, phi=…, mass=…) takes coordinates by name";
            return Err(QueryError::at(at, message));
        }
        let ids = self.names.nodes.together(&ids, at)?;
        let levels: Vec<_> = ids
            .iter()
            .filter(|id| self.names.nodes.graph.as_const(**id).is_none())
            .map(|id| self.names.nodes.graph.node(*id).level)
            .collect();
        let base = levels.first().copied().unwrap_or(EVENT);
        let names = parts.iter().map(|part| part.name().to_owned());
        Ok(Binding::Object(Object {
            source: Rc::new(RecordSource::Made(names.zip(ids).collect())),
            base,
            moves: Vec::new(),
            level: base,
        }))
    }
}
