//! Columns that say where a collection's items end, and which of a variant's alternatives is which.

use super::{Decode, Run, malformed, mismatch, plain, split, unsupported};
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

/// Reads all elements of a page, which are ends of collections' items counted from the cluster's
/// start. Returns the first; `above` becomes what each end is above that, which ascends, and is as
/// long as the page. Split pages store differences, which are added up here: this is why a page is
/// decoded as a whole. What `above` held is written over.
///
/// # Errors
/// `Malformed` if the page is too short or ends descend; `Unsupported` if the elements are no
/// indices, or one page's collections have 2^32 items together.
pub fn decode_ends(
    encoding: &Encoding,
    bytes: &[u8],
    count: usize,
    above: &mut Vec<u32>,
) -> Result<u64> {
    let run = Run {
        bytes,
        count,
        wanted: 0..count,
    };
    match (encoding.element, encoding.split) {
        (Element::Index32, false) => {
            let (ends, _) = run.packed::<4>()?.as_chunks::<4>();
            collect(
                ends.iter().map(|b| u64::from(u32::from_le_bytes(*b))),
                above,
            )
        }
        (Element::Index64, false) => {
            let (ends, _) = run.packed::<8>()?.as_chunks::<8>();
            collect(ends.iter().map(|b| u64::from_le_bytes(*b)), above)
        }
        (Element::Index32, true) => {
            let [low, high @ ..] = run.planes::<4>()?;
            if let Some(first) = short_steps(low, &high, above) {
                return Ok(first);
            }
            let mut steps = Vec::with_capacity(count);
            split::split4(&run, &mut steps, |step| step)?;
            collect(sums(&steps, u32::wrapping_add).map(u64::from), above)
        }
        (Element::Index64, true) => {
            let [low, high @ ..] = run.planes::<8>()?;
            if let Some(first) = short_steps(low, &high, above) {
                return Ok(first);
            }
            let mut steps = Vec::with_capacity(count);
            split::split8(&run, &mut steps, |step| step)?;
            collect(sums(&steps, u64::wrapping_add), above)
        }
        _ => Err(mismatch::<u64>(encoding)),
    }
}

/// Prefix sums: each value plus all before it.
fn sums<T: Copy + Default>(steps: &[T], add: impl Fn(T, T) -> T) -> impl Iterator<Item = T> {
    steps.iter().scan(T::default(), move |sum, step| {
        *sum = add(*sum, *step);
        Some(*sum)
    })
}

/// Ends as [`decode_ends`] gives them.
fn collect(mut ends: impl Iterator<Item = u64>, above: &mut Vec<u32>) -> Result<u64> {
    above.clear();
    let Some(first) = ends.next() else {
        return Ok(0);
    };
    above.push(0);
    let mut last = first;
    for end in ends {
        if end < last {
            return Err(malformed("a collection's items end before they begin", 0));
        }
        last = end;
        // Not less than the first, as it is not less than any end before it.
        let more = u32::try_from(end.wrapping_sub(first));
        above.push(more.map_err(|_| unsupported("a page of collections with 2^32 items"))?);
    }
    Ok(first)
}

/// The ends of a split page where every collection but the first has less than 256 items, as nearly
/// all have: then there is nothing in the other bytes of the differences, and one of each is all that
/// need be added up. `None` if it is not so; what is in `above` counts for nothing then.
fn short_steps<const N: usize>(low: &[u8], high: &[&[u8]; N], above: &mut Vec<u32>) -> Option<u64> {
    let mut first = [0; 8];
    for (slot, plane) in first.iter_mut().zip(std::iter::once(&low).chain(high)) {
        *slot = *plane.first()?;
    }
    for plane in high {
        // Not `all`, which would look byte by byte.
        if plane.iter().skip(1).fold(0, |all, byte| all | byte) != 0 {
            return None;
        }
    }
    let first = u64::from_le_bytes(first);
    // Sums wrap around at the elements' width; a page in which they do is left to the general case,
    // and so is one whose sums may not fit into 32 bits.
    let most = (low.len() as u64).checked_mul(255)?;
    let end = first.checked_add(most)?;
    if most > u64::from(u32::MAX) || (N < 4 && end > u64::from(u32::MAX)) {
        return None;
    }
    above.resize(low.len(), 0);
    let mut sum = 0_u32;
    let (blocks, rest) = low.as_chunks::<4>();
    let (ends, last_ends) = above.as_chunks_mut::<4>();
    for (i, (ends, steps)) in ends.iter_mut().zip(blocks).enumerate() {
        // The first element is no step.
        let steps = match i {
            0 => [0, steps[1], steps[2], steps[3]],
            _ => *steps,
        };
        let sums = four_sums(steps);
        for (end, more) in ends.iter_mut().zip(sums) {
            *end = sum.wrapping_add(u32::from(more));
        }
        sum = sum.wrapping_add(u32::from(sums[3]));
    }
    for (i, (end, step)) in last_ends.iter_mut().zip(rest).enumerate() {
        let is_first = blocks.is_empty() && i == 0;
        sum = sum.wrapping_add(if is_first { 0 } else { u32::from(*step) });
        *end = sum;
    }
    Some(first)
}

/// The prefix sums of four steps at once: a product with ones adds up lanes of 16 bits, which hold 4 * 255.
fn four_sums(steps: [u8; 4]) -> [u16; 4] {
    let spread = u64::from(u32::from_le_bytes(steps));
    let spread = (spread | spread << 16) & 0x0000_ffff_0000_ffff;
    let spread = (spread | spread << 8) & 0x00ff_00ff_00ff_00ff;
    let sums = spread.wrapping_mul(0x0001_0001_0001_0001);
    [
        sums as u16,
        (sums >> 16) as u16,
        (sums >> 32) as u16,
        (sums >> 48) as u16,
    ]
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
