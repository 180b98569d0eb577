//! Where a tree's clusters begin: the entries at which work is best cut. Pure arithmetic over the clusters that
//! the tree recorded (ROOT: TTree::GetClusterIterator) or, if it recorded none, over its baskets.

use crate::tree::Branch;
use std::collections::HashMap;

/// What a TTree recorded about its clusters.
#[derive(Debug, Default)]
pub(crate) struct Recorded {
    /// fAutoFlush: entries per cluster after the last range if positive.
    pub auto_flush: i64,
    /// fClusterRangeEnd (last entry of each range) and fClusterSize.
    pub ranges: Vec<(i64, i64)>,
}

/// First entries of the clusters, ascending, starting with 0; empty for an empty tree.
pub(crate) fn clusters(recorded: &Recorded, branches: &[Branch], entries: u64) -> Vec<u64> {
    if entries == 0 {
        return Vec::new();
    }
    // Every cluster has a basket of every branch, so a longer list cannot be right.
    let most = branches
        .iter()
        .map(|b| b.baskets.len().saturating_add(b.embedded.len()))
        .max()
        .unwrap_or(0);
    from_record(recorded, entries, most).unwrap_or_else(|| from_baskets(branches, entries))
}

fn from_record(recorded: &Recorded, entries: u64, most: usize) -> Option<Vec<u64>> {
    if recorded.ranges.is_empty() && recorded.auto_flush <= 0 {
        return None;
    }
    let mut starts = Vec::new();
    let mut start = 0u64;
    let flushed = std::iter::once((i64::MAX, recorded.auto_flush));
    for (last, size) in recorded.ranges.iter().copied().chain(flushed) {
        let end = u64::try_from(last).ok()?.saturating_add(1).min(entries);
        // Entries after the last recorded range are one cluster.
        let size = u64::try_from(size)
            .ok()
            .filter(|&size| size > 0)
            .unwrap_or(u64::MAX);
        while start < end {
            if starts.len() >= most {
                return None;
            }
            starts.push(start);
            start = start.saturating_add(size).min(end);
        }
    }
    Some(starts)
}

/// The entries at which all branches begin a basket. If they never do so together, the basket starts of the
/// branch with most bytes, which costs most to decompress twice.
fn from_baskets(branches: &[Branch], entries: u64) -> Vec<u64> {
    let mut filled = 0usize;
    let mut common: HashMap<u64, usize> = HashMap::new();
    for branch in branches
        .iter()
        .filter(|b| !b.baskets.is_empty() || !b.embedded.is_empty())
    {
        filled = filled.saturating_add(1);
        for start in starts(branch) {
            let n = common.entry(start).or_default();
            *n = n.saturating_add(1);
        }
    }
    let mut found: Vec<u64> = common
        .into_iter()
        .filter(|&(_, n)| n == filled)
        .map(|(start, _)| start)
        .collect();
    if found.len() < 2 {
        let largest = branches.iter().max_by_key(|branch| branch.zip_bytes);
        found = largest
            .map(|branch| starts(branch).collect())
            .unwrap_or_default();
    }
    found.push(0);
    found.retain(|&start| start < entries);
    found.sort_unstable();
    found.dedup();
    found
}

fn starts(branch: &Branch) -> impl Iterator<Item = u64> {
    let stored = branch.baskets.iter().map(|basket| basket.entries.start);
    stored.chain(branch.embedded.iter().map(|basket| basket.entries.start))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Layout;
    use crate::tree::BasketRef;

    fn branch(starts: &[u64], zip_bytes: u64) -> Branch {
        let baskets = starts
            .iter()
            .map(|&s| BasketRef {
                entries: s..s,
                bytes: 0..0,
            })
            .collect();
        Branch {
            name: String::new(),
            title: String::new(),
            parent: None,
            children: Vec::new(),
            cpp_type: String::new(),
            counter: None,
            is_base: false,
            layout: Layout::Record(Vec::new()),
            entries: 0,
            has_entry_offsets: false,
            baskets,
            embedded: Vec::new(),
            total_bytes: 0,
            zip_bytes,
        }
    }

    fn recorded(auto_flush: i64, ranges: &[(i64, i64)]) -> Recorded {
        Recorded {
            auto_flush,
            ranges: ranges.to_vec(),
        }
    }

    #[test]
    fn what_the_tree_recorded() {
        let many = [branch(&[0; 100], 0)];
        assert_eq!(clusters(&recorded(40, &[]), &many, 100), [0, 40, 80]);
        assert_eq!(
            clusters(&recorded(40, &[(9, 5), (29, 20)]), &many, 100),
            [0, 5, 10, 30, 70]
        );
        assert_eq!(
            clusters(&recorded(-30_000_000, &[(9, 5)]), &many, 100),
            [0, 5, 10]
        );
        assert_eq!(clusters(&recorded(40, &[(9, 5)]), &many, 0), [0; 0]);
        assert_eq!(clusters(&recorded(40, &[(999, 60)]), &many, 100), [0, 60]);
    }

    #[test]
    fn what_the_baskets_say_where_nothing_was_recorded() {
        let aligned = [
            branch(&[0, 10, 20, 30], 5),
            branch(&[0, 20], 7),
            branch(&[], 99),
        ];
        assert_eq!(clusters(&recorded(-1, &[]), &aligned, 40), [0, 20]);
        let crossed = [branch(&[0, 13, 26], 5), branch(&[0, 20], 7)];
        assert_eq!(clusters(&recorded(0, &[]), &crossed, 40), [0, 20]);
        assert_eq!(clusters(&recorded(0, &[]), &[], 40), [0]);
    }

    #[test]
    fn more_clusters_than_baskets_are_not_believed() {
        let two = [branch(&[0, 500], 5)];
        assert_eq!(clusters(&recorded(1, &[]), &two, u64::MAX), [0, 500]);
        assert_eq!(
            clusters(&recorded(1, &[(i64::MAX, 1)]), &two, 1000),
            [0, 500]
        );
    }
}
