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

/// The part of a TObject's ID that is its number; 0: nothing refers to it. The rest is the number of a process.
const NUMBER: i64 = (1 << 24) - 1;

/// Which item of a row's list has a number as the last bits of its ID, for each row and number wanted; -1 where none has
/// it, or several have.
pub(crate) fn identified(
    offsets: &[i32],
    ids: &[i64],
    wanted: &[i64],
    rows: &[u32],
    out: &mut [i64],
) {
    let mut known: Vec<(i64, i64)> = Vec::new();
    let mut row = None;
    for ((to, number), at) in out.iter_mut().zip(wanted).zip(rows) {
        if row.replace(*at) != Some(*at) {
            let (start, stop) = (offsets[*at as usize], offsets[*at as usize + 1]);
            known.clear();
            let items = ids[start as usize..stop as usize].iter();
            known.extend(items.enumerate().map(|(i, id)| (id & NUMBER, i as i64)));
            // Files mostly have them in this order.
            if !known.is_sorted() {
                known.sort_unstable();
            }
        }
        let number = number & NUMBER;
        let first = known.partition_point(|(id, _)| *id < number);
        let mut found = known[first..].iter().take_while(|(id, _)| *id == number);
        *to = match (found.next(), found.next()) {
            (Some((_, place)), None) if number != 0 => *place,
            _ => -1,
        };
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
    fn items_are_found_by_their_ids() {
        // Two lists, of 4 and of 2 items; two items have the ID 5, and 0 is none.
        let (offsets, ids) = ([0, 4, 6], [7, 5, (3 << 24) | 6, 5, 0, 7]);
        let (wanted, rows) = ([6, 7, 5, 0, 8, 7], [0, 0, 0, 1, 1, 1]);
        let mut out = [0; 6];
        identified(&offsets, &ids, &wanted, &rows, &mut out);
        assert_eq!(out, [2, 0, -1, -1, -1, 1]);
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
