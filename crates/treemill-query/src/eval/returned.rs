//! Values of functions that take whole lists, or give several values or lists. They see the rows in which no
//! argument is missing, and lists without their missing items.

use super::calls::{fixed_texts, texts};
use super::tasks::Made;
use super::{Batch, SelectionId};
use crate::compile::{Callee, LevelId, Node, NodeId, Op, lists_of};
use crate::error::QueryError;
use crate::function::{Argument, Fixed, Numbers, ParameterType, Passed, Returned};
use crate::kernel::{gather, lists, masks};
use crate::pool::Pooled;
use crate::value::{Buf, Data, Value};

/// An argument that is not the same in all rows.
enum Varying {
    Int(Buf<i64>),
    Float(Buf<f64>),
    Str(Value),
    Ints(Buf<i64>, Buf<i32>),
    Floats(Buf<f64>, Buf<i32>),
}

impl Batch<'_> {
    /// One part of what a call gives; all are computed.
    pub(super) fn returned(
        &mut self,
        s: SelectionId,
        id: NodeId,
        node: &Node,
        callee: usize,
    ) -> Made<Value> {
        let plan = self.plan;
        let Some(called) = plan.callees.get(callee) else {
            return Err(QueryError::mistake("a function is not among those called").into());
        };
        let types: Vec<ParameterType> = called.varying().collect();
        let mut values = Vec::with_capacity(node.inputs.len());
        let mut offsets: Vec<Option<Buf<i32>>> = Vec::with_capacity(node.inputs.len());
        for (input, ty) in node.inputs.iter().zip(&types) {
            values.push(self.node(s, *input)?);
            let level = plan.graph.node(*input).level;
            offsets.push(match ty.is_list() {
                true => Some(self.offsets(s, level)?),
                false => None,
            });
        }
        let single: Vec<&Value> = values
            .iter()
            .zip(&offsets)
            .filter_map(|(value, offsets)| offsets.is_none().then_some(value))
            .collect();
        let rows = match offsets.iter().flatten().next() {
            Some(offsets) => offsets.len() - 1,
            None if single.iter().all(|value| value.is_scalar()) => {
                self.positions(s, self.level_of_call(callee, node))?
            }
            None => self.common_length(&single)?,
        };
        let valid = self.all_present(&single, rows);
        let present = valid
            .as_ref()
            .and_then(|valid| super::calls::present(valid));
        let mut varying = Vec::with_capacity(values.len());
        for ((value, offsets), ty) in values.into_iter().zip(offsets).zip(types) {
            varying.push(match (ty, offsets) {
                (ParameterType::Str, _) => Varying::Str(value),
                (ParameterType::Int, _) => {
                    Varying::Int(super::calls::gathered(self.whole(&value, rows), &present))
                }
                (ParameterType::Float, _) => {
                    Varying::Float(super::calls::gathered(self.whole(&value, rows), &present))
                }
                (ParameterType::Ints, Some(offsets)) => {
                    let (items, offsets) = self.whole_lists(&value, offsets, &present);
                    Varying::Ints(items, offsets)
                }
                (ParameterType::Floats, Some(offsets)) => {
                    let (items, offsets) = self.whole_lists(&value, offsets, &present);
                    Varying::Floats(items, offsets)
                }
                _ => return Err(QueryError::mistake("a list has no lengths").into()),
            });
        }
        let called_rows = present.as_ref().map_or(rows, Vec::len);
        let mut found = call(called, &varying, called_rows, present.as_deref())?;
        if let Some(present) = &present {
            found = at_places(found, present, rows, called);
        }
        self.keep_all(s, id, node, callee, found, valid)
    }

    /// Notes all parts of what a call has given, and gives the wanted one.
    fn keep_all(
        &mut self,
        s: SelectionId,
        id: NodeId,
        node: &Node,
        callee: usize,
        found: Returned,
        valid: Option<Buf<u8>>,
    ) -> Made<Value> {
        let lists = found.lengths.len();
        let lengths = found.lengths.into_iter().map(Numbers::Int);
        let parts: Vec<Data> = lengths.chain(found.outputs).map(data).collect();
        let mut wanted = None;
        for (other, each) in self.plan.graph.nodes.iter().enumerate() {
            let Op::Returned { callee: of, part } = each.op else {
                continue;
            };
            if of != callee || each.inputs != node.inputs {
                continue;
            }
            let Some(data) = parts.get(part) else {
                continue;
            };
            let mut value = Value::direct(data.clone());
            if part >= lists && each.missing {
                value.valid = valid.clone();
            }
            match other as NodeId == id {
                true => wanted = Some(value),
                false => {
                    let values = &mut self.selections[s].values;
                    values.entry(other as NodeId).or_insert(value);
                }
            }
        }
        wanted.ok_or_else(|| QueryError::mistake("a function's value was not found").into())
    }

    /// The level of the rows of a call.
    fn level_of_call(&self, callee: usize, node: &Node) -> LevelId {
        let graph = &self.plan.graph;
        let is_items = self.plan.callees.get(callee).is_some_and(|called| {
            let Op::Returned { part, .. } = node.op else {
                return false;
            };
            let outputs = called.outputs.as_deref().unwrap_or_default();
            let output = part.checked_sub(lists_of(outputs));
            let output = output.and_then(|number| outputs.get(number));
            output.is_some_and(|output| output.list.is_some())
        });
        match is_items {
            true => graph.parent(node.level),
            false => node.level,
        }
    }

    /// The items that are there of the lists of the rows that are wanted, and where each list begins.
    fn whole_lists<T>(
        &mut self,
        value: &Value,
        offsets: Buf<i32>,
        rows: &Option<Vec<u32>>,
    ) -> (Buf<T>, Buf<i32>)
    where
        T: crate::chunk::Wide + Pooled,
    {
        let items = offsets.last().map_or(0, |last| *last as usize);
        let mut all: Buf<T> = self.whole(value, items);
        let mut offsets = offsets;
        if let Some(valid) = self.presence(value, items)
            && valid.contains(&0)
        {
            let kept: Vec<T> = all
                .iter()
                .zip(valid.iter())
                .filter_map(|(item, valid)| (*valid != 0).then_some(*item))
                .collect();
            let mut shorter: Vec<i32> = vec![0; offsets.len()];
            masks::kept_offsets(&valid, &offsets, &mut shorter);
            all = kept.into();
            offsets = shorter.into();
        }
        if let Some(rows) = rows {
            let mut selected: Vec<i32> = vec![0; rows.len() + 1];
            gather::selected_offsets(&offsets, rows, &mut selected);
            let total = selected.last().map_or(0, |last| *last as usize);
            let mut places: Vec<u32> = vec![0; total];
            lists::selected_items(&offsets, rows, &selected, &mut places);
            let some: Vec<T> = places.iter().map(|place| all[*place as usize]).collect();
            all = some.into();
            offsets = selected.into();
        }
        (all, offsets)
    }
}

