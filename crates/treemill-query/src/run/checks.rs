//! Checks once, before the chunks, that the kernels take a program and its inputs: a kernel that is given
//! another type would leave old values in its results.

use super::Input;
use crate::compile::{Argument, Leaf, Program, Read, Step};
use crate::error::QueryError;
use crate::kernel::Lane;
use crate::run::Items;

/// An error where they are not, over `n` positions.
pub(super) fn check(program: &Program, inputs: &[Input], n: usize) -> Result<(), QueryError> {
    let are_given = program.leaves.len() == inputs.len();
    let mut leaves = program.leaves.iter().zip(inputs);
    if !are_given || !leaves.all(|(leaf, input)| is_input(leaf, input, n)) {
        return Err(QueryError::mistake("a program gets values of other types"));
    }
    match program.steps.iter().all(|step| is_step(program, step)) {
        true => Ok(()),
        false => Err(QueryError::mistake("the steps of a program do not fit")),
    }
}

/// Whether the input is what the leaf is read as. Values of any type are converted to the leaf's.
fn is_input(leaf: &Leaf, input: &Input, n: usize) -> bool {
    match (input, leaf.read, leaf.lane) {
        (Input::Value(value), Read::Along, _) => value.is_scalar() || value.len() >= n,
        (Input::Items(_), Read::Along, _) => false,
        (Input::Items(Items::F(_)), _, Lane::F) => true,
        (Input::Items(Items::I(_)), Read::Item { .. }, Lane::I) => true,
        (Input::Items(Items::B(_)), Read::Item { .. }, Lane::B) => true,
        (Input::Items(_) | Input::Value(_), ..) => false,
    }
}

/// Whether a step's arguments and results have the types that its work takes and gives.
fn is_step(program: &Program, step: &Step) -> bool {
    let register = |register: usize| program.registers.get(register).copied();
    let lane = |argument: &Argument| match argument {
        Argument::Leaf(leaf) => program.leaves.get(*leaf).map(|leaf| leaf.lane),
        Argument::Register(at) => register(*at),
    };
    let arguments: Vec<Option<Lane>> = step.arguments.iter().map(lane).collect();
    let results = step.results.iter().map(|result| register(*result));
    let gives = step.work.gives().iter().copied().map(Some);
    step.work.takes(&arguments) && results.eq(gives)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::compile::Operation;
    use crate::kernel::Map;
    use crate::value::{Data, Value};

    /// `not x`, of a leaf of this type.
    fn not(lane: Lane) -> Program {
        Program {
            leaves: vec![Leaf {
                node: 0,
                lane,
                read: Read::Along,
            }],
            steps: vec![Step {
                work: Operation::of(Map::Not),
                arguments: vec![Argument::Leaf(0)],
                results: vec![0],
            }],
            results: vec![0],
            registers: vec![Lane::B],
            ..Program::default()
        }
    }

    #[test]
    fn what_kernels_do_not_take_is_an_error() {
        let three = || [Input::Value(Value::direct(Data::Bool(vec![1; 3].into())))];
        let check = |lane, inputs: &[Input], n| check(&not(lane), inputs, n);
        assert_eq!(check(Lane::B, &three(), 3), Ok(()));
        for (lane, inputs, n) in [
            (Lane::F, three().as_slice(), 3),
            (Lane::B, three().as_slice(), 4),
            (Lane::B, &[], 3),
            (Lane::B, &[Input::Items(Items::B(vec![1; 3].into()))], 3),
        ] {
            let error = check(lane, inputs, n).unwrap_err();
            assert!(error.message.contains("please report it"), "{error}");
        }
        let mut program = not(Lane::B);
        program.registers = vec![Lane::F];
        assert!(super::check(&program, &three(), 3).is_err());
    }
}
