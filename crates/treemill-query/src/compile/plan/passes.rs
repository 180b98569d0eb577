//! Passes over a program's steps, one after another, before it runs. Each keeps the results equal to the
//! bit, and knows operations by name (`kernel::Map`): none looks for a formula. Only speed depends on
//! them. `explain` lists the steps that they leave, which tests check.

use crate::compile::plan::program::{Argument, Operation, Program, Read, Step};
use crate::compile::plan::registers;
use crate::kernel::{Bundle, Map, Real1};

/// All passes, in order. Registers come last, because the others need a register for each result.
const PASSES: &[fn(&mut Program)] = &[
    same_arguments,
    energies,
    squares_of_sums,
    unused_leaves,
    registers::allocate,
];

/// Two operations of the same arguments that are one bundle, in the order of its results.
const SAME_ARGUMENTS: &[(Map, Map, Bundle)] = &[
    (
        Map::Real1(Real1::Sin),
        Map::Real1(Real1::Cos),
        Bundle::SinCos,
    ),
    (Map::Px, Map::Py, Bundle::PxPy),
];

/// Applies all passes.
pub(in crate::compile) fn apply(program: &mut Program) {
    for pass in PASSES {
        pass(program);
    }
}

/// Operations of the same arguments become one step.
fn same_arguments(program: &mut Program) {
    for first in 0..program.steps.len() {
        for second in first + 1..program.steps.len() {
            let (Some(one), Some(other)) = (program.map(first), program.map(second)) else {
                continue;
            };
            let is_found = |(a, b, _): &&(Map, Map, Bundle)| {
                (*a, *b) == (one, other) || (*b, *a) == (one, other)
            };
            let Some((a, _, bundle)) = SAME_ARGUMENTS.iter().find(is_found) else {
                continue;
            };
            if program.steps[first].arguments != program.steps[second].arguments {
                continue;
            }
            let later = program.steps.remove(second);
            let step = &mut program.steps[first];
            step.work = Operation::Bundle(*bundle);
            match *a == one {
                true => step.results.extend(later.results),
                false => step.results.splice(0..0, later.results).for_each(drop),
            }
            break;
        }
    }
}

/// The energy is made beside the pz that it takes, if the mass is there by then.
fn energies(program: &mut Program) {
    let mut energy = 0;
    while energy < program.steps.len() {
        if let Some(along) = along(program, energy) {
            let results = program.steps.remove(energy).results;
            let step = &mut program.steps[along.z];
            step.work = Operation::Bundle(Bundle::PzEnergy);
            step.arguments = along.arguments;
            step.results.extend(results);
        } else {
            energy += 1;
        }
    }
}

/// A step that makes a pz, and pt, eta and mass.
struct Along {
    z: usize,
    arguments: Vec<Argument>,
}

/// What a step takes, if it is the energy of a pz that another makes.
fn along(program: &Program, energy: usize) -> Option<Along> {
    if program.map(energy)? != Map::Energy {
        return None;
    }
    let &[pt, Argument::Register(z), mass] = program.steps[energy].arguments.as_slice() else {
        return None;
    };
    let maker = |register: usize| {
        let makes = |step: &Step| step.results.contains(&register);
        program.steps.iter().position(makes)
    };
    let z = maker(z)?;
    let is_there = match mass {
        Argument::Leaf(_) => true,
        Argument::Register(mass) => maker(mass)? < z,
    };
    match (program.map(z)?, program.steps[z].arguments.as_slice()) {
        (Map::Pz, &[of, eta]) if of == pt && is_there => Some(Along {
            z,
            arguments: vec![pt, eta, mass],
        }),
        _ => None,
    }
}

/// Squares all of whose arguments are sums over combinations' items make those sums themselves.
fn squares_of_sums(program: &mut Program) {
    for step in &mut program.steps {
        let Operation::Map(Map::Squares(squares), _) = step.work else {
            continue;
        };
        let leaves = step.arguments.iter().map(|argument| match argument {
            Argument::Leaf(leaf) => program.leaves.get(*leaf).copied(),
            Argument::Register(_) => None,
        });
        let Some(leaves) = leaves.collect::<Option<Vec<_>>>() else {
            continue;
        };
        if leaves.iter().any(|leaf| leaf.read != Read::Sum) {
            continue;
        }
        step.work = Operation::SquaresOfSums(squares);
        step.arguments.clear();
        for mut leaf in leaves {
            leaf.read = Read::Items;
            step.arguments.push(Argument::Leaf(program.leaves.len()));
            program.leaves.push(leaf);
        }
    }
}

/// Removes leaves that no step reads any more, and duplicates.
fn unused_leaves(program: &mut Program) {
    let all = std::mem::take(&mut program.leaves);
    for argument in program
        .steps
        .iter_mut()
        .flat_map(|step| &mut step.arguments)
    {
        let Argument::Leaf(leaf) = argument else {
            continue;
        };
        let wanted = all[*leaf];
        let known = program.leaves.iter().position(|known| *known == wanted);
        *leaf = known.unwrap_or_else(|| {
            program.leaves.push(wanted);
            program.leaves.len() - 1
        });
    }
}
