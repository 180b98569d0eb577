//! What vectors have beside coordinates: attributes computed from those, methods of two vectors,
//! sums, and vectors of the user's own values. Names are those of scikit-hep's vector.

use super::objects::{Object, RecordSource};
use super::vectors::{COORDINATES, Coordinate};
use super::{Binding, Compiler, Constant, NodeId, Result, Type, span};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Map, Real1, Real2, Root, Shape, Squares, Test};
use crate::spec::{Expr, Span};
use std::rc::Rc;

/// What `vector(…)` takes.
const MADE: &[&str] = &["pt", "phi", "eta", "mass", "px", "py", "pz", "energy"];

/// Methods of vectors that take another one.
pub(super) const METHODS: &[&str] = &[
    "deltaR",
    "deltaR2",
    "deltaphi",
    "deltaeta",
    "deltaRapidityPhi",
    "deltaRapidityPhi2",
    "dot",
    "add",
    "subtract",
    "boost",
    "boost_p4",
    "boost_beta3",
    "boostCM_of",
    "boostCM_of_p4",
    "boostCM_of_beta3",
];

/// Modules that users write before functions.
const MODULES: &[&str] = &[
    "np", "numpy", "math", "ak", "awkward", "TMath", "ROOT", "vector",
];

/// A quantity in which two vectors differ.
#[derive(Clone, Copy)]
enum Difference {
    Coordinate(Coordinate),
    Rapidity,
}

/// What to write instead.
fn no_method(value: &Expr, name: &str, at: Span) -> QueryError {
    let is_module = matches!(value, Expr::Name { id, .. } if MODULES.contains(&id.as_str()));
    let is_function = super::builtins::find(name).is_some();
    let names = COORDINATES.iter().map(|(known, _)| *known);
    let mut attributes = names.chain(ATTRIBUTES.iter().copied());
    let attribute = attributes.find(|known| known.eq_ignore_ascii_case(name));
    let message = match (is_module, is_function, attribute) {
        (true, true, _) => format!("functions stand without a module: write {name}(…)"),
        (true, false, _) => {
            format!("modules are not in the language, and there is no function {name}")
        }
        (false, true, _) => format!("there is no method {name}: write {name}(…) of the value"),
        (false, false, Some(known)) => {
            format!("there is no method {name}: write .{known}, without parentheses")
        }
        (false, false, None) => {
            let turns = super::boosts::TURNS.iter().map(|(known, _)| *known);
            let near = crate::error::near(name, METHODS.iter().copied().chain(turns));
            let known = super::call::instead(name);
            match (near.is_empty(), known) {
                (false, _) => {
                    let message = format!("there is no method {name}");
                    return QueryError::at(at, message).suggest(near);
                }
                (true, Some(instead)) => format!("there is no method {name}: {instead}"),
                (true, None) => {
                    let all = METHODS.join(", ");
                    format!("there is no method {name}; vectors have {all}")
                }
            }
        }
    };
    QueryError::at(at, message)
}

/// Attributes of vectors, those that are mostly wanted first.
pub(super) const ATTRIBUTES: &[&str] = &[
    "pt", "eta", "phi", "mass", "px", "py", "pz", "energy", "p", "theta", "rapidity", "mt", "et",
    "beta", "gamma", "pt2", "p2", "mass2", "costheta", "cottheta", "mt2", "et2",
];

