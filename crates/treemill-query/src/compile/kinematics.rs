//! What vectors have beside coordinates: attributes computed from those, and sums. Names are those of scikit-hep's
//! vector.

use super::vectors::{COORDINATES, Coordinate};
use super::{Binding, Builder, Constant, NodeId, Resolver, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Map, Real1, Root, Shape, Squares, Test};
use crate::spec::Span;
use std::rc::Rc;

/// Attributes of vectors, those that are mostly wanted first.
pub(super) const ATTRIBUTES: &[&str] = &[
    "pt", "eta", "phi", "mass", "px", "py", "pz", "energy", "p", "theta", "rapidity", "mt", "et",
    "beta", "gamma", "pt2", "p2", "mass2", "costheta", "cottheta", "mt2", "et2",
];

impl Resolver<'_> {
    /// A computed attribute, or `None` if vectors have none of this name.
    pub(super) fn derived(
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
    pub(super) fn has_energy(&mut self, bound: &Binding, at: Span) -> Result<bool> {
        let energy = self.find_coordinate(bound, Coordinate::Energy, at)?;
        Ok(energy.is_some())
    }

    pub(super) fn rapidity(&mut self, bound: &Binding, at: Span) -> Result<NodeId> {
        let e = self.coordinate(bound, Coordinate::Energy, at)?;
        let z = self.coordinate(bound, Coordinate::Pz, at)?;
        let above = self.nodes.real(Arithmetic::Add, e, z);
        let below = self.nodes.real(Arithmetic::Sub, e, z);
        let ratio = self.nodes.real(Arithmetic::Div, above, below);
        let log = self.nodes.math(Real1::Log, ratio);
        let half = self.nodes.number(0.5);
        Ok(self.nodes.real(Arithmetic::Mul, half, log))
    }
}

impl Builder<'_> {
    /// `a + b`, `a - b` of vectors.
    pub(super) fn vector_sum(
        &mut self,
        a: Binding,
        b: Binding,
        minus: bool,
        at: Span,
    ) -> Result<Binding> {
        for (side, other) in [(&a, &b), (&b, &a)] {
            if matches!(
                side,
                Binding::Value(_) | Binding::Tuple { .. } | Binding::Provided(_)
            ) {
                let message = format!(
                    "{} and {} cannot be added",
                    self.title(side),
                    self.title(other)
                );
                return Err(QueryError::at(at, message));
            }
        }
        let bounds = [a, b];
        let level = self.common_of(&bounds, at)?;
        let terms = (
            self.brought(&bounds[0], level, at)?,
            self.brought(&bounds[1], level, at)?,
        );
        Ok(Binding::Sum {
            terms: Rc::new(terms),
            minus,
            level,
        })
    }

    /// A vector times a number.
    pub(super) fn scaled(&mut self, vector: Binding, factor: NodeId, at: Span) -> Result<Binding> {
        if matches!(vector, Binding::Tuple { .. }) {
            let message = "a tuple cannot be multiplied: pick one of its elements, t[0]";
            return Err(QueryError::at(at, message));
        }
        let bounds = [vector, Binding::Value(self.real_of(factor))];
        let level = self.common_of(&bounds, at)?;
        let vector = self.brought(&bounds[0], level, at)?;
        let Binding::Value(factor) = self.brought(&bounds[1], level, at)? else {
            return Err(QueryError::at(at, "a vector is multiplied by a number"));
        };
        Ok(Binding::Scaled {
            vector: Rc::new(vector),
            factor,
            level,
        })
    }

    // Formulas in short.

    pub(super) fn number(&mut self, x: f64) -> NodeId {
        self.graph.constant(Constant::Float(x.to_bits()))
    }

    pub(super) fn real(&mut self, op: Arithmetic, a: NodeId, b: NodeId) -> NodeId {
        self.map(Map::Real(op), &[a, b], Type::Float)
    }

    pub(super) fn math(&mut self, op: Real1, a: NodeId) -> NodeId {
        self.map(Map::Real1(op), &[a], Type::Float)
    }

    pub(super) fn square(&mut self, a: NodeId) -> NodeId {
        self.math(Real1::Square, a)
    }

    pub(super) fn root(&mut self, a: NodeId) -> NodeId {
        self.math(Real1::Sqrt, a)
    }

    /// Squares put together, and the root of that.
    pub(super) fn squares(&mut self, shape: Shape, root: Root, ids: &[NodeId]) -> NodeId {
        self.map(Map::Squares(Squares { shape, root }), ids, Type::Float)
    }

    /// The squares of two or three numbers, added up.
    pub(super) fn sum_of_squares(&mut self, ids: &[NodeId], root: Root) -> NodeId {
        let shape = match ids {
            [_, _] => Shape::Two,
            _ => Shape::Three,
        };
        self.squares(shape, root, ids)
    }

    /// A square less the squares of one to three numbers.
    pub(super) fn square_less(&mut self, of: NodeId, less: &[NodeId], root: Root) -> NodeId {
        let shape = match less {
            [_] => Shape::LessOne,
            [_, _] => Shape::LessTwo,
            _ => Shape::LessThree,
        };
        let ids: Vec<NodeId> = std::iter::once(of).chain(less.iter().copied()).collect();
        self.squares(shape, root, &ids)
    }

    /// The root of the absolute value, with the sign of the value.
    pub(super) fn signed_root(&mut self, a: NodeId) -> NodeId {
        self.math(Real1::SignedSqrt, a)
    }

    pub(super) fn unless_nan(&mut self, a: NodeId, instead: f64) -> NodeId {
        let nan = self.map(Map::Test(Test::IsNan), &[a], Type::Bool);
        let instead = self.number(instead);
        self.node(
            super::Op::Map(Map::SelectReal),
            &[nan, instead, a],
            Type::Float,
        )
    }
}
