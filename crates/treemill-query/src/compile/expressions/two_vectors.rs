//! Methods and functions of two vectors, and of a vector and a list of vectors. Names are those of scikit-hep's vector.

use crate::compile::nodes::coordinates::ATTRIBUTES;
use crate::compile::nodes::coordinates::{COORDINATES, Coordinate};
use crate::compile::nodes::types::NO_STRINGS;
use crate::compile::{Binding, Compiler, Result, Type, span};
use crate::error::QueryError;
use crate::kernel::{Arithmetic, Map, Real2};
use crate::spec::{Expr, Loop, Span, Target};

/// A method that takes a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::compile) enum Turn {
    /// A rotation by an angle, about the axis.
    Rotate(Coordinate),
    /// A boost by a velocity, or a Lorentz factor with its sign, along the axis.
    Boost(Coordinate),
}

pub(in crate::compile) const TURNS: &[(&str, Turn)] = &[
    ("rotateX", Turn::Rotate(Coordinate::Px)),
    ("rotateY", Turn::Rotate(Coordinate::Py)),
    ("rotateZ", Turn::Rotate(Coordinate::Pz)),
    ("boostX", Turn::Boost(Coordinate::Px)),
    ("boostY", Turn::Boost(Coordinate::Py)),
    ("boostZ", Turn::Boost(Coordinate::Pz)),
];

impl Compiler<'_> {
    /// `a.rotateX(angle)`, `a.boostZ(beta=…)` …; `None`: no method that takes a number.
    pub(in crate::compile) fn turned(
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

/// Methods of vectors that take another one.
pub(in crate::compile) const METHODS: &[&str] = &[
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

/// What to write instead.
fn no_method(value: &Expr, name: &str, at: Span) -> QueryError {
    let is_module = matches!(value, Expr::Name { id, .. } if MODULES.contains(&id.as_str()));
    let is_function = crate::compile::nodes::builtins::find(name).is_some();
    let names = COORDINATES.iter().map(|(known, _)| *known);
    let mut attributes = names.chain(ATTRIBUTES.iter().copied());
    let attribute = attributes.find(|known| known.eq_ignore_ascii_case(name));
    let message = match (is_module, is_function, attribute) {
        (true, true, _) => format!("functions stand without a module: write {name}(…)"),
        (true, false, _) => {
            let instead = crate::compile::expressions::habits::instead(name).map_or_else(
                || format!("modules are not in the language, and there is no function {name}"),
                |instead| format!("there is no function {name}: {instead}"),
            );
            let known = crate::compile::nodes::builtins::FUNCTIONS
                .iter()
                .map(|function| function.name);
            return QueryError::at(at, instead).suggest(crate::error::near(name, known));
        }
        (false, true, _) => format!("there is no method {name}: write {name}(…) of the value"),
        (false, false, Some(known)) => {
            format!("there is no method {name}: write .{known}, without parentheses")
        }
        (false, false, None) => {
            let turns = crate::compile::expressions::two_vectors::TURNS
                .iter()
                .map(|(known, _)| *known);
            let near = crate::error::near(
                name,
                METHODS.iter().copied().chain(["nearest"]).chain(turns),
            );
            let known = crate::compile::expressions::habits::instead(name);
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
    pub(in crate::compile) fn method(
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
        crate::compile::expressions::call::no_keywords(name, keywords)?;
        let [other] = args else {
            return Err(QueryError::at(at, format!("a.{name}(b) takes one vector")));
        };
        let (a, b) = (self.bind(value)?, self.bind(other)?);
        self.names
            .of_two(name, (a, b), [span(value), span(other)], at)
    }

    /// `deltaR(a, b)` of two vectors, as `a.deltaR(b)`; `deltaphi(x, y)` of two angles, too.
    pub(in crate::compile) fn difference(
        &mut self,
        name: &str,
        args: &[Expr],
        at: Span,
    ) -> Result<Binding> {
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
                crate::compile::expressions::call::no_keywords("nearest", keywords)?;
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
