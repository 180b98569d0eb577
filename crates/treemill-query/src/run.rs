//! Runs programs (operations position by position) over values, chunk by chunk.

use crate::chunk::Wide;
use crate::compile::{Argument, Leaf, Program, Read, Step, Type, Work};
use crate::kernel::comparison::narrow;
use crate::kernel::forms::MOST;
use crate::kernel::pieces::{Pieces, WIDTH};
use crate::kernel::{Kernel, Lane, Map};
use crate::pool::{Pool, Pooled};
use crate::value::{Buf, Data, Value, View};
use std::ops::Range;

/// Positions that a program treats at a time: so few that its registers stay in the first-level cache.
const CHUNK: usize = 512;

/// What a leaf gives.
pub(crate) enum Input {
    /// Position by position.
    Value(Value),
    /// The values of the items of which the positions are combinations.
    Items(Items),
}

/// Items' values, widened.
pub(crate) enum Items {
    F(Buf<f64>),
    I(Buf<i64>),
    B(Buf<u8>),
}

/// What a program's registers hold, by type.
struct Registers<'a> {
    leaves: Vec<Source<'a>>,
    registers: Vec<Chunk>,
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
    input: &'a Input,
    read: Read,
    chunk: Chunk,
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
    let Some((last, inner)) = program.steps.split_last() else {
        return Value::scalar(Data::Bool(vec![0].into()));
    };
    let mut out = Chunk::take(last.work.result(), n + WIDTH, pool);
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
            let mut to = std::mem::take(&mut registers.registers[step.register]);
            registers.work(step, at, 0, size, part.clone(), &mut to);
            registers.registers[step.register] = to;
        }
        registers.work(last, at, at, size, part, &mut out);
        at += size;
        piece = last_piece;
    }
    let chunks = registers.leaves.into_iter().map(|leaf| leaf.chunk);
    for chunk in chunks.chain(registers.registers) {
        chunk.give(pool);
    }
    out.truncate(n);
    Value {
        data: out.into_data(ty, pool),
        view: if constant { View::Scalar } else { View::Direct },
        valid: None,
    }
}

impl Items {
    /// The first `n` values of a list: its own, or a copy.
    pub fn take(value: &Value, lane: Lane, n: usize, pool: &mut Pool) -> Self {
        fn all<T: Wide + Pooled>(value: &Value, n: usize, pool: &mut Pool) -> Buf<T> {
            if let Some(own) = T::shared(value).filter(|own| own.len() >= n) {
                return own;
            }
            let mut out: Vec<T> = pool.take(n);
            T::read(value, 0, &mut out);
            out.into()
        }
        match lane {
            Lane::F => Self::F(all(value, n, pool)),
            Lane::I => Self::I(all(value, n, pool)),
            Lane::B => Self::B(all(value, n, pool)),
        }
    }

    pub fn give(self, pool: &mut Pool) {
        match self {
            Self::F(items) => pool.give(items),
            Self::I(items) => pool.give(items),
            Self::B(items) => pool.give(items),
        }
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

    fn truncate(&mut self, n: usize) {
        match self {
            Self::F(vec) => vec.truncate(n),
            Self::I(vec) => vec.truncate(n),
            Self::B(vec) => vec.truncate(n),
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
    fn new(input: &'a Input, leaf: &Leaf, pool: &mut Pool) -> Self {
        let direct = match (input, leaf.lane) {
            (Input::Items(_), _) => false,
            (Input::Value(value), Lane::F) => f64::direct(value).is_some(),
            (Input::Value(value), Lane::I) => i64::direct(value).is_some(),
            (Input::Value(value), Lane::B) => u8::direct(value).is_some(),
        };
        let chunk = if direct || leaf.read == Read::Items {
            Chunk::None
        } else {
            Chunk::take(leaf.lane, CHUNK + WIDTH, pool)
        };
        Self {
            input,
            read: leaf.read,
            chunk,
        }
    }

    fn read(&mut self, at: usize, size: usize, pieces: Option<&Pieces>, range: Range<usize>) {
        match (self.input, pieces) {
            (Input::Value(value), _) => self.along(value, at, size),
            (Input::Items(items), Some(pieces)) => match (items, &mut self.chunk, self.read) {
                (Items::F(items), Chunk::F(to), Read::Sum) => pieces.sums(range, items, to),
                (Items::F(items), Chunk::F(to), Read::Item { which }) => {
                    pieces.items(range, which, items, to);
                }
                (Items::I(items), Chunk::I(to), Read::Item { which }) => {
                    pieces.items(range, which, items, to);
                }
                (Items::B(items), Chunk::B(to), Read::Item { which }) => {
                    pieces.items(range, which, items, to);
                }
                _ => (),
            },
            (Input::Items(_), None) => (),
        }
    }

    fn along(&mut self, value: &Value, at: usize, size: usize) {
        // A constant fills its chunk once.
        let (at, size) = match (value.is_scalar(), at) {
            (true, 0) => (0, CHUNK),
            (true, _) => return,
            (false, at) => (at, size),
        };
        match &mut self.chunk {
            Chunk::F(to) => f64::read(value, at, &mut to[..size]),
            Chunk::I(to) => i64::read(value, at, &mut to[..size]),
            Chunk::B(to) => u8::read(value, at, &mut to[..size]),
            Chunk::None => (),
        }
    }

    fn value(&self) -> Option<&'a Value> {
        match self.input {
            Input::Value(value) => Some(value),
            Input::Items(_) => None,
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
            (Work::Form(_), ..) => (),
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
