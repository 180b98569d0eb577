//! Functions that take whole lists, and give several values or lists: what they get, what becomes of what they give.

use arrow_array::types::Float64Type;
use arrow_array::{ArrayRef, Float64Array, ListArray};
use serde_json::{Value, json};
use std::error::Error;
use std::sync::Arc;
use treemill_query::spec::Spec;
use treemill_query::{
    Argument, ColumnType, Columns, DType, Field, Fixed, Function, Functions, Given, Number,
    Numbers, Outcome, Output, Parameter, ParameterType, Passed, Provided, Query, ResultType,
    Returned, Schema, Scratch,
};

/// Takes a list and a number, and gives the items above the number as a list, how many these are, and whether there is one.
#[derive(Clone, Default)]
struct Above {
    /// Items to add to what is given, which is wrong.
    too_many: usize,
}

impl Function for Above {
    fn fitted(&self, given: &[Given]) -> Result<Option<Arc<dyn Function>>, String> {
        match given {
            [list, number] if list.is_list && !number.is_list => Ok(Some(Arc::new(self.clone()))),
            _ => Err("a list and a number".to_owned()),
        }
    }

    fn parameters(&self) -> Vec<Parameter> {
        let parameter = |name: &str, ty| Parameter {
            name: name.to_owned(),
            ty,
        };
        vec![
            parameter("x", ParameterType::Floats),
            parameter("least", ParameterType::Float),
        ]
    }

    fn outputs(&self) -> Option<Vec<Output>> {
        let output = |name: &str, ty, list| Output {
            name: Some(name.to_owned()),
            ty,
            list,
        };
        Some(vec![
            output("items", ResultType::Float, Some(0)),
            output("places", ResultType::Int, Some(0)),
            output("n", ResultType::Int, None),
            output("some", ResultType::Bool, None),
        ])
    }

