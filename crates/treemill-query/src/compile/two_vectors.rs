//! Methods and functions of two vectors, and of a vector and a list of vectors. Names are those of scikit-hep's vector.

use super::kinematics::ATTRIBUTES;
use super::types::NO_STRINGS;
use super::vectors::{COORDINATES, Coordinate};
use super::{Binding, Compiler, NodeId, Resolver, Result, Type, span};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Map, Real1, Real2, Root, Shape};
use crate::spec::{Expr, Loop, Span, Target};

/// Methods of vectors that take another one.
pub(super) const METHODS: &[&str] = &[
    "deltaR",
    "deltaR2",
    "deltaphi",
    "deltaeta",
    "deltaangle",
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

/// Methods that other packages call otherwise.
const CALLED: &[(&str, &str)] = &[
    ("delta_r", "deltaR"),
    ("delta_r2", "deltaR2"),
    ("delta_phi", "deltaphi"),
    ("deltaPhi", "deltaphi"),
    ("delta_eta", "deltaeta"),
    ("deltaEta", "deltaeta"),
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
            let instead = super::habits::instead(name).map_or_else(
                || format!("modules are not in the language, and there is no function {name}"),
                |instead| format!("there is no function {name}: {instead}"),
            );
            let known = super::builtins::FUNCTIONS
                .iter()
                .map(|function| function.name);
            return QueryError::at(at, instead).suggest(crate::error::near(name, known));
        }
        (false, true, _) => format!("there is no method {name}: write {name}(…) of the value"),
        (false, false, Some(known)) => {
            format!("there is no method {name}: write .{known}, without parentheses")
        }
        (false, false, None) => {
            let turns = super::boosts::TURNS.iter().map(|(known, _)| *known);
            let near = crate::error::near(
                name,
                METHODS.iter().copied().chain(["nearest"]).chain(turns),
            );
            let known = super::habits::instead(name);
            match (near.is_empty(), known) {
                (false, None) => {
                    let message = format!("there is no method {name}");
                    return QueryError::at(at, message).suggest(near);
                }
                (_, Some(instead)) => format!("there is no method {name}: {instead}"),
                (true, None) => {
                    let all = METHODS.join(", ");
                    format!("there is no method {name}; vectors have {all}")
                }
            }
        }
    };
    QueryError::at(at, message)
}

impl Compiler<'_> {
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
        if name == "nearest" {
            return self.nearest(value, args, keywords, at);
        }
        let name = CALLED
            .iter()
            .find(|(other, _)| *other == name)
            .map_or(name, |(_, name)| name);
        if !METHODS.contains(&name) {
            return Err(no_method(value, name, at));
        }
        super::call::no_keywords(name, keywords)?;
        let [other] = args else {
            return Err(QueryError::at(at, format!("a.{name}(b) takes one vector")));
        };
        let (a, b) = (self.bind(value)?, self.bind(other)?);
        self.names
            .of_two(name, (a, b), [span(value), span(other)], at)
    }

    /// `deltaR(a, b)` of two vectors, as `a.deltaR(b)`; `deltaphi(x, y)` of two angles, too.
    pub(super) fn difference(&mut self, name: &str, args: &[Expr], at: Span) -> Result<Binding> {
        let [first, second] = args else {
            return Err(QueryError::at(
                at,
                format!("{name}(a, b) takes two vectors"),
            ));
        };
        let (a, b) = (self.bind(first)?, self.bind(second)?);
        let method = CALLED
            .iter()
            .find(|(other, _)| *other == name)
            .map_or(name, |(_, method)| method);
        let (Binding::Value(x), Binding::Value(y)) = (&a, &b) else {
            return self
                .names
                .of_two(method, (a, b), [span(first), span(second)], at);
        };
        let mut ids = [*x, *y];
        for (id, arg) in ids.iter_mut().zip([first, second]) {
            if self.names.nodes.type_of(*id) == Type::Str {
                return Err(QueryError::at(span(arg), NO_STRINGS));
            }
            *id = self.names.nodes.real_of(*id);
        }
        let both = self.names.nodes.together(&ids, at)?;
        let found = match method {
            "deltaphi" => self
                .names
                .nodes
                .map(Map::Real2(Real2::DeltaPhi), &both, Type::Float),
            "deltaeta" => self.names.nodes.real(Arithmetic::Sub, both[0], both[1]),
            _ => {
                let message = format!(
                    "{name}(…) takes two vectors: of numbers write \
                     vector(eta=…, phi=…).deltaR(vector(eta=…, phi=…))"
                );
                return Err(QueryError::at(at, message));
            }
        };
        Ok(Binding::Value(found))
    }

    /// `a.nearest(B)`: the element of B at the least distance, for one vector or each of a list. `threshold=`: the most
    /// that the distance may be.
    fn nearest(
        &mut self,
        value: &Expr,
        args: &[Expr],
        keywords: &[(String, Expr)],
        at: Span,
    ) -> Result<Binding> {
        let ([others], [] | [_]) = (args, keywords) else {
            return Err(QueryError::at(at, "a.nearest(B) takes one list of vectors"));
        };
        let threshold = match keywords {
            [(keyword, most)] if keyword == "threshold" => Some(most),
            keywords => {
                super::call::no_keywords("nearest", keywords)?;
                None
            }
        };
        // Written out in the language, with names that users cannot write.
        let [one, other] = ["\u{0}one", "\u{0}other"];
        let name = |id: &str| Expr::Name {
            id: id.to_owned(),
            at,
        };
        let of_list = {
            let bound = self.bind(value)?;
            !self
                .names
                .nodes
                .is_single(self.names.nodes.level_of(&bound))
        };
        let this = if of_list { name(one) } else { value.clone() };
        let distance = Expr::Call {
            function: Box::new(Expr::Attribute {
                value: Box::new(this),
                name: "deltaR".to_owned(),
                at,
            }),
            args: vec![name(other)],
            keywords: Vec::new(),
            at,
        };
        let candidates = match threshold {
            None => others.clone(),
            Some(most) => Expr::Comprehension {
                element: Box::new(name(other)),
                loops: vec![Loop {
                    targets: vec![Target::Name(other.to_owned())],
                    iter: others.clone(),
                    conditions: vec![Expr::Compare {
                        left: Box::new(distance.clone()),
                        ops: vec!["<=".to_owned()],
                        rights: vec![most.clone()],
                        at,
                    }],
                }],
                at,
            },
        };
        let key = Expr::Lambda {
            params: vec![other.to_owned()],
            body: Box::new(distance),
            at,
        };
        let least = Expr::Call {
            function: Box::new(name("min")),
            args: vec![candidates],
            keywords: vec![("key".to_owned(), key)],
            at,
        };
        if !of_list {
            return self.bind(&least);
        }
        let loops = Loop {
            targets: vec![Target::Name(one.to_owned())],
            iter: value.clone(),
            conditions: Vec::new(),
        };
        self.comprehension(&least, &[loops], at)
    }
}

impl Resolver<'_> {
    /// What a method gives of two vectors.
    pub(super) fn of_two(
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
    pub(super) fn products(
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
    pub(super) fn angle(
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
