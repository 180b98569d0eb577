//! Functions that were compiled while the program runs, called by address, a batch of rows at a time.
//! A call by address takes `unsafe`. Knows no compiler and no Python: which
//! code lies at an address, and that it stays there, is vouched for by the caller of [`Compiled::at`].
//!
//! What the code at the address must be, in C:
//!
//! ```c
//! int64_t batch(int64_t rows, const void *const *arguments, void *const *results);
//! ```
//!
//! `arguments` has one pointer for each column of numbers, and two for each column of lists: its items, and the
//! places where each list begins and the last one ends (`int32_t`, one more than rows). Each result has room for
//! `rows` numbers. It returns 0, or anything else if it has failed.

use std::ffi::c_void;
use std::fmt;

/// The code, as C calls it.
type Batch = unsafe extern "C" fn(i64, *const *const c_void, *const *mut c_void) -> i64;

/// The type of an argument's numbers, or of a result's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `double`
    Float,
    /// `int64_t`
    Int,
    /// `uint8_t`, of results: 0 or 1
    Bool,
    /// Lists of `double`.
    Floats,
    /// Lists of `int64_t`.
    Ints,
}

/// The values of an argument.
#[derive(Debug, Clone, Copy)]
pub enum Column<'a> {
    Float(&'a [f64]),
    Int(&'a [i64]),
    Floats(&'a [f64], &'a [i32]),
    Ints(&'a [i64], &'a [i32]),
}

/// Room for a result.
#[derive(Debug)]
pub enum Room<'a> {
    Float(&'a mut [f64]),
    Int(&'a mut [i64]),
    Bool(&'a mut [u8]),
}

/// Why there are no results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failure {
    /// What is given is not what the code takes, or has not as many rows. The code was not called.
    Shape,
    /// The code says so.
    Code,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shape => "what is given is not what the function takes",
            Self::Code => "the function has failed",
        })
    }
}

impl std::error::Error for Failure {}

/// A function at an address.
#[derive(Debug, Clone)]
pub struct Compiled {
    address: usize,
    arguments: Vec<Kind>,
    results: Vec<Kind>,
}

impl Compiled {
    /// The function at an address; `None` for the address 0.
    ///
    /// # Safety
    /// The code there must be as this module says, take these arguments and give these results, for as long as this or a
    /// clone of it lives; and any number of threads may call it. Nothing here can check that.
    #[must_use]
    pub unsafe fn at(address: usize, arguments: Vec<Kind>, results: Vec<Kind>) -> Option<Self> {
        (address != 0).then_some(Self {
            address,
            arguments,
            results,
        })
    }

    /// Calls the function for a number of rows.
    ///
    /// # Errors
    /// If the columns are others than it takes, and if it fails.
    pub fn call(
        &self,
        rows: usize,
        arguments: &[Column<'_>],
        results: &mut [Room<'_>],
    ) -> Result<(), Failure> {
        let fits = arguments.len() == self.arguments.len()
            && results.len() == self.results.len()
            && (arguments.iter().zip(&self.arguments))
                .all(|(column, kind)| column.kind() == *kind && column.has(rows))
            && (results.iter().zip(&self.results))
                .all(|(room, kind)| room.kind() == *kind && room.len() == rows);
        if !fits {
            return Err(Failure::Shape);
        }
        let count = i64::try_from(rows).map_err(|_| Failure::Shape)?;
        let arguments: Vec<*const c_void> = arguments.iter().flat_map(Column::pointers).collect();
        let results: Vec<*mut c_void> = results.iter_mut().map(Room::pointer).collect();
        // SAFETY: an address that is not 0 becomes a pointer to a function of the type that the caller of `at` has
        // vouched for.
        let batch: Batch =
            unsafe { std::mem::transmute(std::ptr::with_exposed_provenance::<()>(self.address)) };
        // SAFETY: the code takes these kinds of columns, as the caller of `at` has vouched for. All columns and rooms
        // have `rows` numbers or lists, and all lists lie within their items (`has`); they live as long as the call.
        let status = unsafe { batch(count, arguments.as_ptr(), results.as_ptr()) };
        match status {
            0 => Ok(()),
            _ => Err(Failure::Code),
        }
    }
}

impl Column<'_> {
    fn kind(&self) -> Kind {
        match self {
            Self::Float(_) => Kind::Float,
            Self::Int(_) => Kind::Int,
            Self::Floats(..) => Kind::Floats,
            Self::Ints(..) => Kind::Ints,
        }
    }

    fn has(&self, rows: usize) -> bool {
        match self {
            Self::Float(values) => values.len() == rows,
            Self::Int(values) => values.len() == rows,
            Self::Floats(items, offsets) => are_within(offsets, rows, items.len()),
            Self::Ints(items, offsets) => are_within(offsets, rows, items.len()),
        }
    }

    fn pointers(&self) -> impl Iterator<Item = *const c_void> {
        let (first, second): (*const c_void, Option<*const c_void>) = match self {
            Self::Float(values) => (values.as_ptr().cast(), None),
            Self::Int(values) => (values.as_ptr().cast(), None),
            Self::Floats(items, offsets) => (items.as_ptr().cast(), Some(offsets.as_ptr().cast())),
            Self::Ints(items, offsets) => (items.as_ptr().cast(), Some(offsets.as_ptr().cast())),
        };
        std::iter::once(first).chain(second)
    }
}

impl Room<'_> {
    fn kind(&self) -> Kind {
        match self {
            Self::Float(_) => Kind::Float,
            Self::Int(_) => Kind::Int,
            Self::Bool(_) => Kind::Bool,
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Float(values) => values.len(),
            Self::Int(values) => values.len(),
            Self::Bool(values) => values.len(),
        }
    }

