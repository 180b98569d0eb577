//! Expressions to a graph: names resolved, types checked, levels brought together. Knows the
//! schema, never data.

mod expressions;
mod graph;
mod names;
pub(crate) mod nodes;
mod plan;
mod vectors;

pub(crate) use graph::ids::{EVENT, LevelId, NodeId};
pub(crate) use graph::level::{Level, LevelKind, Role};
pub(crate) use graph::{Constant, Graph, Lookup, Node, Op, Reducer, Type};
pub(crate) use names::Resolver;
pub(crate) use nodes::Builder;
pub(crate) use nodes::callee::Callee;
pub(crate) use nodes::combination_items;
pub(crate) use nodes::implied::{Bounds, Form};
pub(crate) use nodes::objects::Binding;
pub(crate) use nodes::returned::lists_of;
pub(crate) use plan::Plan;
pub(crate) use plan::joint_programs::JointProgram;
pub(crate) use plan::placement::Cuts;
pub(crate) use plan::program::{Argument, Leaf, Operation, Program, Read, Step};

use crate::error::QueryError;
use crate::function::Functions;
use crate::limits::{EXPRESSION_DEPTH, EXPRESSION_PARTS};
use crate::schema::Schema;
use crate::spec::{Expr, Expression, Relations, Span};

pub(in crate::compile) type Result<T> = std::result::Result<T, QueryError>;

/// Compiles the expressions of one query.
pub(crate) struct Compiler<'a> {
    pub names: Resolver<'a>,
    /// Variables of loops and functions, inner ones last.
    locals: Vec<(String, Binding)>,
    /// Conditions under which what is compiled is wanted: those of the `if` around it.
    guards: Vec<NodeId>,
    /// Functions that are given.
    functions: &'a Functions,
    /// The expression that is being compiled, for errors of its functions.
    text: String,
    visited: usize,
    depth: usize,
}

impl<'a> Compiler<'a> {
    pub fn new(schema: &'a Schema, functions: &'a Functions, relations: &'a Relations) -> Self {
        Self {
            names: Resolver::new(schema, relations),
            locals: Vec::new(),
            guards: Vec::new(),
            functions,
            text: String::new(),
            visited: 0,
            depth: 0,
        }
    }

    /// The value of an expression where the definitions up to `scope` are visible.
    pub fn expression(&mut self, expression: &Expression, scope: Option<usize>) -> Result<NodeId> {
        self.start(expression, scope)?;
        self.value(&expression.tree)
            .map_err(|error| error.in_text(&expression.text))
    }

    /// Begins an expression where the definitions up to `scope` are visible.
    fn start(&mut self, expression: &Expression, scope: Option<usize>) -> Result<()> {
        self.names.scope = scope;
        self.locals.clear();
        self.guards.clear();
        self.names.nodes.here = EVENT;
        self.text.clone_from(&expression.text);
        let is_plain = matches!(
            expression.tree,
            Expr::Name { .. } | Expr::Attribute { .. } | Expr::Const { .. } | Expr::Provided { .. }
        );
        if !is_plain && self.names.is_column(expression.text.trim()) {
            return Err(names::unknown::in_doubt(expression).in_text(&expression.text));
        }
        Ok(())
    }

    /// Compiles like `expression` a name that a pattern has found: of a collection or record that was defined
    /// anew it means the new one's.
    pub fn found(&mut self, expression: &Expression, scope: Option<usize>) -> Result<NodeId> {
        self.names.renews = true;
        let value = self.expression(expression, scope);
        self.names.renews = false;
        value
    }

    /// A condition on events.
    pub fn condition(&mut self, expression: &Expression, scope: Option<usize>) -> Result<NodeId> {
        let found = self.expression(expression, scope)?;
        let at = span(&expression.tree);
        let condition = self.names.nodes.truth(found, at).and_then(|found| {
            if self.names.nodes.graph.node(found).level == EVENT {
                return Ok(self.names.nodes.passed(found));
            }
            Err(QueryError::at(
                at,
                "a filter needs one bool per event, and this is a list per event: \
                 close it with any(…), all(…), or sum(…) >= n",
            ))
        });
        condition.map_err(|error| error.in_text(&expression.text))
    }

    /// Makes a column (or collection) of this name visible after `scope`; gives the new scope.
    pub fn define(
        &mut self,
        name: &str,
        expression: &Expression,
        scope: Option<usize>,
    ) -> Result<usize> {
        self.start(expression, scope)?;
        let value = self
            .bind(&expression.tree)
            .map_err(|error| error.in_text(&expression.text))?;
        Ok(self.names.defines.add(scope, name, value))
    }

