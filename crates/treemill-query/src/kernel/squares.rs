//! Sums and differences of squares, and their root, of which masses, momenta and distances are made.
//! Position by position they are one kernel; over combinations they are computed from the items, a
//! piece at a time, in registers. Additions keep the order of single steps, so that results are equal
//! to the bit. Knows no vectors.

use super::interleaved::Block;
use super::pieces::{Pieces, WIDTH, neighbours, write};
use super::{Kernel, map2, map3, map4};
use std::ops::Range;

/// How squares are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Shape {
    /// `a² + b²`
    Two,
    /// `(a² + b²) + c²`
    Three,
    /// `a² - b²`
    LessOne,
    /// `a² - (b² + c²)`
    LessTwo,
    /// `a² - ((b² + c²) + d²)`
    LessThree,
}

/// The root that is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Root {
    Plain,
    Sqrt,
    /// The root of the size, with the sign.
    Signed,
}

/// Squares put together, and the root of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Squares {
    pub shape: Shape,
    pub root: Root,
}

/// Arguments of the largest shape.
pub(crate) const MOST_ARGUMENTS: usize = 4;

/// The kernel of one shape with any root.
macro_rules! rooted {
    ($root:expr, $kernel:ident, $map:ident, ($($x:ident),+), $squares:expr) => {
        match $root {
            Root::Plain => Kernel::$kernel(|$($x),+, out| $map($($x),+, out, |$($x),+| $squares)),
            Root::Sqrt => {
                Kernel::$kernel(|$($x),+, out| $map($($x),+, out, |$($x),+| ($squares).sqrt()))
            }
            Root::Signed => {
                Kernel::$kernel(|$($x),+, out| $map($($x),+, out, |$($x),+| signed_root($squares)))
            }
        }
    };
}

impl Squares {
    /// What computes it position by position.
    pub fn kernel(self) -> Kernel {
        let root = self.root;
        match self.shape {
            Shape::Two => rooted!(root, FFtoF, map2, (a, b), a * a + b * b),
            Shape::Three => rooted!(root, FFFtoF, map3, (a, b, c), a * a + b * b + c * c),
            Shape::LessOne => rooted!(root, FFtoF, map2, (a, b), a * a - b * b),
            Shape::LessTwo => rooted!(root, FFFtoF, map3, (a, b, c), a * a - (b * b + c * c)),
            Shape::LessThree => {
                rooted!(
                    root,
                    FFFFtoF,
                    map4,
                    (a, b, c, d),
                    a * a - (b * b + c * c + d * d)
                )
            }
        }
    }

    /// Computes it of sums over the items of some combinations; `coordinates`: what is summed, of all
    /// items; those that the shape does not have are empty.
    #[inline(never)]
    pub fn of_sums(
        self,
        some: &impl Combinations,
        coordinates: [&[f64]; MOST_ARGUMENTS],
        out: &mut [f64],
    ) {
        let [a, b, c, d] = coordinates;
        let root = self.root;
        match self.shape {
            Shape::Two => rooted(root, some, [a, b], out, |[a, b]| a * a + b * b),
            Shape::Three => rooted(root, some, [a, b, c], out, |[a, b, c]| {
                a * a + b * b + c * c
            }),
            Shape::LessOne => rooted(root, some, [a, b], out, |[a, b]| a * a - b * b),
            Shape::LessTwo => rooted(root, some, [a, b, c], out, |[a, b, c]| {
                a * a - (b * b + c * c)
            }),
            Shape::LessThree => rooted(root, some, [a, b, c, d], out, |[a, b, c, d]| {
                a * a - (b * b + c * c + d * d)
            }),
        }
    }
}

/// Some combinations, however they are gone through.
pub(crate) trait Combinations {
    /// What a function makes of the sums over each combination's items, from the first on.
    fn each_sum<const N: usize>(
        &self,
        items: [&[f64]; N],
        out: &mut [f64],
        f: impl Fn([f64; N]) -> f64,
    );
}

#[inline(always)]
fn rooted<const N: usize>(
    root: Root,
    some: &impl Combinations,
    items: [&[f64]; N],
    out: &mut [f64],
    f: impl Fn([f64; N]) -> f64,
) {
    match root {
        Root::Plain => some.each_sum(items, out, f),
        Root::Sqrt => some.each_sum(items, out, |x| f(x).sqrt()),
        Root::Signed => some.each_sum(items, out, |x| signed_root(f(x))),
    }
}

/// The root of a number's size, with its sign.
#[inline(always)]
pub(super) fn signed_root(x: f64) -> f64 {
    x.abs().sqrt().copysign(x)
}

impl Combinations for Block<'_> {
    #[inline(always)]
    fn each_sum<const N: usize>(
        &self,
        items: [&[f64]; N],
        out: &mut [f64],
        f: impl Fn([f64; N]) -> f64,
    ) {
        self.of_sums(items, out, f);
    }
}

/// Some of the pieces. What they write to has room for `WIDTH` more.
pub(crate) struct PieceRange<'a> {
    pub pieces: &'a Pieces,
    pub range: Range<usize>,
}

impl Combinations for PieceRange<'_> {
    #[inline(always)]
    fn each_sum<const N: usize>(
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
}

impl PieceRange<'_> {
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
        // All have one length, so that one bounds check does for all.
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
