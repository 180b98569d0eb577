//! Trees as they are evaluated: many rows at once, tree by tree, so that a tree stays in the first cache.
//!
//! Small trees are not walked through. All of their nodes are compared, for rows side by side: a row's leaf starts as
//! the first one, and each node moves it to the first leaf on its right if the row is at the node (its leaf is the first
//! one below it) and its rank goes right. Nodes come before their children. No step depends on where a row
//! is, so that the compiler makes vector instructions of it. Large trees are walked through.

use crate::error::LoadError;
use crate::limits::{LANES, ROWS};
use crate::trees::arguments::Rows;
use crate::trees::columns::Columns;
use crate::trees::leaves::Leaves;
use crate::trees::rank::Rank;
use crate::trees::real::Real;
use crate::trees::tree::{Child, Linear, Tree};

/// A node of a tree whose nodes are all compared.
#[derive(Debug, Clone, Copy)]
struct Compared<R> {
    column: u32,
    /// The last rank that goes left.
    rank: R,
    /// The first leaf below it, and how far the first one on its right is from it.
    first: R,
    step: R,
}

/// A place of a tree that is walked through. A leaf leads to itself.
#[derive(Debug, Clone, Copy)]
struct Place {
    column: u32,
    rank: u32,
    next: [u32; 2],
}

#[derive(Debug, Clone)]
enum Shape<R, T> {
    Compared(Vec<Compared<R>>, Leaves<T>),
    /// The places, and the leaf of each that is one.
    Walked(Vec<Place>, Vec<u32>),
}

#[derive(Debug, Clone)]
struct Grown<R, T> {
    shape: Shape<R, T>,
    leaves: Vec<T>,
    linear: Vec<Linear<T>>,
    group: usize,
}

#[derive(Debug, Clone)]
struct Ranked<R, T> {
    trees: Vec<Grown<R, T>>,
}

#[derive(Debug, Clone)]
enum Width<T> {
    One(Ranked<u8, T>),
    Two(Ranked<u16, T>),
    Four(Ranked<u32, T>),
}

/// A sum of trees for each of some groups.
#[derive(Debug, Clone)]
pub(crate) struct Forest<T> {
    columns: Columns<T>,
    trees: Width<T>,
    /// Where the sum of each group begins.
    start: Vec<T>,
}

impl<T: Real> Forest<T> {
    /// `trees` with the group of each, in the order of the sum. `closed`: thresholds themselves go left.
    pub fn new(
        trees: Vec<Tree<T>>,
        groups: &[usize],
        start: Vec<T>,
        closed: bool,
    ) -> Result<Self, LoadError> {
        let columns = Columns::of(&trees, closed)?;
        let most = columns.most_thresholds();
        let trees = if most <= usize::from(u8::MAX) {
            Width::One(Ranked::new(trees, groups, &columns)?)
        } else if most <= usize::from(u16::MAX) {
            Width::Two(Ranked::new(trees, groups, &columns)?)
        } else {
            Width::Four(Ranked::new(trees, groups, &columns)?)
        };
        Ok(Self {
            columns,
            trees,
            start,
        })
    }

    pub fn groups(&self) -> usize {
        self.start.len()
    }

    /// Gives `take` the sums of each chunk of rows: the first row, and the sums group by group. `wanted`: of this group
    /// alone; the others' are no sums.
    pub fn sums(
        &self,
        rows: &Rows<'_>,
        wanted: Option<usize>,
        take: impl FnMut(usize, &[[T; ROWS]]),
    ) {
        match &self.trees {
            Width::One(trees) => self.of(trees, rows, wanted, take),
            Width::Two(trees) => self.of(trees, rows, wanted, take),
            Width::Four(trees) => self.of(trees, rows, wanted, take),
        }
    }

    fn of<R: Rank>(
        &self,
        trees: &Ranked<R, T>,
        rows: &Rows<'_>,
        wanted: Option<usize>,
        mut take: impl FnMut(usize, &[[T; ROWS]]),
    ) {
        let mut ranks = vec![R::FIRST; self.columns.len().saturating_mul(ROWS)];
        let mut sums = vec![[T::ZERO; ROWS]; self.start.len()];
        let shared = self.columns.shared(rows);
        let mut places = rows.no_places();
        for from in (0..rows.count).step_by(ROWS) {
            rows.places(from, &mut places);
            self.columns.fill(rows, &shared, from, &places, &mut ranks);
            for (sum, start) in sums.iter_mut().zip(&self.start) {
                *sum = [*start; ROWS];
            }
            for tree in &trees.trees {
                if wanted.is_none_or(|wanted| wanted == tree.group)
                    && let Some(sum) = sums.get_mut(tree.group)
                {
                    tree.add(&ranks, rows, from, sum);
                }
            }
            take(from, &sums);
        }
    }
}

impl<R: Rank, T: Real> Ranked<R, T> {
    fn new(trees: Vec<Tree<T>>, groups: &[usize], columns: &Columns<T>) -> Result<Self, LoadError> {
        let mut grown = Vec::with_capacity(trees.len());
        for (tree, group) in trees.into_iter().zip(groups) {
            let shape = match tree.leaves.len() <= R::LEAVES {
                true => Shape::Compared(compared(&tree, columns), Leaves::new(&tree.leaves)),
                false => walked(&tree, columns),
            };
            grown.push(Grown {
                shape,
                leaves: tree.leaves,
                linear: tree.linear,
                group: *group,
            });
        }
        Ok(Self { trees: grown })
    }
}

