//! Values of expressions at run time: Arrow buffers as they came, or buffers of our own, seen
//! directly, through a list of positions, or as one value that stands for all. Knows no expression.

use arrow_array::{Array, ArrayRef, BinaryArray, LargeBinaryArray, LargeStringArray, StringArray};
use arrow_buffer::{ArrowNativeType, ScalarBuffer};
use std::ops::Deref;
use std::sync::Arc;

/// Numbers, shared: a column's buffer without a copy, or one of ours.
#[derive(Debug, Clone)]
pub(crate) enum Buf<T: ArrowNativeType> {
    Column(ScalarBuffer<T>),
    Own(Arc<Vec<T>>),
}

impl<T: ArrowNativeType> Buf<T> {
    /// Whether nothing else holds this buffer, which is one of ours.
    pub fn is_last(&self) -> bool {
        matches!(self, Self::Own(shared) if Arc::strong_count(shared) == 1)
    }

    /// Its numbers: the buffer itself if nothing else holds it, or a copy.
    pub fn into_vec(self) -> Vec<T> {
        match self {
            Self::Own(shared) => Arc::unwrap_or_clone(shared),
            Self::Column(buffer) => buffer.to_vec(),
        }
    }
}

impl<T: ArrowNativeType> Deref for Buf<T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        match self {
            Self::Column(buffer) => buffer,
            Self::Own(vec) => vec,
        }
    }
}

impl<T: ArrowNativeType> From<Vec<T>> for Buf<T> {
    fn from(vec: Vec<T>) -> Self {
        Self::Own(Arc::new(vec))
    }
}

/// Numbers by storage type; bools are bytes 0 and 1.
#[derive(Debug, Clone)]
pub(crate) enum Data {
    Bool(Buf<u8>),
    I8(Buf<i8>),
    I16(Buf<i16>),
    I32(Buf<i32>),
    I64(Buf<i64>),
    U8(Buf<u8>),
    U16(Buf<u16>),
    U32(Buf<u32>),
    U64(Buf<u64>),
    F32(Buf<f32>),
    F64(Buf<f64>),
    Str(Strings),
}

/// Calls a generic body with the buffer of whatever numeric type it has; strings get `$str`.
macro_rules! each_number {
    ($data:expr, $buffer:ident => $body:expr, $str:expr) => {
        match $data {
            $crate::value::Data::Bool($buffer) => $body,
            $crate::value::Data::I8($buffer) => $body,
            $crate::value::Data::I16($buffer) => $body,
            $crate::value::Data::I32($buffer) => $body,
            $crate::value::Data::I64($buffer) => $body,
            $crate::value::Data::U8($buffer) => $body,
            $crate::value::Data::U16($buffer) => $body,
            $crate::value::Data::U32($buffer) => $body,
            $crate::value::Data::U64($buffer) => $body,
            $crate::value::Data::F32($buffer) => $body,
            $crate::value::Data::F64($buffer) => $body,
            $crate::value::Data::Str(_) => $str,
        }
    };
}
pub(crate) use each_number;

/// Strings as a column has them.
#[derive(Debug, Clone)]
pub(crate) enum Strings {
    Utf8(StringArray),
    LargeUtf8(LargeStringArray),
    Binary(BinaryArray),
    LargeBinary(LargeBinaryArray),
    /// A constant.
    Own(Arc<Vec<Vec<u8>>>),
}

impl Strings {
    /// The strings of a column; `None` if it is not an array of strings.
    pub fn from_arrow(array: &ArrayRef) -> Option<Self> {
        let any = array.as_any();
        if let Some(found) = any.downcast_ref::<LargeBinaryArray>() {
            return Some(Self::LargeBinary(found.clone()));
        }
        if let Some(found) = any.downcast_ref::<BinaryArray>() {
            return Some(Self::Binary(found.clone()));
        }
        if let Some(found) = any.downcast_ref::<StringArray>() {
            return Some(Self::Utf8(found.clone()));
        }
        any.downcast_ref::<LargeStringArray>()
            .map(|found| Self::LargeUtf8(found.clone()))
    }

    /// Strings one after another.
    pub fn collect<'a>(strings: impl Iterator<Item = &'a [u8]>) -> Self {
        Self::LargeBinary(LargeBinaryArray::from_iter_values(strings))
    }

    pub fn get(&self, i: usize) -> &[u8] {
        match self {
            Self::Utf8(array) => array.value(i).as_bytes(),
            Self::LargeUtf8(array) => array.value(i).as_bytes(),
            Self::Binary(array) => array.value(i),
            Self::LargeBinary(array) => array.value(i),
            Self::Own(list) => &list[i],
        }
    }

    pub fn len(&self) -> usize {
        match self {
            Self::Utf8(array) => array.len(),
            Self::LargeUtf8(array) => array.len(),
            Self::Binary(array) => array.len(),
            Self::LargeBinary(array) => array.len(),
            Self::Own(list) => list.len(),
        }
    }
}

impl Data {
    pub fn len(&self) -> usize {
        each_number!(self, buffer => buffer.len(), self.strings_len())
    }

    fn strings_len(&self) -> usize {
        match self {
            Self::Str(strings) => strings.len(),
            _ => 0,
        }
    }
}

/// How a value's positions relate to its data.
#[derive(Debug, Clone)]
pub(crate) enum View {
    /// One for one.
    Direct,
    /// Position i shows the data at `selection_vector[i]`.
    Selected(Buf<u32>),
    /// The data's only element stands for all positions.
    Scalar,
}

/// The value of an expression at all positions of its level.
#[derive(Debug, Clone)]
pub(crate) struct Value {
    pub data: Data,
    pub view: View,
    /// 1 at each position where there is a value, 0 where it is missing. `None`: no value is missing.
    pub valid: Option<Buf<u8>>,
}

impl Value {
    pub fn direct(data: Data) -> Self {
        Self {
            data,
            view: View::Direct,
            valid: None,
        }
    }

    pub fn scalar(data: Data) -> Self {
        Self {
            data,
            view: View::Scalar,
            valid: None,
        }
    }

    pub fn is_scalar(&self) -> bool {
        matches!(self.view, View::Scalar)
    }

    /// The string at a position.
    pub fn string(&self, i: usize) -> &[u8] {
        let Data::Str(strings) = &self.data else {
            return &[];
        };
        match &self.view {
            View::Direct => strings.get(i),
            View::Selected(selection_vector) => strings.get(selection_vector[i] as usize),
            View::Scalar => strings.get(0),
        }
    }
}

impl Value {
    /// Positions; of a scalar, 1.
    pub fn len(&self) -> usize {
        match &self.view {
            View::Direct | View::Scalar => self.data.len(),
            View::Selected(selection_vector) => selection_vector.len(),
        }
    }
}
