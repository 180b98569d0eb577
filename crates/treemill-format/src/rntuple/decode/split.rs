//! Split pages: all first bytes of the elements, then all second bytes, …. Puts the bytes of each
//! element together again. The loops are plain zips of slices of one length, so that the compiler
//! can use the processor's interleaving instructions.

use super::Run;
use crate::error::Result;

pub(super) fn split2<T>(run: &Run<'_>, out: &mut Vec<T>, make: impl Fn(u16) -> T) -> Result<()> {
    let [a, b] = run.planes::<2>()?;
    let elements = a.iter().zip(b);
    out.extend(elements.map(|(a, b)| make(u16::from_le_bytes([*a, *b]))));
    Ok(())
}

pub(super) fn split4<T>(run: &Run<'_>, out: &mut Vec<T>, make: impl Fn(u32) -> T) -> Result<()> {
    let [a, b, c, d] = run.planes::<4>()?;
    let elements = a.iter().zip(b).zip(c).zip(d);
    out.extend(elements.map(|(((a, b), c), d)| make(u32::from_le_bytes([*a, *b, *c, *d]))));
    Ok(())
}

pub(super) fn split8<T>(run: &Run<'_>, out: &mut Vec<T>, make: impl Fn(u64) -> T) -> Result<()> {
    let [a, b, c, d, e, f, g, h] = run.planes::<8>()?;
    let low = a.iter().zip(b).zip(c).zip(d);
    let high = e.iter().zip(f).zip(g).zip(h);
    let elements = low.zip(high);
    out.extend(elements.map(|((((a, b), c), d), (((e, f), g), h))| {
        make(u64::from_le_bytes([*a, *b, *c, *d, *e, *f, *g, *h]))
    }));
    Ok(())
}
