//! Comparisons, chained ones too, and membership in lists.

use crate::compile::{Binding, Compiler, NodeId, Reducer, Result, span};
use crate::error::QueryError;
use crate::kernel::Compare;
use crate::limits::{COMPARED_INTEGERS, COMPARED_MEMBERS};
use crate::spec::{Expr, Span};

impl Compiler<'_> {
    pub(in crate::compile) fn comparison(
        &mut self,
        left: &Expr,
        ops: &[String],
        rights: &[Expr],
        at: Span,
    ) -> Result<Binding> {
        if ops.is_empty() || ops.len() != rights.len() {
            return Err(QueryError::at(
                at,
                "a comparison needs an operator per side",
            ));
        }
        let mut left_at = span(left);
        let mut left = self.value(left)?;
        let mut result: Option<NodeId> = None;
        for (op, right) in ops.iter().zip(rights) {
            let place = (left_at.0, span(right).1);
            let (next, holds) = match op.as_str() {
                "in" | "not_in" => {
                    let found = self.member_of(left, right, place)?;
                    let found = if op == "in" {
                        found
                    } else {
                        self.names.nodes.negated(found)
                    };
                    (left, found)
                }
                _ => {
                    let op = operator(op)
                        .ok_or_else(|| QueryError::at(at, format!("there is no operator {op}")))?;
                    let right = self.value(right)?;
                    (right, self.names.nodes.compare(op, left, right, place)?)
                }
            };
            result = Some(match result {
                None => holds,
                Some(before) => {
                    let both = self.names.nodes.together(&[before, holds], at)?;
                    self.names.nodes.both(both[0], both[1])
                }
            });
            left = next;
            left_at = span(right);
        }
        result
            .map(Binding::Value)
            .ok_or_else(|| QueryError::at(at, "a comparison needs two values"))
    }

    /// `left in right`
    fn member_of(&mut self, left: NodeId, right: &Expr, at: Span) -> Result<NodeId> {
        let mut members = Vec::new();
        if let Expr::Sequence { items, .. } = right {
            for item in items {
                members.push(self.value(item)?);
            }
        } else {
            // A name of a list of constants.
            let Binding::Tuple { items, .. } = self.bind(right)? else {
                return self.member_of_list(left, right, at);
            };
            for item in items {
                match item {
                    Binding::Value(id) if self.names.nodes.graph.as_const(id).is_some() => {
                        members.push(id)
                    }
                    _ => return self.member_of_list(left, right, at),
                }
            }
        }
        if members.len() > COMPARED_INTEGERS
            && let Some(found) = self.names.nodes.search(left, &members)
        {
            return Ok(found);
        }
        if members.len() > COMPARED_MEMBERS {
            let message = format!("'in' takes at most {COMPARED_MEMBERS} floats or strings");
            return Err(QueryError::at(at, message));
        }
        let mut result: Option<NodeId> = None;
        for member in members {
            let equal = self
                .names
                .nodes
                .compare(Compare::Eq, left, member, span(right))?;
            result = Some(match result {
                None => equal,
                Some(before) => self.names.nodes.either(before, equal),
            });
        }
        match result {
            Some(found) => Ok(found),
            // Never, whatever it is.
            None => self.names.nodes.compare(Compare::Lt, left, left, at),
        }
    }

    /// Whether any item of a list column equals the value.
    fn member_of_list(&mut self, left: NodeId, right: &Expr, at: Span) -> Result<NodeId> {
        let list = self.value(right)?;
        let level = self.names.nodes.graph.node(list).level;
        if self.names.nodes.is_single(level) {
            let message =
                "'in' needs a list on its right: [1, 2, 3], or a column with a list per event";
            return Err(QueryError::at(span(right), message));
        }
        if !self
            .names
            .nodes
            .is_single(self.names.nodes.graph.node(left).level)
        {
            let message = "'in' looks for one value per event in a list";
            return Err(QueryError::at(at, message));
        }
        let equal = self.names.nodes.compare(Compare::Eq, list, left, at)?;
        let found = self.names.nodes.reduce(Reducer::Any, equal, at)?;
        if !self.names.nodes.graph.node(left).missing {
            return Ok(found);
        }
        // Items that are missing are none that equals it; whether a missing value is among them is missing.
        let missing = self.is_missing(&Binding::Value(left))?;
        let present = self.names.nodes.negated(missing);
        let both = self.names.nodes.together(&[found, present], at)?;
        Ok(self.names.nodes.only(both[0], both[1]))
    }
}

fn operator(op: &str) -> Option<Compare> {
    Some(match op {
        "==" => Compare::Eq,
        "!=" => Compare::Ne,
        "<" => Compare::Lt,
        "<=" => Compare::Le,
        ">" => Compare::Gt,
        ">=" => Compare::Ge,
        _ => return None,
    })
}
