//! Coordinates of the vectors of concatenated collections.

use crate::compile::nodes::coordinates::Coordinate;
use crate::compile::{Binding, LevelId, NodeId, Resolver, Result};
use crate::spec::Span;

impl Resolver<'_> {
    /// A coordinate of all parts, concatenated.
    pub(in crate::compile) fn joined_coordinate(
        &mut self,
        parts: &[Binding],
        level: LevelId,
        part: Coordinate,
        at: Span,
    ) -> Result<Option<NodeId>> {
        let mut found = Vec::with_capacity(parts.len());
        for each in parts {
            match self.find_coordinate(each, part, at)? {
                Some(id) => found.push(id),
                None => return Ok(None),
            }
        }
        self.nodes.joined_values(&found, level, at).map(Some)
    }

    /// Whether the parts of joined records all have what the joined ones have, and nothing else of a
    /// vector: then that is joined, and computed on once instead of once for each part.
    pub(in crate::compile) fn are_alike(
        &mut self,
        whole: &Binding,
        parts: &[Binding],
        at: Span,
    ) -> Result<bool> {
        for part in [
            Coordinate::Pt,
            Coordinate::Eta,
            Coordinate::Phi,
            Coordinate::Mass,
        ] {
            if self.given(whole, part, at)?.is_none() {
                return Ok(false);
            }
        }
        for part in [
            Coordinate::Px,
            Coordinate::Py,
            Coordinate::Pz,
            Coordinate::Energy,
        ] {
            for each in parts {
                if self.given(each, part, at)?.is_some() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
