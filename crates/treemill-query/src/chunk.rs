//! Values read a chunk at a time, widened to the types that are computed with: chunks stay in the
//! first-level cache, so that narrow columns, lists of positions and constants need no copy of
//! their own.

use crate::limits::CHUNK_POSITIONS;
use crate::value::{Buf, Data, Value, View, each_number};
use arrow_buffer::ArrowNativeType;

/// Lossless widening (integers to f64: rounded as by a C cast; u64 and i64: the same bits).
pub(crate) trait Widen<T> {
    fn widen(self) -> T;
}

macro_rules! widen {
    ($($from:ty => $to:ty),*) => {
        $(impl Widen<$to> for $from {
            #[inline(always)]
            fn widen(self) -> $to { self as $to }
        })*
    };
}
widen!(u8 => f64, i8 => f64, i16 => f64, i32 => f64, i64 => f64, u16 => f64, u32 => f64,
       u64 => f64, f32 => f64, f64 => f64);
widen!(u8 => i64, i8 => i64, i16 => i64, i32 => i64, i64 => i64, u16 => i64, u32 => i64,
       u64 => i64, f32 => i64, f64 => i64);
widen!(u8 => u8, i8 => u8, i16 => u8, i32 => u8, i64 => u8, u16 => u8, u32 => u8, u64 => u8,
       f32 => u8, f64 => u8);

/// A type that is computed with: f64; i64 (u64 as the same bits); u8 (bools).
pub(crate) trait Wide: Copy + Default + Sized + 'static {
    /// The value's data as they are, where they have this type and no view.
    fn direct(value: &Value) -> Option<&[Self]>;
    /// The value's data as they are, shared, where they have this type and no view.
    fn shared(value: &Value) -> Option<Buf<Self>>
    where
        Self: ArrowNativeType;
    /// Positions `at .. at + out.len()` of the value, widened.
    fn read(value: &Value, at: usize, out: &mut [Self]);
}

fn convert<S: Copy + Widen<T>, T: Copy>(data: &[S], view: &View, at: usize, out: &mut [T]) {
    match view {
        View::Direct => {
            for (to, from) in out.iter_mut().zip(&data[at..]) {
                *to = from.widen();
            }
        }
        View::Selected(selection_vector) => {
            for (to, taken) in out.iter_mut().zip(&selection_vector[at..]) {
                *to = data[*taken as usize].widen();
            }
        }
        View::Scalar => {
            if let Some(only) = data.first() {
                out.fill(only.widen());
            }
        }
    }
}

impl Wide for f64 {
    fn direct(value: &Value) -> Option<&[f64]> {
        match (&value.data, &value.view) {
            (Data::F64(buffer), View::Direct) => Some(buffer),
            _ => None,
        }
    }
    fn shared(value: &Value) -> Option<Buf<f64>> {
        match (&value.data, &value.view) {
            (Data::F64(buffer), View::Direct) => Some(buffer.clone()),
            _ => None,
        }
    }
    fn read(value: &Value, at: usize, out: &mut [f64]) {
        each_number!(&value.data, buffer => convert(buffer, &value.view, at, out), ());
    }
}

impl Wide for i64 {
    fn direct(value: &Value) -> Option<&[i64]> {
        match (&value.data, &value.view) {
            (Data::I64(buffer), View::Direct) => Some(buffer),
            _ => None,
        }
    }
    fn shared(value: &Value) -> Option<Buf<i64>> {
        match (&value.data, &value.view) {
            (Data::I64(buffer), View::Direct) => Some(buffer.clone()),
            _ => None,
        }
    }
    fn read(value: &Value, at: usize, out: &mut [i64]) {
        each_number!(&value.data, buffer => convert(buffer, &value.view, at, out), ());
    }
}

impl Wide for u8 {
    fn direct(value: &Value) -> Option<&[u8]> {
        match (&value.data, &value.view) {
            (Data::Bool(buffer) | Data::U8(buffer), View::Direct) => Some(buffer),
            _ => None,
        }
    }
    fn shared(value: &Value) -> Option<Buf<u8>> {
        match (&value.data, &value.view) {
            (Data::Bool(buffer) | Data::U8(buffer), View::Direct) => Some(buffer.clone()),
            _ => None,
        }
    }
    fn read(value: &Value, at: usize, out: &mut [u8]) {
        each_number!(&value.data, buffer => convert(buffer, &value.view, at, out), ());
    }
}

/// Calls `body(at, chunk)` for `n` positions of the value in order.
pub(crate) fn for_chunks<T: Wide>(value: &Value, n: usize, mut body: impl FnMut(usize, &[T])) {
    if let Some(all) = T::direct(value) {
        for (i, chunk) in all[..n.min(all.len())].chunks(CHUNK_POSITIONS).enumerate() {
            body(i * CHUNK_POSITIONS, chunk);
        }
        return;
    }
    let mut buffer = [T::default(); CHUNK_POSITIONS];
    let mut at = 0;
    while at < n {
        let size = CHUNK_POSITIONS.min(n - at);
        if at == 0 || !value.is_scalar() {
            T::read(value, at, &mut buffer[..size]);
        }
        body(at, &buffer[..size]);
        at += size;
    }
}
