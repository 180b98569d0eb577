//! Values of functions that the query does not define. They see the positions where no argument is missing.

use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::compile::{Callee, Node};
use crate::error::QueryError;
use crate::function::{Argument, Fixed, ParameterType, Shared};
use crate::value::{Buf, Data, Value, View};

/// The values of an argument that differ from position to position.
enum Varying {
    Int(Buf<i64>),
    Float(Buf<f64>),
    Str(Value),
}

impl Batch<'_> {
    pub(super) fn called(&mut self, s: SelectionId, node: &Node, callee: usize) -> Made<Value> {
        let plan = self.plan;
        let Some(callee) = plan.callees.get(callee) else {
            return Err(QueryError::mistake("a function is not among those called").into());
        };
        let mut values = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            values.push(self.node(s, *input)?);
        }
        let refs: Vec<&Value> = values.iter().collect();
        let n = match values.iter().all(Value::is_scalar) {
            true => self.positions(s, node.level)?,
            false => self.common_length(&refs)?,
        };
        let valid = self.all_present(&refs, n);
        let present = valid.as_ref().and_then(|valid| present(valid));
        let types = callee.parameters.iter().zip(&callee.fixed);
        let types = types.filter(|(_, fixed)| fixed.is_none());
        let mut varying = Vec::with_capacity(values.len());
        for (value, (ty, _)) in values.into_iter().zip(types) {
            varying.push(match ty {
                ParameterType::Str => Varying::Str(value),
                ParameterType::Int => Varying::Int(gathered(self.whole(&value, n), &present)),
                ParameterType::Float => Varying::Float(gathered(self.whole(&value, n), &present)),
                ParameterType::Ints | ParameterType::Floats => {
                    return Err(QueryError::mistake("a list is given item by item").into());
                }
            });
        }
        let mut out: Vec<f64> = self.pool.take(n);
        match &present {
            None => call(callee, &varying, None, &mut out)?,
            Some(present) => {
                let mut found: Vec<f64> = self.pool.take(present.len());
                call(callee, &varying, Some(present), &mut found)?;
                out.fill(0.0);
                for (place, value) in present.iter().zip(&found) {
                    out[*place as usize] = *value;
                }
                self.pool.give_vec(found);
            }
        }
        for values in varying {
            match values {
                Varying::Int(values) => self.pool.give(values),
                Varying::Float(values) => self.pool.give(values),
                Varying::Str(_) => (),
            }
        }
        Ok(Value {
            data: Data::F64(out.into()),
            view: View::Direct,
            valid,
        })
    }
}

impl Batch<'_> {
    /// The values of a call, some of whose arguments have their values at levels of their own.
    pub(super) fn called_shared(
        &mut self,
        s: SelectionId,
        node: &Node,
        callee: usize,
        steps: &[usize],
    ) -> Made<Value> {
        let plan = self.plan;
        let (Some(callee), Some((arguments, places))) = (
            plan.callees.get(callee),
            node.inputs.split_at_checked(steps.len()),
        ) else {
            return Err(QueryError::mistake("a function is not among those called").into());
        };
        let mut values = Vec::with_capacity(arguments.len());
        for input in arguments {
            values.push(self.node(s, *input)?);
        }
        let mut lists = Vec::with_capacity(places.len());
        for input in places {
            let rows = self.node(s, *input)?;
            lists.push(Self::row_numbers(&rows)?);
        }
        let mut rest = lists.iter().map(|list| &list[..]);
        let mut places: Vec<Vec<&[u32]>> = Vec::with_capacity(values.len());
        for count in steps {
            places.push(rest.by_ref().take(*count).collect());
        }
        let mut firsts = places.iter().filter_map(|lists| lists.first());
        let n = firsts.clone().next().map_or(0, |list| list.len());
        let beside = values.iter().zip(steps).filter(|(_, steps)| **steps == 0);
        let beside: Vec<&Value> = beside.map(|(value, _)| value).collect();
        let differs = |value: &&Value| !value.is_scalar() && value.len() != n;
        if beside.iter().any(differs) || firsts.any(|list| list.len() != n) {
            return Err(QueryError::data("values of different lengths met").into());
        }
        let valid = self.all_present(&beside, n);
        let present = valid.as_ref().and_then(|valid| present(valid));
        let mut numbers: Vec<Buf<f64>> = Vec::with_capacity(values.len());
        for value in &values {
            let length = if value.is_scalar() { 1 } else { value.len() };
            numbers.push(self.whole(value, length));
        }
        let mut varying = Vec::with_capacity(values.len());
        for ((value, numbers), places) in values.iter().zip(&numbers).zip(&places) {
            // A value that stands for all has no places.
            let places = if value.is_scalar() { &[] } else { &places[..] };
            varying.push(Shared {
                values: numbers,
                places,
            });
        }
        let mut out: Vec<f64> = self.pool.take(n);
        match &present {
            None => call_shared(callee, &varying, None, &mut out)?,
            Some(present) => {
                let mut found: Vec<f64> = self.pool.take(present.len());
                call_shared(callee, &varying, Some(present), &mut found)?;
                out.fill(0.0);
                for (place, value) in present.iter().zip(&found) {
                    out[*place as usize] = *value;
                }
                self.pool.give_vec(found);
            }
        }
        drop(varying);
        for numbers in numbers {
            self.pool.give(numbers);
        }
        Ok(Value {
            valid,
            ..Value::direct(Data::F64(out.into()))
        })
    }
}

