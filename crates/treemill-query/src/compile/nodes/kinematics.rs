//! What vectors have that is computed from numbers: squares, roots, scaled and rotated parts. Knows neither names nor
//! records.

use crate::compile::nodes::coordinates::Coordinate;
use crate::compile::nodes::objects::{Move, Object, RecordSource};
use crate::compile::{Binding, Builder, Constant, EVENT, NodeId, Op, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Compare, Map, Real1, Real2, Root, Shape, Squares, Test};
use crate::spec::Span;
use std::f64::consts::PI;
use std::rc::Rc;

impl Builder<'_> {
    /// What a coordinate that is not Cartesian becomes when its vector is multiplied.
    pub(in crate::compile) fn scaled_part(
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
    pub(in crate::compile) fn scaled_value(
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

    /// Two coordinates turned from the first to the second, beside others that stay.
    pub(in crate::compile) fn turned_plane(
        &mut self,
        others: Vec<(Coordinate, NodeId)>,
        plane: [(Coordinate, NodeId); 2],
        angle: NodeId,
        at: Span,
    ) -> Result<Binding> {
        let parts = plane.into_iter().chain(others).collect();
        let (mut parts, angle) = self.with_number(parts, angle, at)?;
        let (a, b) = (parts[0].1, parts[1].1);
        let (sine, cosine) = (self.math(Real1::Sin, angle), self.math(Real1::Cos, angle));
        let (ac, bs) = (
            self.real(Arithmetic::Mul, cosine, a),
            self.real(Arithmetic::Mul, sine, b),
        );
        let (across, bc) = (
            self.real(Arithmetic::Mul, sine, a),
            self.real(Arithmetic::Mul, cosine, b),
        );
        parts[0].1 = self.real(Arithmetic::Sub, ac, bs);
        parts[1].1 = self.real(Arithmetic::Add, across, bc);
        Ok(self.made_of(parts))
    }

    /// Coordinates and a number at one level.
    pub(in crate::compile) fn with_number(
        &mut self,
        parts: Vec<(Coordinate, NodeId)>,
        number: NodeId,
        at: Span,
    ) -> Result<(Vec<(Coordinate, NodeId)>, NodeId)> {
        let mut ids: Vec<NodeId> = parts.iter().map(|(_, id)| *id).collect();
        ids.push(number);
        let ids = self.together(&ids, at)?;
        let number = ids.last().copied().unwrap_or(number);
        let names = parts.into_iter().map(|(part, _)| part);
        Ok((names.zip(ids).collect(), number))
    }

    /// A vector of these coordinates, which are at one level.
    pub(in crate::compile) fn made_of(&mut self, parts: Vec<(Coordinate, NodeId)>) -> Binding {
        let mut levels = parts
            .iter()
            .filter(|(_, id)| self.graph.as_const(*id).is_none())
            .map(|(_, id)| self.graph.node(*id).level);
        let base = levels.next().unwrap_or(EVENT);
        let fields = parts
            .into_iter()
            .map(|(part, id)| (part.name().to_owned(), id));
        Binding::Object(Object {
            source: Rc::new(RecordSource::Made(fields.collect())),
            base,
            moves: Vec::new(),
            level: base,
        })
    }

    /// `a + b`, `a - b` of vectors.
    pub(in crate::compile) fn vector_sum(
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
    pub(in crate::compile) fn scaled(
        &mut self,
        vector: Binding,
        factor: NodeId,
        at: Span,
    ) -> Result<Binding> {
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

    pub(in crate::compile) fn number(&mut self, x: f64) -> NodeId {
        self.graph.constant(Constant::Float(x.to_bits()))
    }

    pub(in crate::compile) fn real(&mut self, op: Arithmetic, a: NodeId, b: NodeId) -> NodeId {
        self.map(Map::Real(op), &[a, b], Type::Float)
    }

    pub(in crate::compile) fn math(&mut self, op: Real1, a: NodeId) -> NodeId {
        self.map(Map::Real1(op), &[a], Type::Float)
    }

    pub(in crate::compile) fn square(&mut self, a: NodeId) -> NodeId {
        self.math(Real1::Square, a)
    }

    pub(in crate::compile) fn root(&mut self, a: NodeId) -> NodeId {
        self.math(Real1::Sqrt, a)
    }

    /// Squares put together, and the root of that.
    pub(in crate::compile) fn squares(
        &mut self,
        shape: Shape,
        root: Root,
        ids: &[NodeId],
    ) -> NodeId {
        self.map(Map::Squares(Squares { shape, root }), ids, Type::Float)
    }

    /// The squares of two or three numbers, added up.
    pub(in crate::compile) fn sum_of_squares(&mut self, ids: &[NodeId], root: Root) -> NodeId {
        let shape = match ids {
            [_, _] => Shape::Two,
            _ => Shape::Three,
        };
        self.squares(shape, root, ids)
    }

    /// A square less the squares of one to three numbers.
    pub(in crate::compile) fn square_less(
        &mut self,
        of: NodeId,
        less: &[NodeId],
        root: Root,
    ) -> NodeId {
        let shape = match less {
            [_] => Shape::LessOne,
            [_, _] => Shape::LessTwo,
            _ => Shape::LessThree,
        };
        let ids: Vec<NodeId> = std::iter::once(of).chain(less.iter().copied()).collect();
        self.squares(shape, root, &ids)
    }

    /// The root of the absolute value, with the sign of the value.
    pub(in crate::compile) fn signed_root(&mut self, a: NodeId) -> NodeId {
        self.math(Real1::SignedSqrt, a)
    }

    pub(in crate::compile) fn unless_nan(&mut self, a: NodeId, instead: f64) -> NodeId {
        let nan = self.map(Map::Test(Test::IsNan), &[a], Type::Bool);
        let instead = self.number(instead);
        self.node(Op::Map(Map::SelectReal), &[nan, instead, a], Type::Float)
    }

    pub(in crate::compile) fn through(&mut self, node: NodeId, moves: &[Move]) -> NodeId {
        moves.iter().fold(node, |node, how| self.carry(node, *how))
    }
}
