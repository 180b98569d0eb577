//! Methods and functions of two vectors, and of a vector and a list of vectors. Names are those of scikit-hep's vector.

use crate::compile::nodes::coordinates::Coordinate;
use crate::compile::{Binding, NodeId, Resolver, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Map, Real1, Real2, Root, Shape};
use crate::spec::Span;

/// A quantity in which two vectors differ.
#[derive(Clone, Copy)]
enum Difference {
    Coordinate(Coordinate),
    Rapidity,
}

impl Resolver<'_> {
    /// What a method gives of two vectors.
    pub(in crate::compile) fn of_two(
        &mut self,
        name: &str,
        (a, b): (Binding, Binding),
        [here, there]: [Span; 2],
        at: Span,
    ) -> Result<Binding> {
        let mut difference = |of: Difference| -> Result<NodeId> {
            let ids = match of {
                Difference::Coordinate(part) => [
                    self.coordinate(&a, part, here)?,
                    self.coordinate(&b, part, there)?,
                ],
                Difference::Rapidity => [self.rapidity(&a, here)?, self.rapidity(&b, there)?],
            };
            let both = self.nodes.together(&ids, at)?;
            Ok(match of {
                Difference::Coordinate(Coordinate::Phi) => self.nodes.map(
                    Map::Real2(Real2::DeltaPhi),
                    &[both[0], both[1]],
                    Type::Float,
                ),
                _ => self.nodes.real(Arithmetic::Sub, both[0], both[1]),
            })
        };
        let node = match name {
            "deltaphi" => difference(Difference::Coordinate(Coordinate::Phi))?,
            "deltaeta" => difference(Difference::Coordinate(Coordinate::Eta))?,
            "deltaR" | "deltaR2" | "deltaRapidityPhi" | "deltaRapidityPhi2" => {
                let along = match name {
                    "deltaR" | "deltaR2" => Difference::Coordinate(Coordinate::Eta),
                    _ => Difference::Rapidity,
                };
                let (phi, along) = (
                    difference(Difference::Coordinate(Coordinate::Phi))?,
                    difference(along)?,
                );
                let root = match name.ends_with('2') {
                    true => Root::Plain,
                    false => Root::Sqrt,
                };
                self.nodes.squares(Shape::Two, root, &[phi, along])
            }
            "deltaangle" => self.angle(&a, &b, [here, there], at)?,
            "dot" => {
                let is_of_four = self.has_energy(&a, here)? || self.has_energy(&b, there)?;
                let (parts, op) = match is_of_four {
                    true => (
                        &[
                            Coordinate::Energy,
                            Coordinate::Px,
                            Coordinate::Py,
                            Coordinate::Pz,
                        ][..],
                        Arithmetic::Sub,
                    ),
                    false => (
                        &[Coordinate::Px, Coordinate::Py, Coordinate::Pz][..],
                        Arithmetic::Add,
                    ),
                };
                self.products(parts, op, [&a, &b], [here, there], at)?
            }
            "add" | "subtract" => return self.nodes.vector_sum(a, b, name == "subtract", at),
            _ => return self.boosted(name, a, b, at),
        };
        Ok(Binding::Value(node))
    }

    /// The products of the coordinates of two vectors, put together by `op`.
    pub(in crate::compile) fn products(
        &mut self,
        parts: &[Coordinate],
        op: Arithmetic,
        [a, b]: [&Binding; 2],
        [here, there]: [Span; 2],
        at: Span,
    ) -> Result<NodeId> {
        let mut sum: Option<NodeId> = None;
        for part in parts.iter().copied() {
            let ids = [
                self.coordinate(a, part, here)?,
                self.coordinate(b, part, there)?,
            ];
            let both = self.nodes.together(&ids, at)?;
            let product = self.nodes.real(Arithmetic::Mul, both[0], both[1]);
            sum = Some(match sum {
                None => product,
                Some(sum) => self.nodes.real(op, sum, product),
            });
        }
        sum.ok_or_else(|| QueryError::at(at, "a product of vectors needs components"))
    }

    /// The angle between the momenta of two vectors. That of a momentum of 0 is NaN.
    pub(in crate::compile) fn angle(
        &mut self,
        a: &Binding,
        b: &Binding,
        spans: [Span; 2],
        at: Span,
    ) -> Result<NodeId> {
        let parts = [Coordinate::Px, Coordinate::Py, Coordinate::Pz];
        let dot = self.products(&parts, Arithmetic::Add, [a, b], spans, at)?;
        let lengths = [
            self.momentum(a, Root::Sqrt, spans[0])?,
            self.momentum(b, Root::Sqrt, spans[1])?,
        ];
        let both = self.nodes.together(&lengths, at)?;
        let length = self.nodes.real(Arithmetic::Mul, both[0], both[1]);
        let both = self.nodes.together(&[dot, length], at)?;
        let cosine = self.nodes.real(Arithmetic::Div, both[0], both[1]);
        let (one, minus) = (self.nodes.number(1.0), self.nodes.number(-1.0));
        let below = self
            .nodes
            .map(Map::Real2(Real2::Min), &[cosine, one], Type::Float);
        let inside = self
            .nodes
            .map(Map::Real2(Real2::Max), &[below, minus], Type::Float);
        Ok(self.nodes.math(Real1::Acos, inside))
    }
}