fn call_shared(
    callee: &Callee,
    varying: &[Shared<'_>],
    chosen: Option<&[u32]>,
    out: &mut [f64],
) -> Result<(), QueryError> {
    let mut rest = varying.iter();
    let mut arguments = Vec::with_capacity(callee.fixed.len());
    for fixed in &callee.fixed {
        let argument = match fixed {
            Some(Fixed::Float(x)) => Some(Shared {
                values: std::slice::from_ref(x),
                places: &[],
            }),
            Some(_) => None,
            None => rest.next().copied(),
        };
        arguments.push(argument.ok_or_else(|| QueryError::mistake("an argument is no number"))?);
    }
    let found = callee.function.evaluate_shared(&arguments, chosen, out);
    found.map_err(|message| callee.refused(&message))
}

/// The positions where there are values, if there are not at all.
pub(super) fn present(valid: &[u8]) -> Option<Vec<u32>> {
    if valid.iter().all(|flag| *flag != 0) {
        return None;
    }
    let numbered = valid.iter().enumerate();
    Some(
        numbered
            .filter(|(_, flag)| **flag != 0)
            .map(|(i, _)| i as u32)
            .collect(),
    )
}

pub(super) fn gathered<T: Copy + arrow_buffer::ArrowNativeType>(
    all: Buf<T>,
    present: &Option<Vec<u32>>,
) -> Buf<T> {
    match present {
        None => all,
        Some(present) => {
            let some: Vec<T> = present.iter().map(|place| all[*place as usize]).collect();
            some.into()
        }
    }
}

/// Texts of all rows, or of those in which no argument is missing.
pub(super) fn texts<'a>(value: &'a Value, rows: usize, present: Option<&[u32]>) -> Vec<&'a [u8]> {
    match present {
        None => (0..rows).map(|i| value.string(i)).collect(),
        Some(present) => present
            .iter()
            .map(|place| value.string(*place as usize))
            .collect(),
    }
}

/// The texts among arguments that are the same in all rows, in their places.
pub(super) fn fixed_texts(fixed: &[Option<Fixed>]) -> Vec<[&[u8]; 1]> {
    fixed
        .iter()
        .map(|fixed| match fixed {
            Some(Fixed::Str(text)) => [text.as_slice()],
            _ => [&[] as &[u8]],
        })
        .collect()
}

fn call(
    callee: &Callee,
    varying: &[Varying],
    present: Option<&[u32]>,
    out: &mut [f64],
) -> Result<(), QueryError> {
    let texts: Vec<Vec<&[u8]>> = varying
        .iter()
        .map(|values| match values {
            Varying::Str(value) => texts(value, out.len(), present),
            _ => Vec::new(),
        })
        .collect();
    let fixed_texts = fixed_texts(&callee.fixed);
    let mut rest = varying.iter().zip(&texts);
    let mut arguments = Vec::with_capacity(callee.fixed.len());
    for (fixed, text) in callee.fixed.iter().zip(&fixed_texts) {
        arguments.push(match fixed {
            Some(Fixed::Str(_)) => Argument::Str(text),
            Some(Fixed::Int(x)) => Argument::Int(std::slice::from_ref(x)),
            Some(Fixed::Float(x)) => Argument::Float(std::slice::from_ref(x)),
            None => match rest.next() {
                Some((Varying::Int(values), _)) => Argument::Int(values),
                Some((Varying::Float(values), _)) => Argument::Float(values),
                Some((Varying::Str(_), texts)) => Argument::Str(texts),
                None => return Err(QueryError::mistake("an argument is missing")),
            },
        });
    }
    let found = callee.function.evaluate(&arguments, out);
    found.map_err(|message| callee.refused(&message))
}
