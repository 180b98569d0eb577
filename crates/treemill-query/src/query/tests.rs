//! What a query leaves in memory. Results are compared in the crate's tests.

use super::{Query, Scratch};
use crate::columns::Columns;
use crate::schema::{ColumnType, DType, Field, Schema};
use crate::spec::Spec;
use arrow_array::{ArrayRef, Float64Array};
use serde_json::{Value, json};
use std::error::Error;
use std::sync::Arc;

type Failure = Box<dyn Error + Send + Sync>;

/// Numbers from 0 on.
struct Numbers(usize);

impl Columns for Numbers {
    fn rows(&self) -> usize {
        self.0
    }
    fn column(&mut self, _: usize) -> Result<ArrayRef, Failure> {
        let numbers = (0..self.0).map(|x| x as f64);
        Ok(Arc::new(Float64Array::from_iter_values(numbers)))
    }
}

/// Filters side by side, each with a sum of a value of its own below it.
fn cuts(number: usize) -> Result<Query, Failure> {
    sums(number, true)
}

/// Sums of different values, below filters side by side or of all events.
fn sums(number: usize, filtered: bool) -> Result<Query, Failure> {
    let name = json!({"kind": "name", "id": "x", "at": [0, 1]});
    let constant = |x: usize| json!({"kind": "const", "value": x, "at": [0, 1]});
    let expr = |tree: Value| json!({"text": "an expression", "tree": tree});
    let filter = |i: usize| {
        let [left, right] = [&name, &constant(i)];
        let tree =
            json!({"kind": "compare", "left": left, "ops": [">"], "rights": [right], "at": [0, 1]});
        json!({"parent": null, "action": {"kind": "filter", "expr": expr(tree)}})
    };
    let sum = |i: usize| {
        let [left, right] = [&name, &constant(i)];
        let tree = json!({"kind": "binary", "op": "*", "left": left, "right": right, "at": [0, 1]});
        json!({"at": filtered.then_some(i), "result": {"kind": "sum", "expr": expr(tree)}})
    };
    let filters = if filtered { number } else { 0 };
    let steps: Vec<Value> = (0..filters).map(filter).collect();
    let bookings: Vec<Value> = (0..number).map(sum).collect();
    let spec = json!({"version": 1, "steps": steps, "bookings": bookings});
    let spec: Spec = serde_json::from_value(spec)?;
    let fields = vec![Field::new("x", ColumnType::Scalar(DType::F64))];
    Ok(Query::compile(&spec, &Schema::new(fields))?)
}

/// Bytes of all buffers that a batch has needed.
fn bytes(query: &Query, rows: usize) -> Result<usize, Failure> {
    let (mut partial, mut scratch) = (query.partial(), Scratch::default());
    query.process(&mut Numbers(rows), &mut partial, &mut scratch)?;
    Ok(scratch.pool.bytes())
}

#[test]
fn filters_side_by_side_use_the_same_memory() -> Result<(), Failure> {
    // The others are computed among the events of one of them, for both numbers.
    let (rows, few, many) = (10_000, 4, 20);
    // Of each filter only the flags stay that tell what it has passed.
    let more = bytes(&cuts(many)?, rows)? - bytes(&cuts(few)?, rows)?;
    assert!(more <= (many - few) * rows * 2, "{more}");
    Ok(())
}

#[test]
fn a_batch_of_thousands_of_values_has_fewer_events() -> Result<(), Failure> {
    let usual = 1 << 15;
    assert!(sums(0, false)?.most_events() > usual);
    assert!(sums(500, false)?.most_events() > usual);
    assert_eq!(sums(2000, false)?.most_events(), (128 << 20) / 8 / 2000);
    assert_eq!(sums(10_000, false)?.most_events(), 4096);
    // What is kept below one filter is given back before the next one.
    assert!(cuts(2000)?.most_events() > usual);
    Ok(())
}
