//! Functions of the user's own code that expressions call: kernels, by their address and without the GIL, and
//! Python's callables, with the GIL. What a function takes and gives is said by Python's object, which
//! `treemill/functions` makes: see `Own` and `Fitted` there.

use crate::nodes::Values;
use arrow_buffer::Buffer;
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use std::sync::Arc;
use treemill_native::kernels::{Column, Compiled, Failure, Kind, Room};
use treemill_query::{
    Argument, Fixed, Function, Given, GivenType, Numbers, Output, Parameter, ParameterType, Passed,
    ResultType, Returned,
};

/// A function that is fitted to the arguments of each call.
pub struct Own(Py<PyAny>);

/// A function of arguments of certain types.
#[derive(Clone)]
struct Fitted {
    /// Python's object, which keeps the compiled code alive.
    object: Arc<Py<PyAny>>,
    parameters: Vec<Parameter>,
    outputs: Vec<Output>,
    compiled: Option<Compiled>,
}

impl Own {
    pub fn new(object: Py<PyAny>) -> Self {
        Self(object)
    }
}

impl Function for Own {
    fn fitted(&self, given: &[Given]) -> Result<Option<Arc<dyn Function>>, String> {
        let types: Vec<(&str, bool)> = given
            .iter()
            .map(|each| (name_of(each), each.is_constant))
            .collect();
        Python::attach(|py| {
            let fitted = self.0.bind(py).call_method1("fitted", (types,));
            let fitted = fitted.and_then(|object| Fitted::new(&object));
            let fitted: Arc<dyn Function> = Arc::new(fitted.map_err(|e| words(py, &e))?);
            Ok(Some(fitted))
        })
    }

    fn parameters(&self) -> Vec<Parameter> {
        Vec::new()
    }

    fn evaluate(&self, _: &[Argument<'_>], _: &mut [f64]) -> Result<(), String> {
        Err("it is called before its types are known".to_owned())
    }

    fn specialised(&self, _: &[Option<Fixed>]) -> Result<Arc<dyn Function>, String> {
        Err("it is called before its types are known".to_owned())
    }
}

impl Fitted {
    fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let parameters: Vec<(String, String)> = object.getattr("parameters")?.extract()?;
        let outputs: Vec<(Option<String>, String, Option<usize>)> =
            object.getattr("outputs")?.extract()?;
        let address: Option<usize> = object.getattr("address")?.extract()?;
        let parameters: Vec<Parameter> = parameters
            .into_iter()
            .map(|(name, ty)| Parameter {
                name,
                ty: parameter_type(&ty),
            })
            .collect();
        let outputs: Vec<Output> = outputs
            .into_iter()
            .map(|(name, ty, list)| Output {
                name,
                ty: result_type(&ty),
                list,
            })
            .collect();
        let compiled = address.and_then(|address| {
            let arguments = parameters.iter().map(|each| kind_of(each.ty));
            let results = outputs.iter().map(|output| match output.ty {
                ResultType::Bool => Kind::Bool,
                ResultType::Int => Kind::Int,
                ResultType::Float => Kind::Float,
            });
            // SAFETY: `functions/numba_code.py` gives the address of code that numba has compiled for these parameters
            // and outputs, and that the object, which is kept beside it, keeps alive.
            #[expect(unsafe_code, reason = "only Python knows what it has compiled")]
            unsafe {
                Compiled::at(address, arguments.collect(), results.collect())
            }
        });
        Ok(Self {
            object: Arc::new(object.clone().unbind()),
            parameters,
            outputs,
            compiled,
        })
    }

