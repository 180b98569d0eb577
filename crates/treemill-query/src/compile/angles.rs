//! Angles of vectors, and what a factor makes of them, as scikit-hep's vector has them: from
//! pseudorapidity if that is stored, which has a direction without transverse momentum, too.

use super::vectors::Coordinate;
use super::{Binding, Builder, NodeId, Resolver, Result, Type};
use crate::kernel::{Arithmetic, Compare, Map, Real1, Real2, Root};
use crate::spec::Span;
use std::f64::consts::PI;

impl Resolver<'_> {
    pub(super) fn theta(&mut self, bound: &Binding, at: Span) -> Result<NodeId> {
        let Some(eta) = self.given(bound, Coordinate::Eta, at)? else {
            let cosine = self.cosine_of_theta(bound, at)?;
            return Ok(self.nodes.math(Real1::Acos, cosine));
        };
        let turned = self.nodes.map(Map::Negate, &[eta], Type::Float);
        let power = self.nodes.math(Real1::Exp, turned);
        let half = self.nodes.math(Real1::Atan, power);
        let two = self.nodes.number(2.0);
        Ok(self.nodes.real(Arithmetic::Mul, two, half))
    }

    pub(super) fn cosine_of_theta(&mut self, bound: &Binding, at: Span) -> Result<NodeId> {
        if let Some(eta) = self.given(bound, Coordinate::Eta, at)? {
            return Ok(self.nodes.math(Real1::Tanh, eta));
        }
        let z = self.coordinate(bound, Coordinate::Pz, at)?;
        let p = self.momentum(bound, Root::Sqrt, at)?;
        let ratio = self.nodes.real(Arithmetic::Div, z, p);
        Ok(self.nodes.unless_nan(ratio, 1.0))
    }

    pub(super) fn cotangent_of_theta(&mut self, bound: &Binding, at: Span) -> Result<NodeId> {
        if let Some(eta) = self.given(bound, Coordinate::Eta, at)? {
            return Ok(self.nodes.math(Real1::Sinh, eta));
        }
        let z = self.coordinate(bound, Coordinate::Pz, at)?;
        let pt = self.coordinate(bound, Coordinate::Pt, at)?;
        let ratio = self.nodes.real(Arithmetic::Div, z, pt);
        Ok(self.nodes.unless_nan(ratio, f64::INFINITY))
    }

    /// The energy times the sine of theta.
    pub(super) fn transverse_energy(&mut self, bound: &Binding, at: Span) -> Result<NodeId> {
        let e = self.coordinate(bound, Coordinate::Energy, at)?;
        if let Some(eta) = self.given(bound, Coordinate::Eta, at)? {
            let cosh = self.nodes.math(Real1::Cosh, eta);
            return Ok(self.nodes.real(Arithmetic::Div, e, cosh));
        }
        let pt = self.coordinate(bound, Coordinate::Pt, at)?;
        let p = self.momentum(bound, Root::Sqrt, at)?;
        let sine = self.nodes.real(Arithmetic::Div, pt, p);
        Ok(self.nodes.real(Arithmetic::Mul, e, sine))
    }
}

impl Builder<'_> {
    /// What a coordinate that is not Cartesian becomes when its vector is multiplied.
    pub(super) fn scaled_part(
        &mut self,
        part: Coordinate,
        found: NodeId,
        factor: NodeId,
        at: Span,
    ) -> Result<NodeId> {
        let both = self.together(&[found, factor], at)?;
        Ok(self.scaled_value(part, both[0], both[1]))
    }

    /// The values at one level.
    pub(super) fn scaled_value(
        &mut self,
        part: Coordinate,
        found: NodeId,
        factor: NodeId,
    ) -> NodeId {
        if matches!(part, Coordinate::Pt | Coordinate::Mass) {
            let size = self.math(Real1::Abs, factor);
            return self.real(Arithmetic::Mul, size, found);
        }
        let zero = self.number(0.0);
        let turns = self.map(Map::CompareReal(Compare::Lt), &[factor, zero], Type::Bool);
        if part == Coordinate::Eta {
            let turned = self.map(Map::Negate, &[found], Type::Float);
            return self.map(Map::SelectReal, &[turns, turned, found], Type::Float);
        }
        let half_turn = self.number(PI);
        let by = self.map(Map::SelectReal, &[turns, half_turn, zero], Type::Float);
        self.map(Map::Real2(Real2::DeltaPhi), &[found, by], Type::Float)
    }
}