impl Compiler<'_> {
    /// A computed attribute, or `None` if vectors have none of this name.
    pub(super) fn derived(
        &mut self,
        bound: &Binding,
        name: &str,
        at: Span,
    ) -> Result<Option<NodeId>> {
        if let Some((_, part)) = COORDINATES.iter().find(|(known, _)| *known == name) {
            return self.coordinate(bound, *part, at).map(Some);
        }
        let mut get = |part| self.coordinate(bound, part, at);
        Ok(Some(match name {
            "pt2" => {
                let pt = get(Coordinate::Pt)?;
                self.square(pt)
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
                self.square(et)
            }
            "beta" => {
                let p = self.momentum(bound, Root::Sqrt, at)?;
                let e = self.coordinate(bound, Coordinate::Energy, at)?;
                let ratio = self.real(Arithmetic::Div, p, e);
                self.unless_nan(ratio, 0.0)
            }
            "gamma" => {
                let (e, mass) = (get(Coordinate::Energy)?, get(Coordinate::Mass)?);
                let ratio = self.real(Arithmetic::Div, e, mass);
                self.unless_nan(ratio, f64::INFINITY)
            }
            _ => return Ok(None),
        }))
    }

    fn rapidity(&mut self, bound: &Binding, at: Span) -> Result<NodeId> {
        let e = self.coordinate(bound, Coordinate::Energy, at)?;
        let z = self.coordinate(bound, Coordinate::Pz, at)?;
        let above = self.real(Arithmetic::Add, e, z);
        let below = self.real(Arithmetic::Sub, e, z);
        let ratio = self.real(Arithmetic::Div, above, below);
        let log = self.math(Real1::Log, ratio);
        let half = self.number(0.5);
        Ok(self.real(Arithmetic::Mul, half, log))
    }

    /// `a.deltaR(b)` and others.
    pub(super) fn method(
        &mut self,
        value: &Expr,
        name: &str,
        args: &[Expr],
        keywords: &[(String, Expr)],
        at: Span,
    ) -> Result<Binding> {
        if name == "evaluate"
            && let Ok(Binding::Provided(named)) = self.bind(value)
        {
            return self.call_provided(&named, args, keywords, at);
        }
        if let Some(named) = self.given_part(value, name, at)? {
            return self.call_provided(&named, args, keywords, at);
        }
        if let Some(found) = self.turned(value, name, args, keywords, at)? {
            return Ok(found);
        }
        super::call::no_keywords(name, keywords)?;
        if !METHODS.contains(&name) {
            return Err(no_method(value, name, at));
        }
        let [other] = args else {
            return Err(QueryError::at(at, format!("a.{name}(b) takes one vector")));
        };
        let (a, b) = (self.bind(value)?, self.bind(other)?);
        let (here, there) = (span(value), span(other));
        let mut difference = |of: Difference| -> Result<NodeId> {
            let ids = match of {
                Difference::Coordinate(part) => [
                    self.coordinate(&a, part, here)?,
                    self.coordinate(&b, part, there)?,
                ],
                Difference::Rapidity => [self.rapidity(&a, here)?, self.rapidity(&b, there)?],
            };
            let both = self.together(&ids, at)?;
            Ok(match of {
                Difference::Coordinate(Coordinate::Phi) => self.map(
                    Map::Real2(Real2::DeltaPhi),
                    &[both[0], both[1]],
                    Type::Float,
                ),
                _ => self.real(Arithmetic::Sub, both[0], both[1]),
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
                self.squares(Shape::Two, root, &[phi, along])
            }
            "dot" => {
                let mut sum: Option<NodeId> = None;
                for part in [
                    Coordinate::Energy,
                    Coordinate::Px,
                    Coordinate::Py,
                    Coordinate::Pz,
                ] {
                    let ids = [
                        self.coordinate(&a, part, here)?,
                        self.coordinate(&b, part, there)?,
                    ];
                    let both = self.together(&ids, at)?;
                    let product = self.real(Arithmetic::Mul, both[0], both[1]);
                    sum = Some(match sum {
                        None => product,
                        Some(sum) => self.real(Arithmetic::Sub, sum, product),
                    });
                }
                sum.ok_or_else(|| QueryError::at(at, "nothing to multiply"))?
            }
            "add" | "subtract" => return self.vector_sum(a, b, name == "subtract", at),
            _ => return self.boosted(name, a, b, at),
        };
        Ok(Binding::Value(node))
    }

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

    /// `vector(pt=…, eta=…, phi=…, mass=…)`
    pub(super) fn made_vector(&mut self, keywords: &[(String, Expr)], at: Span) -> Result<Binding> {
        let mut ids = Vec::with_capacity(keywords.len());
        for (name, value) in keywords {
            if !MADE.contains(&name.as_str()) {
                let message = format!("vector(…) takes {}, and no {name}", MADE.join(", "));
                return Err(QueryError::at(span(value), message));
            }
            let id = self.value(value)?;
            if self.type_of(id) == Type::Str {
                return Err(QueryError::at(span(value), "a coordinate is a number"));
            }
            ids.push(id);
        }
        if ids.is_empty() {
            let message = "vector(pt=…, eta=…, phi=…, mass=…) takes coordinates by name";
            return Err(QueryError::at(at, message));
        }
        let ids = self.together(&ids, at)?;
        let levels: Vec<_> = ids
            .iter()
            .filter(|id| self.graph.as_const(**id).is_none())
            .map(|id| self.graph.node(*id).level)
            .collect();
        let base = levels.first().copied().unwrap_or(super::EVENT);
        let names = keywords.iter().map(|(name, _)| name.clone());
        Ok(Binding::Object(Object {
            source: Rc::new(RecordSource::Made(names.zip(ids).collect())),
            base,
            moves: Vec::new(),
            level: base,
        }))
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
