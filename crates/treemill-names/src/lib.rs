//! How far two names are apart, for the suggestions of errors. Which names are near enough is for callers to
//! decide: treemill-read suggests trees and columns, treemill-query the names of an expression.
#![forbid(unsafe_code)]

pub mod limits;

/// The edit distance of two names (Damerau's: two neighbours that are swapped count once); `None` if it is
/// above `limit`. Takes `a.len() * b.len()` steps, or none if the lengths alone differ by more than `limit`.
///
/// ```
/// let letters = |name: &str| name.chars().collect::<Vec<_>>();
/// let distance = |a, b| treemill_names::distance(&letters(a), &letters(b), 2);
/// assert_eq!(distance("Muon_pt", "Moun_ptt"), Some(2));
/// assert_eq!(distance("Muon_pt", "MET_phi"), None);
/// ```
#[must_use]
pub fn distance(a: &[char], b: &[char], limit: usize) -> Option<usize> {
    if a.len().abs_diff(b.len()) > limit {
        return None;
    }
    // Distances of the letters of `a` so far to each beginning of `b`, and those of one and two letters less.
    let mut two_above: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    let mut before_x = None;
    for (i, &x) in a.iter().enumerate() {
        let mut left = i.saturating_add(1);
        let mut row = Vec::with_capacity(above.len());
        row.push(left);
        let mut before_y = None;
        let ups = above.iter().zip(above.iter().skip(1));
        for (j, (&y, (&diagonal, &up))) in b.iter().zip(ups).enumerate() {
            let mut least = diagonal
                .saturating_add(usize::from(x != y))
                .min(up.saturating_add(1))
                .min(left.saturating_add(1));
            let swapped = j.checked_sub(1).and_then(|j| two_above.get(j));
            if let Some(swapped) = swapped
                && before_x == Some(y)
                && before_y == Some(x)
            {
                least = least.min(swapped.saturating_add(1));
            }
            left = least;
            row.push(left);
            before_y = Some(y);
        }
        two_above = std::mem::replace(&mut above, row);
        before_x = Some(x);
    }
    above.last().copied().filter(|far| *far <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn far(a: &str, b: &str, limit: usize) -> Option<usize> {
        let letters = |name: &str| name.chars().collect::<Vec<_>>();
        distance(&letters(a), &letters(b), limit)
    }

    #[test]
    fn edits_are_counted_up_to_a_limit() {
        for (a, b, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("Muon_pt", "Muon_pt", 0),
            ("Muno_pt", "Muon_pt", 1),
            ("ab", "ba", 1),
            ("µ_pt", "m_pt", 1),
        ] {
            assert_eq!(far(a, b, edits), Some(edits), "{a} {b}");
            assert_eq!(far(b, a, edits), Some(edits), "{b} {a}");
            if edits > 0 {
                assert_eq!(far(a, b, edits.saturating_sub(1)), None, "{a} {b}");
            }
        }
    }
}
