//! Runs programs (operations position by position) over values, chunk by chunk.

mod checks;
mod folded;
mod parts;

pub(crate) use folded::{Folded, run_folded};
pub(crate) use parts::{Input, Items};

use crate::chunk::Wide;
use crate::compile::{Argument, Operation, Program, Step, Type};
use crate::error::QueryError;
use crate::kernel::comparison::narrow;
use crate::kernel::pieces::{Pieces, WIDTH};
use crate::kernel::squares::{self, PieceRange};
use crate::kernel::{Bundle, Kernel, Map, bundle};
use crate::limits::PROGRAM_POSITIONS;
use crate::pool::Pool;
use crate::value::{Data, Value, View};
use parts::{Chunk, LeafReader, Part};

/// What a program's registers hold, by type.
struct Registers<'a> {
    leaves: Vec<LeafReader<'a>>,
    registers: Vec<Chunk>,
    /// Whether a register holds all positions, not one chunk of them: results are made where they stay.
    is_whole: Vec<bool>,
}

/// The result of a program over `n` positions; inputs are those of `program.leaves`, in order. All
/// values that are not scalars have `n` positions. `pieces`: the combinations, if there are `Items`.
pub(crate) fn run(
    program: &Program,
    inputs: &[Input],
    pieces: Option<&Pieces>,
    ty: Type,
    n: usize,
    pool: &mut Pool,
) -> Result<Value, QueryError> {
    let found = run_joint(program, inputs, pieces, ty, n, pool)?.pop();
    found.ok_or_else(|| QueryError::mistake("a program has no result"))
}

/// The results of a program that has several, all of one type.
pub(crate) fn run_joint(
    program: &Program,
    inputs: &[Input],
    pieces: Option<&Pieces>,
    ty: Type,
    n: usize,
    pool: &mut Pool,
) -> Result<Vec<Value>, QueryError> {
    let scalar = |input: &Input| matches!(input, Input::Value(value) if value.is_scalar());
    let constant = inputs.iter().all(scalar);
    let n = if constant { 1 } else { n };
    checks::check(program, inputs, n)?;
    let results = &program.results;
    let leaves = program.leaves.iter().zip(inputs);
    let mut registers = Registers {
        leaves: leaves
            .map(|(leaf, input)| LeafReader::new(input, leaf, pool))
            .collect(),
        registers: Vec::with_capacity(program.registers.len()),
        is_whole: Vec::with_capacity(program.registers.len()),
    };
    for (register, lane) in program.registers.iter().enumerate() {
        let is_whole = results.contains(&register);
        let size = if is_whole { n } else { PROGRAM_POSITIONS };
        let chunk = Chunk::take(*lane, size + WIDTH, pool);
        registers.registers.push(chunk);
        registers.is_whole.push(is_whole);
    }
    let (mut at, mut piece) = (0, 0);
    while at < n {
        let (size, last_piece) = match pieces {
            None => (PROGRAM_POSITIONS.min(n - at), 0),
            Some(pieces) => pieces.chunk(piece, PROGRAM_POSITIONS),
        };
        if size == 0 {
            break;
        }
        let part = match pieces {
            None => Part::Positions,
            Some(pieces) => Part::Pieces(PieceRange {
                pieces,
                range: piece..last_piece,
            }),
        };
        registers.do_steps(program, at, size, &part);
        at += size;
        piece = last_piece;
    }
    let taken = |result: &usize| std::mem::take(&mut registers.registers[*result]);
    let outs: Vec<Chunk> = results.iter().map(taken).collect();
    for leaf in registers.leaves {
        leaf.give(pool);
    }
    for chunk in registers.registers {
        chunk.give(pool);
    }
    let values = outs.into_iter().map(|mut out| {
        out.truncate(n);
        Value {
            data: out.into_data(ty, pool),
            view: if constant { View::Scalar } else { View::Direct },
            valid: None,
        }
    });
    Ok(values.collect())
}

/// Slices of one type by argument.
macro_rules! getter {
    ($name:ident, $type:ty, $variant:ident) => {
        fn $name(&self, argument: Option<&Argument>, at: usize, size: usize) -> &[$type] {
            match argument {
                Some(Argument::Leaf(i)) => match &self.leaves[*i] {
                    LeafReader {
                        chunk: Chunk::$variant(chunk),
                        ..
                    } => &chunk[..size],
                    source => source
                        .value()
                        .and_then(<$type>::direct)
                        .and_then(|all| all.get(at..at + size))
                        .unwrap_or(&[]),
                },
                Some(Argument::Register(i)) => match &self.registers[*i] {
                    Chunk::$variant(chunk) => &chunk[self.place(*i, at)..][..size],
                    _ => &[],
                },
                None => &[],
            }
        }
    };
}

