//! Ranges, cut in two nearly contiguous halves, so that two sources finish at the same time. Pure; knows no source.

use std::ops::Range;

/// A piece of one of the ranges: its number among them, and the bytes.
pub(crate) type Piece = (usize, Range<u64>);

/// The ranges up to `boundary` bytes from their beginning, and those after it. The range on the boundary is cut if both
/// pieces have at least `least` bytes, else it goes to the side that has more of it.
pub(crate) fn split(ranges: &[Range<u64>], boundary: u64, least: u64) -> (Vec<Piece>, Vec<Piece>) {
    let (mut front, mut back) = (Vec::new(), Vec::new());
    let mut begin = 0_u64;
    for (place, range) in ranges.iter().enumerate() {
        let length = range.end.saturating_sub(range.start);
        let end = begin.saturating_add(length);
        let before = boundary.saturating_sub(begin).min(length);
        let after = length.saturating_sub(before);
        if before >= least && after >= least {
            let middle = range.start.saturating_add(before);
            front.push((place, range.start..middle));
            back.push((place, middle..range.end));
        } else if before >= after {
            front.push((place, range.clone()));
        } else {
            back.push((place, range.clone()));
        }
        begin = end;
    }
    (front, back)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_range_on_the_boundary_is_cut_if_it_is_worth_it() {
        let ranges = [0..100, 200..300, 400..500];
        let (front, back) = split(&ranges, 150, 10);
        assert_eq!(front, [(0, 0..100), (1, 200..250)]);
        assert_eq!(back, [(1, 250..300), (2, 400..500)]);
        let (front, back) = split(&ranges, 105, 10);
        assert_eq!((front.len(), back.len()), (1, 2));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: proptest::test_runner::RngSeed::Fixed(15), ..ProptestConfig::default() })]
        #[test]
        fn both_halves_together_are_the_whole(
            lengths in prop::collection::vec(1_u64..500, 0..20), boundary in 0_u64..6000, least in 1_u64..100,
        ) {
            let ranges: Vec<Range<u64>> = lengths.iter().map(|length| 1000..1000 + length).collect();
            let (front, back) = split(&ranges, boundary, least);
            let mut joined: Vec<Range<u64>> = Vec::new();
            let mut last = None;
            for (place, range) in front.into_iter().chain(back) {
                match joined.last_mut() {
                    Some(open) if last == Some(place) => {
                        prop_assert_eq!(open.end, range.start);
                        open.end = range.end;
                    }
                    _ => joined.push(range),
                }
                last = Some(place);
            }
            prop_assert_eq!(joined, ranges);
        }
    }
}