    /// What an expression stands for, numbers and strings only.
    fn value(&mut self, expr: &Expr) -> Result<NodeId> {
        let bound = self.bind(expr)?;
        match self.names.nodes.written_list(bound, span(expr))? {
            Binding::Value(node) => Ok(node),
            other => Err(self.names.not_a_value(&other, span(expr))),
        }
    }

    /// What an expression stands for.
    fn bind(&mut self, expr: &Expr) -> Result<Binding> {
        self.visited += 1;
        if self.visited > EXPRESSION_PARTS {
            return Err(QueryError::at(
                span(expr),
                format!("the query's expressions have more than {EXPRESSION_PARTS} parts"),
            ));
        }
        if self.depth >= EXPRESSION_DEPTH {
            return Err(too_deep(span(expr)));
        }
        self.depth += 1;
        let bound = self.bind_kind(expr);
        self.depth -= 1;
        bound
    }

    // Kept apart from `bind`, and its arms in functions of their own, so that a level of nesting
    // takes little stack.
    fn bind_kind(&mut self, expr: &Expr) -> Result<Binding> {
        match expr {
            Expr::Name { id, at } => self.name(id, *at),
            Expr::Provided { id, name, at } => self.provided(id, name, *at),
            Expr::Const { value, .. } => Ok(Binding::Value(self.names.nodes.literal(value))),
            Expr::Unary { op, operand, at } => self.unary(op, operand, *at),
            Expr::Binary {
                op,
                left,
                right,
                at,
            } => self.binary(op, left, right, *at),
            Expr::Chain { first, rest, at } => self.chain(first, rest, *at),
            Expr::Bool { op, values, at } => self.logic(op, values, *at),
            Expr::Compare {
                left,
                ops,
                rights,
                at,
            } => self.comparison(left, ops, rights, *at),
            Expr::Call {
                function,
                args,
                keywords,
                at,
            } => self.call(function, args, keywords, *at),
            Expr::Attribute { value, name, at } => self.attribute(value, name, *at),
            Expr::Index { value, index, at } => self.index(value, index, *at),
            Expr::IfElse {
                test,
                body,
                otherwise,
                at,
            } => self.if_else(test, body, otherwise, *at),
            Expr::Slice { at, .. } => Err(QueryError::at(
                *at,
                "an index has one part, because each event has lists of its own: leave out the part for the \
                 events, and write x[0] or x[:2]",
            )),
            Expr::Sequence {
                items,
                is_tuple,
                at,
            } => self.tuple(items, !is_tuple, *at),
            Expr::Lambda { at, .. } => Err(QueryError::at(
                *at,
                "a lambda stands after key= only, as in min(Jet, key=lambda j: j.pt): columns have their names in an \
                 expression without it",
            )),
            Expr::Comprehension { element, loops, at } => self.comprehension(element, loops, *at),
            Expr::Apply {
                name,
                params,
                body,
                args,
                at,
            } => self.user_function(name, params, body, args, *at),
        }
    }

    /// What an expression stands for that is wanted only where a condition holds.
    fn bind_if(&mut self, condition: NodeId, expr: &Expr) -> Result<Binding> {
        let around = self.guards.len();
        self.guards.push(condition);
        let found = self.bind(expr);
        self.guards.truncate(around);
        found
    }

    fn if_else(&mut self, test: &Expr, body: &Expr, otherwise: &Expr, at: Span) -> Result<Binding> {
        let condition = self.value(test)?;
        let condition = self.names.nodes.truth(condition, span(test))?;
        // A function that is given is asked only where its value is chosen.
        let body = self.bind_if(condition, body)?;
        let opposite = self.names.nodes.negated(condition);
        let otherwise = self.bind_if(opposite, otherwise)?;
        self.names.nodes.choice(condition, (body, otherwise), at)
    }
}

fn too_deep(at: Span) -> QueryError {
    QueryError::at(
        at,
        format!("the expression is nested more than {EXPRESSION_DEPTH} levels deep"),
    )
}

/// The place of an expression.
pub(crate) fn span(expr: &Expr) -> Span {
    match expr {
        Expr::Name { at, .. }
        | Expr::Provided { at, .. }
        | Expr::Const { at, .. }
        | Expr::Unary { at, .. }
        | Expr::Binary { at, .. }
        | Expr::Chain { at, .. }
        | Expr::Bool { at, .. }
        | Expr::Compare { at, .. }
        | Expr::Call { at, .. }
        | Expr::Attribute { at, .. }
        | Expr::Index { at, .. }
        | Expr::Slice { at, .. }
        | Expr::Sequence { at, .. }
        | Expr::IfElse { at, .. }
        | Expr::Lambda { at, .. }
        | Expr::Apply { at, .. }
        | Expr::Comprehension { at, .. } => *at,
    }
}
