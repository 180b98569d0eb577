//! Growing columns of numbers, for trees and RNTuples alike, and the Arrow arrays that they become. Knows nothing of how
//! numbers lie in baskets and pages: each format's decoder appends to the vectors.

use crate::arrays::primitive;
use crate::memory::Spares;
use arrow_array::{ArrayRef, BooleanArray, types as arrow};
use arrow_buffer::BooleanBuffer;
use std::sync::Arc;
use treemill_format::rntuple::Native;

/// Booleans while they are gathered: in baskets they are a byte each, in pages a bit each.
pub trait Booleans: Sized {
    /// No booleans yet, with room for `room`.
    fn new(room: usize, spares: &mut Spares) -> Self;

    /// How many there are.
    fn len(&self) -> usize;

    /// All of them, packed to bits.
    fn pack(self, spares: &mut Spares) -> BooleanBuffer;
}

/// Numbers of one type.
#[derive(Debug)]
pub enum Numbers<B> {
    Bool(B),
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
}

/// Does the same to whichever vector of numbers it is.
macro_rules! each {
    ($numbers:expr, $bits:pat => $bool:expr, $values:pat => $do:expr) => {
        match $numbers {
            $crate::numbers::Numbers::Bool($bits) => $bool,
            $crate::numbers::Numbers::I8($values) => $do,
            $crate::numbers::Numbers::I16($values) => $do,
            $crate::numbers::Numbers::I32($values) => $do,
            $crate::numbers::Numbers::I64($values) => $do,
            $crate::numbers::Numbers::U8($values) => $do,
            $crate::numbers::Numbers::U16($values) => $do,
            $crate::numbers::Numbers::U32($values) => $do,
            $crate::numbers::Numbers::U64($values) => $do,
            $crate::numbers::Numbers::F32($values) => $do,
            $crate::numbers::Numbers::F64($values) => $do,
        }
    };
}
pub(crate) use each;

impl<B: Booleans> Numbers<B> {
    /// No numbers yet, with room for `room`, on memory that an earlier column of the type has left.
    pub fn new(native: Native, room: usize, spares: &mut Spares) -> Self {
        match native {
            Native::Bool => Numbers::Bool(B::new(room, spares)),
            Native::I8 => Numbers::I8(spares.vec(room)),
            Native::I16 => Numbers::I16(spares.vec(room)),
            Native::I32 => Numbers::I32(spares.vec(room)),
            Native::I64 => Numbers::I64(spares.vec(room)),
            Native::U8 => Numbers::U8(spares.vec(room)),
            Native::U16 => Numbers::U16(spares.vec(room)),
            Native::U32 => Numbers::U32(spares.vec(room)),
            Native::U64 => Numbers::U64(spares.vec(room)),
            Native::F32 => Numbers::F32(spares.vec(room)),
            Native::F64 => Numbers::F64(spares.vec(room)),
        }
    }

    /// How many numbers there are.
    pub fn len(&self) -> usize {
        each!(self, bits => bits.len(), values => values.len())
    }

    /// The numbers as an Arrow array, whose memory is remembered in `spares`.
    pub fn finish(self, spares: &mut Spares) -> ArrayRef {
        match self {
            Numbers::Bool(bits) => Arc::new(BooleanArray::new(bits.pack(spares), None)),
            Numbers::I8(v) => primitive::<arrow::Int8Type>(v, spares),
            Numbers::I16(v) => primitive::<arrow::Int16Type>(v, spares),
            Numbers::I32(v) => primitive::<arrow::Int32Type>(v, spares),
            Numbers::I64(v) => primitive::<arrow::Int64Type>(v, spares),
            Numbers::U8(v) => primitive::<arrow::UInt8Type>(v, spares),
            Numbers::U16(v) => primitive::<arrow::UInt16Type>(v, spares),
            Numbers::U32(v) => primitive::<arrow::UInt32Type>(v, spares),
            Numbers::U64(v) => primitive::<arrow::UInt64Type>(v, spares),
            Numbers::F32(v) => primitive::<arrow::Float32Type>(v, spares),
            Numbers::F64(v) => primitive::<arrow::Float64Type>(v, spares),
        }
    }

    /// One of the numbers as a count of items: `None` if it is negative or not an integer.
    pub fn count_at(&self, at: usize) -> Option<usize> {
        fn convert<T: Copy + TryInto<usize>>(values: &[T], at: usize) -> Option<usize> {
            (*values.get(at)?).try_into().ok()
        }
        match self {
            Numbers::I8(v) => convert(v, at),
            Numbers::I16(v) => convert(v, at),
            Numbers::I32(v) => convert(v, at),
            Numbers::I64(v) => convert(v, at),
            Numbers::U8(v) => convert(v, at),
            Numbers::U16(v) => convert(v, at),
            Numbers::U32(v) => convert(v, at),
            Numbers::U64(v) => convert(v, at),
            _ => None,
        }
    }

    /// The numbers as counts of items: `None` if one is negative or beyond 32 bits, or where
    /// they are not integers.
    pub fn to_counts(&self, counts: &mut Vec<u32>) -> Option<()> {
        fn convert<T: Copy + TryInto<u32>>(values: &[T], counts: &mut Vec<u32>) -> Option<()> {
            for &value in values {
                counts.push(value.try_into().ok()?);
            }
            Some(())
        }
        counts.clear();
        match self {
            Numbers::I8(v) => convert(v, counts),
            Numbers::I16(v) => convert(v, counts),
            Numbers::I32(v) => convert(v, counts),
            Numbers::I64(v) => convert(v, counts),
            Numbers::U8(v) => convert(v, counts),
            Numbers::U16(v) => convert(v, counts),
            Numbers::U32(v) => convert(v, counts),
            Numbers::U64(v) => convert(v, counts),
            _ => None,
        }
    }
}
