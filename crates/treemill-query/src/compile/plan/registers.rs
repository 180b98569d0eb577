//! Register allocation, by linear scan: a register whose value no later step reads takes another
//! result, so that all registers of a program fit the first-level cache.

use crate::compile::plan::program::{Argument, Program};
use crate::kernel::Lane;

/// Allocates registers to results. Before, each result has a register of its own.
pub(in crate::compile) fn allocate(program: &mut Program) {
    let lanes = std::mem::take(&mut program.registers);
    let last_read = last_reads(program, lanes.len());
    let mut places: Vec<usize> = vec![0; lanes.len()];
    let mut free: Vec<usize> = Vec::new();
    for i in 0..program.steps.len() {
        for result in 0..program.steps[i].results.len() {
            let own = program.steps[i].results[result];
            places[own] = take(&mut program.registers, lanes[own], &mut free);
        }
        let step = &mut program.steps[i];
        let mut read: Vec<usize> = Vec::new();
        for argument in &mut step.arguments {
            if let Argument::Register(own) = argument {
                read.push(*own);
                *own = places[*own];
            }
        }
        read.extend(&step.results);
        for result in &mut step.results {
            *result = places[*result];
        }
        // Free for the steps after this one.
        read.sort_unstable();
        read.dedup();
        read.retain(|own| last_read[*own] == i);
        free.extend(read.into_iter().map(|own| places[own]));
    }
    for result in &mut program.results {
        *result = places[*result];
    }
}

/// The last step that reads each register, or else the one that writes it; never, for the program's
/// results.
fn last_reads(program: &Program, registers: usize) -> Vec<usize> {
    let mut last_read = vec![usize::MAX; registers];
    for (i, step) in program.steps.iter().enumerate() {
        for result in &step.results {
            last_read[*result] = i;
        }
        for argument in &step.arguments {
            if let Argument::Register(from) = argument {
                last_read[*from] = i;
            }
        }
    }
    for result in &program.results {
        last_read[*result] = usize::MAX;
    }
    last_read
}

/// A register of a type: the one that was freed last, or a new one.
fn take(registers: &mut Vec<Lane>, lane: Lane, free: &mut Vec<usize>) -> usize {
    match free.iter().rposition(|r| registers[*r] == lane) {
        Some(place) => free.remove(place),
        None => {
            registers.push(lane);
            registers.len() - 1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::plan::program::{Leaf, Operation, Read, Step};
    use crate::kernel::{Bundle, Map, Real1};

    fn step(work: Operation, arguments: &[Argument], results: &[usize]) -> Step {
        Step {
            work,
            arguments: arguments.to_vec(),
            results: results.to_vec(),
        }
    }

    #[test]
    fn a_register_is_taken_again_when_its_value_has_been_read() {
        let leaf = Leaf {
            node: 0,
            lane: Lane::F,
            read: Read::Along,
        };
        let root = || Operation::of(Map::Real1(Real1::Sqrt));
        // One of a bundle's two results is never read.
        let mut program = Program {
            leaves: vec![leaf],
            steps: vec![
                step(
                    Operation::Bundle(Bundle::SinCos),
                    &[Argument::Leaf(0)],
                    &[0, 1],
                ),
                step(root(), &[Argument::Register(0)], &[2]),
                step(root(), &[Argument::Register(2)], &[3]),
                step(root(), &[Argument::Register(3)], &[4]),
            ],
            results: vec![2, 4],
            registers: vec![Lane::F; 5],
            ..Program::default()
        };
        allocate(&mut program);
        let results: Vec<_> = program
            .steps
            .iter()
            .map(|step| step.results.clone())
            .collect();
        assert_eq!(results, [vec![0, 1], vec![1], vec![0], vec![2]]);
        assert_eq!(program.results, [1, 2]);
        assert_eq!(program.registers.len(), 3);
    }
}
