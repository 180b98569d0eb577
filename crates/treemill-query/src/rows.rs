//! Columns of the entries that passed, kept as they come until the caller takes them as Arrow arrays.
//! Knows neither files nor the numbers of entries: the caller that runs packets knows the order of rows.

use crate::error::QueryError;
use crate::schema::DType;
use crate::value::{Data, Value, View};
use arrow_array::{
    Array, ArrayRef, BooleanArray, FixedSizeListArray, LargeBinaryArray, LargeListArray,
    PrimitiveArray, types,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::Field;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// Columns of one booking.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Rows {
    pub columns: Vec<Column>,
    /// Entries.
    pub rows: u64,
}

/// One column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Column {
    name: String,
    /// Columns with the same number have the same lists.
    group: Option<u32>,
    /// Ends of lists, outermost first, each list from 0 on.
    lists: Vec<Vec<i64>>,
    /// The length of the lists of each depth, where it is always the same.
    fixed: Vec<Option<u32>>,
    /// 1 for each value that is not missing; `None`: none can be missing.
    valid: Option<Vec<u8>>,
    values: Numbers,
}

/// The key of a field's metadata under which stands which lists a column has: equal numbers, equal
/// lists.
pub const LISTS: &str = "treemill.lists";

/// An array as it is handed over, with its name.
pub type NamedArray = (Field, ArrayRef);

macro_rules! numbers {
    ($($variant:ident($native:ty, $arrow:ident)),*) => {
        /// Values of the type that the file has, or that was computed.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        enum Numbers {
            Bool(Vec<u8>),
            Str { ends: Vec<i64>, bytes: Vec<u8> },
            $($variant(Vec<$native>),)*
        }

        impl Numbers {
            fn new(stored: Option<DType>) -> Self {
                match stored {
                    None | Some(DType::Str) => Self::Str { ends: vec![0], bytes: Vec::new() },
                    Some(DType::Bool) => Self::Bool(Vec::new()),
                    $(Some(DType::$variant) => Self::$variant(Vec::new()),)*
                }
            }

            /// No values, of the same type.
            fn same(&self) -> Self {
                match self {
                    Self::Bool(_) => Self::Bool(Vec::new()),
                    Self::Str { .. } => Self::new(None),
                    $(Self::$variant(_) => Self::$variant(Vec::new()),)*
                }
            }

            fn bytes(&self) -> usize {
                match self {
                    Self::Bool(vec) => vec.len(),
                    Self::Str { ends, bytes } => 8 * ends.len() + bytes.len(),
                    $(Self::$variant(vec) => vec.len() * size_of::<$native>(),)*
                }
            }

            /// Adds `n` positions of a value.
            fn add(&mut self, value: &Value, n: usize) {
                match (self, &value.data) {
                    (Self::Bool(to), Data::Bool(from)) => copy(from, &value.view, n, to),
                    $((Self::$variant(to), Data::$variant(from)) => {
                        copy(from, &value.view, n, to);
                    })*
                    (Self::Str { ends, bytes }, Data::Str(_)) => {
                        for i in 0..n {
                            bytes.extend_from_slice(value.string(i));
                            ends.push(bytes.len() as i64);
                        }
                    }
                    (Self::Bool(to), _) => {
                        to.extend(widened::<i64>(value, n).iter().map(|x| u8::from(*x != 0)));
                    }
                    $((Self::$variant(to), _) => {
                        if matches!(DType::$variant, DType::F32 | DType::F64) {
                            to.extend(widened::<f64>(value, n).iter().map(|x| *x as $native));
                        } else {
                            to.extend(widened::<i64>(value, n).iter().map(|x| *x as $native));
                        }
                    })*
                    (Self::Str { .. }, _) => (),
                }
            }

            fn into_arrow(self, nulls: Option<NullBuffer>) -> Result<ArrayRef, QueryError> {
                Ok(match self {
                    Self::Bool(vec) => {
                        let bits = vec.iter().map(|x| *x != 0).collect();
                        Arc::new(BooleanArray::new(bits, nulls))
                    }
                    Self::Str { ends, bytes } => {
                        let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
                        let made = LargeBinaryArray::try_new(ends, Buffer::from_vec(bytes), nulls);
                        Arc::new(made.map_err(unsound)?)
                    }
                    $(Self::$variant(vec) => {
                        let values = ScalarBuffer::from(vec);
                        let made = PrimitiveArray::<types::$arrow>::try_new(values, nulls);
                        Arc::new(made.map_err(unsound)?)
                    })*
                })
            }
        }
    };
}
numbers!(
    I8(i8, Int8Type),
    I16(i16, Int16Type),
    I32(i32, Int32Type),
    I64(i64, Int64Type),
    U8(u8, UInt8Type),
    U16(u16, UInt16Type),
    U32(u32, UInt32Type),
    U64(u64, UInt64Type),
    F32(f32, Float32Type),
    F64(f64, Float64Type)
);

