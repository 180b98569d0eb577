//! Calls of functions that take whole lists, or give other things than one float: each output is a node of its own,
//! and each list that is given is a level.

use crate::compile::nodes::callee::Callee;
use crate::compile::nodes::objects::{Object, RecordSource};
use crate::compile::{
    Binding, Builder, Constant, EVENT, Level, LevelId, LevelKind, Node, NodeId, Op, Result, Type,
};
use crate::error::QueryError;
use crate::function::{Fixed, Function, Numbers, Output, ParameterType, ResultType, Returned};
use crate::spec::Span;
use std::rc::Rc;

impl Builder<'_> {
    /// Brings arguments together: one value, or one list, for each position of the level that is returned. A list is
    /// whole beside each item of another list that is taken item by item.
    pub(in crate::compile) fn together_with_lists(
        &mut self,
        arguments: &[(NodeId, ParameterType)],
        at: Span,
    ) -> Result<(Vec<NodeId>, LevelId)> {
        let levels: Vec<LevelId> = arguments
            .iter()
            .filter(|(id, _)| self.graph.as_const(*id).is_none())
            .map(|(id, ty)| {
                let level = self.graph.node(*id).level;
                match ty.is_list() {
                    true => self.graph.parent(level),
                    false => level,
                }
            })
            .collect();
        let target = self.common_level(&levels, at)?.unwrap_or(EVENT);
        let mut brought = Vec::with_capacity(arguments.len());
        for (id, ty) in arguments {
            brought.push(match ty.is_list() {
                true => {
                    let level = self.graph.node(*id).level;
                    let level = self.nested(level, target, at)?;
                    self.bring(*id, level, at)?
                }
                false => self.bring(*id, target, at)?,
            });
        }
        Ok((brought, target))
    }

    /// What a call gives at a level.
    pub(in crate::compile) fn returned(
        &mut self,
        callee: usize,
        inputs: &[NodeId],
        level: LevelId,
        outputs: &[Output],
    ) -> Binding {
        let missing = inputs.iter().any(|id| {
            let node = self.graph.node(*id);
            node.missing && self.graph.encloses(node.level, level)
        });
        let node = |part, level, ty, missing| Node {
            op: Op::Returned { callee, part },
            inputs: inputs.to_vec(),
            level,
            ty,
            missing,
        };
        let lists = lists_of(outputs);
        // Where an argument is missing, lists have no items.
        let levels: Vec<LevelId> = (0..lists)
            .map(|list| {
                let lengths = self.graph.add(node(list, level, Type::Int, false));
                let kind = LevelKind::Returned { lengths };
                self.graph.add_level(Level {
                    parent: level,
                    kind,
                })
            })
            .collect();
        let mut fields = Vec::with_capacity(outputs.len());
        for (number, output) in outputs.iter().enumerate() {
            let ty = type_of(output.ty);
            let of = output.list.and_then(|list| levels.get(list).copied());
            let made = match of {
                Some(items) => node(lists + number, items, ty, false),
                None => node(lists + number, level, ty, missing),
            };
            let made = self.graph.add(made);
            match &output.name {
                Some(name) => fields.push((name.clone(), made)),
                None => return Binding::Value(made),
            }
        }
        // Records in one list are a collection.
        let shared = match (levels.as_slice(), outputs) {
            ([only], outputs) if outputs.iter().all(|output| output.list.is_some()) => *only,
            _ => level,
        };
        made_record(fields, shared)
    }

    /// What a call of constants gives.
    pub(in crate::compile) fn returned_constants(
        &mut self,
        function: &dyn Function,
        fixed: &[Option<Fixed>],
        outputs: &[Output],
        at: Span,
    ) -> Result<Binding> {
        if lists_of(outputs) > 0 {
            let message = "a function that gives lists needs a column among its arguments";
            return Err(QueryError::at(at, message));
        }
        let found = crate::compile::nodes::provided::called_with_constants(function, fixed)
            .map_err(|message| QueryError::at(at, message))?;
        let mut fields = Vec::with_capacity(outputs.len());
        for (output, values) in outputs.iter().zip(&found.outputs) {
            let constant = match values {
                Numbers::Bool(values) => values.first().map(|x| Constant::Bool(*x != 0)),
                Numbers::Int(values) => values.first().map(|x| Constant::Int(*x)),
                Numbers::Float(values) => values.first().map(|x| Constant::Float(x.to_bits())),
            };
            let Some(constant) = constant else {
                return Err(QueryError::at(at, "a function gave no value"));
            };
            let made = self.graph.constant(constant);
            match &output.name {
                Some(name) => fields.push((name.clone(), made)),
                None => return Ok(Binding::Value(made)),
            }
        }
        Ok(made_record(fields, EVENT))
    }
}

impl Callee {
    /// Whether what a call has given is what the function says that it gives, for this number of rows.
    pub fn check(&self, returned: &Returned, rows: usize) -> std::result::Result<(), String> {
        let outputs = self.outputs.as_deref().unwrap_or_default();
        if returned.outputs.len() != outputs.len() || returned.lengths.len() != lists_of(outputs) {
            return Err("it gave another number of values than it says".to_owned());
        }
        let mut items = Vec::with_capacity(returned.lengths.len());
        for lengths in &returned.lengths {
            if lengths.len() != rows {
                return Err(format!("it gave {} lists for {rows} rows", lengths.len()));
            }
            let total = lengths.iter().try_fold(0_i64, |sum, length| {
                let sum = sum.checked_add(*length)?;
                (*length >= 0 && sum <= i64::from(i32::MAX)).then_some(sum)
            });
            items.push(total.ok_or("it gave lists that are too long")?);
        }
        for (output, values) in outputs.iter().zip(&returned.outputs) {
            let is_right = matches!(
                (output.ty, values),
                (ResultType::Bool, Numbers::Bool(_))
                    | (ResultType::Int, Numbers::Int(_))
                    | (ResultType::Float, Numbers::Float(_))
            );
            if !is_right {
                return Err("it gave values of another type than it says".to_owned());
            }
            let wanted = match output.list.and_then(|list| items.get(list)) {
                Some(items) => *items as usize,
                None => rows,
            };
            if values.len() != wanted {
                let got = values.len();
                return Err(format!("it gave {got} values where {wanted} are wanted"));
            }
        }
        Ok(())
    }
}

/// How many lists these outputs are in.
pub(crate) fn lists_of(outputs: &[Output]) -> usize {
    let lists = outputs.iter().filter_map(|output| output.list);
    lists.max().map_or(0, |last| last + 1)
}

fn made_record(fields: Vec<(String, NodeId)>, level: LevelId) -> Binding {
    Binding::Object(Object {
        source: Rc::new(RecordSource::Made(fields)),
        base: level,
        moves: Vec::new(),
        level,
    })
}

fn type_of(ty: ResultType) -> Type {
    match ty {
        ResultType::Bool => Type::Bool,
        ResultType::Int => Type::Int,
        ResultType::Float => Type::Float,
    }
}
