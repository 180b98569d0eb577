//! Logic on bytes 0 and 1, choice, and plain conversions.

use super::{map1, map2};
use crate::chunk::Widen;

pub(crate) fn and(a: &[u8], b: &[u8], out: &mut [u8]) {
    map2(a, b, out, |a, b| a & b);
}

pub(crate) fn or(a: &[u8], b: &[u8], out: &mut [u8]) {
    map2(a, b, out, |a, b| a | b);
}

pub(crate) fn xor(a: &[u8], b: &[u8], out: &mut [u8]) {
    map2(a, b, out, |a, b| a ^ b);
}

pub(crate) fn not(a: &[u8], out: &mut [u8]) {
    map1(a, out, |a| a ^ 1);
}

pub(crate) fn select<T: Copy>(test: &[u8], a: &[T], b: &[T], out: &mut [T]) {
    for (((to, test), a), b) in out.iter_mut().zip(test).zip(a).zip(b) {
        *to = if *test != 0 { *a } else { *b };
    }
}

pub(crate) fn convert<A: Copy + Widen<B>, B: Copy>(a: &[A], out: &mut [B]) {
    map1(a, out, Widen::widen);
}

/// Whether one of two sides alone decides: it is there, and is what decides. Sides are values and their
/// presence, all as long.
pub(crate) fn decided(decides: u8, sides: [(&[u8], &[u8]); 2], out: &mut [u8]) {
    let [left, right] = sides;
    let other = 1 - (decides & 1);
    let left = left.0.iter().zip(left.1);
    let right = right.0.iter().zip(right.1);
    for ((to, (x, here)), (y, there)) in out.iter_mut().zip(left).zip(right) {
        *to = (here & (x ^ other)) | (there & (y ^ other));
    }
}
