//! How large the READs are that a range falls into, so that all connections of a session have some of what is wanted. Pure.

use crate::limits::{LEAST_READ, READS_EACH, YOUNG_READ};

/// What a session is like when a range is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Bytes of one READ, at most.
    pub most: u64,
    /// Its connections.
    pub width: u64,
    /// Whether its connections have brought few bytes so far.
    pub is_young: bool,
    /// Bytes that were asked for before, and have not come.
    pub due: u64,
}

/// Bytes of each READ of a range of `length` bytes, at most: all connections have some READs of what is wanted, and not many
/// more, since a READ costs the server some time whatever its size. Where much is wanted already, each READ is as large as it
/// may be. As long as connections are new, small ranges are shared out, too: each connection brings few bytes at first, and
/// more once it has brought some.
///
/// ```
/// use treemill_nfs::shares::{Load, share};
///
/// let mut load = Load { most: 1 << 20, width: 6, is_young: false, due: 0 };
/// assert_eq!(share(4 << 20, load), 174_763, "24 READs, four for each connection");
/// load.due = 20 << 20;
/// assert_eq!(share(4 << 20, load), 1 << 20);
/// ```
#[must_use]
pub fn share(length: u64, load: Load) -> u64 {
    if load.width < 2 {
        return load.most;
    }
    let (least, all) = match load.is_young {
        true => (YOUNG_READ, length),
        false => (LEAST_READ, length.saturating_add(load.due)),
    };
    let share = all.div_ceil(load.width.saturating_mul(READS_EACH).max(1));
    share.max(least).min(load.most)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const FAR: Load = Load {
        most: 1 << 20,
        width: 6,
        is_young: false,
        due: 0,
    };

    /// READs of a file of 94 MB, all of which is wanted at once in parts of 4 MB.
    #[test]
    fn a_file_that_is_wanted_whole_falls_into_few_reads() {
        let (mut reads, mut due) = (0, 0);
        for _ in 0..24 {
            reads += (4_u64 << 20).div_ceil(share(4 << 20, Load { due, ..FAR }));
            due += 4 << 20;
        }
        assert!(reads < 140, "{reads}"); // by parts of 4 MB alone it were 576
    }

    #[test]
    fn a_near_session_has_large_reads_and_new_connections_small_ones() {
        assert_eq!(share(64 << 10, Load { width: 1, ..FAR }), 1 << 20);
        assert_eq!(share(64 << 10, FAR), 128 << 10);
        let young = Load {
            is_young: true,
            due: 1 << 30,
            ..FAR
        };
        assert_eq!(share(64 << 10, young), 4 << 10);
    }

    proptest! {
        /// The more is wanted the larger; never larger than the server takes.
        #[test]
        fn reads_grow_with_what_is_due(length in 1_u64..1 << 40, due in 0_u64..1 << 40, width in 0_u64..9) {
            let load = |due| Load { width, due, ..FAR };
            prop_assert!(share(length, load(due)) >= share(length, load(0)));
            prop_assert!(share(length, load(due)) <= FAR.most);
            prop_assert!(share(length, load(due)) >= LEAST_READ);
        }
    }
}
