//! Chooses where each column is read: after the lowest common ancestor, in the tree of filters, of all
//! its uses (filter pushdown, late materialisation). So each is read once per batch, and only for
//! entries that some use may see. Only speed depends on this.

use crate::compile::graph::Want;
use crate::compile::graph::fast_maps::FastMap;
use crate::compile::plan::needs::Needs;
use crate::compile::{EVENT, LevelId, NodeId, Op};
use std::collections::HashMap;

/// The filters of a query as a tree: for each the one above. 0 is the whole dataset.
pub(crate) struct Cuts {
    /// The one above, and how many are above.
    above: Vec<(usize, usize)>,
}

impl Cuts {
    /// The parent and the depth of each cut from 1 on; parents come first.
    pub fn new(parents: impl Iterator<Item = usize>) -> Self {
        let mut above = vec![(0, 0)];
        for parent in parents {
            let depth = above.get(parent).map_or(0, |(_, depth)| depth + 1);
            above.push((parent, depth));
        }
        Self { above }
    }

    fn depth(&self, cut: usize) -> usize {
        self.above.get(cut).map_or(0, |(_, depth)| *depth)
    }

    fn up(&self, cut: usize) -> usize {
        self.above.get(cut).map_or(0, |(parent, _)| *parent)
    }

    /// The lowest common ancestor of two cuts.
    fn meet(&self, mut a: usize, mut b: usize) -> usize {
        while a != b {
            if self.depth(a) >= self.depth(b) {
                a = self.up(a);
            } else {
                b = self.up(b);
            }
        }
        a
    }
}

/// The cuts at which nodes are wanted, and columns (by number among those needed) and list columns'
/// levels are read.
#[derive(Debug, Default)]
pub(crate) struct Placement {
    /// The cut after which each node's value is wanted.
    pub nodes: HashMap<NodeId, usize>,
    pub columns: Vec<usize>,
    pub levels: HashMap<LevelId, usize>,
}

impl Placement {
    /// The placement of what is `wanted`, each at its cut.
    pub(in crate::compile) fn new(
        needs: &Needs<'_, '_>,
        wanted: &[(usize, Want)],
        cuts: &Cuts,
    ) -> Self {
        let graph = &needs.names.nodes.graph;
        let mut known: FastMap<Want, usize> = FastMap::default();
        let mut stack: Vec<(usize, Want)> = wanted.to_vec();
        // The widest are worked off first: then the others seldom change anything.
        stack.sort_by_key(|(cut, _)| std::cmp::Reverse(cuts.depth(*cut)));
        while let Some((cut, want)) = stack.pop() {
            let cut = match known.get(&want) {
                None => cut,
                Some(before) => match cuts.meet(*before, cut) {
                    same if same == *before => continue,
                    wider => wider,
                },
            };
            known.insert(want, cut);
            stack.extend(needs.before(want).into_iter().map(|want| (cut, want)));
            // The columns of a collection are read together: the first tells how long its lists are.
            let Want::Node(id) = want else { continue };
            let node = graph.node(id);
            if let (Op::Column(_), true) = (&node.op, node.level != EVENT) {
                // Lists in its lists are known of whole batches only.
                match graph.inner(node.level).next() {
                    Some(inner) => stack.extend([(0, want), (0, Want::Offsets(inner))]),
                    None => stack.push((cut, Want::Offsets(node.level))),
                }
            }
        }
        let mut places: Vec<Option<usize>> = vec![None; needs.columns.len()];
        let mut narrow = |column: usize, cut: usize| {
            if let Some(place) = places.get_mut(column) {
                *place = Some(place.map_or(cut, |place| cuts.meet(place, cut)));
            }
        };
        let (mut nodes, mut levels) = (HashMap::new(), HashMap::new());
        for (want, cut) in &known {
            match want {
                Want::Node(id) => {
                    nodes.insert(*id, *cut);
                    if let Op::Column(column) = graph.node(*id).op
                        && let Some(column) = needs.column_of.get(&column)
                    {
                        narrow(*column, *cut);
                    }
                }
                Want::Offsets(level) => {
                    levels.insert(*level, *cut);
                    if let Some(source) = needs.sources.get(level) {
                        let columns = source.counter.iter().chain(&source.members);
                        columns.for_each(|column| narrow(*column, *cut));
                    }
                }
            }
        }
        Self {
            nodes,
            columns: places.into_iter().map(|place| place.unwrap_or(0)).collect(),
            levels,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_meet_where_their_ways_part() {
        // 1 and 2 below 0; 3 and 4 below 1; 5 below 4.
        let cuts = Cuts::new([0, 0, 1, 1, 4].into_iter());
        for (a, b, expected) in [
            (3, 5, 1),
            (5, 3, 1),
            (5, 4, 4),
            (5, 2, 0),
            (2, 2, 2),
            (0, 5, 0),
        ] {
            assert_eq!(cuts.meet(a, b), expected, "{a} {b}");
        }
    }
}
