//! The order in which a query's cuts are computed: each with all that lies below it before the next one beside it. So
//! one variation after the other is done with, and the next one finds its memory in the processor's caches. Knows no
//! data.

/// A step on the way through the tree of cuts. 0 is the whole dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Visit {
    /// What passes a cut is computed, and what is booked there.
    Enter(usize),
    /// All below a cut is done: what is known of its events is wanted no more.
    Leave(usize),
}

/// All cuts, by the numbers of those above the cuts from 1 on; parents come first.
pub(super) fn visits(above: &[usize]) -> Vec<Visit> {
    let mut below = vec![Vec::new(); above.len() + 1];
    for (number, above) in (1..).zip(above) {
        if let Some(below) = below.get_mut(*above) {
            below.push(number);
        }
    }
    let (mut visits, mut left) = (Vec::new(), vec![Visit::Enter(0)]);
    while let Some(visit) = left.pop() {
        visits.push(visit);
        if let Visit::Enter(cut) = visit {
            left.push(Visit::Leave(cut));
            let next = below.get(cut).into_iter().flatten().rev();
            left.extend(next.copied().map(Visit::Enter));
        }
    }
    visits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lies_below_comes_before_what_lies_beside() {
        use Visit::{Enter, Leave};
        // 1 and 2 below 0; 3 below 1; 4 below 2; 5 below 1.
        let expected = [
            Enter(0),
            Enter(1),
            Enter(3),
            Leave(3),
            Enter(5),
            Leave(5),
            Leave(1),
            Enter(2),
            Enter(4),
            Leave(4),
            Leave(2),
            Leave(0),
        ];
        assert_eq!(visits(&[0, 0, 1, 2, 1]), expected);
        assert_eq!(visits(&[]), [Enter(0), Leave(0)]);
    }
}