    fn pointer(&mut self) -> *mut c_void {
        match self {
            Self::Float(values) => values.as_mut_ptr().cast(),
            Self::Int(values) => values.as_mut_ptr().cast(),
            Self::Bool(values) => values.as_mut_ptr().cast(),
        }
    }
}

/// Whether these are the ends of this number of lists, which have this number of items together.
fn are_within(offsets: &[i32], rows: usize, items: usize) -> bool {
    let ends = offsets.first().zip(offsets.last());
    let ascend = offsets.iter().zip(offsets.iter().skip(1));
    Some(offsets.len()) == rows.checked_add(1)
        && ends.is_some_and(|(first, last)| {
            *first >= 0 && usize::try_from(*last).is_ok_and(|last| last <= items)
        })
        && ascend.into_iter().all(|(before, after)| before <= after)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod tests {
    use super::*;

    /// `x * n`, and the sum of each list. Fails if an `n` is negative.
    unsafe extern "C" fn sample(
        rows: i64,
        arguments: *const *const c_void,
        results: *const *mut c_void,
    ) -> i64 {
        let rows = usize::try_from(rows).unwrap();
        // SAFETY: the tests below say that these are its arguments and results.
        unsafe {
            let x = std::slice::from_raw_parts((*arguments).cast::<f64>(), rows);
            let n = std::slice::from_raw_parts((*arguments.add(1)).cast::<i64>(), rows);
            let ends = std::slice::from_raw_parts((*arguments.add(3)).cast::<i32>(), rows + 1);
            let product = std::slice::from_raw_parts_mut((*results).cast::<f64>(), rows);
            let sum = std::slice::from_raw_parts_mut((*results.add(1)).cast::<f64>(), rows);
            for i in 0..rows {
                if n[i] < 0 {
                    return 1;
                }
                product[i] = x[i] * n[i] as f64;
                let items = (*arguments.add(2)).cast::<f64>();
                sum[i] = (ends[i]..ends[i + 1])
                    .map(|at| *items.add(at as usize))
                    .sum();
            }
        }
        0
    }

    fn compiled() -> Compiled {
        let address = (sample as *const ()).expose_provenance();
        let arguments = vec![Kind::Float, Kind::Int, Kind::Floats];
        // SAFETY: `sample` is such a function, and stays where it is.
        unsafe { Compiled::at(address, arguments, vec![Kind::Float, Kind::Float]) }.unwrap()
    }

    fn called(
        x: &[f64],
        n: &[i64],
        items: &[f64],
        ends: &[i32],
    ) -> Result<(Vec<f64>, Vec<f64>), Failure> {
        let (mut product, mut sum) = (vec![0.0; 3], vec![0.0; 3]);
        let columns = [
            Column::Float(x),
            Column::Int(n),
            Column::Floats(items, ends),
        ];
        let mut rooms = [Room::Float(&mut product), Room::Float(&mut sum)];
        compiled().call(3, &columns, &mut rooms)?;
        Ok((product, sum))
    }

    #[test]
    fn columns_and_lists_arrive() {
        let found = called(
            &[1.0, 2.0, 3.0],
            &[4, 5, 6],
            &[1.0, 2.0, 3.0],
            &[0, 2, 2, 3],
        );
        assert_eq!(found, Ok((vec![4.0, 10.0, 18.0], vec![3.0, 0.0, 3.0])));
    }

    #[test]
    fn the_codes_word_counts() {
        let found = called(&[0.0; 3], &[0, -1, 0], &[], &[0; 4]);
        assert_eq!(found, Err(Failure::Code));
    }

    #[test]
    fn columns_that_do_not_fit_are_refused() {
        for (x, ends) in [
            (&[0.0; 2][..], &[0; 4][..]),
            (&[0.0; 3], &[0; 3]),
            (&[0.0; 3], &[0, 1, 0, 1]),
            (&[0.0; 3], &[0, 0, 0, 2]),
            (&[0.0; 3], &[-1, 0, 0, 0]),
        ] {
            assert_eq!(called(x, &[0; 3], &[0.0], ends), Err(Failure::Shape));
        }
        let (mut a, mut b) = ([0.0; 3], [0; 3]);
        let columns = [
            Column::Float(&[0.0; 3]),
            Column::Int(&[0; 3]),
            Column::Floats(&[], &[0; 4]),
        ];
        let mut rooms = [Room::Float(&mut a), Room::Int(&mut b)];
        assert_eq!(
            compiled().call(3, &columns, &mut rooms),
            Err(Failure::Shape)
        );
        assert_eq!(
            compiled().call(3, &columns[..2], &mut rooms),
            Err(Failure::Shape)
        );
    }

    #[test]
    fn there_is_nothing_at_address_zero() {
        // SAFETY: there is no code that could be called.
        assert!(unsafe { Compiled::at(0, Vec::new(), Vec::new()) }.is_none());
    }
}