impl Registers<'_> {
    getter!(f, f64, F);
    getter!(i, i64, I);
    getter!(b, u8, B);

    /// The index in a register of the position `at`, at which a chunk starts.
    fn place(&self, register: usize, at: usize) -> usize {
        if self.is_whole[register] { at } else { 0 }
    }

    /// Does all steps on the chunk at `at`.
    fn do_steps(&mut self, program: &Program, at: usize, size: usize, part: &Part) {
        for leaf in &mut self.leaves {
            leaf.read(at, size, part);
        }
        for step in &program.steps {
            self.do_step(step, at, size, part);
        }
    }

    /// Does a step on the chunk at `at`; its registers take the results.
    fn do_step(&mut self, step: &Step, at: usize, size: usize, part: &Part) {
        match (step.work, step.results.as_slice()) {
            (Operation::Bundle(bundle), &[first, second]) => {
                self.bundle(step, bundle, at, size, [first, second]);
            }
            (_, &[register]) => {
                let mut to = std::mem::take(&mut self.registers[register]);
                self.one(step, at, self.place(register, at), size, part, &mut to);
                self.registers[register] = to;
            }
            _ => (),
        }
    }

    fn bundle(&mut self, step: &Step, bundle: Bundle, at: usize, size: usize, to: [usize; 2]) {
        let [mut first, mut second] =
            to.map(|register| std::mem::take(&mut self.registers[register]));
        let mut from: [&[f64]; bundle::MOST_ARGUMENTS] = Default::default();
        for (from, argument) in from.iter_mut().zip(&step.arguments) {
            *from = self.f(Some(argument), at, size);
        }
        bundle.run(
            from,
            first.at(self.place(to[0], at), size),
            second.at(self.place(to[1], at), size),
        );
        self.registers[to[0]] = first;
        self.registers[to[1]] = second;
    }

    /// Does a step with one result; writes `size` values at `to_at`.
    fn one(&self, step: &Step, at: usize, to_at: usize, size: usize, part: &Part, to: &mut Chunk) {
        match (step.work, to) {
            (Operation::Map(_, kernel), to) => self.kernel(step, kernel, at, to_at, size, to),
            (Operation::SquaresOfSums(squares), Chunk::F(to)) => {
                let mut items: [&[f64]; squares::MOST_ARGUMENTS] = Default::default();
                for (items, argument) in items.iter_mut().zip(&step.arguments) {
                    *items = self.items(argument);
                }
                match part {
                    Part::Pieces(range) => squares.of_sums(range, items, &mut to[to_at..]),
                    Part::Block(block, _) => squares.of_sums(*block, items, &mut to[to_at..]),
                    Part::Positions => (),
                }
            }
            // `checks` has seen to it that there are none.
            (Operation::SquaresOfSums(_) | Operation::Bundle(_), _) => (),
        }
    }

    /// The values of items, of a leaf that has them as they are.
    fn items(&self, argument: &Argument) -> &[f64] {
        match argument {
            Argument::Leaf(leaf) => self.leaves[*leaf].items(),
            Argument::Register(_) => &[],
        }
    }

    /// Runs a kernel on the chunk at `at`; writes `size` results at `to_at`.
    fn kernel(
        &self,
        step: &Step,
        kernel: Kernel,
        at: usize,
        to_at: usize,
        size: usize,
        to: &mut Chunk,
    ) {
        let arguments = &step.arguments;
        let f = |i: usize| self.f(arguments.get(i), at, size);
        let i = |k: usize| self.i(arguments.get(k), at, size);
        let b = |i: usize| self.b(arguments.get(i), at, size);
        match to {
            Chunk::F(to) => {
                let to = &mut to[to_at..to_at + size];
                match kernel {
                    Kernel::FtoF(run) => run(f(0), to),
                    Kernel::FFtoF(run) => run(f(0), f(1), to),
                    Kernel::FFFtoF(run) => run(f(0), f(1), f(2), to),
                    Kernel::FFFFtoF(run) => run(f(0), f(1), f(2), f(3), to),
                    Kernel::BFFtoF(run) => run(b(0), f(1), f(2), to),
                    Kernel::BtoF(run) => run(b(0), to),
                    Kernel::ItoF(run) => run(i(0), to),
                    _ => (),
                }
            }
            Chunk::I(to) => {
                let to = &mut to[to_at..to_at + size];
                match kernel {
                    Kernel::ItoI(run) => run(i(0), to),
                    Kernel::IItoI(run) => run(i(0), i(1), to),
                    Kernel::BIItoI(run) => run(b(0), i(1), i(2), to),
                    Kernel::BtoI(run) => run(b(0), to),
                    Kernel::FtoI(run) => run(f(0), to),
                    _ => (),
                }
            }
            Chunk::B(to) => {
                let to = &mut to[to_at..to_at + size];
                match kernel {
                    Kernel::FFtoB(run) => run(f(0), f(1), to),
                    Kernel::IItoB(run) => run(i(0), i(1), to),
                    Kernel::IFtoB(run) => run(i(0), f(1), to),
                    Kernel::FtoB(run) => run(f(0), to),
                    Kernel::BtoB(run) => run(b(0), to),
                    Kernel::BBtoB(run) => run(b(0), b(1), to),
                    Kernel::BBBtoB(run) => run(b(0), b(1), b(2), to),
                    _ => (),
                }
            }
            Chunk::None => (),
        }
    }
}

/// A comparison of a column of f32 with a constant needs no widened copy at all.
pub(crate) fn run_narrow(program: &Program, inputs: &[Input], pool: &mut Pool) -> Option<Value> {
    let [step] = program.steps.as_slice() else {
        return None;
    };
    let (Operation::Map(Map::CompareReal(op), _), [Argument::Leaf(left), Argument::Leaf(right)]) =
        (step.work, step.arguments.as_slice())
    else {
        return None;
    };
    let (Input::Value(left), Input::Value(right)) = (inputs.get(*left)?, inputs.get(*right)?)
    else {
        return None;
    };
    let (Data::F32(data), View::Direct, true) = (&left.data, &left.view, right.is_scalar()) else {
        return None;
    };
    let mut bound = [0.0];
    f64::read(right, 0, &mut bound);
    let mut out: Vec<u8> = pool.take(data.len());
    narrow(op, data, bound[0], &mut out);
    Some(Value::direct(Data::Bool(out.into())))
}
