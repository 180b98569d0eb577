//! The values that programs read and write a chunk at a time: leaves, items of combinations, registers.
//! Knows of programs only how their leaves are read.

use crate::chunk::Wide;
use crate::compile::{Leaf, Read, Type};
use crate::kernel::Lane;
use crate::kernel::interleaved::Block;
use crate::kernel::pieces::WIDTH;
use crate::kernel::squares::PieceRange;
use crate::limits::PROGRAM_POSITIONS;
use crate::pool::{Pool, Pooled};
use crate::value::{Buf, Data, Value};

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

/// A chunk of one type.
#[derive(Default)]
pub(super) enum Chunk {
    F(Vec<f64>),
    I(Vec<i64>),
    B(Vec<u8>),
    #[default]
    None,
}

/// What a chunk is of.
pub(super) enum Part<'a> {
    /// Positions in a row.
    Positions,
    /// Combinations, some pieces of them.
    Pieces(PieceRange<'a>),
    /// Combinations of lists side by side, and the offsets of their items.
    Block(&'a Block<'a>, &'a [i32]),
}

/// A leaf: its value, and its current chunk where the data cannot be used as they are.
pub(super) struct LeafReader<'a> {
    pub input: &'a Input,
    read: Read,
    pub chunk: Chunk,
    /// The items of lists side by side, if the program goes through those.
    beside: Chunk,
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
    pub fn take(lane: Lane, n: usize, pool: &mut Pool) -> Self {
        match lane {
            Lane::F => Self::F(pool.take(n)),
            Lane::I => Self::I(pool.take(n)),
            Lane::B => Self::B(pool.take(n)),
        }
    }

    pub fn give(self, pool: &mut Pool) {
        match self {
            Self::F(vec) => pool.give_vec(vec),
            Self::I(vec) => pool.give_vec(vec),
            Self::B(vec) => pool.give_vec(vec),
            Self::None => (),
        }
    }

    /// The place of `size` floats from `at` on; of other types none.
    pub fn at(&mut self, at: usize, size: usize) -> &mut [f64] {
        match self {
            Self::F(vec) => &mut vec[at..at + size],
            _ => &mut [],
        }
    }

    pub fn truncate(&mut self, n: usize) {
        match self {
            Self::F(vec) => vec.truncate(n),
            Self::I(vec) => vec.truncate(n),
            Self::B(vec) => vec.truncate(n),
            Self::None => (),
        }
    }

    pub fn into_data(self, ty: Type, pool: &mut Pool) -> Data {
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

impl<'a> LeafReader<'a> {
    pub fn new(input: &'a Input, leaf: &Leaf, pool: &mut Pool) -> Self {
        let direct = match (input, leaf.lane) {
            (Input::Items(_), _) => false,
            (Input::Value(value), Lane::F) => f64::direct(value).is_some(),
            (Input::Value(value), Lane::I) => i64::direct(value).is_some(),
            (Input::Value(value), Lane::B) => u8::direct(value).is_some(),
        };
        let chunk = if direct || leaf.read == Read::Items {
            Chunk::None
        } else {
            Chunk::take(leaf.lane, PROGRAM_POSITIONS + WIDTH, pool)
        };
        Self {
            input,
            read: leaf.read,
            chunk,
            beside: Chunk::None,
        }
    }

    /// Adds room for `items` items of lists side by side.
    pub fn beside(self, items: usize, pool: &mut Pool) -> Self {
        let beside = match self.input {
            Input::Items(Items::F(_)) => Chunk::take(Lane::F, items, pool),
            Input::Items(Items::I(_)) => Chunk::take(Lane::I, items, pool),
            Input::Items(Items::B(_)) => Chunk::take(Lane::B, items, pool),
            Input::Value(_) => Chunk::None,
        };
        Self { beside, ..self }
    }

    pub fn give(self, pool: &mut Pool) {
        self.chunk.give(pool);
        self.beside.give(pool);
    }

    pub fn read(&mut self, at: usize, size: usize, part: &Part) {
        match (self.input, part) {
            (Input::Value(value), _) => self.along(value, at, size),
            (Input::Items(items), Part::Pieces(PieceRange { pieces, range })) => {
                let range = range.clone();
                match (items, &mut self.chunk, self.read) {
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
                }
            }
            (Input::Items(items), Part::Block(block, offsets)) => {
                let read = self.read;
                match (items, &mut self.beside, &mut self.chunk) {
                    (Items::F(items), Chunk::F(beside), to) => {
                        block.start(offsets, items, beside);
                        match (read, to) {
                            (Read::Sum, Chunk::F(to)) => block.of_sums([beside], to, |[sum]| sum),
                            (Read::Item { which }, Chunk::F(to)) => block.items(which, beside, to),
                            _ => (),
                        }
                    }
                    (Items::I(items), Chunk::I(beside), Chunk::I(to)) => {
                        block.start(offsets, items, beside);
                        if let Read::Item { which } = read {
                            block.items(which, beside, to);
                        }
                    }
                    (Items::B(items), Chunk::B(beside), Chunk::B(to)) => {
                        block.start(offsets, items, beside);
                        if let Read::Item { which } = read {
                            block.items(which, beside, to);
                        }
                    }
                    _ => (),
                }
            }
            (Input::Items(_), Part::Positions) => (),
        }
    }

    /// The floats of items: all, or those of lists side by side.
    pub fn items(&self) -> &[f64] {
        match (self.input, &self.beside) {
            (_, Chunk::F(beside)) => beside,
            (Input::Items(Items::F(items)), _) => items,
            _ => &[],
        }
    }

    fn along(&mut self, value: &Value, at: usize, size: usize) {
        // A constant fills its chunk once.
        let (at, size) = match (value.is_scalar(), at) {
            (true, 0) => (0, PROGRAM_POSITIONS),
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

    pub fn value(&self) -> Option<&'a Value> {
        match self.input {
            Input::Value(value) => Some(value),
            Input::Items(_) => None,
        }
    }
}
