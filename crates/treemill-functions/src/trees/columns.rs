//! Arguments as columns of ranks. A feature has a column for each way in which its nodes treat missing values, and one
//! for each set of categories.

use crate::error::LoadError;
use crate::limits::ROWS;
use crate::trees::arguments::{Argument, Places, Rows};
use crate::trees::rank::Rank;
use crate::trees::real::Real;
use crate::trees::thresholds::Thresholds;
use crate::trees::tree::{Categories, Missing, Split, Tree};
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
    /// Columns with their numbers.
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
                        return Err(LoadError::new("a threshold is NaN")
                            .within(format_args!("tree {number}")));
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

    /// What is known of arguments that rows share, before any row is looked at.
    pub fn shared<R: Rank>(&self, rows: &Rows<'_>) -> Shared<R> {
        let mut shared = Shared {
            alone: Vec::new(),
            groups: Vec::new(),
        };
        for (number, feature) in self.features.iter().enumerate() {
            let Some(argument) = rows.arguments.get(feature.argument) else {
                continue;
            };
            let list = rows.list(feature.argument);
            if list.is_none() || argument.values.len() >= rows.count {
                shared.alone.push(number);
                continue;
            }
            let mut tables = feature.tables(argument.values);
            match shared.groups.iter_mut().find(|group| group.list == list) {
                Some(group) => group.tables.append(&mut tables),
                None => shared.groups.push(Group { list, tables }),
            }
        }
        shared
    }

    /// Writes the ranks of up to `ROWS` rows, column after column: those from `start` on, which have these places.
    pub fn fill<R: Rank>(
        &self,
        rows: &Rows<'_>,
        shared: &Shared<R>,
        start: usize,
        places: &Places,
        ranks: &mut [R],
    ) {
        for group in &shared.groups {
            let at = places.of(group.list);
            for (column, table) in &group.tables {
                if let Some(to) = of_column(ranks, *column) {
                    for (to, place) in to.iter_mut().zip(at) {
                        *to = table.get(*place as usize).copied().unwrap_or(R::FIRST);
                    }
                }
            }
        }
        let mut numbers: Numbers<T> = [T::ZERO; ROWS];
        for number in &shared.alone {
            let Some(feature) = self.features.get(*number) else {
                continue;
            };
            let Some(argument) = rows.arguments.get(feature.argument) else {
                continue;
            };
            match argument {
                Argument {
                    values: [only],
                    places: [],
                } => numbers = [T::from_argument(*only); ROWS],
                plain if rows.is_plain(plain) => {
                    let some = plain.values.get(start..).unwrap_or_default();
                    for (number, value) in numbers.iter_mut().zip(some) {
                        *number = T::from_argument(*value);
                    }
                }
                Argument { values, .. } => {
                    let at = places.of(rows.list(feature.argument));
                    for (number, place) in numbers.iter_mut().zip(at) {
                        let value = values.get(*place as usize).copied();
                        *number = T::from_argument(value.unwrap_or(0.0));
                    }
                }
            }
            feature.rank(&numbers, |column, found| {
                if let Some(to) = of_column(ranks, column) {
                    to.copy_from_slice(found);
                }
            });
        }
    }
}

/// The place of a column's ranks of a chunk.
fn of_column<R>(ranks: &mut [R], column: usize) -> Option<&mut [R]> {
    let from = column.saturating_mul(ROWS);
    ranks.get_mut(from..from.saturating_add(ROWS))
}

/// Arguments whose values many rows share: of those, few are ranked.
pub(crate) struct Shared<R> {
    /// Features that are ranked row by row, by number.
    alone: Vec<usize>,
    groups: Vec<Group<R>>,
}

/// Columns of arguments whose values lie at the same places.
struct Group<R> {
    /// The list that has the places.
    list: Option<usize>,
    /// The ranks of all values, with the columns' numbers.
    tables: Vec<(usize, Vec<R>)>,
}

impl<T: Real> Feature<T> {
    /// The ranks of all values, for each column.
    fn tables<R: Rank>(&self, values: &[f64]) -> Vec<(usize, Vec<R>)> {
        let room = values.len().next_multiple_of(ROWS);
        let made = |column: usize| (column, Vec::with_capacity(room));
        let mut tables: Vec<(usize, Vec<R>)> = self.columns.iter().map(|(c, _)| made(*c)).collect();
        let mut numbers: Numbers<T> = [T::ZERO; ROWS];
        for chunk in values.chunks(ROWS) {
            for (number, value) in numbers.iter_mut().zip(chunk) {
                *number = T::from_argument(*value);
            }
            let mut next = tables.iter_mut();
            self.rank(&numbers, |_, found| {
                if let Some((_, table)) = next.next() {
                    table.extend_from_slice(found);
                }
            });
        }
        tables
    }

    /// Gives `take` the ranks of numbers, column by column, with the columns' numbers.
    fn rank<R: Rank>(&self, numbers: &Numbers<T>, mut take: impl FnMut(usize, &[R; ROWS])) {
        let mut found = [R::FIRST; ROWS];
        if self.thresholds.len() > 0 {
            let mut counts = [0_u32; ROWS];
            self.thresholds.ranks(numbers, &mut counts);
            for (rank, count) in found.iter_mut().zip(&counts) {
                *rank = R::of(*count);
            }
        }
        let zero = R::of(self.zero);
        let mut of_column = [R::FIRST; ROWS];
        for (column, told) in &self.columns {
            match told {
                Told::Number(missing) => {
                    treated(*missing, numbers, &found, zero, &mut of_column);
                }
                Told::Category {
                    set,
                    set_goes_left,
                    nan_goes_left,
                } => {
                    for (to, number) in of_column.iter_mut().zip(numbers) {
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
            take(*column, &of_column);
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
    to: &mut [R; ROWS],
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
