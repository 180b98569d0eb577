//! Runs programs (operations position by position) over values, chunk by chunk.

use crate::chunk::{CHUNK, Wide};
use crate::compile::{Argument, Program, Step, Type};
use crate::kernel::comparison::narrow;
use crate::kernel::{Kernel, Lane, Map};
use crate::pool::Pool;
use crate::value::{Data, Value, View};

/// What a program's registers hold, by type.
struct Registers<'a> {
    leaves: Vec<Source<'a>>,
    steps: Vec<Chunk>,
}

/// A chunk of one type.
#[derive(Default)]
enum Chunk {
    F(Vec<f64>),
    I(Vec<i64>),
    B(Vec<u8>),
    #[default]
    None,
}

/// A leaf: its value, and its current chunk where the data cannot be used as they are.
struct Source<'a> {
    value: &'a Value,
    chunk: Chunk,
}

/// The result of a program over `n` positions; values are those of `program.leaves`, in order. All
/// that are not scalars have `n` positions.
pub(crate) fn run(
    program: &Program,
    values: &[&Value],
    ty: Type,
    n: usize,
    pool: &mut Pool,
) -> Value {
    let constant = values.iter().all(|value| value.is_scalar());
    let n = if constant { 1 } else { n };
    let mut registers = Registers {
        leaves: program
            .leaves
            .iter()
            .zip(values)
            .map(|(leaf, value)| Source::new(value, leaf.lane, pool))
            .collect(),
        steps: Vec::with_capacity(program.steps.len()),
    };
    let Some((last, inner)) = program.steps.split_last() else {
        return Value::scalar(Data::Bool(vec![0].into()));
    };
    for step in inner {
        registers
            .steps
            .push(Chunk::take(step.kernel.result(), CHUNK, pool));
    }
    let mut out = Chunk::take(last.kernel.result(), n, pool);
    let mut at = 0;
    while at < n {
        let size = CHUNK.min(n - at);
        for leaf in &mut registers.leaves {
            leaf.read(at, size);
        }
        for (i, step) in inner.iter().enumerate() {
            let mut to = std::mem::take(&mut registers.steps[i]);
            registers.step(step, at, 0, size, &mut to);
            registers.steps[i] = to;
        }
        registers.step(last, at, at, size, &mut out);
        at += size;
    }
    for leaf in registers.leaves {
        leaf.chunk.give(pool);
    }
    for chunk in registers.steps {
        chunk.give(pool);
    }
    Value {
        data: out.into_data(ty, pool),
        view: if constant { View::Scalar } else { View::Direct },
        valid: None,
    }
}

impl Chunk {
    fn take(lane: Lane, n: usize, pool: &mut Pool) -> Self {
        match lane {
            Lane::F => Self::F(pool.take(n)),
            Lane::I => Self::I(pool.take(n)),
            Lane::B => Self::B(pool.take(n)),
        }
    }

    fn give(self, pool: &mut Pool) {
        match self {
            Self::F(vec) => pool.give_vec(vec),
            Self::I(vec) => pool.give_vec(vec),
            Self::B(vec) => pool.give_vec(vec),
            Self::None => (),
        }
    }

    fn into_data(self, ty: Type, pool: &mut Pool) -> Data {
        match self {
            Self::F(vec) => Data::F64(vec.into()),
            Self::I(vec) if ty == Type::UInt => {
                let mut unsigned = pool.take(vec.len());
                for (to, from) in unsigned.iter_mut().zip(&vec) {
                    *to = *from as u64;
                }
                pool.give_vec(vec);
                Data::U64(unsigned.into())
            }
            Self::I(vec) => Data::I64(vec.into()),
            Self::B(vec) => Data::Bool(vec.into()),
            Self::None => Data::Bool(Vec::new().into()),
        }
    }
}

impl<'a> Source<'a> {
    fn new(value: &'a Value, lane: Lane, pool: &mut Pool) -> Self {
        let direct = match lane {
            Lane::F => f64::direct(value).is_some(),
            Lane::I => i64::direct(value).is_some(),
            Lane::B => u8::direct(value).is_some(),
        };
        let chunk = if direct {
            Chunk::None
        } else {
            Chunk::take(lane, CHUNK, pool)
        };
        Self { value, chunk }
    }

    fn read(&mut self, at: usize, size: usize) {
        // A constant fills its chunk once.
        if self.value.is_scalar() {
            if at > 0 {
                return;
            }
            match &mut self.chunk {
                Chunk::F(to) => f64::read(self.value, 0, to),
                Chunk::I(to) => i64::read(self.value, 0, to),
                Chunk::B(to) => u8::read(self.value, 0, to),
                Chunk::None => (),
            }
            return;
        }
        match &mut self.chunk {
            Chunk::F(to) => f64::read(self.value, at, &mut to[..size]),
            Chunk::I(to) => i64::read(self.value, at, &mut to[..size]),
            Chunk::B(to) => u8::read(self.value, at, &mut to[..size]),
            Chunk::None => (),
        }
    }
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
                    source => <$type>::direct(source.value)
                        .and_then(|all| all.get(at..at + size))
                        .unwrap_or(&[]),
                },
                Some(Argument::Step(i)) => match &self.steps[*i] {
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

    /// Runs a step on the chunk at `at`; writes `size` results at `to_at`.
    fn step(&self, step: &Step, at: usize, to_at: usize, size: usize, to: &mut Chunk) {
        let arguments = &step.arguments;
        let f = |i: usize| self.f(arguments.get(i), at, size);
        let i = |k: usize| self.i(arguments.get(k), at, size);
        let b = |i: usize| self.b(arguments.get(i), at, size);
        match to {
            Chunk::F(to) => {
                let to = &mut to[to_at..to_at + size];
                match step.kernel {
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
                match step.kernel {
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
                match step.kernel {
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
pub(crate) fn run_narrow(program: &Program, values: &[&Value], pool: &mut Pool) -> Option<Value> {
    let [step] = program.steps.as_slice() else {
        return None;
    };
    let (Map::CompareReal(op), [Argument::Leaf(left), Argument::Leaf(right)]) =
        (step.map, step.arguments.as_slice())
    else {
        return None;
    };
    let (left, right) = (values.get(*left)?, values.get(*right)?);
    let (Data::F32(data), View::Direct, true) = (&left.data, &left.view, right.is_scalar()) else {
        return None;
    };
    let mut bound = [0.0];
    f64::read(right, 0, &mut bound);
    let mut out: Vec<u8> = pool.take(data.len());
    narrow(op, data, bound[0], &mut out);
    Some(Value::direct(Data::Bool(out.into())))
}
