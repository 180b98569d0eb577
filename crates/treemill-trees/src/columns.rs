//! Arguments as columns of ranks. A feature has a column for each way in which its nodes treat missing values, and one
//! for each set of categories.

use crate::error::LoadError;
use crate::limits::ROWS;
use crate::rank::Rank;
use crate::real::Real;
use crate::thresholds::Thresholds;
use crate::tree::{Categories, Missing, Split, Tree};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// What a column tells of its feature.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Told {
    Number(Missing),
    Category {
        set: Arc<Categories>,
        set_goes_left: bool,
        nan_goes_left: bool,
    },
}

/// A feature that nodes ask for.
#[derive(Debug, Clone)]
struct Feature<T> {
    argument: usize,
    thresholds: Thresholds<T>,
    /// The rank of zero.
    zero: u32,
    /// With the columns' numbers.
    columns: Vec<(usize, Told)>,
}

/// All columns of a forest.
#[derive(Debug, Clone)]
pub(crate) struct Columns<T> {
    features: Vec<Feature<T>>,
    places: HashMap<usize, usize>,
    numbers: HashMap<(usize, Told), usize>,
}

/// The rows of a chunk, and how many of them count.
type Numbers<T> = [T; ROWS];

impl<T: Real> Columns<T> {
    pub fn of(trees: &[Tree<T>], closed: bool) -> Result<Self, LoadError> {
        let mut columns = Self {
            features: Vec::new(),
            places: HashMap::new(),
            numbers: HashMap::new(),
        };
        let mut thresholds = Vec::new();
        for (number, tree) in trees.iter().enumerate() {
            for node in &tree.nodes {
                let place = columns.add(node.feature as usize, &node.split);
                if let Split::Number { threshold, .. } = node.split {
                    if threshold.is_nan() {
                        return Err(LoadError::new("a threshold is NaN").of_tree(number));
                    }
                    thresholds.resize(columns.features.len(), Vec::new());
                    if let Some(of_feature) = thresholds.get_mut(place) {
                        of_feature.push(threshold);
                    }
                }
            }
        }
        for (feature, all) in columns.features.iter_mut().zip(thresholds) {
            feature.thresholds = Thresholds::new(all, closed);
            feature.zero = feature.thresholds.rank(T::ZERO);
        }
        Ok(columns)
    }

    /// Makes room for what a node asks for; the place of its feature.
    fn add(&mut self, argument: usize, split: &Split<T>) -> usize {
        let place = match self.places.get(&argument) {
            Some(place) => *place,
            None => {
                let place = self.features.len();
                self.features.push(Feature {
                    argument,
                    thresholds: Thresholds::new(Vec::new(), false),
                    zero: 0,
                    columns: Vec::new(),
                });
                self.places.insert(argument, place);
                place
            }
        };
        let key = (argument, told(split));
        let next = self.numbers.len();
        if let Entry::Vacant(entry) = self.numbers.entry(key)
            && let Some(feature) = self.features.get_mut(place)
        {
            feature.columns.push((next, entry.key().1.clone()));
            entry.insert(next);
        }
        place
    }

    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Thresholds of the feature that has most.
    pub fn most_thresholds(&self) -> usize {
        let counts = self.features.iter().map(|feature| feature.thresholds.len());
        counts.max().unwrap_or(0)
    }

    /// The column that a node compares, and the last rank that goes left.
    pub fn question(&self, argument: usize, split: &Split<T>) -> (usize, u32) {
        let column = self.numbers.get(&(argument, told(split))).copied();
        let rank = match split {
            Split::Category { .. } => 0,
            Split::Number { threshold, .. } => {
                let feature = self
                    .places
                    .get(&argument)
                    .and_then(|place| self.features.get(*place));
                feature.map_or(0, |feature| feature.thresholds.place(*threshold))
            }
        };
        (column.unwrap_or(0), rank)
    }

    /// Writes the ranks of up to `ROWS` rows, column after column: those from `start` on. `arguments` have a value for
    /// each row, or one for all.
    pub fn fill<R: Rank>(&self, arguments: &[&[f64]], start: usize, ranks: &mut [R]) {
        let mut numbers: Numbers<T> = [T::ZERO; ROWS];
        let mut found = [R::FIRST; ROWS];
        let mut counts = [0_u32; ROWS];
        for feature in &self.features {
            let Some(argument) = arguments.get(feature.argument) else {
                continue;
            };
            match argument {
                [only] => numbers = [T::from_argument(*only); ROWS],
                all => {
                    let some = all.get(start..).unwrap_or_default();
                    for (number, value) in numbers.iter_mut().zip(some) {
                        *number = T::from_argument(*value);
                    }
                }
            }
            if feature.thresholds.len() > 0 {
                feature.thresholds.ranks(&numbers, &mut counts);
                for (rank, count) in found.iter_mut().zip(&counts) {
                    *rank = R::of(*count);
                }
            }
            let zero = R::of(feature.zero);
            for (column, told) in &feature.columns {
                let from = column.saturating_mul(ROWS);
                let Some(to) = ranks.get_mut(from..from.saturating_add(ROWS)) else {
                    continue;
                };
                match told {
                    Told::Number(missing) => treated(*missing, &numbers, &found, zero, to),
                    Told::Category {
                        set,
                        set_goes_left,
                        nan_goes_left,
                    } => {
                        for (to, number) in to.iter_mut().zip(&numbers) {
                            let left = match number.is_nan() {
                                true => *nan_goes_left,
                                false => {
                                    let category = number.category();
                                    category.is_some_and(|x| set.holds(x)) == *set_goes_left
                                }
                            };
                            *to = if left { R::FIRST } else { R::LAST };
                        }
                    }
                }
            }
        }
    }
}

fn told<T>(split: &Split<T>) -> Told {
    match split {
        Split::Number { missing, .. } => Told::Number(*missing),
        Split::Category {
            set,
            set_goes_left,
            nan_goes_left,
        } => Told::Category {
            set: Arc::clone(set),
            set_goes_left: *set_goes_left,
            nan_goes_left: *nan_goes_left,
        },
    }
}

/// A column of ranks, with those of missing values.
fn treated<T: Real, R: Rank>(
    missing: Missing,
    numbers: &Numbers<T>,
    found: &[R; ROWS],
    zero: R,
    to: &mut [R],
) {
    let each = to.iter_mut().zip(found).zip(numbers);
    let (of_nan, of_zero) = match missing {
        Missing::Left => (R::FIRST, None),
        Missing::Right => (R::LAST, None),
        Missing::IsZero => (zero, None),
        Missing::ZeroLeft => (R::FIRST, Some(R::FIRST)),
        Missing::ZeroRight => (R::LAST, Some(R::LAST)),
    };
    match of_zero {
        None => each.for_each(|((to, rank), x)| {
            *to = if x.is_nan() { of_nan } else { *rank };
        }),
        Some(of_zero) => each.for_each(|((to, rank), x)| {
            *to = if x.is_nan() {
                of_nan
            } else if x.is_nearly_zero() {
                of_zero
            } else {
                *rank
            };
        }),
    }
}
