//! Four-vectors: coordinates computed from those that are stored, sums, and what scikit-hep's
//! vector calls the rest. The formulas are those of that package, so that results agree.
//!
//! A coordinate of a record is computed at the level of its columns, after items have been left out and before they
//! are repeated. So it is computed once per item, in however many pairs the item is.

pub(super) mod boosts;
pub(super) mod concatenated;
pub(super) mod kinematics;
pub(super) mod tracks;
pub(super) mod two_vectors;

use crate::compile::nodes::coordinates::{COORDINATES, Coordinate, is_stored};
use crate::compile::nodes::objects::{Move, Object, RecordSource};
use crate::compile::{Binding, NodeId, Resolver, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Compare, Map, Real1, Real2, Root};
use crate::spec::Span;

impl Resolver<'_> {
    /// A coordinate, where the vector stands.
    pub(in crate::compile) fn coordinate(
        &mut self,
        bound: &Binding,
        part: Coordinate,
        at: Span,
    ) -> Result<NodeId> {
        let found = self.find_coordinate(bound, part, at)?;
        if found.is_none()
            && let Binding::Sum { terms, .. } = bound
        {
            // The term that lacks something is to blame.
            for term in [&terms.0, &terms.1] {
                for part in [
                    Coordinate::Px,
                    Coordinate::Py,
                    Coordinate::Pz,
                    Coordinate::Energy,
                ] {
                    self.coordinate(term, part, at)?;
                }
            }
        }
        found.ok_or_else(|| {
            let title = self.nodes.title(bound);
            let name = part.name();
            let members = self.members(bound);
            let stored: Vec<&str> = members
                .iter()
                .map(String::as_str)
                .filter(|name| COORDINATES.iter().any(|(known, _)| known == name))
                .collect();
            let has = if stored.is_empty() {
                "no coordinates".to_owned()
            } else {
                format!("only {}", stored.join(", "))
            };
            let message = format!(
                "{title} has no {name}, and it cannot be computed: it has {has}; \
                 vector(pt=…, eta=…, phi=…, mass=…) makes a vector of any values"
            );
            QueryError::at(at, message)
        })
    }

    pub(in crate::compile) fn find_coordinate(
        &mut self,
        bound: &Binding,
        part: Coordinate,
        at: Span,
    ) -> Result<Option<NodeId>> {
        match bound {
            Binding::Value(_) | Binding::Tuple { .. } | Binding::Provided(_) => {
                let title = self.nodes.title(bound);
                let message = format!("{title} is no vector");
                Err(QueryError::at(at, message))
            }
            Binding::Sum { terms, minus, .. } if part.is_cartesian() => {
                let op = if *minus {
                    Arithmetic::Sub
                } else {
                    Arithmetic::Add
                };
                let (a, b) = (
                    self.find_coordinate(&terms.0, part, at)?,
                    self.find_coordinate(&terms.1, part, at)?,
                );
                let (Some(a), Some(b)) = (a, b) else {
                    return Ok(None);
                };
                let both = self.nodes.together(&[a, b], at)?;
                Ok(Some(self.nodes.real(op, both[0], both[1])))
            }
            Binding::Scaled { vector, factor, .. } if part.is_cartesian() => {
                let (vector, factor) = (vector.clone(), *factor);
                let Some(found) = self.find_coordinate(&vector, part, at)? else {
                    return Ok(None);
                };
                let both = self.nodes.together(&[found, factor], at)?;
                Ok(Some(self.nodes.real(Arithmetic::Mul, both[0], both[1])))
            }
            Binding::Scaled { vector, factor, .. } => {
                let (vector, factor) = (vector.clone(), *factor);
                let found = self.find_coordinate(&vector, part, at)?;
                found
                    .map(|id| self.nodes.scaled_part(part, id, factor, at))
                    .transpose()
            }
            Binding::Sum { .. } => self.computed(bound, part, at),
            Binding::Choice {
                condition, sides, ..
            } => {
                let (condition, sides) = (*condition, sides.clone());
                let (a, b) = (
                    self.find_coordinate(&sides.0, part, at)?,
                    self.find_coordinate(&sides.1, part, at)?,
                );
                match (a, b) {
                    (Some(a), Some(b)) => self.nodes.select(condition, a, b, at).map(Some),
                    _ => Ok(None),
                }
            }
            Binding::Object(object) => self.of_record(object, part, at),
        }
    }

    /// A coordinate of a record: stored, or computed where that is done the fewest times.
    pub(in crate::compile) fn of_record(
        &mut self,
        object: &Object,
        part: Coordinate,
        at: Span,
    ) -> Result<Option<NodeId>> {
        let whole = Binding::Object(object.clone());
        if let Some(found) = self.stored_coordinate(&whole, part, at)? {
            return Ok(Some(found));
        }
        if let RecordSource::Joined(parts) = &*object.source
            && !self.are_alike(&whole, parts, at)?
        {
            let node = self.joined_coordinate(parts, object.base, part, at)?;
            return Ok(node.map(|node| self.nodes.through(node, &object.moves)));
        }
        if let RecordSource::Amended { of, members, .. } = &*object.source
            && (!matches!(of, Binding::Object(_))
                || !members.iter().any(|(name, _)| is_stored(name)))
        {
            let node = self.find_coordinate(of, part, at)?;
            return Ok(node.map(|node| self.nodes.through(node, &object.moves)));
        }
        let repeats = |how: &Move| match how {
            Move::Spread(_) => true,
            Move::Take(level, _) => self.nodes.graph.level(*level).kind.expands(),
            Move::Align(_) | Move::At { .. } => false,
        };
        let first = object.moves.iter().position(repeats);
        let (before, after) = object.moves.split_at(first.unwrap_or(object.moves.len()));
        let mut near = Object {
            moves: Vec::new(),
            level: object.base,
            ..object.clone()
        };
        for how in before {
            if let Binding::Object(moved) = self.nodes.carried(&Binding::Object(near.clone()), *how)
            {
                near = moved;
            }
        }
        let Some(node) = self.computed(&Binding::Object(near), part, at)? else {
            return Ok(None);
        };
        Ok(Some(self.nodes.through(node, after)))
    }

    /// A coordinate that a record's columns hold.
    pub(in crate::compile) fn stored_coordinate(
        &mut self,
        bound: &Binding,
        part: Coordinate,
        at: Span,
    ) -> Result<Option<NodeId>> {
        for name in part.stored() {
            if let Some(Binding::Value(id)) = self.stored(bound, name, at)? {
                return Ok(Some(self.nodes.real_of(id)));
            }
        }
        self.of_track(bound, part, at)
    }

    /// A coordinate that is stored, or for sums: computed without a detour.
    pub(in crate::compile) fn given(
        &mut self,
        bound: &Binding,
        part: Coordinate,
        at: Span,
    ) -> Result<Option<NodeId>> {
        match bound {
            Binding::Object(_) => self.stored_coordinate(bound, part, at),
            Binding::Choice { .. } => self.find_coordinate(bound, part, at),
            _ if part.is_cartesian() => self.find_coordinate(bound, part, at),
            Binding::Scaled { vector, factor, .. } => {
                let (vector, factor) = (vector.clone(), *factor);
                let found = self.given(&vector, part, at)?;
                found
                    .map(|id| self.nodes.scaled_part(part, id, factor, at))
                    .transpose()
            }
            _ => Ok(None),
        }
    }

    /// A coordinate from others.
    pub(in crate::compile) fn computed(
        &mut self,
        bound: &Binding,
        part: Coordinate,
        at: Span,
    ) -> Result<Option<NodeId>> {
        let mut given = |part| self.given(bound, part, at);
        match part {
            Coordinate::Px | Coordinate::Py => {
                let (Some(pt), Some(phi)) = (given(Coordinate::Pt)?, given(Coordinate::Phi)?)
                else {
                    return Ok(None);
                };
                let op = match part {
                    Coordinate::Px => Map::Px,
                    _ => Map::Py,
                };
                Ok(Some(self.nodes.map(op, &[pt, phi], Type::Float)))
            }
            Coordinate::Pt => {
                let (Some(x), Some(y)) = (given(Coordinate::Px)?, given(Coordinate::Py)?) else {
                    return Ok(None);
                };
                Ok(Some(self.nodes.sum_of_squares(&[x, y], Root::Sqrt)))
            }
            Coordinate::Phi => {
                let (Some(x), Some(y)) = (given(Coordinate::Px)?, given(Coordinate::Py)?) else {
                    return Ok(None);
                };
                Ok(Some(self.nodes.map(
                    Map::Real2(Real2::Atan2),
                    &[y, x],
                    Type::Float,
                )))
            }
            Coordinate::Pz => {
                let Some(eta) = given(Coordinate::Eta)? else {
                    return Ok(None);
                };
                let Some(pt) = self.given_or_computed(bound, Coordinate::Pt, at)? else {
                    return Ok(None);
                };
                Ok(Some(self.nodes.map(Map::Pz, &[pt, eta], Type::Float)))
            }
            Coordinate::Eta => {
                let Some(z) = given(Coordinate::Pz)? else {
                    return Ok(None);
                };
                let Some(pt) = self.given_or_computed(bound, Coordinate::Pt, at)? else {
                    return Ok(None);
                };
                let ratio = self.nodes.real(Arithmetic::Div, z, pt);
                let eta = self.nodes.math(Real1::Asinh, ratio);
                // No momentum along the beam gives 0, even if there is no momentum at all.
                let zero = self.nodes.number(0.0);
                let flat = self
                    .nodes
                    .map(Map::CompareReal(Compare::Eq), &[z, zero], Type::Bool);
                self.nodes.select(flat, zero, eta, at).map(Some)
            }
            Coordinate::Energy => {
                let Some(mass) = given(Coordinate::Mass)? else {
                    return Ok(None);
                };
                let Some(parts) = self.momentum_parts(bound, at)? else {
                    return Ok(None);
                };
                if let &[pt, z] = parts.as_slice() {
                    return Ok(Some(self.nodes.map(
                        Map::Energy,
                        &[pt, z, mass],
                        Type::Float,
                    )));
                }
                let p2 = self.nodes.sum_of_squares(&parts, Root::Plain);
                let square = self.nodes.square(mass);
                let m2 = self
                    .nodes
                    .map(Map::Real2(Real2::CopySign), &[square, mass], Type::Float);
                let e2 = self.nodes.real(Arithmetic::Add, m2, p2);
                let zero = self.nodes.number(0.0);
                let e2 = self
                    .nodes
                    .map(Map::Real2(Real2::Max), &[e2, zero], Type::Float);
                Ok(Some(self.nodes.root(e2)))
            }
            Coordinate::Mass => {
                let Some(e) = given(Coordinate::Energy)? else {
                    return Ok(None);
                };
                let parts = self.momentum_parts(bound, at)?;
                Ok(parts.map(|parts| self.nodes.square_less(e, &parts, Root::Signed)))
            }
        }
    }

    /// A coordinate that is given, or computed.
    pub(in crate::compile) fn given_or_computed(
        &mut self,
        bound: &Binding,
        part: Coordinate,
        at: Span,
    ) -> Result<Option<NodeId>> {
        match self.given(bound, part, at)? {
            Some(found) => Ok(Some(found)),
            None => self.computed(bound, part, at),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::compile::{EVENT, Op};
    use crate::kernel::Map;
    use crate::schema::Schema;
    use crate::spec::Relations;
    use std::rc::Rc;

    const AT: Span = (0, 0);

    /// A vector of the event whose coordinates are these constants.
    fn vector(names: &mut Resolver, parts: &[(&str, f64)]) -> Binding {
        let fields = parts
            .iter()
            .map(|(name, value)| ((*name).to_owned(), names.nodes.number(*value)));
        Binding::Object(Object {
            source: Rc::new(RecordSource::Made(fields.collect())),
            base: EVENT,
            moves: Vec::new(),
            level: EVENT,
        })
    }

    fn constant(names: &Resolver, id: NodeId) -> f64 {
        names
            .nodes
            .graph
            .as_const(id)
            .map_or(f64::NAN, |x| x.as_f64())
    }

    #[test]
    fn coordinates_come_from_those_that_are_stored() {
        let (schema, relations) = (Schema::default(), Relations::default());
        let mut names = Resolver::new(&schema, &relations);
        let polar = vector(
            &mut names,
            &[("pt", 5.0), ("phi", 0.0), ("eta", 0.0), ("mass", 12.0)],
        );
        for (part, expected) in [
            (Coordinate::Px, 5.0),
            (Coordinate::Py, 0.0),
            (Coordinate::Pz, 0.0),
            (Coordinate::Energy, 13.0),
            (Coordinate::Mass, 12.0),
        ] {
            let id = names.coordinate(&polar, part, AT).unwrap();
            assert!((constant(&names, id) - expected).abs() < 1e-12, "{part:?}");
        }
    }

    #[test]
    fn a_sum_has_the_mass_of_both_together() {
        let (schema, relations) = (Schema::default(), Relations::default());
        let mut names = Resolver::new(&schema, &relations);
        let parts = |x: f64| [("px", x), ("py", 0.0), ("pz", 0.0), ("energy", 5.0)];
        let (a, b) = (
            vector(&mut names, &parts(3.0)),
            vector(&mut names, &parts(-3.0)),
        );
        let sum = Binding::Sum {
            terms: Rc::new((a, b)),
            minus: false,
            level: EVENT,
        };
        let mass = names.coordinate(&sum, Coordinate::Mass, AT).unwrap();
        assert!((constant(&names, mass) - 10.0).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_computed_is_named() {
        let (schema, relations) = (Schema::default(), Relations::default());
        let mut names = Resolver::new(&schema, &relations);
        let flat = vector(&mut names, &[("pt", 5.0), ("phi", 0.0)]);
        let error = names.coordinate(&flat, Coordinate::Mass, AT).unwrap_err();
        assert!(error.to_string().contains("mass"), "{error}");
        // What there is suffices for what lies in the plane.
        let px = names.coordinate(&flat, Coordinate::Px, AT).unwrap();
        let of_constants = names.nodes.graph.as_const(px).is_some();
        assert!(of_constants || matches!(names.nodes.graph.node(px).op, Op::Map(Map::Px)));
    }
}