fn compared<R: Rank, T: Real>(tree: &Tree<T>, columns: &Columns<T>) -> Vec<Compared<R>> {
    let nodes = tree.nodes.iter().map(|node| {
        let (column, rank) = columns.question(node.feature as usize, &node.split);
        Compared {
            column: u32::try_from(column).unwrap_or(u32::MAX),
            rank: R::of(rank),
            first: R::of(node.first),
            step: R::of(node.middle.saturating_sub(node.first)),
        }
    });
    nodes.collect()
}

fn walked<R: Rank, T: Real>(tree: &Tree<T>, columns: &Columns<T>) -> Shape<R, T> {
    let inner = u32::try_from(tree.nodes.len()).unwrap_or(u32::MAX);
    let place = |child: Child| match child {
        Child::Node(node) => node,
        Child::Leaf(leaf) => inner.saturating_add(leaf),
    };
    let mut places = Vec::with_capacity(tree.nodes.len().saturating_add(tree.leaves.len()));
    let mut leaf_of = vec![0; tree.nodes.len()];
    for node in &tree.nodes {
        let (column, rank) = columns.question(node.feature as usize, &node.split);
        places.push(Place {
            column: u32::try_from(column).unwrap_or(u32::MAX),
            rank,
            next: [place(node.left), place(node.right)],
        });
    }
    for (leaf, _) in (0_u32..).zip(&tree.leaves) {
        let here = inner.saturating_add(leaf);
        places.push(Place {
            column: 0,
            rank: 0,
            next: [here, here],
        });
        leaf_of.push(leaf);
    }
    Shape::Walked(places, leaf_of)
}

impl<R: Rank, T: Real> Grown<R, T> {
    /// Adds the tree's number for each row of a chunk.
    fn add(&self, ranks: &[R], rows: &Rows<'_>, from: usize, sum: &mut [T; ROWS]) {
        match &self.shape {
            Shape::Compared(nodes, leaves) => {
                let mut leaf = [R::FIRST; ROWS];
                for node in nodes {
                    let start = (node.column as usize).saturating_mul(ROWS);
                    let column = ranks.get(start..start.saturating_add(ROWS));
                    let Some(column) = column.and_then(|all| <&[R; ROWS]>::try_from(all).ok())
                    else {
                        continue;
                    };
                    let Compared {
                        rank, first, step, ..
                    } = *node;
                    for (leaf, x) in leaf.iter_mut().zip(column) {
                        *leaf = leaf.plus(step.only_if((*leaf == first) & (*x > rank)));
                    }
                }
                if self.linear.is_empty() {
                    leaves.add(&leaf, sum);
                } else {
                    for (row, (sum, leaf)) in (from..).zip(sum.iter_mut().zip(&leaf)) {
                        *sum = sum.plus(self.linear(leaf.index(), rows, row));
                    }
                }
            }
            Shape::Walked(places, leaf_of) => {
                let mut at = [0_u32; ROWS];
                let mut first = 0_usize;
                for lanes in at.chunks_mut(LANES) {
                    walk(places, ranks, first, lanes);
                    first = first.saturating_add(LANES);
                }
                for (row, (sum, at)) in (from..).zip(sum.iter_mut().zip(&at)) {
                    let leaf = leaf_of.get(*at as usize).copied().unwrap_or(0) as usize;
                    let value = match self.linear.is_empty() {
                        true => self.leaves.get(leaf).copied().unwrap_or(T::ZERO),
                        false => self.linear(leaf, rows, row),
                    };
                    *sum = sum.plus(value);
                }
            }
        }
    }

    /// The number of a leaf whose number depends on features. Without one of them it is the leaf's own.
    fn linear(&self, leaf: usize, rows: &Rows<'_>, row: usize) -> T {
        let alone = self.leaves.get(leaf).copied().unwrap_or(T::ZERO);
        let Some(linear) = self.linear.get(leaf) else {
            return alone;
        };
        let mut sum = linear.constant;
        for (feature, factor) in &linear.terms {
            let value = T::from_argument(rows.value(*feature as usize, row));
            if value.is_nan() {
                return alone;
            }
            sum = sum.plus(factor.times(value));
        }
        sum
    }
}

/// Takes rows to their leaves, side by side. `first`: the first row's number in the chunk.
fn walk<R: Rank>(places: &[Place], ranks: &[R], first: usize, lanes: &mut [u32]) {
    loop {
        let mut moved = false;
        for (row, at) in (first..).zip(lanes.iter_mut()) {
            let Some(place) = places.get(*at as usize) else {
                continue;
            };
            let at_rank = (place.column as usize).wrapping_mul(ROWS).wrapping_add(row);
            let rank = ranks.get(at_rank).map_or(0, |rank| rank.index());
            let [left, right] = place.next;
            let next = if rank > place.rank as usize {
                right
            } else {
                left
            };
            moved |= next != *at;
            *at = next;
        }
        if !moved {
            return;
        }
    }
}
