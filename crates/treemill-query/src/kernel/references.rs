//! Indices of items in their own lists: which items refer to each, and ancestors.
//! Offsets have one element more than there are lists, and start at 0.

/// The offsets of the lists, one for each item, of those items in its list whose index is the item's number. An index
/// outside of the list refers to nothing.
pub(crate) fn referring_offsets(offsets: &[i32], index: &[i64], out: &mut [i32]) {
    out.fill(0);
    each(offsets, index, |target, _| out[target + 1] += 1);
    let mut sum = 0;
    for to in out {
        sum += *to;
        *to = sum;
    }
}

/// The positions of those items, for these offsets.
pub(crate) fn referring(offsets: &[i32], index: &[i64], lists: &[i32], out: &mut [u32]) {
    let mut next = lists.to_vec();
    each(offsets, index, |target, item| {
        out[next[target] as usize] = item as u32;
        next[target] += 1;
    });
}

/// Calls `f` with the position of an item that is referred to and of one that refers to it, in the order of the latter.
fn each(offsets: &[i32], index: &[i64], mut f: impl FnMut(usize, usize)) {
    for ends in offsets.windows(2) {
        let (start, stop) = (ends[0] as usize, ends[1] as usize);
        for (item, number) in index[start..stop].iter().enumerate() {
            if let Some(target) = within(*number, stop - start) {
                f(start + target, start + item);
            }
        }
    }
}

/// The number, in its list, of each item's nearest ancestor of another kind; -1 where there is none. Parents that go
/// in a circle have none.
pub(crate) fn ancestors(offsets: &[i32], parent: &[i64], kind: &[i64], out: &mut [i64]) {
    for ends in offsets.windows(2) {
        let (start, stop) = (ends[0] as usize, ends[1] as usize);
        let (parent, kind) = (&parent[start..stop], &kind[start..stop]);
        for (item, to) in out[start..stop].iter_mut().enumerate() {
            *to = -1;
            let mut walk = parent[item];
            for _ in 0..parent.len() {
                let Some(found) = within(walk, parent.len()) else {
                    break;
                };
                if kind[found] != kind[item] {
                    *to = walk;
                    break;
                }
                walk = parent[found];
            }
        }
    }
}

fn within(number: i64, len: usize) -> Option<usize> {
    usize::try_from(number).ok().filter(|place| *place < len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_listed_by_what_they_refer_to() {
        // Two lists, of 4 and of 2 items; 7 and -1 refer to nothing.
        let (offsets, index) = ([0, 4, 6], [-1, 0, 0, 7, 1, 1]);
        let mut lists = [0; 7];
        referring_offsets(&offsets, &index, &mut lists);
        assert_eq!(lists, [0, 2, 2, 2, 2, 2, 4]);
        let mut out = [0; 4];
        referring(&offsets, &index, &lists, &mut out);
        assert_eq!(out, [1, 2, 4, 5]);
    }

    #[test]
    fn ancestors_of_the_same_kind_are_passed_over() {
        let offsets = [0, 4, 6];
        let parent = [-1, 0, 1, 2, 1, 0];
        let kind = [25, 5, 5, 5, 6, 6];
        let mut out = [0; 6];
        ancestors(&offsets, &parent, &kind, &mut out);
        // In the second list two items are each other's parents.
        assert_eq!(out, [-1, 0, 0, 0, -1, -1]);
    }
}
