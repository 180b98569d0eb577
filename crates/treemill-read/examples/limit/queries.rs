//! The four queries, over chunks of values however they are stored.

use crate::Fallible;
use crate::baskets::Baskets;
use crate::bins::Bins;
use crate::pages::Pages;

/// A column's values, in baskets or pages.
pub trait Chunks {
    /// Brings the next chunk; false after the last.
    fn next(&mut self) -> Fallible<bool>;
    fn values(&self) -> &[f32];
}

/// What is left of a chunk's values.
#[derive(Default)]
struct Rest {
    at: usize,
    len: usize,
}

pub fn all_values(mut chunks: impl Chunks, bins: &mut Bins) -> Fallible<()> {
    while chunks.next()? {
        bins.fill_all(chunks.values());
    }
    Ok(())
}

/// Values of the first column whose partner in the second is smaller in size than the cut. The two
/// have as many items in each entry, but their chunks may end at different ones.
pub fn partner_below(mut pair: [impl Chunks; 2], cut: f32, bins: &mut Bins) -> Fallible<()> {
    let mut rests = [Rest::default(), Rest::default()];
    let mut kept: Vec<f32> = Vec::new();
    loop {
        for (chunks, rest) in pair.iter_mut().zip(&mut rests) {
            while rest.at == rest.len {
                if !chunks.next()? {
                    return Ok(());
                }
                *rest = Rest {
                    at: 0,
                    len: chunks.values().len(),
                };
            }
        }
        let [first, second] = &pair;
        let n = (rests[0].len - rests[0].at).min(rests[1].len - rests[1].at);
        let values = &first.values()[rests[0].at..rests[0].at + n];
        let partners = &second.values()[rests[1].at..rests[1].at + n];
        // Every value is written, and the next one over it if it was not wanted.
        kept.resize(n + 1, 0.0);
        let mut end = 0;
        for (value, partner) in values.iter().zip(partners) {
            kept[end] = *value;
            end += usize::from(partner.abs() < cut);
        }
        bins.fill_all(&kept[..end]);
        rests.iter_mut().for_each(|rest| rest.at += n);
    }
}

/// Values of a flat column, one after another.
struct Flat<C> {
    chunks: C,
    at: usize,
}

impl<C: Chunks> Flat<C> {
    fn new(chunks: C) -> Self {
        Flat { chunks, at: 0 }
    }

    #[inline]
    fn next(&mut self) -> Fallible<f32> {
        while self.at == self.chunks.values().len() {
            if !self.chunks.next()? {
                return Err("the flat column ends first".into());
            }
            self.at = 0;
        }
        self.at += 1;
        Ok(self.chunks.values()[self.at - 1])
    }
}

/// Which values are above the cut, as bytes of 0 and 1.
struct Above {
    flags: Vec<u8>,
}

impl Above {
    fn note(&mut self, values: &[f32], cut: f32) {
        self.flags.clear();
        self.flags
            .extend(values.iter().map(|value| u8::from(*value > cut)));
        self.flags.extend([0; 8]);
    }

    /// How many of `n` values are. Lists are mostly short: without a loop no branch is mispredicted.
    #[inline]
    fn count(&self, start: usize, n: usize) -> u32 {
        match (self.flags[start..].first_chunk::<8>(), n) {
            (_, 0) => 0,
            (Some(word), 1..=8) => (u64::from_le_bytes(*word) << (64 - 8 * n)).count_ones(),
            _ => self.flags[start..start + n]
                .iter()
                .map(|f| u32::from(*f))
                .sum(),
        }
    }
}

/// Values of the flat branch where at least two items of the jagged one are above the cut.
pub fn two_above(
    mut jagged: Baskets<'_>,
    flat: Baskets<'_>,
    cut: f32,
    bins: &mut Bins,
) -> Fallible<()> {
    let mut flat = Flat::new(flat);
    let mut above = Above { flags: Vec::new() };
    while jagged.next()? {
        above.note(&jagged.values, cut);
        for ends in jagged.starts.windows(2) {
            let value = flat.next()?;
            let (start, stop) = (ends[0] as usize / 4, ends[1] as usize / 4);
            if above.count(start, stop - start) >= 2 {
                bins.fill(value);
            }
        }
    }
    Ok(())
}

/// Values of the flat field of an RNTuple, chosen likewise. Pages end at any item: `ends` are the jagged field's ends,
/// `items` its items.
pub fn two_above_by_ends(
    mut ends: Pages<'_>,
    mut items: Pages<'_>,
    flat: Pages<'_>,
    cut: f32,
    bins: &mut Bins,
) -> Fallible<()> {
    let mut flat = Flat::new(flat);
    let mut above = Above { flags: Vec::new() };
    let mut at = 0;
    let mut before = 0;
    while ends.next()? {
        if ends.is_first {
            before = 0;
        }
        for &more in &ends.ends {
            let end = ends.first_end + u64::from(more);
            let mut left = (end - before) as usize;
            before = end;
            let mut found = 0;
            while left > 0 {
                if at == items.values.len() {
                    if !items.next()? {
                        return Err("the items end first".into());
                    }
                    above.note(&items.values, cut);
                    at = 0;
                }
                let n = left.min(items.values.len() - at);
                found += above.count(at, n);
                (at, left) = (at + n, left - n);
            }
            let value = flat.next()?;
            if found >= 2 {
                bins.fill(value);
            }
        }
    }
    Ok(())
}
