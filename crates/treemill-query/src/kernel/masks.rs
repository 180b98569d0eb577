//! Masks: bytes of 0 and 1, handled eight at a time. Counts the ones of lists and finds their positions.
//! Offsets have one element more than there are lists, and start at 0.

use crate::limits::{COUNTED_ITEMS, COUNTED_LISTS};

/// Ones in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// A factor that moves the lowest bit of each byte of a word into the uppermost byte, the first byte's lowest.
const LINE_UP: u64 = 0x0102_0408_1020_4080;

/// The masks of the first bytes of a word, by the number of bytes.
const FIRST: [u64; 9] = {
    let mut first = [u64::MAX; 9];
    let mut bytes = 0;
    while bytes < 8 {
        first[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    first
};

/// The numbers of the bits that are 1, from the lowest on, for each byte. The rest of a row means nothing.
const PLACES: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut place, mut count) = (0, 0);
        while place < 8 {
            if bits >> place & 1 == 1 {
                places[bits][count] = place;
                count += 1;
            }
            place += 1;
        }
        bits += 1;
    }
    places
};

/// Writes the positions at which the mask is 1 and returns how many there are. `selection` is as long as the mask.
/// No branch depends on the data.
pub(crate) fn positions(mask: &[u8], selection: &mut [u32]) -> usize {
    let n = mask.len().min(selection.len());
    let selection = &mut selection[..n];
    let (words, rest) = mask[..n].as_chunks();
    let (mut count, mut first) = (0, 0);
    for word in words {
        let ones = u64::from_le_bytes(*word) & ONES;
        let places = &PLACES[(ones.wrapping_mul(LINE_UP) >> 56) as usize];
        // There is room for all eight: count <= first <= n - 8. The surplus is overwritten.
        if let Some(to) = selection[count..].first_chunk_mut::<8>() {
            for (to, place) in to.iter_mut().zip(places) {
                *to = first + u32::from(*place);
            }
        }
        count += ones.count_ones() as usize;
        first += 8;
    }
    for keep in rest {
        // count <= first < n
        selection[count] = first;
        count += usize::from(keep & 1);
        first += 1;
    }
    count
}

/// Number of ones in each list: the difference of running counts, so that it matters to no branch where a list ends.
pub(crate) fn counts(mask: &[u8], offsets: &[i32], out: &mut [i64]) {
    let mut running = [0; COUNTED_ITEMS];
    let mut at = 0;
    for out in out.chunks_mut(COUNTED_LISTS) {
        let ends = &offsets[at..][..=out.len()];
        at += out.len();
        let (first, last) = (ends[0], ends[out.len()]);
        let items = &mask[first as usize..last as usize];
        if items.len() + 8 < COUNTED_ITEMS && longest(ends) <= i32::from(u8::MAX) {
            run_up(items, &mut running);
            let mut before = 0_u8;
            for (to, stop) in out.iter_mut().zip(&ends[1..]) {
                let count = running[(stop - first) as usize % COUNTED_ITEMS];
                *to = i64::from(count.wrapping_sub(before));
                before = count;
            }
        } else {
            for (to, ends) in out.iter_mut().zip(ends.windows(2)) {
                *to = i64::from(count(mask, ends[0] as usize, ends[1] as usize));
            }
        }
    }
}

fn longest(ends: &[i32]) -> i32 {
    let starts = ends.iter();
    let lengths = starts.zip(&ends[1..]).map(|(start, stop)| stop - start);
    lengths.fold(0, i32::max)
}

/// Counts the ones before each position, and before the end, in a byte: what is more than 255 is lost.
fn run_up(mask: &[u8], running: &mut [u8; COUNTED_ITEMS]) {
    let (words, rest) = mask.as_chunks::<8>();
    let (to, _) = running[1..].as_chunks_mut::<8>();
    let mut sum = 0_u8;
    for (to, word) in to.iter_mut().zip(words) {
        let ones = u64::from_le_bytes(*word) & ONES;
        // Each byte of the product is the sum of those up to it: at most 8, so that nothing is carried.
        *to = ones.wrapping_mul(ONES).to_le_bytes();
        for to in to {
            *to = to.wrapping_add(sum);
        }
        sum = sum.wrapping_add(ones.count_ones() as u8);
    }
    let at = mask.len() - rest.len();
    for (to, keep) in running[at + 1..].iter_mut().zip(rest) {
        sum = sum.wrapping_add(keep & 1);
        *to = sum;
    }
}

