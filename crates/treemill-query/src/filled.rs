//! The bins of a histogram or profile as they are handed over: a field at a time and piece by piece, so that a
//! large one is never there several times.

use crate::bins::Bins;
use crate::moments::Moments;
use crate::outcome::Outcome;
use std::ops::Range;

/// The bins of one booking at one moment, in C order (last axis fastest), flow bins included where the axis has
/// them. What is merged later is not in them.
#[derive(Debug, Clone)]
pub struct FilledBins {
    pub(crate) kind: Kind,
    pub(crate) fills: u64,
}

#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Counts(Bins<u64>),
    Sums(Bins<f64>),
    Weights(Bins<[f64; 2]>),
    Profile(Bins<Moments>),
}

/// A field of each bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinField {
    /// Counts or sums of weights.
    Values,
    /// Sums of squared weights.
    Variances,
    /// Of a profile: sums of weights; without weights, counts.
    Weights,
    /// Of a profile: sums of squared weights.
    WeightsSquared,
    /// Means of the sample.
    Means,
    /// Weighted squares of the distances to the mean.
    Deltas,
    /// Weighted sums of the sample.
    Sums,
    /// Weighted sums of the sample's squares.
    SumsOfSquares,
}

impl BinField {
    /// All fields, by their names.
    pub const ALL: [(&'static str, Self); 8] = [
        ("values", Self::Values),
        ("variances", Self::Variances),
        ("weights", Self::Weights),
        ("weights_squared", Self::WeightsSquared),
        ("means", Self::Means),
        ("deltas", Self::Deltas),
        ("sums", Self::Sums),
        ("sums_of_squares", Self::SumsOfSquares),
    ];
}

impl FilledBins {
    /// Bins per axis, with flow bins.
    pub fn shape(&self) -> Vec<usize> {
        let shape = match &self.kind {
            Kind::Counts(bins) => bins.shape(),
            Kind::Sums(bins) => bins.shape(),
            Kind::Weights(bins) => bins.shape(),
            Kind::Profile(bins) => bins.shape(),
        };
        shape.iter().map(|n| *n as usize).collect()
    }

    /// All bins.
    pub fn size(&self) -> usize {
        self.shape().iter().product()
    }

    /// How many values are in the bins.
    pub fn fills(&self) -> u64 {
        self.fills
    }

    /// Whether its bins have the field.
    pub fn has(&self, field: BinField) -> bool {
        match (&self.kind, field) {
            (Kind::Counts(_) | Kind::Sums(_), field) => field == BinField::Values,
            (Kind::Weights(_), field) => matches!(field, BinField::Values | BinField::Variances),
            (Kind::Profile(_), field) => !matches!(field, BinField::Values | BinField::Variances),
        }
    }

    /// Gives the field of these bins to `body`, one after another. `false`: nothing was filled into any of them (or
    /// they lack the field), and nothing is given.
    pub fn read(&self, field: BinField, bins: Range<usize>, mut body: impl FnMut(f64)) -> bool {
        if !self.has(field) {
            return false;
        }
        match &self.kind {
            Kind::Counts(all) => all.read(bins, |part| part.iter().for_each(|x| body(*x as f64))),
            Kind::Sums(all) => all.read(bins, |part| part.iter().for_each(|x| body(*x))),
            Kind::Weights(all) => {
                let at = usize::from(field == BinField::Variances);
                all.read(bins, |part| part.iter().for_each(|x| body(x[at])))
            }
            Kind::Profile(all) => {
                let of = match field {
                    BinField::WeightsSquared => Moments::weights_squared,
                    BinField::Means => Moments::mean,
                    BinField::Deltas => Moments::deltas,
                    BinField::Sums => Moments::sum,
                    BinField::SumsOfSquares => Moments::sum_of_squares,
                    _ => Moments::weights,
                };
                all.read(bins, |part| part.iter().for_each(|x| body(of(x))))
            }
        }
    }

    /// Frees the memory of the bins before this one, as far as no one else has it: they will not be read any more.
    pub fn free_before(&mut self, bin: usize) {
        match &mut self.kind {
            Kind::Counts(bins) => bins.free_before(bin),
            Kind::Sums(bins) => bins.free_before(bin),
            Kind::Weights(bins) => bins.free_before(bin),
            Kind::Profile(bins) => bins.free_before(bin),
        }
    }

    /// All of a field.
    fn all(&self, field: BinField) -> Vec<f64> {
        let mut all = Vec::with_capacity(self.size());
        if !self.read(field, 0..self.size(), |x| all.push(x)) {
            all.resize(self.size(), 0.0);
        }
        all
    }

    /// All of all fields.
    pub(crate) fn outcome(&self) -> Outcome {
        let (shape, fills) = (self.shape(), self.fills);
        match self.kind {
            Kind::Profile(_) => Outcome::Profile {
                shape,
                weights: self.all(BinField::Weights),
                weights_squared: self.all(BinField::WeightsSquared),
                means: self.all(BinField::Means),
                deltas: self.all(BinField::Deltas),
                sums: self.all(BinField::Sums),
                sums_of_squares: self.all(BinField::SumsOfSquares),
                fills,
            },
            _ => Outcome::Hist {
                shape,
                values: self.all(BinField::Values),
                variances: self
                    .has(BinField::Variances)
                    .then(|| self.all(BinField::Variances)),
                fills,
            },
        }
    }
}
