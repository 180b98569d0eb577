//! Bins of histograms and profiles, as Python takes them: a field at a time, and of large ones a piece at a time.

use pyo3::exceptions::{PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyByteArray;
use std::sync::{Mutex, MutexGuard, PoisonError};
use treemill_query::{BinField, FilledBins};

/// The bins of one booking at one moment: what is merged later is not in them.
#[pyclass(frozen, mapping)]
pub struct Bins {
    inner: Mutex<FilledBins>,
    shape: Vec<usize>,
    fills: u64,
}

impl Bins {
    pub fn new(inner: FilledBins) -> Self {
        Self {
            shape: inner.shape(),
            fills: inner.fills(),
            inner: Mutex::new(inner),
        }
    }

    fn lock(&self) -> MutexGuard<'_, FilledBins> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn size(&self) -> usize {
        self.shape.iter().product()
    }

    fn array<'py>(
        &self,
        py: Python<'py>,
        field: BinField,
        start: usize,
        stop: usize,
    ) -> PyResult<Array<'py>> {
        let mut is_filled = false;
        // Fresh memory is zero, as bins are into which nothing was filled.
        let bytes = PyByteArray::new_with(
            py,
            stop.saturating_sub(start).saturating_mul(size_of::<f64>()),
            |bytes| {
                let mut places = bytes.chunks_exact_mut(size_of::<f64>());
                is_filled = self.lock().read(field, start..stop, |value| {
                    if let Some(place) = places.next() {
                        place.copy_from_slice(&value.to_ne_bytes());
                    }
                });
                Ok(())
            },
        )?;
        let array = py
            .import("numpy")?
            .call_method1("frombuffer", (bytes, "f8"))?;
        Ok((array, is_filled))
    }

    fn field(&self, name: &str) -> PyResult<BinField> {
        let known = BinField::ALL.into_iter().find(|(known, _)| *known == name);
        let known = known.map(|(_, field)| field);
        known
            .filter(|field| self.lock().has(*field))
            .ok_or_else(|| PyKeyError::new_err(name.to_owned()))
    }
}

/// Doubles, and whether anything was filled into them.
type Array<'py> = (Bound<'py, PyAny>, bool);

#[pymethods]
impl Bins {
    /// Bins per axis, with flow bins.
    #[getter]
    fn shape(&self) -> Vec<usize> {
        self.shape.clone()
    }

    /// How many values are in the bins.
    #[getter]
    fn fills(&self) -> u64 {
        self.fills
    }

    /// The names of the fields of each bin.
    fn keys(&self) -> Vec<&'static str> {
        let bins = self.lock();
        let fields = BinField::ALL.into_iter();
        let fields = fields.filter(|(_, field)| bins.has(*field));
        fields.map(|(name, _)| name).collect()
    }

    /// A field of all bins, as an array of the bins' shape that the caller owns.
    fn __getitem__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let (array, _) = self.array(py, self.field(name)?, 0, self.size())?;
        array.call_method1("reshape", (self.shape.clone(),))
    }

    /// A field of the bins `[start, stop)`, counted in C order. `None`: nothing was filled into any of them.
    fn part<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        start: usize,
        stop: usize,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        if start > stop || stop > self.size() {
            return Err(PyValueError::new_err("there are no such bins"));
        }
        let (array, is_filled) = self.array(py, self.field(name)?, start, stop)?;
        Ok(is_filled.then_some(array))
    }

    /// Gives back the memory of the bins before this one: they will not be asked for any more.
    fn free_before(&self, number: usize) {
        self.lock().free_before(number);
    }
}
