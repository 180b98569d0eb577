//! What a query leaves in memory, and what compiling it costs. Results are compared in the crate's tests.

use super::{Query, Scratch};
use crate::columns::Columns;
use crate::schema::{ColumnType, DType, Field, Schema, walked};
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

/// How many columns and definitions are come by to compile rows of all of these columns: numbers, lists with a
/// counter each, and lists of one collection; and a chain of as many definitions and filters.
fn walked_by(columns: usize, steps: usize) -> Result<usize, Failure> {
    let scalar = |name: String| Field::new(name, ColumnType::Scalar(DType::I32));
    let list = |name: String, counter: String| {
        let counter = Some(counter);
        let item = DType::F32;
        Field::new(name, ColumnType::List { item, counter })
    };
    let each = (0..columns).flat_map(|i| {
        [
            scalar(format!("x{i}")),
            scalar(format!("n{i}")),
            list(format!("v{i}"), format!("n{i}")),
            list(format!("Jet_{i}"), "nJet".to_owned()),
        ]
    });
    let schema = Schema::new(each.chain([scalar("nJet".to_owned())]).collect());
    let name = |id: &str| json!({"kind": "name", "id": id, "at": [0, 1]});
    let expr = |text: &str, tree: Value| json!({"text": text, "tree": tree});
    let chain = (0..steps).map(|i| {
        let before = (i.div_ceil(2) * 2).checked_sub(2);
        let before = before.map_or("x0".to_owned(), |i| format!("d_{i}"));
        let [left, right] = [name(&before), name("nJet")];
        let action = if i % 2 == 0 {
            let tree =
                json!({"kind": "binary", "op": "+", "left": left, "right": right, "at": [0, 1]});
            json!({"kind": "define", "name": format!("d_{i}"), "expr": expr("a sum", tree)})
        } else {
            let tree = json!({
                "kind": "compare", "left": left, "ops": [">"], "rights": [right], "at": [0, 1],
            });
            json!({"kind": "filter", "expr": expr("a condition", tree)})
        };
        json!({"parent": i.checked_sub(1), "action": action})
    });
    let chain: Vec<Value> = chain.collect();
    let columns: Vec<Value> = (schema.fields.iter())
        .map(|field| json!({"name": field.name, "expr": expr(&field.name, name(&field.name))}))
        .collect();
    let at = steps.checked_sub(1);
    let bookings = json!([{"at": at, "result": {"kind": "rows", "columns": columns}}]);
    let spec: Spec =
        serde_json::from_value(json!({"version": 1, "steps": chain, "bookings": bookings}))?;
    walked::since();
    let query = Query::compile(&spec, &schema)?;
    let named = (query.places().iter()).map(|place| &schema.fields[*place].name);
    assert!(query.columns().iter().eq(named));
    assert_eq!(query.columns().len(), schema.fields.len());
    Ok(walked::since())
}

#[test]
fn thousands_of_columns_are_walked_through_as_often_as_a_few() -> Result<(), Failure> {
    let walks = |number: usize| Ok::<_, Failure>(walked_by(number, 0)? / (4 * number + 1));
    assert_eq!(walks(1000)?, walks(10)?);
    Ok(())
}

#[test]
fn names_are_found_among_thousands_of_definitions_without_a_look_at_each() -> Result<(), Failure> {
    let (few, many) = (20, 2000);
    let [few_walked, many_walked] = [walked_by(1, few)?, walked_by(1, many)?];
    // The logarithm of their number may come on top.
    assert!(
        many_walked < few_walked * (many / few) * 4,
        "{few_walked}, {many_walked}"
    );
    Ok(())
}

/// How many parts of conditions are come by to compile a chain of as many definitions, each of the one before, and
/// filters on them of one term or two.
fn walked_by_filters(steps: usize, is_split: bool) -> Result<usize, Failure> {
    let name = |id: &str| json!({"kind": "name", "id": id, "at": [0, 1]});
    let constant = |x: f64| json!({"kind": "const", "value": x, "at": [0, 1]});
    let more = |left: Value, right: Value| {
        json!({
            "kind": "compare", "left": left, "ops": [">"], "rights": [right], "at": [0, 1],
        })
    };
    let chain = (0..steps).map(|i| {
        let before = (i.div_ceil(2) * 2).checked_sub(2);
        let before = before.map_or("x".to_owned(), |i| format!("d_{i}"));
        let left = name(&before);
        let action = if i % 2 == 0 {
            let tree = json!({
                "kind": "binary", "op": "+", "left": left, "right": constant(1.0), "at": [0, 1],
            });
            let expr = json!({"text": "a sum", "tree": tree});
            json!({"kind": "define", "name": format!("d_{i}"), "expr": expr})
        } else {
            let one = more(left, constant(-1.0));
            let other = more(name("y"), constant(i as f64));
            let tree = match is_split {
                true => json!({"kind": "bool", "op": "and", "values": [one, other], "at": [0, 1]}),
                false => one,
            };
            json!({"kind": "filter", "expr": {"text": "a condition", "tree": tree}})
        };
        json!({"parent": i.checked_sub(1), "action": action})
    });
    let chain: Vec<Value> = chain.collect();
    let bookings = json!([{"at": steps.checked_sub(1), "result": {"kind": "count"}}]);
    let spec: Spec =
        serde_json::from_value(json!({"version": 1, "steps": chain, "bookings": bookings}))?;
    let fields = ["x", "y"].map(|name| Field::new(name, ColumnType::Scalar(DType::F64)));
    walked::since();
    Query::compile(&spec, &Schema::new(fields.into()))?;
    Ok(walked::since())
}

#[test]
fn conditions_on_thousands_of_definitions_are_not_looked_through_for_each_filter()
-> Result<(), Failure> {
    let (few, many) = (200, 2000);
    for is_split in [false, true] {
        let few_walked = walked_by_filters(few, is_split)?;
        let many_walked = walked_by_filters(many, is_split)?;
        assert!(
            many_walked < few_walked * (many / few) * 2,
            "{few_walked}, {many_walked}"
        );
    }
    Ok(())
}