    fn call(&self, rows: usize, arguments: &[Passed<'_>]) -> Result<Returned, String> {
        let [
            Passed::Lists {
                items: Argument::Float(items),
                offsets,
            },
            Passed::One(Argument::Float(least)),
        ] = arguments
        else {
            return Err("a list and a number".to_owned());
        };
        let (mut found, mut places, mut lengths) = (Vec::new(), Vec::new(), Vec::new());
        for row in 0..rows {
            let least = least[row.min(least.len() - 1)];
            let before = found.len();
            let list = offsets[row] as usize..offsets[row + 1] as usize;
            for (place, item) in items[list].iter().enumerate() {
                if *item > least {
                    found.push(*item);
                    places.push(place as i64);
                }
            }
            lengths.push((found.len() - before) as i64);
        }
        found.extend(vec![0.0; self.too_many]);
        Ok(Returned {
            outputs: vec![
                Numbers::Float(found),
                Numbers::Int(places),
                Numbers::Int(lengths.clone()),
                Numbers::Bool(lengths.iter().map(|n| u8::from(*n > 0)).collect()),
            ],
            lengths: vec![lengths],
        })
    }

    fn evaluate(&self, _: &[Argument<'_>], _: &mut [f64]) -> Result<(), String> {
        Err("by call".to_owned())
    }

    fn specialised(&self, _: &[Option<Fixed>]) -> Result<Arc<dyn Function>, String> {
        Ok(Arc::new(self.clone()))
    }
}

/// Lists, and one number of each event; the names of the columns in the order of the query.
struct Batch(Vec<Vec<f64>>, Vec<f64>, Vec<String>);

impl Columns for Batch {
    fn rows(&self) -> usize {
        self.1.len()
    }
    fn column(&mut self, column: usize) -> Result<ArrayRef, Box<dyn Error + Send + Sync>> {
        Ok(match self.2[column].as_str() {
            "lists" => {
                let lists = self.0.iter().map(|list| {
                    let items = list.iter().map(|item| Some(*item));
                    Some(items.collect::<Vec<_>>())
                });
                Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>(lists))
            }
            _ => Arc::new(Float64Array::from(self.1.clone())),
        })
    }
}

fn name(id: &str) -> Value {
    json!({"kind": "name", "id": id, "at": [0, 1]})
}

fn call(function: &str, args: &[Value]) -> Value {
    json!({"kind": "call", "function": name(function), "args": args, "keywords": [], "at": [0, 1]})
}

fn member(of: &Value, name: &str) -> Value {
    json!({"kind": "attribute", "value": of, "name": name, "at": [0, 1]})
}

fn binary(op: &str, left: &Value, right: &Value) -> Value {
    json!({"kind": "binary", "op": op, "left": left, "right": right, "at": [0, 1]})
}

/// `sum(tree)` over events whose `x` is above `cut`.
fn sum(tree: &Value, function: Above, cut: f64) -> Result<f64, String> {
    let given = json!({"kind": "provided", "id": "1", "name": "f", "at": [0, 1]});
    let condition = json!({"kind": "compare", "left": name("x"), "ops": [">"],
        "rights": [{"kind": "const", "value": cut, "at": [0, 1]}], "at": [0, 1]});
    let spec: Spec = serde_json::from_value(json!({
        "version": 1,
        "steps": [
            {"parent": null, "action": {"kind": "define", "name": "f",
                "expr": {"text": "f", "tree": given}}},
            {"parent": 0, "action": {"kind": "filter", "expr": {"text": "c", "tree": condition}}},
        ],
        "bookings": [{"at": 1, "result": {"kind": "sum", "expr": {"text": "…", "tree": tree}}}],
    }))
    .unwrap();
    let functions = Functions::from([("1".to_owned(), Provided::One(Arc::new(function)))]);
    let lists = ColumnType::List {
        item: DType::F64,
        counter: None,
    };
    let schema = Schema::new(vec![
        Field::new("lists", lists),
        Field::new("x", ColumnType::Scalar(DType::F64)),
    ]);
    let query = Query::with_functions(&spec, &schema, &functions).map_err(|e| e.message)?;
    let (mut partial, mut scratch) = (query.partial(), Scratch::default());
    let lists = vec![vec![1.0, 5.0, 9.0], vec![], vec![4.0, 2.0], vec![7.0]];
    let mut batch = Batch(lists, vec![3.0, 0.0, 1.0, 8.0], query.columns().to_vec());
    let done = query.process(&mut batch, &mut partial, &mut scratch);
    done.map_err(|e| e.to_string())?;
    match partial.results().remove(0) {
        Outcome::Sum(Number::Float(found)) => Ok(found),
        Outcome::Sum(Number::Int(found)) => Ok(found as f64),
        other => Err(format!("{other:?}")),
    }
}

fn above(least: &Value) -> Value {
    call("f", &[name("lists"), least.clone()])
}

#[test]
fn outputs_are_members() {
    let of = above(&name("x"));
    for (output, all, some) in [("n", 4.0, 4.0), ("some", 2.0, 2.0)] {
        for (cut, expected) in [(-1.0, all), (0.5, some)] {
            let found = sum(&member(&of, output), Above::default(), cut);
            assert_eq!(found, Ok(expected), "{output} {cut}");
        }
    }
}

#[test]
fn lists_that_are_given_are_a_collection() {
    let of = above(&name("x"));
    let items = call("sum", &[member(&of, "items")]);
    assert_eq!(sum(&items, Above::default(), -1.0), Ok(20.0));
    // Another list of the same call has the same items.
    let product = binary("*", &member(&of, "items"), &member(&of, "places"));
    let product = call("sum", &[product]);
    assert_eq!(sum(&product, Above::default(), -1.0), Ok(5.0 + 18.0 + 2.0));
    let counted = call("len", &[member(&of, "places")]);
    assert_eq!(sum(&counted, Above::default(), 0.5), Ok(4.0));
}

#[test]
fn lists_that_are_given_go_with_lists_as_long() {
    let all = json!({"kind": "const", "value": 0.0, "at": [0, 1]});
    let of = above(&all);
    let product = binary("*", &member(&of, "items"), &name("lists"));
    let found = sum(&call("sum", &[product]), Above::default(), -1.0);
    assert_eq!(found, Ok(107.0 + 20.0 + 49.0));
    let fewer = above(&name("x"));
    let product = binary("*", &member(&fewer, "items"), &name("lists"));
    let found = sum(&call("sum", &[product]), Above::default(), -1.0);
    assert!(found.unwrap_err().contains("what f(…) gives"));
}

#[test]
fn a_function_may_refuse_what_it_gets() {
    let of = above(&name("lists"));
    let found = sum(&member(&of, "n"), Above::default(), -1.0);
    assert!(found.unwrap_err().contains("a list and a number"));
}

#[test]
fn what_is_given_must_be_what_was_said() {
    let of = call("sum", &[member(&above(&name("x")), "items")]);
    let found = sum(&of, Above { too_many: 1 }, -1.0);
    assert!(found.unwrap_err().contains("5 values where 4 are wanted"));
}