    fn compiled(
        &self,
        compiled: &Compiled,
        rows: usize,
        arguments: &[Passed<'_>],
    ) -> Result<Returned, String> {
        let repeated: Vec<Option<Numbers>> = arguments
            .iter()
            .map(|passed| match passed {
                Passed::One(argument) => repeated(argument, rows),
                Passed::Lists { .. } => None,
            })
            .collect();
        let mut columns = Vec::with_capacity(arguments.len());
        for (passed, repeated) in arguments.iter().zip(&repeated) {
            columns.push(match (passed, repeated) {
                (_, Some(Numbers::Int(values))) => Column::Int(values),
                (_, Some(Numbers::Float(values))) => Column::Float(values),
                (Passed::One(Argument::Int(values)), _) => Column::Int(values),
                (Passed::One(Argument::Float(values)), _) => Column::Float(values),
                (
                    Passed::Lists {
                        items: Argument::Int(items),
                        offsets,
                    },
                    _,
                ) => Column::Ints(items, offsets),
                (
                    Passed::Lists {
                        items: Argument::Float(items),
                        offsets,
                    },
                    _,
                ) => Column::Floats(items, offsets),
                _ => return Err("kernels take no strings".to_owned()),
            });
        }
        let mut outputs: Vec<Numbers> = self
            .outputs
            .iter()
            .map(|output| match output.ty {
                ResultType::Bool => Numbers::Bool(vec![0; rows]),
                ResultType::Int => Numbers::Int(vec![0; rows]),
                ResultType::Float => Numbers::Float(vec![0.0; rows]),
            })
            .collect();
        let mut rooms: Vec<Room<'_>> = outputs
            .iter_mut()
            .map(|numbers| match numbers {
                Numbers::Bool(values) => Room::Bool(values),
                Numbers::Int(values) => Room::Int(values),
                Numbers::Float(values) => Room::Float(values),
            })
            .collect();
        match compiled.call(rows, &columns, &mut rooms) {
            Ok(()) => Ok(Returned {
                outputs,
                lengths: Vec::new(),
            }),
            // Python tells why: it does the rows one by one.
            Err(Failure::Code) => Err(self.why(rows, arguments)),
            Err(failure) => Err(failure.to_string()),
        }
    }

    fn why(&self, rows: usize, arguments: &[Passed<'_>]) -> String {
        Python::attach(|py| {
            let arguments = self.arguments(py, arguments);
            let said = arguments.and_then(|arguments| {
                let said = self.object.bind(py).call_method1("why", (rows, arguments));
                said.and_then(|said| said.extract::<String>())
            });
            said.unwrap_or_else(|e| words(py, &e))
        })
    }

    fn in_python(&self, rows: usize, arguments: &[Passed<'_>]) -> Result<Returned, String> {
        Python::attach(|py| {
            let arguments = self.arguments(py, arguments);
            let found = arguments.and_then(|arguments| {
                let call = self
                    .object
                    .bind(py)
                    .call_method1("call", (rows, arguments))?;
                self.returned(&call)
            });
            found.map_err(|e| words(py, &e))
        })
    }

    /// Arguments as Python takes them: an array; an array of items, and one of offsets; a list of strings.
    fn arguments<'py>(
        &self,
        py: Python<'py>,
        arguments: &[Passed<'_>],
    ) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for passed in arguments {
            match passed {
                Passed::One(Argument::Str(texts)) => {
                    let texts = texts.iter().map(|text| PyBytes::new(py, text));
                    list.append(PyList::new(py, texts)?)?;
                }
                Passed::One(values) => list.append(array(values)?)?,
                Passed::Lists { items, offsets } => {
                    let offsets =
                        Values::copied(Buffer::from(offsets.to_vec()), "=i4", offsets.len());
                    list.append((array(items)?, offsets))?;
                }
            }
        }
        Ok(list)
    }

    /// What Python has given: outputs, and lengths of lists.
    fn returned(&self, found: &Bound<'_, PyAny>) -> PyResult<Returned> {
        let py = found.py();
        let (outputs, lengths): (Vec<Bound<'_, PyAny>>, Vec<Bound<'_, PyAny>>) = found.extract()?;
        let outputs = outputs.iter().zip(&self.outputs).map(|(values, output)| {
            Ok(match output.ty {
                ResultType::Bool => Numbers::Bool(PyBuffer::<u8>::get(values)?.to_vec(py)?),
                ResultType::Int => Numbers::Int(PyBuffer::<i64>::get(values)?.to_vec(py)?),
                ResultType::Float => Numbers::Float(PyBuffer::<f64>::get(values)?.to_vec(py)?),
            })
        });
        let lengths = lengths
            .iter()
            .map(|values| PyBuffer::<i64>::get(values)?.to_vec(py));
        Ok(Returned {
            outputs: outputs.collect::<PyResult<_>>()?,
            lengths: lengths.collect::<PyResult<_>>()?,
        })
    }
}

impl Function for Fitted {
    fn parameters(&self) -> Vec<Parameter> {
        self.parameters.clone()
    }

    fn outputs(&self) -> Option<Vec<Output>> {
        Some(self.outputs.clone())
    }

    fn call(&self, rows: usize, arguments: &[Passed<'_>]) -> Result<Returned, String> {
        match &self.compiled {
            Some(compiled) => self.compiled(compiled, rows, arguments),
            None => self.in_python(rows, arguments),
        }
    }

    fn evaluate(&self, _: &[Argument<'_>], _: &mut [f64]) -> Result<(), String> {
        Err("it gives its values by another way".to_owned())
    }

    fn specialised(&self, _: &[Option<Fixed>]) -> Result<Arc<dyn Function>, String> {
        Ok(Arc::new(self.clone()))
    }
}

/// One value, repeated `n` times.
fn repeated(argument: &Argument<'_>, rows: usize) -> Option<Numbers> {
    match argument {
        Argument::Int([only]) if rows != 1 => Some(Numbers::Int(vec![*only; rows])),
        Argument::Float([only]) if rows != 1 => Some(Numbers::Float(vec![*only; rows])),
        _ => None,
    }
}

/// A copy, because Python may keep it for longer than the call.
fn array(values: &Argument<'_>) -> PyResult<Values> {
    match values {
        Argument::Int(values) => Ok(Values::copied(
            Buffer::from(values.to_vec()),
            "=i8",
            values.len(),
        )),
        Argument::Float(values) => Ok(Values::copied(
            Buffer::from(values.to_vec()),
            "=f8",
            values.len(),
        )),
        Argument::Str(_) => Err(pyo3::exceptions::PyTypeError::new_err(
            "lists of strings are not given to functions",
        )),
    }
}

fn name_of(given: &Given) -> &'static str {
    match (given.ty, given.is_list) {
        (GivenType::Bool, false) => "bool",
        (GivenType::Int, false) => "int",
        (GivenType::UInt, false) => "uint",
        (GivenType::Float, false) => "float",
        (GivenType::Str, false) => "str",
        (GivenType::Bool, true) => "bools",
        (GivenType::Int, true) => "ints",
        (GivenType::UInt, true) => "uints",
        (GivenType::Float, true) => "floats",
        (GivenType::Str, true) => "strs",
    }
}

fn parameter_type(name: &str) -> ParameterType {
    match name {
        "str" => ParameterType::Str,
        "int" => ParameterType::Int,
        "ints" => ParameterType::Ints,
        "floats" => ParameterType::Floats,
        _ => ParameterType::Float,
    }
}

fn result_type(name: &str) -> ResultType {
    match name {
        "bool" => ResultType::Bool,
        "int" => ResultType::Int,
        _ => ResultType::Float,
    }
}

fn kind_of(ty: ParameterType) -> Kind {
    match ty {
        ParameterType::Int => Kind::Int,
        ParameterType::Ints => Kind::Ints,
        ParameterType::Floats => Kind::Floats,
        ParameterType::Float | ParameterType::Str => Kind::Float,
    }
}

/// What an exception says. Those of the functions themselves are put in words by Python's object.
fn words(py: Python<'_>, error: &PyErr) -> String {
    let value = error.value(py);
    let message = value.getattr("message").and_then(|m| m.extract::<String>());
    message.unwrap_or_else(|_| error.to_string())
}
