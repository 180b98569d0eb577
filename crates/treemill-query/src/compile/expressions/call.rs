//! Calls: rows of the table of functions with typed arguments; methods.

use crate::compile::expressions::habits;
use crate::compile::nodes::builtins;
use crate::compile::nodes::builtins::{FUNCTIONS, Function, FunctionKind};
use crate::compile::nodes::objects::RecordSource;
use crate::compile::{Binding, Compiler, Constant, Node, NodeId, Op, Reducer, Result, Type, span};
use crate::error::{QueryError, near};
use crate::kernel::Map;
use crate::spec::{Expr, Span};

impl Compiler<'_> {
    pub(in crate::compile) fn call(
        &mut self,
        function: &Expr,
        args: &[Expr],
        keywords: &[(String, Expr)],
        at: Span,
    ) -> Result<Binding> {
        let name = match function {
            Expr::Name { id, .. } => id,
            Expr::Attribute { value, name, .. } => {
                return self.method(value, name, args, keywords, at);
            }
            other => {
                return match self.bind(other)? {
                    Binding::Provided(named) => self.call_provided(&named, args, keywords, at),
                    _ => Err(QueryError::at(span(other), "only a function can be called")),
                };
            }
        };
        if self.locals.iter().any(|(known, _)| known == name) {
            let message = format!("{name} is a variable here, and not a function");
            return Err(QueryError::at(span(function), message));
        }
        let builtin = builtins::find(name);
        if let Some(named) = self.names.given_function(name) {
            if builtin.is_some() {
                let message = format!(
                    "{name}(…) is a function of the language, and one of yours, too: give yours another name"
                );
                return Err(QueryError::at(span(function), message));
            }
            return self.call_provided(&named, args, keywords, at);
        }
        let Some(function) = builtin else {
            let known = FUNCTIONS.iter().map(|function| function.name);
            let error = |message| QueryError::at(span(function), message);
            return Err(match habits::instead(name) {
                Some(instead) => error(format!("there is no function {name}: {instead}")),
                None => error(format!("there is no function {name}")).suggest(near(name, known)),
            });
        };
        if function.kind == FunctionKind::Vector {
            return self.made_vector(keywords, at);
        }
        let allowed = function.kind.keywords();
        for (keyword, value) in keywords {
            if !allowed.contains(&keyword.as_str()) {
                let near = near(keyword, allowed.iter().copied());
                return Err(no_keyword(name, keyword, span(value)).suggest(near));
            }
        }
        let (least, most) = function.arity;
        if !(least..=most).contains(&args.len()) {
            let wanted = match (least, most) {
                (0, 0) => "keywords only".to_owned(),
                (1, 1) => "one argument".to_owned(),
                (a, b) if a == b => format!("{a} arguments"),
                (a, b) => format!("{a} to {b} arguments"),
            };
            let message = format!("{name}(…) takes {wanted}, and gets {}", args.len());
            return Err(QueryError::at(at, message));
        }
        self.apply(function, args, keywords, at)
    }

    fn apply(
        &mut self,
        function: &Function,
        args: &[Expr],
        keywords: &[(String, Expr)],
        at: Span,
    ) -> Result<Binding> {
        let keyword = |wanted: &str| {
            let found = keywords.iter().find(|(name, _)| name == wanted);
            found.map(|(_, value)| value)
        };
        let (key, default) = (keyword("key"), keyword("default"));
        let name = function.name;
        if let FunctionKind::Random(distribution) = function.kind {
            return self.random(name, distribution, keyword("seed"), at);
        }
        let first = &args[0];
        // Functions that take collections as well as numbers.
        match function.kind {
            FunctionKind::Len => return self.len(first).map(Binding::Value),
            FunctionKind::Reduce(reducer @ (Reducer::ArgMin | Reducer::ArgMax)) => {
                return self.best_call(name, reducer, first, key, default, at);
            }
            FunctionKind::Reduce(reducer) => {
                return self.reduce_call(name, reducer, first, at);
            }
            FunctionKind::Least if args.len() == 1 => {
                return self.best_call(name, Reducer::Min, first, key, default, at);
            }
            FunctionKind::Most if args.len() == 1 => {
                return self.best_call(name, Reducer::Max, first, key, default, at);
            }
            FunctionKind::First => return self.end(name, first, 0, default, at),
            FunctionKind::Last => return self.end(name, first, -1, default, at),
            FunctionKind::Combinations => return self.tuples_of(name, false, args, at),
            FunctionKind::Permutations => return self.tuples_of(name, true, args, at),
            FunctionKind::Difference => return self.difference(name, args, at),
            FunctionKind::Variance { is_root } => {
                let variance = self.variance(name, first, keyword("ddof"), at)?;
                return Ok(Binding::Value(match is_root {
                    true => self.names.nodes.root(variance),
                    false => variance,
                }));
            }
            FunctionKind::Median => return self.median(name, first, at).map(Binding::Value),
            FunctionKind::Unique => {
                return self.different_items(name, first, at).map(Binding::Value);
            }
            FunctionKind::RunningSum => return self.running_sum(name, first).map(Binding::Value),
            FunctionKind::Argsort => return self.argsort(first, key, keyword("reverse")),
            FunctionKind::Concat => return self.concat(args, at),
            FunctionKind::Zip => return self.zip(args, at),
            FunctionKind::Enumerate => return self.enumerate(first),
            FunctionKind::Interp => return self.interp(args),
            FunctionKind::Digitize => return self.digitize(args, keyword("right")),
            FunctionKind::InRanges => return self.in_ranges(args),
            FunctionKind::Take => return self.take(args),
            FunctionKind::Flatten => return self.flatten(first),
            FunctionKind::Sorted => return self.sorted(first, key, keyword("reverse")),
            FunctionKind::Where => {
                let condition = self.value(first)?;
                let condition = self.names.nodes.truth(condition, span(first))?;
                let sides = (self.bind(&args[1])?, self.bind(&args[2])?);
                return self.names.nodes.choice(condition, sides, at);
            }
            FunctionKind::FillMissing => {
                let (found, with) = (self.bind(first)?, self.bind(&args[1])?);
                return match (&found, &with) {
                    (Binding::Value(a), Binding::Value(b)) => {
                        let ids = self.names.nodes.together(&[*a, *b], at)?;
                        self.names
                            .nodes
                            .apply_to_numbers(function.kind, &ids, at)
                            .map(Binding::Value)
                    }
                    _ => self.filled_record(found, with, at),
                };
            }
            FunctionKind::IsMissing => {
                let bound = self.bind(first)?;
                let missing = self.is_missing(&bound)?;
                let level = self.names.nodes.level_of(&bound);
                return Ok(Binding::Value(self.names.nodes.at_each_of(missing, level)));
            }
            _ => (),
        }
        if let Some((keyword, value)) = keywords.first() {
            let message = format!("{keyword}= goes with a list, and these are several values");
            return Err(QueryError::at(span(value), message));
        }
        let mut ids = Vec::with_capacity(args.len());
        for arg in args {
            ids.push(self.value(arg)?);
        }
        let ids = self.names.nodes.together(&ids, at)?;
        self.names
            .nodes
            .apply_to_numbers(function.kind, &ids, at)
            .map(Binding::Value)
    }

    /// The first value, missing where the second value is missing.
    pub(crate) fn where_present(&mut self, value: NodeId, with: NodeId) -> Result<NodeId> {
        let both = self.names.nodes.together(&[value, with], (0, 0))?;
        let level = self.names.nodes.graph.node(both[1]).level;
        let missing = self.is_missing(&Binding::Value(both[1]))?;
        let missing = self.names.nodes.at_each_of(missing, level);
        let present = self.names.nodes.negated(missing);
        Ok(match self.names.nodes.graph.as_const(present) {
            Some(_) => both[0],
            None => self.names.nodes.only(both[0], present),
        })
    }

    /// Whether a value is missing, or a record does not exist.
    pub(in crate::compile) fn is_missing(&mut self, bound: &Binding) -> Result<NodeId> {
        let id = match bound {
            Binding::Value(id) => *id,
            Binding::Object(object) => {
                let mut row = self.names.nodes.row(object.base);
                if let RecordSource::Amended { of, .. } = &*object.source {
                    let is_missing = self.is_missing(of)?;
                    if self.names.nodes.graph.as_const(is_missing).is_none() {
                        let is_there = self.names.nodes.map(Map::Not, &[is_missing], Type::Bool);
                        row = self.names.nodes.only(row, is_there);
                    }
                }
                object
                    .moves
                    .iter()
                    .fold(row, |node, how| self.names.nodes.carry(node, *how))
            }
            Binding::Tuple { items, .. } => match items.first() {
                Some(first) => return self.is_missing(first),
                None => return Err(QueryError::new("a tuple needs an element")),
            },
            Binding::Sum { terms, .. } => {
                let terms = terms.clone();
                let (a, b) = (self.is_missing(&terms.0)?, self.is_missing(&terms.1)?);
                let both = self.names.nodes.together(&[a, b], (0, 0))?;
                return Ok(self.names.nodes.either(both[0], both[1]));
            }
            Binding::Scaled { vector, .. } => {
                let vector = vector.clone();
                return self.is_missing(&vector);
            }
            Binding::Provided(_) => return Err(self.names.not_a_value(bound, (0, 0))),
            Binding::Choice {
                condition, sides, ..
            } => {
                let (condition, sides) = (*condition, sides.clone());
                let a = self.is_missing(&sides.0)?;
                let b = self.is_missing(&sides.1)?;
                let chosen = self.names.nodes.select(condition, a, b, (0, 0))?;
                let unknown = self.is_missing(&Binding::Value(condition))?;
                let both = self.names.nodes.together(&[chosen, unknown], (0, 0))?;
                let chosen = self.names.nodes.passed(both[0]);
                return Ok(self.names.nodes.either(chosen, both[1]));
            }
        };
        let node = self.names.nodes.graph.node(id);
        if !node.missing {
            return Ok(self.names.nodes.graph.constant(Constant::Bool(false)));
        }
        let node = Node {
            op: Op::IsMissing,
            inputs: vec![id],
            level: node.level,
            ty: Type::Bool,
            missing: false,
        };
        Ok(self.names.nodes.graph.add(node))
    }
}

pub(in crate::compile) fn no_keywords(name: &str, keywords: &[(String, Expr)]) -> Result<()> {
    match keywords.first() {
        None => Ok(()),
        Some((keyword, value)) => Err(no_keyword(name, keyword, span(value))),
    }
}

fn no_keyword(name: &str, keyword: &str, at: Span) -> QueryError {
    let message = format!("{name}(…) takes no argument {keyword}=");
    QueryError::at(
        at,
        match habits::keyword(keyword) {
            Some(instead) => format!("{message}: {instead}"),
            None => message,
        },
    )
}
