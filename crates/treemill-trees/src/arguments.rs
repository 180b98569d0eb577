//! What a model is asked about: the values of its arguments, one for each row, or few that many rows share. Checked
//! before they are used.

use crate::error::EvaluationError;
use crate::limits::ROWS;

/// An argument's values; NaN is a missing one.
#[derive(Debug, Clone, Copy)]
pub struct Argument<'a> {
    pub values: &'a [f64],
    /// The place of each row's value. `None`: there is a value for each row, or one for all.
    pub places: Option<&'a [u32]>,
}

/// Numbers of rows, or places of their values, of a chunk.
pub(crate) type Numbers = [u32; ROWS];

/// Rows that were checked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub arguments: &'a [Argument<'a>],
    /// The rows that are asked about, by number; `None`: all.
    chosen: Option<&'a [u32]>,
    /// How many rows are asked about.
    pub count: usize,
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
                let message = format!("{} rows are chosen, and {count} asked for", chosen.len());
                return Err(EvaluationError::arguments(message));
            }
        };
        let fits = |length: usize| match chosen {
            None => length == all,
            Some(_) => length >= all,
        };
        let mut known: Vec<(&[u32], usize)> = Vec::new();
        for (argument, name) in arguments.iter().zip(names) {
            let values = argument.values.len();
            let Some(places) = argument.places else {
                if !fits(values) && values != 1 {
                    let message = format!("{name} has {values} values for {all} rows");
                    return Err(EvaluationError::arguments(message));
                }
                continue;
            };
            let length = places.len();
            if !fits(length) {
                let message = format!("{name} has {length} values for {all} rows");
                return Err(EvaluationError::arguments(message));
            }
            // Several arguments share their places, mostly.
            let same = known.iter().find(|(other, _)| std::ptr::eq(*other, places));
            let most = same.map_or_else(|| ends(places), |(_, most)| *most);
            if same.is_none() {
                known.push((places, most));
            }
            if most > values {
                let message = format!("{name} has {values} values, and a row takes the {most}th");
                return Err(EvaluationError::arguments(message));
            }
        }
        Ok(Self {
            arguments,
            chosen,
            count,
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
                values,
                places: Some(places),
            }) => {
                let place = places.get(row).map_or(0, |place| *place as usize);
                values.get(place)
            }
            Some(Argument {
                values: [only],
                places: None,
            }) => Some(only),
            Some(Argument {
                values,
                places: None,
            }) => values.get(row),
            None => None,
        };
        value.copied().unwrap_or(0.0)
    }

    /// Where the values of the rows from `start` on are, for an argument with these places. What is after the last
    /// row is left as it was.
    pub fn places(&self, places: Option<&[u32]>, start: usize, to: &mut Numbers) {
        let first = u32::try_from(start).unwrap_or(u32::MAX);
        match (self.chosen, places) {
            (None, None) => {
                for (to, row) in to.iter_mut().zip(first..) {
                    *to = row;
                }
            }
            (Some(only), None) | (None, Some(only)) => {
                let some = only.get(start..).unwrap_or_default();
                for (to, from) in to.iter_mut().zip(some) {
                    *to = *from;
                }
            }
            (Some(chosen), Some(places)) => {
                let some = chosen.get(start..).unwrap_or_default();
                for (to, row) in to.iter_mut().zip(some) {
                    *to = places.get(*row as usize).copied().unwrap_or(0);
                }
            }
        }
    }

    /// Whether an argument has a value for each row, in order.
    pub fn is_plain(&self, argument: &Argument<'_>) -> bool {
        self.chosen.is_none() && argument.places.is_none()
    }
}

/// One more than the greatest number.
fn ends(numbers: &[u32]) -> usize {
    match numbers.iter().max() {
        None => 0,
        Some(most) => (*most as usize).saturating_add(1),
    }
}
