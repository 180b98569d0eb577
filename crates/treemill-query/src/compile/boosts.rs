//! Vectors turned about an axis and seen from another frame: methods with the names and formulas of
//! scikit-hep's vector. Their results are vectors of values, without the members of what they came from.

use super::objects::{Object, RecordSource};
use super::vectors::Coordinate;
use super::{Binding, Builder, Compiler, NodeId, Resolver, Result, Type, span};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Compare, Map, Real1, Real2, Root};
use crate::spec::{Expr, Span};
use std::rc::Rc;

/// A method that takes a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Turn {
    /// A rotation by an angle, about the axis.
    Rotate(Coordinate),
    /// A boost by a velocity, or a Lorentz factor with its sign, along the axis.
    Boost(Coordinate),
}

pub(super) const TURNS: &[(&str, Turn)] = &[
    ("rotateX", Turn::Rotate(Coordinate::Px)),
    ("rotateY", Turn::Rotate(Coordinate::Py)),
    ("rotateZ", Turn::Rotate(Coordinate::Pz)),
    ("boostX", Turn::Boost(Coordinate::Px)),
    ("boostY", Turn::Boost(Coordinate::Py)),
    ("boostZ", Turn::Boost(Coordinate::Pz)),
];

const MOMENTUM: [Coordinate; 3] = [Coordinate::Px, Coordinate::Py, Coordinate::Pz];

impl Compiler<'_> {
    /// `a.rotateX(angle)`, `a.boostZ(beta=…)` …; `None`: no method that takes a number.
    pub(super) fn turned(
        &mut self,
        value: &Expr,
        name: &str,
        args: &[Expr],
        keywords: &[(String, Expr)],
        at: Span,
    ) -> Result<Option<Binding>> {
        let Some((_, turn)) = TURNS.iter().find(|(known, _)| *known == name) else {
            return Ok(None);
        };
        let words: &[&str] = match turn {
            Turn::Rotate(_) => &["angle"],
            Turn::Boost(_) => &["beta", "gamma"],
        };
        let (word, number) = match (args, keywords) {
            ([number], []) => (words[0], number),
            ([], [(word, number)]) if words.contains(&word.as_str()) => (word.as_str(), number),
            _ => {
                let message = format!("a.{name}(…) takes one number: {}=", words.join("= or "));
                return Err(QueryError::at(at, message));
            }
        };
        let vector = self.bind(value)?;
        let id = self.value(number)?;
        if self.names.nodes.type_of(id) == Type::Str {
            let message = format!("a.{name}(…) takes a number, and this is a string");
            return Err(QueryError::at(span(number), message));
        }
        let number = self.names.nodes.real_of(id);
        match turn {
            Turn::Rotate(Coordinate::Pz) => self.names.rotated_about_beam(&vector, number, at),
            Turn::Rotate(axis) => self.names.rotated(&vector, *axis, number, at),
            Turn::Boost(axis) => {
                self.names
                    .boosted_along(&vector, *axis, word == "gamma", number, at)
            }
        }
        .map(Some)
    }
}

impl Resolver<'_> {
    /// Only the azimuth changes; all else stays as it is stored.
    pub(super) fn rotated_about_beam(
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

    pub(super) fn rotated(
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

    pub(super) fn boosted_along(
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
    pub(super) fn boosted(
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
    pub(super) fn time_of(
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

    pub(super) fn cartesian_beside(
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

impl Builder<'_> {
    /// Two coordinates turned from the first to the second, beside others that stay.
    pub(super) fn turned_plane(
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
    pub(super) fn with_number(
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
    pub(super) fn made_of(&mut self, parts: Vec<(Coordinate, NodeId)>) -> Binding {
        let mut levels = parts
            .iter()
            .filter(|(_, id)| self.graph.as_const(*id).is_none())
            .map(|(_, id)| self.graph.node(*id).level);
        let base = levels.next().unwrap_or(super::EVENT);
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
}
