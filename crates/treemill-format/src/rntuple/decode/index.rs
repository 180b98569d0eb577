//! Columns that say where a collection's items end, and which of a variant's alternatives is which.

use super::{Decode, Run, mismatch, plain, split};
use crate::error::Result;
use crate::rntuple::{Element, Encoding};

/// An element of a variant's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Switch {
    /// Which element of the alternative's column, counted from the cluster's start.
    pub index: u64,
    /// Which alternative, 1 being the first; 0 for none.
    pub tag: u32,
}

/// Appends all elements of a page, which are ends of a collection's items counted from the
/// cluster's start. Split pages store differences, which are added up here: this is why a page is
/// decoded as a whole.
///
/// # Errors
/// `Malformed` where the page is too short; `Unsupported` where the elements are no indices.
pub fn decode_ends(
    encoding: &Encoding,
    bytes: &[u8],
    count: usize,
    out: &mut Vec<u64>,
) -> Result<()> {
    let run = Run {
        bytes,
        count,
        wanted: 0..count,
    };
    let first = out.len();
    match (encoding.element, encoding.split) {
        (Element::Index32, false) => plain(&run, out, |b| u64::from(u32::from_le_bytes(b)))?,
        (Element::Index64, false) => plain(&run, out, u64::from_le_bytes)?,
        (Element::Index32, true) => {
            let [low, high @ ..] = run.planes::<4>()?;
            if !short_steps(low, &high, out) {
                split::split4(&run, out, u64::from)?;
                add_up(out, first, |sum, step| {
                    u64::from((sum as u32).wrapping_add(step as u32))
                });
            }
        }
        (Element::Index64, true) => {
            let [low, high @ ..] = run.planes::<8>()?;
            if !short_steps(low, &high, out) {
                split::split8(&run, out, |stored| stored)?;
                add_up(out, first, u64::wrapping_add);
            }
        }
        _ => return Err(mismatch::<u64>(encoding)),
    }
    Ok(())
}

/// Appends the ends of a split page where every collection but the first has less than 256 items,
/// as nearly all have: then there is nothing in the other bytes of the differences, and one of each
/// is all that need be added up. Otherwise appends nothing and says so.
fn short_steps<const N: usize>(low: &[u8], high: &[&[u8]; N], out: &mut Vec<u64>) -> bool {
    let Some((lowest, steps)) = low.split_first() else {
        return true;
    };
    let mut start = [*lowest, 0, 0, 0, 0, 0, 0, 0];
    for (slot, plane) in start.iter_mut().skip(1).zip(high) {
        let Some((byte, rest)) = plane.split_first() else {
            return false;
        };
        // Not `all`, which would look byte by byte.
        if rest.iter().fold(0, |all, byte| all | byte) != 0 {
            return false;
        }
        *slot = *byte;
    }
    let mut sum = u64::from_le_bytes(start);
    // Sums wrap around at the elements' width; a page in which they do is left to the general case.
    let most = if N < 4 { u64::from(u32::MAX) } else { u64::MAX };
    if sum > most.saturating_sub((steps.len() as u64).saturating_mul(255)) {
        return false;
    }
    out.push(sum);
    let (blocks, rest) = steps.as_chunks::<16>();
    out.reserve(steps.len());
    // The sum stays in a register where the compiler sees the loop, which it does not in `extend`.
    for block in blocks {
        let mut ends = [0; 16];
        for (end, step) in ends.iter_mut().zip(block) {
            sum = sum.wrapping_add(u64::from(*step));
            *end = sum;
        }
        out.extend_from_slice(&ends);
    }
    for step in rest {
        sum = sum.wrapping_add(u64::from(*step));
        out.push(sum);
    }
    true
}

/// Replaces the values from `first` on by the sums of them and those before.
fn add_up(values: &mut [u64], first: usize, add: impl Fn(u64, u64) -> u64) {
    let mut sum = 0;
    for value in values.iter_mut().skip(first) {
        sum = add(sum, *value);
        *value = sum;
    }
}

/// Appends a variant's elements.
///
/// # Errors
/// As [`decode_ends`].
pub fn decode_switches(encoding: &Encoding, run: &Run<'_>, out: &mut Vec<Switch>) -> Result<()> {
    if encoding.element != Element::Switch {
        return Err(mismatch::<Switch>(encoding));
    }
    plain(run, out, |[a, b, c, d, e, f, g, h, tag @ ..]: [u8; 12]| {
        Switch {
            index: u64::from_le_bytes([a, b, c, d, e, f, g, h]),
            tag: u32::from_le_bytes(tag),
        }
    })
}

impl Decode for bool {
    fn decode(encoding: &Encoding, run: &Run<'_>, out: &mut Vec<Self>) -> Result<()> {
        match encoding.element {
            Element::Bit => super::bits::unpack(run, 1, out, |bit| bit == 1),
            _ => Err(mismatch::<bool>(encoding)),
        }
    }
}
