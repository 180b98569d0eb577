//! Positions of the items of short lists. Each list writes a fixed number of positions, and the next list
//! overwrites the surplus. A loop over each list would mispredict its end.
//! Offsets have one element more than there are lists, and start at 0.

/// Positions that are written at a time.
const WIDTH: usize = 8;

/// Writes `count` positions at `at`, from `first` on, in steps of `step` (0 or 1).
#[inline(always)]
fn write(out: &mut [u32], at: usize, first: u32, step: u32, count: usize) {
    let Some(room) = out.get_mut(at..) else {
        return;
    };
    match room.first_chunk_mut::<WIDTH>() {
        Some(to) if count <= WIDTH => {
            for (i, to) in (0..).zip(to) {
                *to = first.wrapping_add(step * i);
            }
        }
        _ => many(room, first, step, count),
    }
}

/// Does the work of `write` for long lists and near the end of `out`.
#[inline(never)]
fn many(room: &mut [u32], first: u32, step: u32, count: usize) {
    for (i, to) in (0..).zip(room.iter_mut().take(count)) {
        *to = first.wrapping_add(step * i);
    }
}

/// Writes the position of its list for every item.
pub(crate) fn parents(offsets: &[i32], out: &mut [u32]) {
    for (list, ends) in (0..).zip(offsets.windows(2)) {
        write(out, ends[0] as usize, list, 0, (ends[1] - ends[0]) as usize);
    }
}

/// Positions of the items of selected lists. `new` has their offsets, as `gather::selected_offsets` makes them; lists
/// may be shorter than they were. `out` has room for all items.
pub(crate) fn selected_items(offsets: &[i32], selection: &[u32], new: &[i32], out: &mut [u32]) {
    let starts = selection.iter().map(|position| offsets[*position as usize]);
    runs(starts, new, out);
}

/// Positions of the items of lists that begin at `starts` and have the lengths of `new`.
pub(crate) fn runs(starts: impl Iterator<Item = i32>, new: &[i32], out: &mut [u32]) {
    for (start, ends) in starts.zip(new.windows(2)) {
        let count = (ends[1] - ends[0]) as usize;
        write(out, ends[0] as usize, start as u32, 1, count);
    }
}

/// Concatenates columns of lists: list by list, the positions of its items in the first column, the second, and
/// so on. A column's positions follow those of the column before.
pub(crate) fn joined(parts: &[&[i32]], out: &mut [u32]) {
    let lists = parts.first().map_or(0, |offsets| offsets.len() - 1);
    let mut bases = Vec::with_capacity(parts.len());
    let mut base = 0;
    for offsets in parts {
        bases.push(base);
        base += offsets[lists];
    }
    let mut at = 0;
    match parts {
        // The common case.
        [a, b] => {
            for (a, b) in a.windows(2).zip(b.windows(2)) {
                at = join(out, at, a, 0);
                at = join(out, at, b, bases[1]);
            }
        }
        _ => {
            for list in 0..lists {
                for (offsets, base) in parts.iter().zip(&bases) {
                    at = join(out, at, &offsets[list..list + 2], *base);
                }
            }
        }
    }
}

/// Writes the positions of a list's items at `at`, and returns where they end.
#[inline(always)]
fn join(out: &mut [u32], at: usize, ends: &[i32], base: i32) -> usize {
    let count = (ends[1] - ends[0]) as usize;
    write(out, at, (base + ends[0]) as u32, 1, count);
    at + count
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets of lists up to a length, short ones, long ones and empty ones.
    fn offsets(lists: usize, longest: usize) -> Vec<i32> {
        let mut sum = 0;
        let lens = (0..lists).map(|i| {
            sum += (i * i % (longest + 1)) as i32;
            sum
        });
        std::iter::once(0).chain(lens).collect()
    }

    #[test]
    fn positions_are_those_of_loops() {
        for longest in 0..25 {
            let ends = offsets(40, longest);
            let items = ends[40] as usize;
            let mut above = vec![77; items];
            parents(&ends, &mut above);
            let lists = ends.windows(2).enumerate();
            let expected =
                lists.flat_map(|(list, ends)| (ends[0]..ends[1]).map(move |_| list as u32));
            assert_eq!(above, expected.collect::<Vec<_>>());
            // Every third list, from the last on.
            let selection: Vec<u32> = (0..40).rev().step_by(3).collect();
            let mut new = vec![0];
            let mut expected = Vec::new();
            for position in &selection {
                let position = *position as usize;
                expected.extend(ends[position] as u32..ends[position + 1] as u32);
                new.push(expected.len() as i32);
            }
            let mut items = vec![77; expected.len()];
            selected_items(&ends, &selection, &new, &mut items);
            assert_eq!(items, expected);
        }
    }

    #[test]
    fn lists_are_joined_in_any_number() {
        for longest in 0..25 {
            let parts = [
                offsets(40, longest),
                offsets(40, 3),
                offsets(40, longest + 2),
            ];
            for number in 1..=3 {
                let parts: Vec<&[i32]> = parts[..number].iter().map(|part| &part[..]).collect();
                let mut expected = Vec::new();
                for list in 0..40 {
                    let mut base = 0;
                    for ends in &parts {
                        expected.extend((base + ends[list]) as u32..(base + ends[list + 1]) as u32);
                        base += ends[40];
                    }
                }
                let mut out = vec![77; expected.len()];
                joined(&parts, &mut out);
                assert_eq!(out, expected, "{number} {longest}");
            }
        }
    }
}
