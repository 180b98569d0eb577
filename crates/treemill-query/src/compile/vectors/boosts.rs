//! Vectors turned about an axis and seen from another frame: methods with the names and formulas of
//! scikit-hep's vector. Their results are vectors of values, without the members of what they came from.

use crate::compile::nodes::coordinates::Coordinate;
use crate::compile::{Binding, NodeId, Resolver, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Compare, Map, Real1, Real2, Root};
use crate::spec::Span;

const MOMENTUM: [Coordinate; 3] = [Coordinate::Px, Coordinate::Py, Coordinate::Pz];

impl Resolver<'_> {
    /// Only the azimuth changes; all else stays as it is stored.
    pub(in crate::compile) fn rotated_about_beam(
        &mut self,
        vector: &Binding,
        angle: NodeId,
        at: Span,
    ) -> Result<Binding> {
        let mut parts = Vec::new();
        let polar = (
            self.given(vector, Coordinate::Pt, at)?,
            self.given(vector, Coordinate::Phi, at)?,
        );
        let along = match self.given(vector, Coordinate::Eta, at)? {
            Some(eta) => Some((Coordinate::Eta, eta)),
            None => self
                .given(vector, Coordinate::Pz, at)?
                .map(|z| (Coordinate::Pz, z)),
        };
        parts.extend(along);
        parts.extend(self.time_of(vector, at)?);
        let (Some(pt), Some(phi)) = polar else {
            let (x, y) = (
                self.coordinate(vector, Coordinate::Px, at)?,
                self.coordinate(vector, Coordinate::Py, at)?,
            );
            return self.nodes.turned_plane(
                parts,
                [(Coordinate::Px, x), (Coordinate::Py, y)],
                angle,
                at,
            );
        };
        parts.extend([(Coordinate::Pt, pt), (Coordinate::Phi, phi)]);
        let (mut parts, angle) = self.nodes.with_number(parts, angle, at)?;
        for (part, id) in &mut parts {
            if *part == Coordinate::Phi {
                let back = self.nodes.map(Map::Negate, &[angle], Type::Float);
                *id = self
                    .nodes
                    .map(Map::Real2(Real2::DeltaPhi), &[*id, back], Type::Float);
            }
        }
        Ok(self.nodes.made_of(parts))
    }

    pub(in crate::compile) fn rotated(
        &mut self,
        vector: &Binding,
        axis: Coordinate,
        angle: NodeId,
        at: Span,
    ) -> Result<Binding> {
        let plane = match axis {
            Coordinate::Px => [Coordinate::Py, Coordinate::Pz],
            _ => [Coordinate::Pz, Coordinate::Px],
        };
        let mut others = vec![(axis, self.coordinate(vector, axis, at)?)];
        others.extend(self.time_of(vector, at)?);
        let plane = [
            (plane[0], self.coordinate(vector, plane[0], at)?),
            (plane[1], self.coordinate(vector, plane[1], at)?),
        ];
        self.nodes.turned_plane(others, plane, angle, at)
    }

    pub(in crate::compile) fn boosted_along(
        &mut self,
        vector: &Binding,
        axis: Coordinate,
        is_gamma: bool,
        number: NodeId,
        at: Span,
    ) -> Result<Binding> {
        let (parts, number) = self.cartesian_beside(vector, number, at)?;
        let one = self.nodes.number(1.0);
        let square = self.nodes.square(number);
        let (gamma, product) = if is_gamma {
            let rest = self.nodes.real(Arithmetic::Sub, square, one);
            let size = self.nodes.root(rest);
            let signed = self
                .nodes
                .map(Map::Real2(Real2::CopySign), &[size, number], Type::Float);
            (self.nodes.math(Real1::Abs, number), signed)
        } else {
            let rest = self.nodes.real(Arithmetic::Sub, one, square);
            let root = self.nodes.root(rest);
            let gamma = self.nodes.real(Arithmetic::Div, one, root);
            (gamma, self.nodes.real(Arithmetic::Mul, number, gamma))
        };
        let energy = parts[3].1;
        let mut found = parts.clone();
        for (part, id) in &mut found {
            if *part == axis {
                let a = self.nodes.real(Arithmetic::Mul, gamma, *id);
                let b = self.nodes.real(Arithmetic::Mul, product, energy);
                let (c, d) = (
                    self.nodes.real(Arithmetic::Mul, product, *id),
                    self.nodes.real(Arithmetic::Mul, gamma, energy),
                );
                *id = self.nodes.real(Arithmetic::Add, a, b);
                let energy = self.nodes.real(Arithmetic::Add, c, d);
                found[3].1 = energy;
                break;
            }
        }
        Ok(self.nodes.made_of(found))
    }

    /// `a.boost(b)` and its kin: `b` is a momentum with energy, or a velocity.
    pub(in crate::compile) fn boosted(
        &mut self,
        name: &str,
        a: Binding,
        b: Binding,
        at: Span,
    ) -> Result<Binding> {
        let to_rest = name.starts_with("boostCM_of");
        let has_energy = self.find_coordinate(&b, Coordinate::Energy, at)?.is_some();
        let is_momentum = match name {
            "boost_p4" | "boostCM_of_p4" => true,
            "boost_beta3" | "boostCM_of_beta3" => false,
            _ => has_energy,
        };
        let mut ids = Vec::with_capacity(8);
        for part in MOMENTUM.into_iter().chain([Coordinate::Energy]) {
            ids.push(self.coordinate(&a, part, at)?);
        }
        for part in MOMENTUM {
            ids.push(self.coordinate(&b, part, at)?);
        }
        if is_momentum {
            ids.push(self.coordinate(&b, Coordinate::Energy, at)?);
            ids.push(self.coordinate(&b, Coordinate::Mass, at)?);
        }
        let mut ids = self.nodes.together(&ids, at)?;
        let by = ids.split_off(4);
        let one = self.nodes.number(1.0);
        // What goes with each component of the velocity: gamma times it.
        let (gamma, speeds): (NodeId, Vec<NodeId>) = if let &[x, y, z, energy, mass] = by.as_slice()
        {
            // Faster than light there is no Lorentz factor. A mass below zero stands for that.
            let (zero, none) = (self.nodes.number(0.0), self.nodes.number(f64::NAN));
            let is_faster = self.nodes.compare(Compare::Lt, mass, zero, at)?;
            let mass = self.nodes.select(is_faster, none, mass, at)?;
            let gamma = self.nodes.real(Arithmetic::Div, energy, mass);
            let speeds = [x, y, z].map(|p| self.nodes.real(Arithmetic::Div, p, mass));
            (gamma, speeds.to_vec())
        } else {
            let square = self.nodes.sum_of_squares(&by, Root::Plain);
            let rest = self.nodes.real(Arithmetic::Sub, one, square);
            let root = self.nodes.root(rest);
            let gamma = self.nodes.real(Arithmetic::Div, one, root);
            let speeds = by
                .iter()
                .map(|v| self.nodes.real(Arithmetic::Mul, gamma, *v));
            (gamma, speeds.collect())
        };
        let speeds: Vec<NodeId> = match to_rest {
            true => (speeds.iter())
                .map(|v| self.nodes.map(Map::Negate, &[*v], Type::Float))
                .collect(),
            false => speeds,
        };
        let mut dot: Option<NodeId> = None;
        for (speed, p) in speeds.iter().zip(&ids) {
            let product = self.nodes.real(Arithmetic::Mul, *speed, *p);
            dot = Some(match dot {
                None => product,
                Some(sum) => self.nodes.real(Arithmetic::Add, sum, product),
            });
        }
        let dot = dot.ok_or_else(|| QueryError::at(at, "a velocity has components"))?;
        let above = self.nodes.real(Arithmetic::Add, gamma, one);
        let share = self.nodes.real(Arithmetic::Div, dot, above);
        let along = self.nodes.real(Arithmetic::Add, share, ids[3]);
        let mut found = Vec::with_capacity(4);
        for ((part, speed), p) in MOMENTUM.into_iter().zip(&speeds).zip(&ids) {
            let more = self.nodes.real(Arithmetic::Mul, *speed, along);
            found.push((part, self.nodes.real(Arithmetic::Add, *p, more)));
        }
        let energy = self.nodes.real(Arithmetic::Mul, gamma, ids[3]);
        found.push((
            Coordinate::Energy,
            self.nodes.real(Arithmetic::Add, energy, dot),
        ));
        Ok(self.nodes.made_of(found))
    }

    /// Mass or energy, whichever the vector has, or can tell.
    pub(in crate::compile) fn time_of(
        &mut self,
        vector: &Binding,
        at: Span,
    ) -> Result<Option<(Coordinate, NodeId)>> {
        if let Some(mass) = self.given(vector, Coordinate::Mass, at)? {
            return Ok(Some((Coordinate::Mass, mass)));
        }
        let energy = self.find_coordinate(vector, Coordinate::Energy, at)?;
        Ok(energy.map(|energy| (Coordinate::Energy, energy)))
    }

    pub(in crate::compile) fn cartesian_beside(
        &mut self,
        vector: &Binding,
        number: NodeId,
        at: Span,
    ) -> Result<(Vec<(Coordinate, NodeId)>, NodeId)> {
        let mut parts = Vec::with_capacity(4);
        for part in MOMENTUM.into_iter().chain([Coordinate::Energy]) {
            parts.push((part, self.coordinate(vector, part, at)?));
        }
        self.nodes.with_number(parts, number, at)
    }
}
