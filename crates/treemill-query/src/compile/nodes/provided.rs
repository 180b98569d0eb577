//! Calls of functions that the query does not define: their arguments, and the parts of what they give.

use crate::compile::{Binding, Builder, Constant, LevelId, NodeId, Op, Result, Type};
use crate::error::QueryError;
use crate::function::{
    Argument, Fixed, Function, Given, GivenType, Parameter, ParameterType, Passed, Provided,
    Returned,
};
use crate::spec::Span;
use std::sync::Arc;

/// A function, or functions by name, and what to call it in messages.
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub title: String,
    pub provided: Provided,
}

impl Builder<'_> {
    /// `functions.part`
    pub(in crate::compile) fn part_of(
        &self,
        named: &Named,
        name: &str,
        at: Span,
    ) -> Result<Binding> {
        let title = &named.title;
        let part = match &named.provided {
            Provided::Many(many) => many.parts.get(name),
            Provided::One(_) => None,
        };
        match part {
            Some(provided) => Ok(Binding::Provided(Named {
                title: format!("{title}.{name}"),
                provided: provided.clone(),
            })),
            None => Err(QueryError::at(at, format!("{title} has no {name}"))),
        }
    }

    /// What a call has, before it is what the function takes.
    pub(in crate::compile) fn as_given(&self, id: NodeId) -> Given {
        let node = self.graph.node(id);
        Given {
            ty: match node.ty {
                Type::Bool => GivenType::Bool,
                Type::Int => GivenType::Int,
                Type::UInt => GivenType::UInt,
                Type::Float => GivenType::Float,
                Type::Str => GivenType::Str,
            },
            is_list: self.graph.as_const(id).is_none() && !self.is_single(node.level),
            is_constant: self.graph.as_const(id).is_some(),
        }
    }

    pub(in crate::compile) fn as_argument(
        &mut self,
        id: NodeId,
        parameter: &Parameter,
        title: &str,
        at: Span,
    ) -> Result<NodeId> {
        let given = self.type_of(id);
        let name = &parameter.name;
        if parameter.ty.is_list() && !self.as_given(id).is_list {
            let given = given.name();
            let message = format!("{title}(…) takes a list as {name}, and gets {given}");
            return Err(QueryError::at(at, message));
        }
        match (parameter.ty, given) {
            (ParameterType::Str, Type::Str) => Ok(id),
            (ParameterType::Float | ParameterType::Floats, ty) if ty != Type::Str => {
                Ok(self.real_of(id))
            }
            (ParameterType::Int | ParameterType::Ints, Type::Bool | Type::Int | Type::UInt) => {
                Ok(self.number_of(id))
            }
            (wanted, given) => {
                let (wanted, help) = match wanted {
                    ParameterType::Str => ("a string", ""),
                    ParameterType::Int if given == Type::Float => {
                        ("an integer", "; write int(x) to round towards zero")
                    }
                    ParameterType::Int => ("an integer", ""),
                    ParameterType::Ints => ("integers", ""),
                    ParameterType::Float => ("a number", ""),
                    ParameterType::Floats => ("numbers", ""),
                };
                let given = given.name();
                let message =
                    format!("{title}(…) takes {wanted} as {name}, and gets {given}{help}");
                Err(QueryError::at(at, message))
            }
        }
    }

    pub(in crate::compile) fn fixed(&self, id: NodeId) -> Option<Fixed> {
        Some(match self.graph.as_const(id)? {
            Constant::Bool(x) => Fixed::Int(i64::from(*x)),
            Constant::Int(x) => Fixed::Int(*x),
            // As columns of u64, by its bits.
            Constant::UInt(x) => Fixed::Int(*x as i64),
            Constant::Float(bits) => Fixed::Float(f64::from_bits(*bits)),
            Constant::Str(x) => Fixed::Str(x.as_bytes().to_vec()),
        })
    }
}

/// Evaluates like `evaluate_fixed` a function that gives something else.
pub(in crate::compile) fn called_with_constants(
    function: &dyn Function,
    fixed: &[Option<Fixed>],
) -> std::result::Result<Returned, String> {
    with_constants(fixed, |arguments| {
        let passed: Vec<Passed<'_>> = arguments.iter().copied().map(Passed::One).collect();
        function.call(1, &passed)
    })
}

pub(in crate::compile) fn with_constants<T>(
    fixed: &[Option<Fixed>],
    call: impl FnOnce(&[Argument<'_>]) -> T,
) -> T {
    let texts: Vec<[&[u8]; 1]> = fixed
        .iter()
        .map(|fixed| match fixed {
            Some(Fixed::Str(text)) => [text.as_slice()],
            _ => [&[] as &[u8]],
        })
        .collect();
    let arguments: Vec<Argument<'_>> = fixed
        .iter()
        .zip(&texts)
        .filter_map(|(fixed, text)| {
            Some(match fixed.as_ref()? {
                Fixed::Str(_) => Argument::Str(text),
                Fixed::Int(x) => Argument::Int(std::slice::from_ref(x)),
                Fixed::Float(x) => Argument::Float(std::slice::from_ref(x)),
            })
        })
        .collect();
    call(&arguments)
}

/// Arguments, and in how many steps each is found. After all arguments there are the places for each step of each
/// argument, in order, from the call's positions on.
pub(in crate::compile) struct SharedArguments {
    pub inputs: Vec<NodeId>,
    pub steps: Arc<[usize]>,
}

impl Builder<'_> {
    /// The arguments as they were before they were carried to their level; `None` if all were computed there.
    pub(in crate::compile) fn shared_arguments(
        &mut self,
        arguments: &[NodeId],
    ) -> Option<SharedArguments> {
        let mut inputs = Vec::with_capacity(2 * arguments.len());
        let mut places = Vec::with_capacity(arguments.len());
        let mut steps = Vec::with_capacity(arguments.len());
        for id in arguments {
            let (source, mut found) = self.source_and_places(*id);
            steps.push(found.len());
            inputs.push(source);
            places.append(&mut found);
        }
        let some = !places.is_empty();
        inputs.extend(places);
        some.then(|| SharedArguments {
            inputs,
            steps: steps.into(),
        })
    }

    /// A value before it was repeated for the first time, and the places by which the node's positions find it: for each
    /// time that it is repeated those of the level before. That level's are fewer, and the last level's are the same for
    /// all that was repeated there, so that they need not be put together for each argument.
    pub(in crate::compile) fn source_and_places(&mut self, id: NodeId) -> (NodeId, Vec<NodeId>) {
        let mut steps: Vec<(Op, LevelId, bool)> = Vec::new();
        let (mut walk, mut source, mut count) = (id, id, 0);
        loop {
            let node = self.graph.node(walk);
            let (Op::Take(_) | Op::Spread, [input]) = (&node.op, node.inputs.as_slice()) else {
                break;
            };
            let repeats = node.op == Op::Spread || self.graph.level(node.level).kind.expands();
            steps.push((node.op.clone(), node.level, repeats));
            walk = *input;
            if repeats {
                (source, count) = (walk, steps.len());
            }
        }
        let node = self.graph.node(source);
        if node.missing || node.ty != Type::Float || self.graph.as_const(source).is_some() {
            return (id, Vec::new());
        }
        let mut level = node.level;
        let mut places = Vec::new();
        steps.truncate(count);
        for (op, next, repeats) in steps.into_iter().rev() {
            let before = match places.pop() {
                Some(place) if !repeats => place,
                last => {
                    places.extend(last);
                    self.row(level)
                }
            };
            places.push(self.moved(op, before, next));
            level = next;
        }
        places.reverse();
        (source, places)
    }
}
