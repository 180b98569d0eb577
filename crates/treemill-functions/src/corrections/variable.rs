//! Inputs of corrections: their types, and the values that are given for them.

use crate::error::EvaluationError;

/// The type of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    Real,
}

impl Kind {
    /// The schema's word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Integer => "int",
            Self::Real => "real",
        }
    }

    /// The type's name in correctionlib's messages.
    fn of_value(self) -> &'static str {
        match self {
            Self::Real => "real-valued",
            other => other.name(),
        }
    }
}

/// An input or an output.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    pub name: String,
    pub description: String,
    pub kind: Kind,
}

/// The values of an input: one for each row, or one for all.
#[derive(Debug, Clone, Copy)]
pub enum Argument<'a> {
    Real(&'a [f64]),
    Integer(&'a [i64]),
    Text(&'a [&'a [u8]]),
}

/// A value that is the same in all rows.
#[derive(Debug, Clone, PartialEq)]
pub enum Constant {
    Real(f64),
    Integer(i64),
    Text(Vec<u8>),
}

/// The value of an input in one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Slot<'a> {
    Real(f64),
    Integer(i64),
    Text(&'a [u8]),
}

impl<'a> Argument<'a> {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Real(_) => Kind::Real,
            Self::Integer(_) => Kind::Integer,
            Self::Text(_) => Kind::Text,
        }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Real(values) => values.len(),
            Self::Integer(values) => values.len(),
            Self::Text(values) => values.len(),
        }
    }

    /// The bits of the values from a row on; `None`: they are no numbers, or too few.
    pub(crate) fn bits(&self, row: usize, out: &mut [u64]) -> Option<()> {
        let stop = row.checked_add(out.len())?;
        match self {
            Self::Real([x]) => out.fill(x.to_bits()),
            Self::Integer([x]) => out.fill(*x as u64),
            Self::Real(all) => {
                let some = all.get(row..stop)?;
                out.iter_mut()
                    .zip(some)
                    .for_each(|(to, x)| *to = x.to_bits());
            }
            Self::Integer(all) => {
                let some = all.get(row..stop)?;
                out.iter_mut().zip(some).for_each(|(to, x)| *to = *x as u64);
            }
            Self::Text(_) => return None,
        }
        Some(())
    }

    #[inline(always)]
    pub(crate) fn get(&self, row: usize) -> Option<Slot<'a>> {
        match self {
            Self::Real(values) => values.get(row).copied().map(Slot::Real),
            Self::Integer(values) => values.get(row).copied().map(Slot::Integer),
            Self::Text(values) => values.get(row).copied().map(Slot::Text),
        }
    }
}

impl Constant {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Real(_) => Kind::Real,
            Self::Integer(_) => Kind::Integer,
            Self::Text(_) => Kind::Text,
        }
    }

    pub(crate) fn slot(&self) -> Slot<'_> {
        match self {
            Self::Real(x) => Slot::Real(*x),
            Self::Integer(x) => Slot::Integer(*x),
            Self::Text(x) => Slot::Text(x),
        }
    }
}

impl Slot<'_> {
    /// The argument as a number; `None` for a string.
    #[inline(always)]
    pub fn number(&self) -> f64 {
        match self {
            Self::Real(x) => *x,
            Self::Integer(x) => *x as f64,
            Self::Text(_) => f64::NAN,
        }
    }
}

/// Checks that as many arguments are given as there are inputs, of their types, and one value a row or one
/// for all.
pub(crate) fn check(
    inputs: &[Variable],
    arguments: &[Argument<'_>],
    rows: usize,
) -> Result<(), EvaluationError> {
    if arguments.len() != inputs.len() {
        return Err(EvaluationError::arguments(format!(
            "Incorrect number of inputs (got {}, expected {})",
            arguments.len(),
            inputs.len()
        )));
    }
    for (input, argument) in inputs.iter().zip(arguments) {
        check_kind(input, argument.kind())?;
        let n = argument.len();
        if n != rows && n != 1 {
            let message = format!(
                "Input {} has {n} values, and there are {rows} rows",
                input.name
            );
            return Err(EvaluationError::arguments(message));
        }
    }
    Ok(())
}

pub(crate) fn check_kind(input: &Variable, given: Kind) -> Result<(), EvaluationError> {
    if input.kind == given {
        return Ok(());
    }
    Err(EvaluationError::arguments(format!(
        "Input {} has wrong type: got {} expected {}",
        input.name,
        given.of_value(),
        input.kind.name()
    )))
}

/// Where a value stands, of an argument with one for all or one for each row.
pub(crate) struct Rows<'a, 'b> {
    arguments: &'b [Argument<'a>],
    /// The inputs that differ from row to row.
    varying: Vec<usize>,
}

impl<'a, 'b> Rows<'a, 'b> {
    pub fn new(arguments: &'b [Argument<'a>]) -> Self {
        let numbered = arguments.iter().enumerate();
        let varying = numbered.filter(|(_, argument)| argument.len() != 1);
        Self {
            arguments,
            varying: varying.map(|(i, _)| i).collect(),
        }
    }

    /// The first row.
    pub fn first(&self) -> Vec<Slot<'a>> {
        let first = |argument: &Argument<'a>| argument.get(0).unwrap_or(Slot::Real(f64::NAN));
        self.arguments.iter().map(first).collect()
    }

    /// Makes a row this one.
    #[inline(always)]
    pub fn fill(&self, row: usize, slots: &mut [Slot<'a>]) {
        for input in &self.varying {
            if let (Some(argument), Some(slot)) =
                (self.arguments.get(*input), slots.get_mut(*input))
                && let Some(value) = argument.get(row)
            {
                *slot = value;
            }
        }
    }
}