/// Writes the positions of the items that a mask keeps, in lists that a selection vector selects, and the offsets of what
/// is left of the lists. `out` has room for all items of these lists and for eight more. Returns how many are kept.
pub(crate) fn kept_of(
    mask: &[u8],
    offsets: &[i32],
    selection: &[u32],
    new: &mut [i32],
    out: &mut [u32],
) -> usize {
    let mut count = 0;
    new[0] = 0;
    for (to, list) in new[1..].iter_mut().zip(selection) {
        let ends = &offsets[*list as usize..][..2];
        // Through u32, which cannot be near the largest usize: then one comparison tells whether items are there.
        let (mut start, stop) = (ends[0] as u32 as usize, ends[1] as u32 as usize);
        while start < stop {
            let word = match mask.get(start..start + 8) {
                Some(bytes) => bytes.try_into().unwrap_or_default(),
                None => short_word(&mask[start..stop]),
            };
            let ones = u64::from_le_bytes(word) & ONES & FIRST[(stop - start).min(8)];
            let places = &PLACES[(ones.wrapping_mul(LINE_UP) >> 56) as usize];
            if let Some(to) = out.get_mut(count..count + 8) {
                for (to, place) in to.iter_mut().zip(places) {
                    *to = start as u32 + u32::from(*place);
                }
            }
            count += ones.count_ones() as usize;
            start += 8;
        }
        *to = count as i32;
    }
    count
}

/// Makes 0 of what a mask does not keep.
pub(crate) fn clear(mask: &[u8], data: &mut [f64]) {
    for (x, keep) in data.iter_mut().zip(mask) {
        *x = f64::from_bits(x.to_bits() & 0_u64.wrapping_sub(u64::from(keep & 1)));
    }
}

/// The last bytes of a mask.
fn short_word(bytes: &[u8]) -> [u8; 8] {
    let mut word = [0; 8];
    for (to, byte) in word.iter_mut().zip(bytes) {
        *to = *byte;
    }
    word
}

/// Offsets of the items that a mask keeps.
pub(crate) fn kept_offsets(mask: &[u8], offsets: &[i32], out: &mut [i32]) {
    let (mut start, mut sum) = (0, 0);
    for (to, stop) in out.iter_mut().zip(offsets) {
        let stop = *stop as usize;
        sum += count(mask, start, stop) as i32;
        *to = sum;
        start = stop;
    }
}

/// Number of ones in a list. Most lists are short: they are read as one word, whose bytes after the list's end are
/// masked out. A loop would mispredict its end.
#[inline(always)]
fn count(mask: &[u8], start: usize, stop: usize) -> u32 {
    let word = mask.get(start..).and_then(|rest| rest.first_chunk());
    match (word, FIRST.get(stop.wrapping_sub(start))) {
        (Some(word), Some(first)) => (u64::from_le_bytes(*word) & ONES & first).count_ones(),
        _ => ones(&mask[start..stop]),
    }
}

