//! What a model is asked about: the values of its arguments, one for each row, or few that many rows share. Checked
//! before they are used.

use crate::error::EvaluationError;
use crate::limits::ROWS;

/// An argument's values; NaN is a missing one.
#[derive(Debug, Clone, Copy)]
pub struct Argument<'a> {
    pub values: &'a [f64],
    /// Where the value of each row is: what the first list has for the row is a place in the second one, and so on;
    /// what the last one has there is the place of the value. Empty: there is a value for each row, or one for all.
    pub places: &'a [&'a [u32]],
}

/// Numbers of rows, or places, of a chunk.
pub(crate) type Numbers = [u32; ROWS];

/// A list of places, and the list that says where to look in it; `None`: it has a place for each row.
#[derive(Debug, Clone, Copy)]
struct Indices<'a> {
    from: Option<usize>,
    places: &'a [u32],
    /// One more than the greatest place.
    end: usize,
}

/// Rows that were checked.
#[derive(Debug, Clone)]
pub(crate) struct Rows<'a> {
    pub arguments: &'a [Argument<'a>],
    /// The rows that are asked about, by number; `None`: all.
    chosen: Option<&'a [u32]>,
    /// How many rows are asked about.
    pub count: usize,
    /// The lists of all arguments, each once, after those that say where to look in it.
    indices: Vec<Indices<'a>>,
    /// The last list of each argument.
    last: Vec<Option<usize>>,
}

/// The places of a chunk of rows in all lists, and the rows' own numbers.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    rows: Numbers,
    lists: Vec<Numbers>,
}

impl Places {
    /// What a list has for each row; `None`: the rows' numbers.
    pub fn of(&self, list: Option<usize>) -> &Numbers {
        let found = list.and_then(|list| self.lists.get(list));
        found.unwrap_or(&self.rows)
    }
}

impl<'a> Rows<'a> {
    /// A number of rows of these arguments, which have these names.
    pub fn new(
        arguments: &'a [Argument<'a>],
        chosen: Option<&'a [u32]>,
        count: usize,
        names: &[String],
    ) -> Result<Self, EvaluationError> {
        let given = arguments.len();
        if given != names.len() {
            let wanted = names.len();
            let message = format!("the model takes {wanted} arguments, and gets {given}");
            return Err(EvaluationError::arguments(message));
        }
        // Of several chosen rows, each argument has at least as many as the last one's number says.
        let all = match chosen {
            None => count,
            Some(chosen) if chosen.len() == count => ends(chosen),
            Some(chosen) => {
                let message = format!(
                    "{} rows are chosen, and {count} are asked for",
                    chosen.len()
                );
                return Err(EvaluationError::arguments(message));
            }
        };
        let fits = |length: usize| match chosen {
            None => length == all,
            Some(_) => length >= all,
        };
        let mut indices: Vec<Indices<'_>> = Vec::new();
        let mut last = Vec::with_capacity(given);
        for (argument, name) in arguments.iter().zip(names) {
            // Whether there are enough places, or values, for those that look in them.
            let check = |before: Option<&Indices<'_>>, length: usize| {
                let message = match before {
                    None if !fits(length) => format!("{name} has {length} values for {all} rows"),
                    Some(list) if list.end > length => {
                        let most = list.end;
                        format!("{name} has {length} values, and a row takes the {most}th")
                    }
                    _ => return Ok(()),
                };
                Err(EvaluationError::arguments(message))
            };
            let mut from: Option<usize> = None;
            for places in argument.places {
                check(from.and_then(|list| indices.get(list)), places.len())?;
                // Several arguments share their places, mostly.
                let is_known =
                    |list: &Indices<'_>| list.from == from && std::ptr::eq(list.places, *places);
                let known = indices.iter().position(is_known);
                from = Some(known.unwrap_or_else(|| {
                    let end = ends(places);
                    indices.push(Indices { from, places, end });
                    indices.len().saturating_sub(1)
                }));
            }
            let values = argument.values.len();
            if from.is_some() || values != 1 {
                check(from.and_then(|list| indices.get(list)), values)?;
            }
            last.push(from);
        }
        Ok(Self {
            arguments,
            chosen,
            count,
            indices,
            last,
        })
    }

    /// The value of an argument in a row.
    pub fn value(&self, argument: usize, row: usize) -> f64 {
        let row = match self.chosen {
            None => row,
            Some(chosen) => chosen.get(row).map_or(0, |row| *row as usize),
        };
        let value = match self.arguments.get(argument) {
            Some(Argument {
                values: [only],
                places: [],
            }) => Some(only),
            Some(Argument { values, places }) => {
                let found =
                    |place: usize, list: &&[u32]| list.get(place).map_or(0, |x| *x as usize);
                values.get(places.iter().fold(row, found))
            }
            None => None,
        };
        value.copied().unwrap_or(0.0)
    }

    /// The last list of an argument, which says where its values are; `None`: it has no lists.
    pub fn list(&self, argument: usize) -> Option<usize> {
        self.last.get(argument).copied().flatten()
    }

    /// Places to be filled by `places`.
    pub fn no_places(&self) -> Places {
        Places {
            rows: [0; ROWS],
            lists: vec![[0; ROWS]; self.indices.len()],
        }
    }

    /// The places of the rows from `start` on. What is after the last row is left as it was.
    pub fn places(&self, start: usize, places: &mut Places) {
        let first = u32::try_from(start).unwrap_or(u32::MAX);
        match self.chosen {
            None => places
                .rows
                .iter_mut()
                .zip(first..)
                .for_each(|(to, row)| *to = row),
            Some(chosen) => copied(chosen, start, &mut places.rows),
        }
        for (number, list) in self.indices.iter().enumerate() {
            let (before, rest) = places.lists.split_at_mut(number);
            let Some(to) = rest.first_mut() else {
                continue;
            };
            match list.from.and_then(|from| before.get(from)) {
                None if self.chosen.is_none() => copied(list.places, start, to),
                from => {
                    for (to, at) in to.iter_mut().zip(from.unwrap_or(&places.rows)) {
                        *to = list.places.get(*at as usize).copied().unwrap_or(0);
                    }
                }
            }
        }
    }

    /// Whether an argument has a value for each row, in order.
    pub fn is_plain(&self, argument: &Argument<'_>) -> bool {
        self.chosen.is_none() && argument.places.is_empty()
    }
}

/// The numbers from `start` on, as far as there are some.
fn copied(all: &[u32], start: usize, to: &mut Numbers) {
    let some = all.get(start..).unwrap_or_default();
    to.iter_mut().zip(some).for_each(|(to, from)| *to = *from);
}

/// One more than the greatest number.
fn ends(numbers: &[u32]) -> usize {
    match numbers.iter().max() {
        None => 0,
        Some(most) => (*most as usize).saturating_add(1),
    }
}
