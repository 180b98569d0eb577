//! Calls: rows of the table of functions with typed arguments.

use super::{Bound, Compiler, Constant, Node, NodeId, Op, Reducer, Result, Type, later, span};
use crate::error::{QueryError, near};
use crate::functions::{self, FUNCTIONS, Function, Kind};
use crate::kernel::{Arithmetic, Map, Real1, Real2, Test};
use crate::spec::{Expr, Span};

impl Compiler<'_> {
    pub(super) fn call(
        &mut self,
        function: &Expr,
        args: &[Expr],
        keywords: &[(String, Expr)],
        at: Span,
    ) -> Result<Bound> {
        let name = match function {
            Expr::Name { id, .. } => id,
            Expr::Attribute { name, at, .. } => {
                return Err(later(*at, &format!("the method {name}(…)")));
            }
            other => {
                return Err(QueryError::at(span(other), "only a name can be called"));
            }
        };
        let Some(function) = functions::find(name) else {
            let known = FUNCTIONS.iter().map(|function| function.name);
            let message = format!("there is no function {name}");
            return Err(QueryError::at(span(function), message).suggest(near(name, known)));
        };
        if function.kind == Kind::Later {
            return Err(later(at, &format!("{name}(…)")));
        }
        if let Some((keyword, value)) = keywords.first() {
            let message = format!("the argument {keyword}= of {name}(…)");
            return Err(later(span(value), &message));
        }
        let (least, most) = function.arity;
        if !(least..=most).contains(&args.len()) {
            let wanted = match (least, most) {
                (1, 1) => "one argument".to_owned(),
                (a, b) if a == b => format!("{a} arguments"),
                (a, b) => format!("{a} to {b} arguments"),
            };
            let message = format!("{name}(…) takes {wanted}, and gets {}", args.len());
            return Err(QueryError::at(at, message));
        }
        self.apply(function, args, at).map(Bound::Value)
    }

    fn apply(&mut self, function: &Function, args: &[Expr], at: Span) -> Result<NodeId> {
        // Those that take collections as well as numbers.
        if function.kind == Kind::Len {
            return self.len(&args[0], at);
        }
        let mut ids = Vec::with_capacity(args.len());
        for arg in args {
            ids.push(self.value(arg)?);
        }
        let first = ids[0];
        match function.kind {
            Kind::Reduce(reducer) => self.reduce_named(function.name, reducer, first, at),
            Kind::Least if ids.len() == 1 => {
                self.reduce_named(function.name, Reducer::Min, first, at)
            }
            Kind::Most if ids.len() == 1 => {
                self.reduce_named(function.name, Reducer::Max, first, at)
            }
            Kind::First | Kind::Last => {
                let index = if function.kind == Kind::First { 0 } else { -1 };
                self.end(function.name, first, index, at)
            }
            Kind::IsMissing => Ok(self.is_missing(first)),
            kind => {
                let ids = self.together(&ids, at)?;
                self.apply_to_numbers(kind, &ids, at)
            }
        }
    }

    /// Functions position by position; arguments are at one level.
    fn apply_to_numbers(&mut self, kind: Kind, ids: &[NodeId], at: Span) -> Result<NodeId> {
        let strings = ids.iter().any(|id| self.type_of(*id) == Type::Str);
        if strings && !matches!(kind, Kind::FillMissing | Kind::Only) {
            return Err(QueryError::at(at, "strings can be compared, and no more"));
        }
        let first = ids[0];
        match kind {
            Kind::Real1(op) => Ok(self.real1(op, first)),
            Kind::Rounding(op) => Ok(match self.type_of(first) {
                Type::Float => self.real1(op, first),
                _ => self.number_of(first),
            }),
            Kind::Abs => Ok(match self.type_of(first) {
                Type::Float => self.real1(Real1::Abs, first),
                Type::UInt => first,
                _ => self.int1(Map::AbsInt, first),
            }),
            Kind::Sign => Ok(match self.type_of(first) {
                Type::Float | Type::UInt => self.real1(Real1::Sign, first),
                _ => self.int1(Map::SignInt, first),
            }),
            Kind::Real2(op) => Ok(self.real2(op, first, ids[1])),
            Kind::Power => self.arithmetic(Arithmetic::Pow, first, ids[1], at),
            Kind::Least | Kind::Minimum => self.extremes(ids, true, at),
            Kind::Most | Kind::Maximum => self.extremes(ids, false, at),
            Kind::Where => {
                let condition = self.truth(first, at)?;
                self.select(condition, ids[1], ids[2], at)
            }
            Kind::Clip => {
                let raised = self.extremes(&[first, ids[1]], false, at)?;
                self.extremes(&[raised, ids[2]], true, at)
            }
            Kind::Test(op) => {
                let real = self.real_of(first);
                Ok(self.map(Map::Test(op), &[real], Type::Bool))
            }
            Kind::FillMissing => self.filled(ids, at),
            Kind::Only => {
                let condition = self.truth(ids[1], at)?;
                let passed = self.passed(condition);
                Ok(self.only(first, passed))
            }
            Kind::ToFloat => Ok(self.real_of(first)),
            Kind::ToInt => Ok(self.int_of(first)),
            Kind::ToBool => self.truth(first, at),
            _ => Err(QueryError::at(at, "this function needs a list")),
        }
    }

    fn real1(&mut self, op: Real1, id: NodeId) -> NodeId {
        let real = self.real_of(id);
        self.map(Map::Real1(op), &[real], Type::Float)
    }

    fn real2(&mut self, op: Real2, a: NodeId, b: NodeId) -> NodeId {
        let (a, b) = (self.real_of(a), self.real_of(b));
        self.map(Map::Real2(op), &[a, b], Type::Float)
    }

    fn int1(&mut self, op: Map, id: NodeId) -> NodeId {
        let number = self.number_of(id);
        self.map(op, &[number], Type::Int)
    }

    /// The smallest or largest of several values.
    fn extremes(&mut self, ids: &[NodeId], least: bool, at: Span) -> Result<NodeId> {
        let mut best = ids[0];
        for id in &ids[1..] {
            let (sides, ty) = self.same_type(&[best, *id], at)?;
            let op = match (ty, least) {
                (Type::Bool, true) => Map::And,
                (Type::Bool, false) => Map::Or,
                (Type::Int, true) => Map::MinInt,
                (Type::Int, false) => Map::MaxInt,
                (Type::UInt, true) => Map::MinUInt,
                (Type::UInt, false) => Map::MaxUInt,
                (_, true) => Map::Real2(Real2::Min),
                (_, false) => Map::Real2(Real2::Max),
            };
            best = self.map(op, &sides, ty);
        }
        Ok(best)
    }

    fn reduce_named(
        &mut self,
        name: &str,
        reducer: Reducer,
        value: NodeId,
        at: Span,
    ) -> Result<NodeId> {
        let node = self.graph.node(value);
        if node.level == super::EVENT {
            let message = format!("{name}(…) needs a list, and this is one value per event");
            return Err(QueryError::at(at, message));
        }
        self.reduce(reducer, value, at)
    }

    fn len(&mut self, arg: &Expr, at: Span) -> Result<NodeId> {
        let level = match self.bind(arg)? {
            Bound::Value(node) => self.graph.node(node).level,
            Bound::Object(object) => object.level,
        };
        if level == super::EVENT {
            let message = "len(…) needs a list, and this is one value per event";
            return Err(QueryError::at(at, message));
        }
        Ok(self.length(level))
    }

    fn end(&mut self, name: &str, value: NodeId, index: i64, at: Span) -> Result<NodeId> {
        if self.graph.node(value).level == super::EVENT {
            let message = format!("{name}(…) needs a list, and this is one value per event");
            return Err(QueryError::at(at, message));
        }
        let index = self.graph.constant(Constant::Int(index));
        Ok(self.item(value, index))
    }

    fn is_missing(&mut self, id: NodeId) -> NodeId {
        let node = self.graph.node(id);
        if !node.missing {
            return self.graph.constant(Constant::Bool(false));
        }
        let node = Node {
            op: Op::IsMissing,
            inputs: vec![id],
            level: node.level,
            ty: Type::Bool,
            missing: false,
        };
        self.graph.add(node)
    }

    fn filled(&mut self, ids: &[NodeId], at: Span) -> Result<NodeId> {
        let &[value, with] = ids else {
            return Err(QueryError::at(at, "fill_missing(value, instead)"));
        };
        if !self.graph.node(value).missing {
            return Ok(value);
        }
        if self.type_of(value) == Type::Str || self.type_of(with) == Type::Str {
            return Err(later(at, "fill_missing of strings"));
        }
        let (sides, _) = self.same_type(&[value, with], at)?;
        Ok(self.fill_missing(sides[0], sides[1]))
    }

    /// Towards zero, as Python's int; what is no integer's value is missing.
    fn int_of(&mut self, id: NodeId) -> NodeId {
        if self.type_of(id) != Type::Float {
            return self.number_of(id);
        }
        let whole = self.map(Map::RealToInt, &[id], Type::Int);
        if self.graph.as_const(id).is_some() {
            return whole;
        }
        let finite = self.map(Map::Test(Test::FitsInt), &[id], Type::Bool);
        self.only(whole, finite)
    }
}
