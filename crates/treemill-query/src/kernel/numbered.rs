//! Finds single combinations of a list's items by their numbers among all combinations of the list. Knows
//! positions only.

use super::tuples::choose;
use crate::limits::{COMBINATION_ITEMS, TABLED_ITEMS};
use std::sync::OnceLock;

/// Combinations found by their numbers.
pub(crate) struct Numbered {
    size: u8,
    /// Where the combinations of lists of each length start in `all`.
    first: Vec<usize>,
    /// The combinations of short lists, because counting them would mispredict many branches. A length without
    /// combinations has one that means nothing.
    all: Vec<[u32; LARGEST]>,
}

/// Tables by the size of combinations. Each is made once for the process.
static NUMBERED: [OnceLock<Numbered>; LARGEST + 1] = [const { OnceLock::new() }; LARGEST + 1];

impl Numbered {
    /// Combinations of `size` items, or of [`LARGEST`] if that is less.
    pub fn of(size: u8) -> &'static Self {
        let size = size.min(LARGEST as u8);
        NUMBERED[usize::from(size)].get_or_init(|| Self::new(size))
    }

    fn new(size: u8) -> Self {
        let (mut first, mut all) = (Vec::new(), Vec::new());
        for n in 0..=TABLED_ITEMS as u32 {
            first.push(all.len());
            let count = (choose(u64::from(n), size) as u32).max(1);
            all.extend((0..count).map(|number| combination(0, n, size, number)));
        }
        Self { size, first, all }
    }

    /// The positions of the items of a combination of `start .. stop`, by its number. If there is no combination,
    /// number 0 gives positions that mean nothing.
    #[inline(always)]
    pub fn get(&self, start: u32, stop: u32, number: u32) -> [u32; LARGEST] {
        let Some(first) = self.first.get((stop - start) as usize) else {
            return combination(start, stop, self.size, number);
        };
        let mut found = self.all[first + number as usize];
        for item in &mut found {
            *item += start;
        }
        found
    }
}

/// Items of the largest combinations.
pub(crate) const LARGEST: usize = COMBINATION_ITEMS as usize;

/// The positions of the items of a combination of `size` of `start .. stop`, by its number. Positions beyond the size
/// are 0.
fn combination(start: u32, stop: u32, size: u8, number: u32) -> [u32; LARGEST] {
    let mut found = [0; LARGEST];
    let (mut item, mut rest) = (start, u64::from(number));
    let size = usize::from(size).min(LARGEST);
    for (place, to) in found[..size].iter_mut().enumerate() {
        let more = (size - place - 1) as u8;
        while item < stop {
            // The number of combinations with this item here.
            let left = u64::from(stop - item - 1);
            let here = match more {
                0 => 1,
                1 => left,
                _ => choose(left, more),
            };
            if rest < here {
                break;
            }
            rest -= here;
            item += 1;
        }
        *to = item;
        item += 1;
    }
    found
}

/// Positions of the items of one combination of each list. `places` has its position among all combinations,
/// `offsets` are of the items and of the combinations. If it is not `present`, the positions mean nothing.
pub(crate) fn items_of(places: &[u32], present: &[u8], offsets: [&[i32]; 2], out: &mut [Vec<u32>]) {
    match out {
        [a, b] => write_items(places, present, offsets, [a, b]),
        [a, b, c] => write_items(places, present, offsets, [a, b, c]),
        [a, b, c, d] => write_items(places, present, offsets, [a, b, c, d]),
        _ => (),
    }
}

fn write_items<const N: usize>(
    places: &[u32],
    present: &[u8],
    [items, combinations]: [&[i32]; 2],
    out: [&mut Vec<u32>; N],
) {
    let numbered = Numbered::of(N as u8);
    let n = places.len();
    let (places, present) = (&places[..n], &present[..n]);
    let (items, firsts) = (&items[..n + 1], &combinations[..n]);
    let out = out.map(|list| &mut list[..n]);
    for i in 0..n {
        // No branch depends on whether a list has a combination: it would be mispredicted.
        let here = u32::from(present[i]);
        let number = places[i].wrapping_sub(firsts[i] as u32) * here;
        let found = numbered.get(items[i] as u32, items[i + 1] as u32, number);
        for k in 0..N {
            out[k][i] = found[k] * here;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::tuples::{combination_offsets, combinations};

    #[test]
    fn single_combinations_are_those_of_the_lists_of_positions() {
        // Lengths below and above those in the tables.
        let offsets = [0, 4, 4, 5, 7, 21, 21, 27];
        for size in 2..=4_u8 {
            let mut new = [0; 8];
            let total = combination_offsets(&offsets, size, &mut new) as usize;
            let mut all = vec![vec![99; total]; usize::from(size)];
            combinations(&offsets, &mut all);
            let present: Vec<u8> = new
                .windows(2)
                .map(|ends| u8::from(ends[1] > ends[0]))
                .collect();
            // The first of each list, the second ...; of shorter ones, the last there is.
            for number in 0..total as i32 {
                let places: Vec<u32> = new
                    .windows(2)
                    .map(|ends| (ends[0] + number.min(ends[1] - ends[0] - 1)) as u32)
                    .collect();
                let mut found = vec![vec![77; places.len()]; usize::from(size)];
                items_of(&places, &present, [&offsets, &new], &mut found);
                for (found, selection_vector) in found.iter().zip(&all) {
                    for (list, place) in places.iter().enumerate().filter(|(l, _)| present[*l] != 0)
                    {
                        assert_eq!(
                            found[list], selection_vector[*place as usize],
                            "{size} {list} {number}"
                        );
                    }
                    for list in (0..places.len()).filter(|l| present[*l] == 0) {
                        assert_eq!(found[list], 0);
                    }
                }
            }
        }
    }
}
