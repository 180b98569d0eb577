//! Runs programs (operations position by position) over values, chunk by chunk.

mod parts;

pub(crate) use parts::{Input, Items};

use crate::chunk::Wide;
use crate::compile::{Argument, Program, Step, Type, Work};
use crate::kernel::comparison::narrow;
use crate::kernel::forms::MOST;
use crate::kernel::pieces::{Pieces, WIDTH};
use crate::kernel::{Kernel, Map};
use crate::pool::Pool;
use crate::value::{Data, Value, View};
use parts::{Chunk, Source};
use std::ops::Range;

/// Positions that a program treats at a time: so few that its registers stay in the first-level cache.
const CHUNK: usize = 512;
/// What a program's registers hold, by type.
struct Registers<'a> {
    leaves: Vec<Source<'a>>,
    registers: Vec<Chunk>,
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
) -> Value {
    let found = run_joint(program, inputs, pieces, ty, n, pool).pop();
    found.unwrap_or_else(|| Value::scalar(Data::Bool(vec![0].into())))
}

/// As `run`, of a program with several results, all of one type.
pub(crate) fn run_joint(
    program: &Program,
    inputs: &[Input],
    pieces: Option<&Pieces>,
    ty: Type,
    n: usize,
    pool: &mut Pool,
) -> Vec<Value> {
    let scalar = |input: &Input| matches!(input, Input::Value(value) if value.is_scalar());
    let constant = inputs.iter().all(scalar);
    let n = if constant { 1 } else { n };
    let mut registers = Registers {
        leaves: program
            .leaves
            .iter()
            .zip(inputs)
            .map(|(leaf, input)| Source::new(input, leaf, pool))
            .collect(),
        registers: program
            .registers
            .iter()
            .map(|lane| Chunk::take(*lane, CHUNK + WIDTH, pool))
            .collect(),
    };
    // One result is written where it is wanted; several are copied there.
    let (last, inner) = match program.steps.split_last() {
        Some((last, inner)) if program.results.is_empty() => (Some(last), inner),
        _ => (None, program.steps.as_slice()),
    };
    let lanes = program.results.iter().map(|from| program.registers[*from]);
    let mut outs: Vec<Chunk> = lanes
        .chain(last.map(|step| step.work.result()))
        .map(|lane| Chunk::take(lane, n + WIDTH, pool))
        .collect();
    let (mut at, mut piece) = (0, 0);
    while at < n {
        let (size, last_piece) = match pieces {
            None => (CHUNK.min(n - at), 0),
            Some(pieces) => pieces.chunk(piece, CHUNK),
        };
        if size == 0 {
            break;
        }
        for leaf in &mut registers.leaves {
            leaf.read(at, size, pieces, piece..last_piece);
        }
        let part = pieces.map(|pieces| (pieces, piece..last_piece));
        for step in inner {
            registers.do_step(step, at, size, part.clone());
        }
        if let (Some(last), Some(out)) = (last, outs.first_mut()) {
            registers.work(last, at, at, size, part, out);
        }
        for (from, out) in program.results.iter().zip(&mut outs) {
            registers.registers[*from].copy_to(out, at, size);
        }
        at += size;
        piece = last_piece;
    }
    let chunks = registers.leaves.into_iter().map(|leaf| leaf.chunk);
    for chunk in chunks.chain(registers.registers) {
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
    values.collect()
}

/// Slices of one type by argument.
macro_rules! getter {
    ($name:ident, $type:ty, $variant:ident) => {
        fn $name(&self, argument: Option<&Argument>, at: usize, size: usize) -> &[$type] {
            match argument {
                Some(Argument::Leaf(i)) => match &self.leaves[*i] {
                    Source {
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
                    Chunk::$variant(chunk) => &chunk[..size],
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

    /// Does a step on the chunk at `at`; its registers take the results.
    fn do_step(
        &mut self,
        step: &Step,
        at: usize,
        size: usize,
        part: Option<(&Pieces, Range<usize>)>,
    ) {
        let mut to = std::mem::take(&mut self.registers[step.register]);
        match (step.work, step.twin) {
            (Work::Twin, _) => (),
            (Work::Pair(run), Some(twin)) => {
                let mut second = std::mem::take(&mut self.registers[twin]);
                if let (Chunk::F(first), Chunk::F(second)) = (&mut to, &mut second) {
                    let from = self.f(step.arguments.first(), at, size);
                    run(from, &mut first[..size], &mut second[..size]);
                }
                self.registers[twin] = second;
            }
            _ => self.work(step, at, 0, size, part, &mut to),
        }
        self.registers[step.register] = to;
    }

    /// Does a step on the chunk at `at`, which is some of the pieces; writes `size` results at `to_at`.
    fn work(
        &self,
        step: &Step,
        at: usize,
        to_at: usize,
        size: usize,
        part: Option<(&Pieces, Range<usize>)>,
        to: &mut Chunk,
    ) {
        match (step.work, part, to) {
            (Work::Kernel(kernel), _, to) => self.step(step, kernel, at, to_at, size, to),
            (Work::Form(form), Some((pieces, range)), Chunk::F(to)) => {
                let mut items: [&[f64]; MOST] = [&[]; MOST];
                for (items, argument) in items.iter_mut().zip(&step.arguments) {
                    *items = self.items(argument);
                }
                form.run(pieces, range, items, &mut to[to_at..]);
            }
            (Work::Form(_) | Work::Pair(_) | Work::Twin, ..) => (),
        }
    }

    /// The values of all items, of a leaf that has them as they are.
    fn items(&self, argument: &Argument) -> &[f64] {
        match argument {
            Argument::Leaf(leaf) => match self.leaves[*leaf].input {
                Input::Items(Items::F(items)) => items,
                _ => &[],
            },
            Argument::Register(_) => &[],
        }
    }

    /// Runs a kernel on the chunk at `at`; writes `size` results at `to_at`.
    fn step(
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
    let (Some(Map::CompareReal(op)), [Argument::Leaf(left), Argument::Leaf(right)]) =
        (program.only, step.arguments.as_slice())
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
