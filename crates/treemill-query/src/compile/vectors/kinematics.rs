//! What scikit-hep's vector has beside coordinates: masses, momenta, angles to the beam, rapidity. The formulas are those of
//! that package, so that results agree.

use crate::compile::nodes::coordinates::{COORDINATES, Coordinate};
use crate::compile::{Binding, NodeId, Resolver, Result, Type};
use crate::kernel::{Arithmetic, Map, Real1, Real2, Root};
use crate::spec::Span;

impl Resolver<'_> {
    pub(in crate::compile) fn theta(&mut self, bound: &Binding, at: Span) -> Result<NodeId> {
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

    pub(in crate::compile) fn cosine_of_theta(
        &mut self,
        bound: &Binding,
        at: Span,
    ) -> Result<NodeId> {
        if let Some(eta) = self.given(bound, Coordinate::Eta, at)? {
            return Ok(self.nodes.math(Real1::Tanh, eta));
        }
        let z = self.coordinate(bound, Coordinate::Pz, at)?;
        let p = self.momentum(bound, Root::Sqrt, at)?;
        let ratio = self.nodes.real(Arithmetic::Div, z, p);
        Ok(self.nodes.unless_nan(ratio, 1.0))
    }

    pub(in crate::compile) fn cotangent_of_theta(
        &mut self,
        bound: &Binding,
        at: Span,
    ) -> Result<NodeId> {
        if let Some(eta) = self.given(bound, Coordinate::Eta, at)? {
            return Ok(self.nodes.math(Real1::Sinh, eta));
        }
        let z = self.coordinate(bound, Coordinate::Pz, at)?;
        let pt = self.coordinate(bound, Coordinate::Pt, at)?;
        let ratio = self.nodes.real(Arithmetic::Div, z, pt);
        Ok(self.nodes.unless_nan(ratio, f64::INFINITY))
    }

    /// The energy times the sine of theta.
    pub(in crate::compile) fn transverse_energy(
        &mut self,
        bound: &Binding,
        at: Span,
    ) -> Result<NodeId> {
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

    /// A computed attribute, or `None` if vectors have none of this name.
    pub(in crate::compile) fn derived(
        &mut self,
        bound: &Binding,
        name: &str,
        at: Span,
    ) -> Result<Option<NodeId>> {
        // ROOT's: of a four-vector its mass, of a vector of three parts its length.
        let name = match name {
            "Mag" | "Mag2" if !self.has_energy(bound, at)? => &name.to_lowercase(),
            "Mag" => "mass",
            "Mag2" => "mass2",
            _ => name,
        };
        if let Some((_, part)) = COORDINATES.iter().find(|(known, _)| *known == name) {
            return self.coordinate(bound, *part, at).map(Some);
        }
        let mut get = |part| self.coordinate(bound, part, at);
        Ok(Some(match name {
            "pt2" => {
                let pt = get(Coordinate::Pt)?;
                self.nodes.square(pt)
            }
            "p" | "mag" => self.momentum(bound, Root::Sqrt, at)?,
            "p2" | "mag2" => self.momentum(bound, Root::Plain, at)?,
            "mass2" | "M2" | "tau2" => self.mass2(bound, at)?,
            "theta" => self.theta(bound, at)?,
            "cottheta" => self.cotangent_of_theta(bound, at)?,
            "costheta" => self.cosine_of_theta(bound, at)?,
            "rapidity" => self.rapidity(bound, at)?,
            "mt" | "Mt" | "transverse_mass" => self.transverse_mass(bound, Root::Signed, at)?,
            "mt2" | "Mt2" | "transverse_mass2" => self.transverse_mass(bound, Root::Plain, at)?,
            "et" | "Et" | "transverse_energy" => self.transverse_energy(bound, at)?,
            "et2" | "Et2" | "transverse_energy2" => {
                let et = self.transverse_energy(bound, at)?;
                self.nodes.square(et)
            }
            "beta" => {
                let p = self.momentum(bound, Root::Sqrt, at)?;
                let e = self.coordinate(bound, Coordinate::Energy, at)?;
                let ratio = self.nodes.real(Arithmetic::Div, p, e);
                self.nodes.unless_nan(ratio, 0.0)
            }
            "gamma" => {
                let (e, mass) = (get(Coordinate::Energy)?, get(Coordinate::Mass)?);
                let ratio = self.nodes.real(Arithmetic::Div, e, mass);
                self.nodes.unless_nan(ratio, f64::INFINITY)
            }
            _ => return Ok(None),
        }))
    }

    /// Whether it is a four-vector, and not one of three parts.
    pub(in crate::compile) fn has_energy(&mut self, bound: &Binding, at: Span) -> Result<bool> {
        let energy = self.find_coordinate(bound, Coordinate::Energy, at)?;
        Ok(energy.is_some())
    }

    pub(in crate::compile) fn rapidity(&mut self, bound: &Binding, at: Span) -> Result<NodeId> {
        let e = self.coordinate(bound, Coordinate::Energy, at)?;
        let z = self.coordinate(bound, Coordinate::Pz, at)?;
        let above = self.nodes.real(Arithmetic::Add, e, z);
        let below = self.nodes.real(Arithmetic::Sub, e, z);
        let ratio = self.nodes.real(Arithmetic::Div, above, below);
        let log = self.nodes.math(Real1::Log, ratio);
        let half = self.nodes.number(0.5);
        Ok(self.nodes.real(Arithmetic::Mul, half, log))
    }

    /// What the momentum is put together from: pt and pz, or px, py and pz.
    pub(in crate::compile) fn momentum_parts(
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
    pub(in crate::compile) fn known_momentum_parts(
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
    pub(in crate::compile) fn momentum(
        &mut self,
        bound: &Binding,
        root: Root,
        at: Span,
    ) -> Result<NodeId> {
        let parts = self.known_momentum_parts(bound, at)?;
        Ok(self.nodes.sum_of_squares(&parts, root))
    }

    pub(in crate::compile) fn mass2(&mut self, bound: &Binding, at: Span) -> Result<NodeId> {
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
    pub(in crate::compile) fn transverse_mass(
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
