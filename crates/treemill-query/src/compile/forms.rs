//! Finds in a program's steps what can be read of combinations in one go: roots of squares of sums over
//! their items (see `kernel::forms`). Nothing depends on it but speed.

use super::program::{Argument, Program, Read, Work};
use crate::kernel::forms::{Form, MOST, Root, Shape};
use crate::kernel::{Arithmetic, Map, Real1};

/// Shapes as steps come to them: `q` squares a sum, signs put together the last two.
const SHAPES: &[(&str, Shape)] = &[
    ("qq+", Shape::Two),
    ("qq+q+", Shape::Three),
    ("qq-", Shape::Difference),
    ("qqq+q+-", Shape::Mass),
];

/// What a step computes, as `SHAPES` write it, and of which leaves.
#[derive(Clone, Default)]
struct Found {
    text: String,
    leaves: Vec<usize>,
    /// The steps that it takes.
    steps: Vec<usize>,
}

/// Puts forms in the place of the steps that they do together. `maps` are the steps' operations, and
/// arguments name steps by their numbers: registers have not been given yet.
pub(super) fn fuse(program: &mut Program, maps: &[Map]) {
    if !program.leaves.iter().any(|leaf| leaf.read == Read::Sum) {
        return;
    }
    let mut wanted = vec![0; program.steps.len()];
    for argument in program.steps.iter().flat_map(|step| &step.arguments) {
        if let Argument::Register(step) = argument {
            wanted[*step] += 1;
        }
    }
    let mut found: Vec<Option<Found>> = Vec::with_capacity(maps.len());
    for (i, map) in maps.iter().enumerate() {
        let before = |argument: &Argument| match argument {
            Argument::Register(step) if wanted[*step] == 1 => found[*step].clone(),
            _ => None,
        };
        let one = match (map, program.steps[i].arguments.as_slice()) {
            (Map::Real1(Real1::Square), [Argument::Leaf(leaf)])
                if program.leaves[*leaf].read == Read::Sum =>
            {
                Some(Found::square(*leaf, i))
            }
            (Map::Real(op @ (Arithmetic::Add | Arithmetic::Sub)), [a, b]) => before(a)
                .zip(before(b))
                .map(|(a, b)| a.with(b, if *op == Arithmetic::Add { '+' } else { '-' }, i)),
            _ => None,
        };
        found.push(one.filter(|one| one.leaves.len() <= MOST));
    }
    // From the last on: the largest that there are.
    let mut gone = vec![false; maps.len()];
    for i in (0..maps.len()).rev() {
        if gone[i] {
            continue;
        }
        let (root, inner) = match (maps[i], program.steps[i].arguments.as_slice()) {
            (Map::Real1(Real1::Sqrt), [Argument::Register(from)]) if wanted[*from] == 1 => {
                (Root::Sqrt, *from)
            }
            (Map::Real1(Real1::SignedSqrt), [Argument::Register(from)]) if wanted[*from] == 1 => {
                (Root::Signed, *from)
            }
            _ => (Root::Plain, i),
        };
        let Some(one) = &found[inner] else { continue };
        let Some((_, shape)) = SHAPES.iter().find(|(text, _)| *text == one.text) else {
            continue;
        };
        for step in &one.steps {
            gone[*step] = true;
        }
        gone[i] = false;
        let step = &mut program.steps[i];
        step.work = Work::Form(Form {
            shape: *shape,
            root,
        });
        step.arguments.clear();
        for leaf in &one.leaves {
            let mut leaf = program.leaves[*leaf];
            leaf.read = Read::Items;
            program.leaves.push(leaf);
            let last = program.leaves.len() - 1;
            step.arguments.push(Argument::Leaf(last));
        }
    }
    program.keep(&gone);
}

impl Found {
    fn square(leaf: usize, step: usize) -> Self {
        Self {
            text: "q".to_owned(),
            leaves: vec![leaf],
            steps: vec![step],
        }
    }

    fn with(mut self, other: Self, sign: char, step: usize) -> Self {
        self.text.push_str(&other.text);
        self.text.push(sign);
        self.leaves.extend(other.leaves);
        self.steps.extend(other.steps);
        self.steps.push(step);
        self
    }
}
