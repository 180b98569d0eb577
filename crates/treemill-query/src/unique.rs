//! The different values of an expression, as many as a limit allows.

use crate::error::QueryError;
use crate::outcome::{Number, Values};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Values seen. Files may differ in types, so there is room for all.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub(crate) struct Unique {
    limit: u64,
    bools: BTreeSet<bool>,
    ints: BTreeSet<i128>,
    /// The values, by their place among all floats; one NaN stands for all, above infinity.
    floats: BTreeSet<u64>,
    strings: BTreeSet<Vec<u8>>,
}

const SIGN: u64 = 1 << 63;

impl Unique {
    pub fn new(limit: u64) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    pub fn limit(&self) -> u64 {
        self.limit
    }

    pub fn add_bool(&mut self, value: bool) {
        self.bools.insert(value);
    }

    /// Adds integers; orders them.
    pub fn add_ints(&mut self, mut values: Vec<i128>) -> Result<(), QueryError> {
        values.sort_unstable();
        values.dedup();
        self.ints.extend(values);
        self.check()
    }

    /// Adds floats.
    pub fn add_floats(&mut self, values: &[f64]) -> Result<(), QueryError> {
        let mut places: Vec<u64> = values.iter().map(|x| place(*x)).collect();
        places.sort_unstable();
        places.dedup();
        self.floats.extend(places);
        self.check()
    }

    pub fn add_string(&mut self, value: &[u8]) -> Result<(), QueryError> {
        if !self.strings.contains(value) {
            self.strings.insert(value.to_vec());
            return self.check();
        }
        Ok(())
    }

    pub fn merge(&mut self, other: &Self) -> Result<(), QueryError> {
        self.bools.extend(&other.bools);
        self.ints.extend(&other.ints);
        self.floats.extend(&other.floats);
        self.strings.extend(other.strings.iter().cloned());
        self.check()
    }

    fn check(&self) -> Result<(), QueryError> {
        let found = self.bools.len() + self.ints.len() + self.floats.len() + self.strings.len();
        if found as u64 > self.limit {
            return Err(QueryError::limit(format!(
                "there are more than {} different values: raise limit=, or book a histogram",
                self.limit
            )));
        }
        Ok(())
    }

    pub fn values(&self) -> Values {
        if !self.strings.is_empty() {
            return Values::Strings(self.strings.iter().cloned().collect());
        }
        if self.floats.is_empty() && self.ints.is_empty() {
            return Values::Numbers(self.bools.iter().copied().map(Number::Bool).collect());
        }
        let bools = self.bools.iter().map(|x| i128::from(*x));
        let mut ints: BTreeSet<i128> = self.ints.clone();
        ints.extend(bools);
        if self.floats.is_empty() {
            return Values::Numbers(ints.into_iter().map(Number::Int).collect());
        }
        // Integers that no float is equal to stay integers.
        let (exact, others): (BTreeSet<i128>, BTreeSet<i128>) =
            ints.into_iter().partition(|x| (*x as f64) as i128 == *x);
        let mut floats = self.floats.clone();
        floats.extend(exact.into_iter().map(|x| place(x as f64)));
        let mut others = others.into_iter().peekable();
        let mut numbers = Vec::new();
        for value in floats.into_iter().map(float) {
            // From 2^53 on, where these are, all floats are whole.
            let is_above = |x: &i128| value.is_nan() || *x < value as i128;
            while let Some(x) = others.next_if(is_above) {
                numbers.push(Number::Int(x));
            }
            numbers.push(Number::Float(value));
        }
        numbers.extend(others.map(Number::Int));
        Values::Numbers(numbers)
    }
}

/// The float at a place.
fn float(place: u64) -> f64 {
    f64::from_bits(if place & SIGN == 0 {
        !place
    } else {
        place ^ SIGN
    })
}

fn place(x: f64) -> u64 {
    let bits = if x.is_nan() {
        f64::NAN.to_bits() & !SIGN
    } else {
        (x + 0.0).to_bits()
    };
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_ascend_and_nan_is_one() {
        let mut found = Unique::new(10);
        let values = [
            f64::NAN,
            2.0,
            -1.5,
            0.0,
            -0.0,
            f64::INFINITY,
            -f64::NAN,
            -7.0,
            2.0,
        ];
        assert_eq!(found.add_floats(&values), Ok(()));
        let Values::Numbers(numbers) = found.values() else {
            return;
        };
        let shown: Vec<String> = numbers.iter().map(|x| format!("{x:?}")).collect();
        let wanted = ["-7.0", "-1.5", "0.0", "2.0", "inf", "NaN"];
        assert_eq!(shown, wanted.map(|x| format!("Float({x})")));
    }

    #[test]
    fn integers_that_are_no_floats_stay_integers() {
        let mut found = Unique::new(20);
        let most = 1_i128 << 53;
        let ints = vec![most, most + 1, most + 3, -most - 1, 7, (1 << 63) + 1];
        assert_eq!(found.add_ints(ints), Ok(()));
        let floats = [
            f64::NAN,
            0.5,
            7.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            9_007_199_254_740_994.0,
        ];
        assert_eq!(found.add_floats(&floats), Ok(()));
        let Values::Numbers(numbers) = found.values() else {
            return;
        };
        let shown: Vec<String> = numbers.iter().map(|x| format!("{x:?}")).collect();
        let wanted = [
            "Float(-inf)",
            "Int(-9007199254740993)",
            "Float(0.5)",
            "Float(7.0)",
            "Float(9007199254740992.0)",
            "Int(9007199254740993)",
            "Float(9007199254740994.0)",
            "Int(9007199254740995)",
            "Int(9223372036854775809)",
            "Float(inf)",
            "Float(NaN)",
        ];
        assert_eq!(shown, wanted);
    }

    #[test]
    fn more_than_the_limit_is_an_error() {
        let mut found = Unique::new(2);
        assert!(found.add_ints(vec![1, 2, 2, 1]).is_ok());
        assert!(found.add_ints(vec![3]).is_err());
    }
}
