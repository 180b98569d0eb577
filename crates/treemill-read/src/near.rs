//! Names like the one that was not found. Pure.

/// Up to `most` of `known` that `name` may have been meant for, the likeliest first: the same name
/// in other letters, names that it is a part of, names a few keystrokes away.
#[must_use]
pub fn near<'a>(name: &str, known: impl Iterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let wanted = name.to_lowercase();
    // Two keystrokes for short names, more for long ones.
    let far = wanted.chars().count().div_euclid(4).clamp(2, 5);
    let mut found: Vec<(usize, &str)> = known
        .filter_map(|candidate| {
            let lower = candidate.to_lowercase();
            let distance = edits(&wanted, &lower);
            if distance <= far {
                return Some((distance, candidate));
            }
            let part = wanted.len() >= 3 && (lower.contains(&wanted) || wanted.contains(&lower));
            (part && !lower.is_empty()).then_some((far.saturating_add(1), candidate))
        })
        .collect();
    found.sort_by_key(|(distance, candidate)| (*distance, candidate.len()));
    found.into_iter().take(most).map(|(_, name)| name).collect()
}

/// Levenshtein's distance, in characters.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    // Distances of what has been seen of `a` to each beginning of `b`.
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (seen, a) in a.chars().enumerate() {
        let mut diagonal = seen;
        let mut left = seen.saturating_add(1);
        let mut places = row.iter_mut();
        if let Some(first) = places.next() {
            *first = left;
        }
        for (b, up) in b.iter().zip(places) {
            let replaced = diagonal.saturating_add(usize::from(a != *b));
            diagonal = *up;
            left = replaced
                .min(up.saturating_add(1))
                .min(left.saturating_add(1));
            *up = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, distance) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("Muon_pt", "Muon_pt", 0),
            ("Muno_pt", "Muon_pt", 2),
        ] {
            assert_eq!(edits(a, b), distance, "{a} {b}");
        }
    }

    #[test]
    fn likely_names_come_first() {
        let known = [
            "Muon_phi", "Muon_pt", "MET_pt", "muon_pt", "Jet_pt", "event",
        ];
        assert_eq!(
            near("Muon_Pt", known.into_iter(), 2),
            ["Muon_pt", "muon_pt"]
        );
        assert_eq!(near("even", known.into_iter(), 5), ["event"]);
        assert!(near("zzzzzz", known.into_iter(), 5).is_empty());
    }
}
