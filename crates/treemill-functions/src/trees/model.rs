//! A model: its inputs by name, its trees, and what its objective makes of their sums.

use crate::error::EvaluationError;
use crate::limits::ROWS;
use crate::trees::arguments::{Argument, Rows};
use crate::trees::forest::Forest;
use crate::trees::transform::{Transform32, Transform64};

/// Trees with the numbers of their library.
#[derive(Debug, Clone)]
pub(crate) enum Trees {
    XgBoost(Forest<f32>, Transform32),
    LightGbm {
        forest: Forest<f64>,
        transform: Transform64,
        /// What sums are divided by before they are transformed.
        rounds: Option<f64>,
    },
}

/// What a model is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Output {
    /// One of several, as those of classes.
    pub number: usize,
    /// The sum of trees, before the objective's transformation.
    pub raw: bool,
}

/// A model of boosted trees.
#[derive(Debug, Clone)]
pub struct Model {
    pub(crate) trees: Trees,
    pub(crate) features: Vec<String>,
    pub(crate) named: bool,
    pub(crate) objective: String,
    pub(crate) count: usize,
    pub(crate) best: Option<usize>,
}

impl Model {
    /// What made it: `XGBoost` or `LightGBM`.
    #[must_use]
    pub fn library(&self) -> &'static str {
        match self.trees {
            Trees::XgBoost(..) => "XGBoost",
            Trees::LightGbm { .. } => "LightGBM",
        }
    }

    /// Names of what it takes, in order.
    #[must_use]
    pub fn features(&self) -> &[String] {
        &self.features
    }

    /// Whether the names are the file's. Else they are numbered.
    #[must_use]
    pub fn is_named(&self) -> bool {
        self.named
    }

    /// The objective that it was trained for, by its name.
    #[must_use]
    pub fn objective(&self) -> &str {
        &self.objective
    }

    /// How many trees it has.
    #[must_use]
    pub fn trees(&self) -> usize {
        self.count
    }

    /// The last round that counts, if training was stopped early and the file says so. All trees are evaluated.
    #[must_use]
    pub fn best_round(&self) -> Option<usize> {
        self.best
    }

    /// How many outputs it has.
    #[must_use]
    pub fn outputs(&self, raw: bool) -> usize {
        match &self.trees {
            Trees::XgBoost(forest, transform) if !raw => transform.outputs(forest.groups()),
            Trees::XgBoost(forest, _) => forest.groups(),
            Trees::LightGbm { forest, .. } => forest.groups(),
        }
    }

    /// Writes an output for each row. Arguments have a value for each row, or one for all; NaN is a missing value.
    ///
    /// # Errors
    /// For other numbers of arguments than of features, for arguments of other lengths, and outputs that there are not.
    pub fn evaluate<'a>(
        &self,
        arguments: &[&'a [f64]],
        output: Output,
        out: &mut [f64],
    ) -> Result<(), EvaluationError> {
        let alone = |values: &&'a [f64]| Argument {
            values,
            places: &[],
        };
        let arguments: Vec<Argument<'_>> = arguments.iter().map(alone).collect();
        self.evaluate_shared(&arguments, None, output, out)
    }

    /// Evaluates like `evaluate` arguments whose values rows may share: those are looked at once, however many rows
    /// there are. `chosen`: the numbers of the rows to write outputs for; without, all rows.
    ///
    /// # Errors
    /// As `evaluate`, and for values and rows that there are not.
    pub fn evaluate_shared(
        &self,
        arguments: &[Argument<'_>],
        chosen: Option<&[u32]>,
        output: Output,
        out: &mut [f64],
    ) -> Result<(), EvaluationError> {
        let rows = Rows::new(arguments, chosen, out.len(), &self.features)?;
        let outputs = self.outputs(output.raw);
        if output.number >= outputs {
            let message = format!("there is no output {} of {outputs}", output.number);
            return Err(EvaluationError::output(message));
        }
        match &self.trees {
            Trees::XgBoost(forest, transform) => {
                let transform = if output.raw {
                    Transform32::Same
                } else {
                    *transform
                };
                let wanted = (!transform.mixes()).then_some(output.number);
                let mut row_sums = vec![0.0; forest.groups()];
                forest.sums(&rows, wanted, |from, sums| {
                    let give = |sums: &[f32]| f64::from(transform.of(sums, output.number));
                    rows_of(from, sums, &mut row_sums, out, give);
                });
            }
            Trees::LightGbm {
                forest,
                transform,
                rounds,
            } => {
                let transform = if output.raw {
                    Transform64::Same
                } else {
                    *transform
                };
                let wanted = (!transform.mixes()).then_some(output.number);
                let mut row_sums = vec![0.0; forest.groups()];
                let rounds = rounds.filter(|_| !output.raw);
                forest.sums(&rows, wanted, |from, sums| {
                    rows_of(
                        from,
                        sums,
                        &mut row_sums,
                        out,
                        |sums: &[f64]| match rounds {
                            None => transform.of(sums, output.number),
                            Some(rounds) => {
                                let means: Vec<f64> = sums.iter().map(|x| x / rounds).collect();
                                transform.of(&means, output.number)
                            }
                        },
                    );
                });
            }
        }
        Ok(())
    }
}

/// Writes what `give` makes of the sums of each row of a chunk.
fn rows_of<T: Copy>(
    from: usize,
    sums: &[[T; ROWS]],
    row_sums: &mut [T],
    out: &mut [f64],
    give: impl Fn(&[T]) -> f64,
) {
    let chunk = out.get_mut(from..).unwrap_or_default();
    for (row, to) in chunk.iter_mut().take(ROWS).enumerate() {
        for (to, group) in row_sums.iter_mut().zip(sums) {
            if let Some(sum) = group.get(row) {
                *to = *sum;
            }
        }
        *to = give(row_sums);
    }
}