impl Callee {
    fn varying(&self) -> impl Iterator<Item = ParameterType> {
        let types = self.parameters.iter().zip(&self.fixed);
        types.filter_map(|(ty, fixed)| fixed.is_none().then_some(*ty))
    }
}

fn data(values: Numbers) -> Data {
    match values {
        Numbers::Bool(values) => Data::Bool(values.into()),
        Numbers::Int(values) => Data::I64(values.into()),
        Numbers::Float(values) => Data::F64(values.into()),
    }
}

fn call(
    callee: &Callee,
    varying: &[Varying],
    rows: usize,
    present: Option<&[u32]>,
) -> Result<Returned, QueryError> {
    let texts: Vec<Vec<&[u8]>> = varying
        .iter()
        .map(|values| match values {
            Varying::Str(value) => texts(value, rows, present),
            _ => Vec::new(),
        })
        .collect();
    let fixed_texts = fixed_texts(&callee.fixed);
    let mut rest = varying.iter().zip(&texts);
    let mut arguments = Vec::with_capacity(callee.fixed.len());
    for (fixed, text) in callee.fixed.iter().zip(&fixed_texts) {
        arguments.push(match fixed {
            Some(Fixed::Str(_)) => Passed::One(Argument::Str(text)),
            Some(Fixed::Int(x)) => Passed::One(Argument::Int(std::slice::from_ref(x))),
            Some(Fixed::Float(x)) => Passed::One(Argument::Float(std::slice::from_ref(x))),
            None => match rest.next() {
                Some((Varying::Int(values), _)) => Passed::One(Argument::Int(values)),
                Some((Varying::Float(values), _)) => Passed::One(Argument::Float(values)),
                Some((Varying::Str(_), texts)) => Passed::One(Argument::Str(texts)),
                Some((Varying::Ints(items, offsets), _)) => Passed::Lists {
                    items: Argument::Int(items),
                    offsets,
                },
                Some((Varying::Floats(items, offsets), _)) => Passed::Lists {
                    items: Argument::Float(items),
                    offsets,
                },
                None => return Err(QueryError::mistake("an argument is missing")),
            },
        });
    }
    let wrong = |message: String| callee.refused(&message);
    let found = callee.function.call(rows, &arguments).map_err(wrong)?;
    callee.check(&found, rows).map_err(wrong)?;
    Ok(found)
}

/// What was found for some rows, at their places among all rows. The others have zeros, and lists without items.
fn at_places(found: Returned, places: &[u32], rows: usize, callee: &Callee) -> Returned {
    fn spread<T: Copy + Default>(values: &[T], places: &[u32], rows: usize) -> Vec<T> {
        let mut all = vec![T::default(); rows];
        for (place, value) in places.iter().zip(values) {
            all[*place as usize] = *value;
        }
        all
    }
    let outputs = callee.outputs.as_deref().unwrap_or_default();
    let values = found.outputs.into_iter().zip(outputs);
    Returned {
        outputs: values
            .map(|(values, output)| match (output.list, values) {
                (Some(_), values) => values,
                (None, Numbers::Bool(values)) => Numbers::Bool(spread(&values, places, rows)),
                (None, Numbers::Int(values)) => Numbers::Int(spread(&values, places, rows)),
                (None, Numbers::Float(values)) => Numbers::Float(spread(&values, places, rows)),
            })
            .collect(),
        lengths: found
            .lengths
            .iter()
            .map(|lengths| spread(lengths, places, rows))
            .collect(),
    }
}