fn copy<T: Copy>(from: &[T], view: &View, n: usize, to: &mut Vec<T>) {
    match view {
        View::Direct => to.extend_from_slice(&from[..n]),
        View::Selected(selection_vector) => to.extend(
            selection_vector[..n]
                .iter()
                .map(|taken| from[*taken as usize]),
        ),
        View::Scalar => to.extend(std::iter::repeat_n(from[0], n)),
    }
}

fn widened<T: crate::chunk::Wide>(value: &Value, n: usize) -> Vec<T> {
    let mut out = vec![T::default(); n];
    T::read(value, 0, &mut out);
    out
}

fn unsound(error: arrow_schema::ArrowError) -> QueryError {
    QueryError::new(format!("rows could not be handed over: {error}"))
}

impl Column {
    /// An empty one: `stored` is the type of its numbers, `None` for strings; `fixed` the lengths of the lists
    /// around each, `group` what tells these from others.
    pub fn new(
        name: &str,
        stored: Option<DType>,
        (fixed, group): (Vec<Option<u32>>, Option<u32>),
        missing: bool,
    ) -> Self {
        Self {
            name: name.to_owned(),
            group,
            lists: vec![vec![0]; fixed.len()],
            fixed,
            valid: missing.then(Vec::new),
            values: Numbers::new(stored),
        }
    }

    /// Adds a value with `n` positions in lists of these offsets, outermost first.
    pub fn add(&mut self, value: &Value, lists: &[&[i32]], n: usize) {
        for (to, offsets) in self.lists.iter_mut().zip(lists) {
            let first = to.last().copied().unwrap_or(0);
            to.extend(offsets.iter().skip(1).map(|end| first + i64::from(*end)));
        }
        if let Some(to) = &mut self.valid {
            match &value.valid {
                None => to.extend(std::iter::repeat_n(1, n)),
                Some(flags) if value.is_scalar() => {
                    to.extend(std::iter::repeat_n(flags.first().copied().unwrap_or(1), n));
                }
                Some(flags) => to.extend_from_slice(&flags[..n]),
            }
        }
        self.values.add(value, n);
    }

    fn bytes(&self) -> usize {
        let lists: usize = self.lists.iter().map(|ends| 8 * ends.len()).sum();
        lists + self.values.bytes() + self.valid.as_ref().map_or(0, Vec::len)
    }

    fn empty(&self) -> Self {
        Self {
            name: self.name.clone(),
            group: self.group,
            fixed: self.fixed.clone(),
            lists: vec![vec![0]; self.lists.len()],
            valid: self.valid.as_ref().map(|_| Vec::new()),
            values: self.values.same(),
        }
    }

    fn into_arrow(self) -> Result<NamedArray, QueryError> {
        let missing = self.valid.is_some();
        let nulls = self
            .valid
            .map(|flags| NullBuffer::from_iter(flags.iter().map(|flag| *flag != 0)));
        let mut array = self.values.into_arrow(nulls)?;
        let mut nullable = missing;
        for (ends, fixed) in self.lists.into_iter().zip(self.fixed).rev() {
            let item = Arc::new(Field::new("item", array.data_type().clone(), nullable));
            nullable = false;
            if let Some(len) = fixed.and_then(|len| i32::try_from(len).ok().filter(|n| *n > 0)) {
                let made = FixedSizeListArray::try_new(item, len, array, None);
                array = Arc::new(made.map_err(unsound)?);
                continue;
            }
            let ends = OffsetBuffer::new(ScalarBuffer::from(ends));
            array = Arc::new(LargeListArray::try_new(item, ends, array, None).map_err(unsound)?);
        }
        let mut field = Field::new(self.name, array.data_type().clone(), nullable);
        if let Some(group) = self.group {
            field.set_metadata([(LISTS.to_owned(), group.to_string())]);
        }
        Ok((field, array))
    }
}

impl Rows {
    pub fn new(columns: Vec<Column>) -> Self {
        Self { columns, rows: 0 }
    }

    /// Memory that the rows take, about.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// Hands the rows over and starts anew.
    pub fn take(&mut self) -> Result<Vec<NamedArray>, QueryError> {
        let empty = self.columns.iter().map(Column::empty).collect();
        let full = std::mem::replace(&mut self.columns, empty);
        self.rows = 0;
        full.into_iter().map(Column::into_arrow).collect()
    }

    /// Names and types: the columns without entries.
    pub fn none(&self) -> Result<Vec<NamedArray>, QueryError> {
        let empty = self.columns.iter().map(Column::empty);
        empty.map(Column::into_arrow).collect()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows == 0 && self.columns.iter().all(|column| *column == column.empty())
    }

    /// Whether the columns of both are of the same types.
    pub fn has_types_of(&self, other: &Self) -> bool {
        let types =
            |rows: &Self| -> Vec<Column> { rows.columns.iter().map(Column::empty).collect() };
        types(self) == types(other)
    }

    /// Whether both have the same columns; types may differ from file to file.
    pub fn is_like(&self, other: &Self) -> bool {
        let names =
            |rows: &Self| -> Vec<String> { rows.columns.iter().map(|c| c.name.clone()).collect() };
        names(self) == names(other)
    }
}
