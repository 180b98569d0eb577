//! Functions that are given to a query: which values they are asked for, and what their errors say.

use arrow_array::{ArrayRef, Float64Array};
use std::error::Error;
use std::sync::{Arc, Mutex};
use treemill_query::spec::Spec;
use treemill_query::{
    Argument, ColumnType, Columns, DType, Field, Fixed, Function, Functions, Number, Outcome,
    Parameter, ParameterType, ProcessError, Provided, Query, QueryError, Schema, Scratch,
};

/// `x * factor`, of positive numbers; it notes what it is asked for.
#[derive(Default)]
struct Scaled {
    asked: Arc<Mutex<Vec<f64>>>,
    fixed: Option<f64>,
}

impl Function for Scaled {
    fn parameters(&self) -> Vec<Parameter> {
        let parameter = |name: &str| Parameter {
            name: name.to_owned(),
            ty: ParameterType::Float,
        };
        vec![parameter("x"), parameter("factor")]
    }

    fn evaluate(&self, arguments: &[Argument<'_>], out: &mut [f64]) -> Result<(), String> {
        let [Argument::Float(x), Argument::Float(factor)] = arguments else {
            return Err("two numbers".to_owned());
        };
        self.asked.lock().unwrap().extend_from_slice(x);
        for (i, to) in out.iter_mut().enumerate() {
            if x[i] <= 0.0 {
                return Err(format!("{} is not positive", x[i]));
            }
            *to = x[i] * self.fixed.unwrap_or(factor[i.min(factor.len() - 1)]);
        }
        Ok(())
    }

    fn specialised(&self, fixed: &[Option<Fixed>]) -> Result<Arc<dyn Function>, String> {
        Ok(Arc::new(Self {
            asked: Arc::clone(&self.asked),
            fixed: match &fixed[1] {
                Some(Fixed::Float(x)) => Some(*x),
                _ => None,
            },
        }))
    }
}

struct Batch(Vec<f64>);

impl Columns for Batch {
    fn rows(&self) -> usize {
        self.0.len()
    }
    fn column(&mut self, _: usize) -> Result<ArrayRef, Box<dyn Error + Send + Sync>> {
        Ok(Arc::new(Float64Array::from(self.0.clone())))
    }
}

fn name(id: &str) -> serde_json::Value {
    serde_json::json!({"kind": "name", "id": id, "at": [0, 1]})
}

fn number(value: f64) -> serde_json::Value {
    serde_json::json!({"kind": "const", "value": value, "at": [0, 1]})
}

fn call(args: &[serde_json::Value]) -> serde_json::Value {
    serde_json::json!({"kind": "call", "function": name("f"), "args": args, "keywords": [], "at": [0, 1]})
}

/// `sum(tree)` over numbers, and what the function was asked for.
fn sum(tree: &serde_json::Value, x: Vec<f64>) -> (Result<Vec<Outcome>, String>, Vec<f64>) {
    let (found, asked) = summed(tree, x);
    (found.map_err(|error| error.message), asked)
}

/// Sums like `sum`; errors have their places.
fn summed(tree: &serde_json::Value, x: Vec<f64>) -> (Result<Vec<Outcome>, QueryError>, Vec<f64>) {
    let given = serde_json::json!({"kind": "provided", "id": "1", "name": "f", "at": [0, 1]});
    let spec: Spec = serde_json::from_value(serde_json::json!({
        "version": 1,
        "steps": [{"parent": null, "action": {"kind": "define", "name": "f",
            "expr": {"text": "f", "tree": given}}}],
        "bookings": [{"at": 0, "result": {"kind": "sum", "expr": {"text": "…", "tree": tree}}}],
    }))
    .unwrap();
    let function = Scaled::default();
    let asked = Arc::clone(&function.asked);
    let functions = Functions::from([("1".to_owned(), Provided::One(Arc::new(function)))]);
    let schema = Schema::new(vec![Field::new("x", ColumnType::Scalar(DType::F64))]);
    let run = || -> Result<Vec<Outcome>, QueryError> {
        let query = Query::with_functions(&spec, &schema, &functions)?;
        let (mut partial, mut scratch) = (query.partial(), Scratch::default());
        let done = query.process(&mut Batch(x), &mut partial, &mut scratch);
        done.map_err(|error| match error {
            ProcessError::Query(error) => error,
            other => panic!("{other}"),
        })?;
        Ok(partial.results())
    };
    let found = run();
    let asked = asked.lock().unwrap().clone();
    (found, asked)
}

#[test]
fn it_is_asked_for_every_value() {
    let (found, asked) = sum(&call(&[name("x"), number(2.0)]), vec![1.0, 3.0]);
    assert_eq!(found, Ok(vec![Outcome::Sum(Number::Float(8.0))]));
    assert_eq!(asked, [1.0, 3.0]);
}

#[test]
fn it_is_asked_only_where_its_value_is_chosen() {
    let positive = serde_json::json!({"kind": "compare", "left": name("x"), "ops": [">"],
        "rights": [number(0.0)], "at": [0, 1]});
    let either = serde_json::json!({"kind": "if_else", "test": positive,
        "body": call(&[name("x"), name("x")]), "otherwise": number(100.0), "at": [0, 1]});
    let (found, asked) = sum(&either, vec![2.0, -1.0, 3.0]);
    assert_eq!(found, Ok(vec![Outcome::Sum(Number::Float(113.0))]));
    assert_eq!(asked, [2.0, 3.0]);
}

#[test]
fn constants_are_computed_once() {
    let (found, asked) = sum(&call(&[number(2.0), number(4.0)]), vec![0.0, 0.0, 0.0]);
    assert_eq!(found, Ok(vec![Outcome::Sum(Number::Float(24.0))]));
    assert_eq!(asked, [2.0]);
}

#[test]
fn its_errors_show_the_place_of_the_call() {
    let at = |from: usize| serde_json::json!([from, from + 4]);
    let mut first = call(&[name("x"), number(2.0)]);
    first["at"] = at(4);
    let mut again = first.clone();
    again["at"] = at(9);
    let both = serde_json::json!({"kind": "binary", "op": "+", "left": first, "right": again,
        "at": [0, 13]});
    let error = summed(&both, vec![-1.0]).0.unwrap_err();
    assert_eq!(error.message, "f: -1 is not positive");
    assert_eq!(error.text.as_deref(), Some("…"));
    assert_eq!(error.span, Some((4, 8)));
}

#[test]
fn its_errors_say_whose_they_are() {
    let (found, _) = sum(&call(&[name("x"), number(2.0)]), vec![-1.0]);
    assert_eq!(found, Err("f: -1 is not positive".to_owned()));
    let (found, _) = sum(&call(&[name("x")]), vec![1.0]);
    assert_eq!(
        found,
        Err("f(…) takes 2 (x, factor), and gets 1".to_owned())
    );
}