/// A function of its own, so that its registers do not slow down the loop over short lists.
#[inline(never)]
fn ones(mask: &[u8]) -> u32 {
    let (words, rest) = mask.as_chunks();
    let in_words = words
        .iter()
        .map(|word| (u64::from_le_bytes(*word) & ONES).count_ones());
    let in_rest = rest.iter().map(|keep| u32::from(keep & 1));
    in_words.chain(in_rest).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_kept_becomes_0() {
        let mut data = [f64::NAN, f64::NAN, -0.0, -0.0, -1.5, f64::INFINITY];
        clear(&[1, 0, 1, 0, 1, 0], &mut data);
        let bits = data.map(f64::to_bits);
        assert!(data[0].is_nan());
        assert_eq!(bits[1..], [0.0, -0.0, 0.0, -1.5, 0.0].map(f64::to_bits));
    }

    fn mask() -> Vec<u8> {
        (0..231_u32).map(|i| (i * i % 7 % 2) as u8).collect()
    }

    #[test]
    fn positions_are_those_of_a_loop() {
        let mask = mask();
        for n in 0..mask.len() {
            let expected = (0..n as u32).filter(|i| mask[*i as usize] == 1);
            let expected: Vec<u32> = expected.collect();
            let mut selection = vec![99; n];
            let count = positions(&mask[..n], &mut selection);
            assert_eq!(selection[..count], expected);
            let all = positions(&vec![1; n], &mut selection);
            assert_eq!(all, n);
            assert!(
                selection
                    .iter()
                    .enumerate()
                    .all(|(i, position)| *position as usize == i)
            );
        }
    }

    #[test]
    fn counts_of_many_lists_are_those_of_loops() {
        // More than are counted together, some of them longer than a byte can count, and more ones than that.
        for longest in [1, 3, 9, 40, 300, 3000] {
            let mut offsets = vec![0_i32];
            for i in 0..3 * COUNTED_LISTS as i32 + 5 {
                let last = offsets[offsets.len() - 1];
                offsets.push(last + i * i % (longest + 1));
            }
            let n = offsets[offsets.len() - 1] as u32;
            let mask: Vec<u8> = (0..n).map(|i| u8::from(i * 7 % 11 < 8)).collect();
            let mut out = vec![-1; offsets.len() - 1];
            counts(&mask, &offsets, &mut out);
            for (ends, count) in offsets.windows(2).zip(out) {
                let list = &mask[ends[0] as usize..ends[1] as usize];
                assert_eq!(count, list.iter().map(|x| i64::from(*x)).sum::<i64>());
            }
        }
    }

    /// Offsets of lists with 0 to `longest` items in turn, over the whole mask.
    fn lists_up_to(longest: i32) -> Vec<i32> {
        let mut offsets = vec![0_i32];
        while let Some(&last) = offsets.last().filter(|last| **last < 231) {
            let len = offsets.len() as i32 % (longest + 1);
            offsets.push((last + len).min(231));
        }
        offsets
    }

    #[test]
    fn what_is_kept_of_selected_lists_is_what_a_loop_keeps() {
        let mask = mask();
        for longest in 1..=20 {
            let offsets = lists_up_to(longest);
            // Every other list, then the last ones.
            let lists = offsets.len() as u32 - 1;
            let selection: Vec<u32> = (0..lists).step_by(2).chain([lists - 1; 3]).collect();
            let (mut expected, mut ends) = (Vec::new(), vec![0]);
            for list in &selection {
                let list = *list as usize;
                let items = offsets[list] as u32..offsets[list + 1] as u32;
                expected.extend(items.filter(|i| mask[*i as usize] == 1));
                ends.push(expected.len() as i32);
            }
            let mut new = vec![-1; selection.len() + 1];
            let mut out = vec![77; 3 * 231 + 8];
            let count = kept_of(&mask, &offsets, &selection, &mut new, &mut out);
            assert_eq!(out[..count], expected, "{longest}");
            assert_eq!(new, ends, "{longest}");
        }
    }

    #[test]
    fn counts_and_offsets_are_those_of_loops() {
        // Lists of every length up to 20, at every distance from the ends of words and of the mask.
        let mask = mask();
        for longest in 1..=20 {
            let offsets = lists_up_to(longest);
            let mut out = vec![-1; offsets.len() - 1];
            counts(&mask, &offsets, &mut out);
            let mut kept = vec![-1; offsets.len()];
            kept_offsets(&mask, &offsets, &mut kept);
            assert_eq!(kept[0], 0);
            for ((ends, count), kept) in offsets.windows(2).zip(out).zip(kept.windows(2)) {
                let list = &mask[ends[0] as usize..ends[1] as usize];
                assert_eq!(count, list.iter().map(|x| i64::from(*x)).sum::<i64>());
                assert_eq!(count, i64::from(kept[1] - kept[0]));
            }
        }
    }
}
