//! Squares of sums over a combination's items, added up, and the root of that: a sum of vectors' mass
//! or momentum, in registers, a piece at a time. Additions have the order that single steps would give
//! them, so that results are the same to the bit.

use super::pieces::{Pieces, WIDTH, neighbours, write};
use std::ops::Range;

/// How squares are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `a² + b²`
    Two,
    /// `(a² + b²) + c²`
    Three,
    /// `a² - b²`
    Difference,
    /// `a² - ((b² + c²) + d²)`
    Mass,
}

/// What is made of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Root {
    Plain,
    Sqrt,
    /// Of its size, with its sign.
    Signed,
}

/// A root of squares of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Form {
    pub shape: Shape,
    pub root: Root,
}

/// Most sums of a form.
pub(crate) const MOST: usize = 4;

impl Form {
    /// The form of some pieces' combinations; `coordinates`: what is summed, of all items; those that
    /// the shape does not have are empty. `out` has room for `WIDTH` more.
    #[inline(never)]
    pub fn run(
        self,
        pieces: &Pieces,
        range: Range<usize>,
        coordinates: [&[f64]; MOST],
        out: &mut [f64],
    ) {
        let [a, b, c, d] = coordinates;
        let part = Part {
            pieces,
            range,
            root: self.root,
        };
        match self.shape {
            Shape::Two => part.rooted([a, b], out, |[a, b]| a * a + b * b),
            Shape::Three => part.rooted([a, b, c], out, |[a, b, c]| a * a + b * b + c * c),
            Shape::Difference => part.rooted([a, b], out, |[a, b]| a * a - b * b),
            Shape::Mass => part.rooted([a, b, c, d], out, |[a, b, c, d]| {
                a * a - (b * b + c * c + d * d)
            }),
        }
    }
}

/// Some of the pieces.
struct Part<'a> {
    pieces: &'a Pieces,
    range: Range<usize>,
    root: Root,
}

impl Part<'_> {
    #[inline(always)]
    fn rooted<const N: usize>(
        &self,
        items: [&[f64]; N],
        out: &mut [f64],
        f: impl Fn([f64; N]) -> f64,
    ) {
        match self.root {
            Root::Plain => self.sized(items, out, f),
            Root::Sqrt => self.sized(items, out, |x| f(x).sqrt()),
            Root::Signed => self.sized(items, out, |x| {
                let x = f(x);
                x.abs().sqrt().copysign(x)
            }),
        }
    }

    #[inline(always)]
    fn sized<const N: usize>(
        &self,
        items: [&[f64]; N],
        out: &mut [f64],
        f: impl Fn([f64; N]) -> f64,
    ) {
        match self.pieces.fixed.as_slice() {
            [a] => self.each(&[a], items, out, f),
            [a, b] => self.each(&[a, b], items, out, f),
            [a, b, c] => self.each(&[a, b, c], items, out, f),
            _ => (),
        }
    }

    #[inline(always)]
    fn each<const N: usize, const K: usize>(
        &self,
        fixed: &[&Vec<u32>; K],
        items: [&[f64]; N],
        out: &mut [f64],
        f: impl Fn([f64; N]) -> f64,
    ) {
        let (first, last) = (self.range.start, self.range.end);
        let (at, moving) = (
            &self.pieces.at[first..last],
            &self.pieces.moving[first..last],
        );
        // Of equal lengths, so that one question answers whether all have an item.
        let mut places: [&[u32]; K] = [&[]; K];
        for (to, fixed) in places.iter_mut().zip(fixed) {
            *to = &fixed[first..last];
        }
        let count = items.first().map_or(0, |items| items.len());
        let mut values: [&[f64]; N] = [&[]; N];
        for (to, items) in values.iter_mut().zip(items) {
            *to = &items[..count];
        }
        let base = at.first().copied().unwrap_or(0);
        // Written out: functions of arrays are not always inlined, and then nothing stays in registers.
        for (n, (at, moving)) in at.iter().zip(moving).enumerate() {
            let mut sums = [[0.0; N]; WIDTH];
            for c in 0..N {
                let mut sum = values[c][places[0][n] as usize];
                for k in 1..K {
                    sum += values[c][places[k][n] as usize];
                }
                let next = neighbours(values[c], *moving);
                for lane in 0..WIDTH {
                    sums[lane][c] = sum + next[lane];
                }
            }
            let mut results = [0.0; WIDTH];
            for lane in 0..WIDTH {
                results[lane] = f(sums[lane]);
            }
            write(out, at - base, results);
        }
    }
}
