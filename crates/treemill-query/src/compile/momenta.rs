//! Momenta and masses, put together from a vector's coordinates as sums of squares.

use super::vectors::Coordinate;
use super::{Binding, NodeId, Resolver, Result, Type};
use crate::kernel::{Arithmetic, Map, Real2, Root};
use crate::spec::Span;

impl Resolver<'_> {
    /// What the momentum is put together from: pt and pz, or px, py and pz.
    pub(super) fn momentum_parts(
        &mut self,
        bound: &Binding,
        at: Span,
    ) -> Result<Option<Vec<NodeId>>> {
        let Some(z) = self.given_or_computed(bound, Coordinate::Pz, at)? else {
            return Ok(None);
        };
        if let Some(pt) = self.given(bound, Coordinate::Pt, at)? {
            return Ok(Some(vec![pt, z]));
        }
        let (Some(x), Some(y)) = (
            self.given_or_computed(bound, Coordinate::Px, at)?,
            self.given_or_computed(bound, Coordinate::Py, at)?,
        ) else {
            return Ok(None);
        };
        Ok(Some(vec![x, y, z]))
    }

    /// The parts that `momentum_parts` gives; an error names what is not there.
    pub(super) fn known_momentum_parts(
        &mut self,
        bound: &Binding,
        at: Span,
    ) -> Result<Vec<NodeId>> {
        match self.momentum_parts(bound, at)? {
            Some(found) => Ok(found),
            None => Ok(vec![
                self.coordinate(bound, Coordinate::Pt, at)?,
                self.coordinate(bound, Coordinate::Pz, at)?,
            ]),
        }
    }

    /// The momentum, or its square.
    pub(super) fn momentum(&mut self, bound: &Binding, root: Root, at: Span) -> Result<NodeId> {
        let parts = self.known_momentum_parts(bound, at)?;
        Ok(self.nodes.sum_of_squares(&parts, root))
    }

    pub(super) fn mass2(&mut self, bound: &Binding, at: Span) -> Result<NodeId> {
        if let Some(mass) = self.given(bound, Coordinate::Mass, at)? {
            let square = self.nodes.square(mass);
            return Ok(self
                .nodes
                .map(Map::Real2(Real2::CopySign), &[square, mass], Type::Float));
        }
        let e = self.coordinate(bound, Coordinate::Energy, at)?;
        let parts = self.known_momentum_parts(bound, at)?;
        Ok(self.nodes.square_less(e, &parts, Root::Plain))
    }

    /// The mass without what goes along the beam, or its square.
    pub(super) fn transverse_mass(
        &mut self,
        bound: &Binding,
        root: Root,
        at: Span,
    ) -> Result<NodeId> {
        if let Some(mass) = self.given(bound, Coordinate::Mass, at)? {
            let square = self.nodes.square(mass);
            let m2 = self
                .nodes
                .map(Map::Real2(Real2::CopySign), &[square, mass], Type::Float);
            let pt = self.coordinate(bound, Coordinate::Pt, at)?;
            let pt2 = self.nodes.square(pt);
            let mt2 = self.nodes.real(Arithmetic::Add, m2, pt2);
            return Ok(match root {
                Root::Plain => mt2,
                _ => self.nodes.signed_root(mt2),
            });
        }
        let e = self.coordinate(bound, Coordinate::Energy, at)?;
        let z = self.coordinate(bound, Coordinate::Pz, at)?;
        Ok(self.nodes.square_less(e, &[z], root))
    }
}
