//! Masks: bytes of 0 and 1, handled eight at a time. Counts the ones of lists and finds their positions.
//! Offsets have one element more than there are lists, and start at 0.

/// Ones in every byte.
const ONES: u64 = 0x0101_0101_0101_0101;
/// A factor that moves the lowest bit of each byte of a word into the uppermost byte, the first byte's lowest.
const LINE_UP: u64 = 0x0102_0408_1020_4080;

/// The first so many bytes of a word.
const FIRST: [u64; 9] = {
    let mut first = [u64::MAX; 9];
    let mut bytes = 0;
    while bytes < 8 {
        first[bytes] = (1 << (8 * bytes)) - 1;
        bytes += 1;
    }
    first
};

/// For each byte, the numbers of the bits that are 1, from the lowest on. The rest of a row means nothing.
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

/// Number of ones in each list.
pub(crate) fn counts(mask: &[u8], offsets: &[i32], out: &mut [i64]) {
    let mut start = offsets.first().map_or(0, |first| *first as usize);
    for (to, stop) in out.iter_mut().zip(offsets.iter().skip(1)) {
        let stop = *stop as usize;
        *to = i64::from(count(mask, start, stop));
        start = stop;
    }
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
    fn counts_and_offsets_are_those_of_loops() {
        // Lists of every length up to 20, at every distance from the ends of words and of the mask.
        let mask = mask();
        for longest in 1..=20 {
            let mut offsets = vec![0_i32];
            while let Some(&last) = offsets.last().filter(|last| **last < 231) {
                let len = offsets.len() as i32 % (longest + 1);
                offsets.push((last + len).min(231));
            }
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
