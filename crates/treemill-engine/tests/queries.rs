//! Queries over trees in memory: packets, members of records, columns from elsewhere, what cannot be read.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod common;

use arrow_array::{ArrayRef, Float64Array};
use arrow_schema::{DataType, Field, Schema};
use common::{Stored, above, catalog, column, doubles, query, sum};
use serde_json::json;
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use treemill_engine::{Bound, Catalog, Cause, Control, EngineError, Foreign, Provider};
use treemill_format::layout::{Layout, Number};
use treemill_query::{Number as Value, Outcome};
use treemill_read::ErrorKind;

const F64: Layout = Layout::Number(Number::F64);

/// x = 0, 1, 2 …, in baskets of ten.
fn counting(entries: u32) -> Catalog {
    let baskets = doubles(10, (0..entries).map(f64::from));
    catalog(10, vec![Stored::new("x", F64, baskets)])
}

/// What is booked, by packets of this many entries.
fn packets(bound: &Bound, entries: u64, packet: u64) -> Result<Outcome, EngineError> {
    let (mut partial, control) = (bound.query().partial(), Control::default());
    for start in (0..entries).step_by(packet as usize) {
        let stop = entries.min(start + packet);
        assert_eq!(bound.run(start..stop, &mut partial, &control)?, stop);
    }
    Ok(partial.results().remove(0))
}

fn float(outcome: Outcome) -> f64 {
    match outcome {
        Outcome::Sum(Value::Float(x)) => x,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_histogram_is_the_same_by_packets_of_any_size() {
    let catalog = counting(100);
    let axis = json!({
        "kind": "regular", "bins": 4, "start": 0.0, "stop": 80.0,
        "underflow": true, "overflow": true, "circular": false,
    });
    let booked = json!({
        "kind": "hist", "axes": [{"axis": axis, "expr": column("x")}], "weight": null,
    });
    let specification = query(&[above("x", 9.5)], booked);
    let bound = Bound::new(&specification, &catalog, None, None).unwrap();
    assert_eq!(bound.query().columns(), ["x"]);
    for packet in [1, 7, 10, 100] {
        let Outcome::Hist { values, .. } = packets(&bound, 100, packet).unwrap() else {
            panic!("no histogram");
        };
        assert_eq!(values, [0.0, 10.0, 20.0, 20.0, 20.0, 20.0]);
    }
}

#[test]
fn the_fewest_baskets_are_those_of_a_column_that_is_read() {
    let in_baskets_of = |entries| doubles(entries, (0..100).map(f64::from));
    let stored = [("x", 10), ("y", 25), ("z", 100)];
    let stored = stored.map(|(name, entries)| Stored::new(name, F64, in_baskets_of(entries)));
    let catalog = catalog(10, stored.into());
    let fewest = |steps: &[serde_json::Value], booked| {
        let bound = Bound::new(&query(steps, booked), &catalog, None, None).unwrap();
        bound.fewest_baskets()
    };
    assert_eq!(fewest(&[], sum("x")), 10);
    assert_eq!(fewest(&[above("x", 0.5)], sum("y")), 4);
    assert_eq!(fewest(&[above("y", 0.5)], sum("z")), 1);
    assert_eq!(fewest(&[], json!({"kind": "count"})), 1, "no column");
}

#[test]
fn members_of_records_are_columns() {
    let record = Layout::Record(vec![("a".to_owned(), F64), ("b".to_owned(), F64)]);
    let baskets = doubles(4, [1.0, 10.0, 2.0, 20.0, 3.0, 30.0, 4.0, 40.0]);
    let catalog = catalog(2, vec![Stored::new("r", record, baskets)]);
    let names: Vec<&str> = catalog
        .schema()
        .fields
        .iter()
        .map(|f| &f.name[..])
        .collect();
    assert_eq!(names, ["r.a", "r.b", "r"]);
    let specification = query(&[above("r.a", 1.5)], sum("r.b"));
    let bound = Bound::new(&specification, &catalog, None, None).unwrap();
    assert_eq!(float(packets(&bound, 4, 3).unwrap()), 90.0);
}

type Asked = (String, Range<u64>);

/// Gives each entry's number, and remembers what it was asked for.
#[derive(Clone, Default)]
struct Numbers {
    asked: Arc<Mutex<Vec<Asked>>>,
    /// Values that are left out at the end.
    too_few: u64,
}

impl Provider for Numbers {
    fn read(&self, name: &str, entries: Range<u64>) -> Result<ArrayRef, Cause> {
        let mut asked = self.asked.lock().unwrap();
        asked.push((name.to_owned(), entries.clone()));
        let numbers = entries.start..entries.end - self.too_few;
        Ok(Arc::new(Float64Array::from_iter_values(
            numbers.map(|n| n as f64),
        )))
    }
}

struct Refusing;

#[derive(Debug, PartialEq, thiserror::Error)]
#[error("not today")]
struct NotToday;

impl Provider for Refusing {
    fn read(&self, _: &str, _: Range<u64>) -> Result<ArrayRef, Cause> {
        Err(NotToday.into())
    }
}

/// Its column `y`.
fn foreign(provider: impl Provider + 'static) -> Option<Foreign> {
    let y = Field::new("y", DataType::Float64, false);
    Some(Foreign::new(
        Box::new(provider),
        Arc::new(Schema::new(vec![y])),
    ))
}

#[test]
fn a_foreign_column_is_asked_for_by_the_packet_and_cut_to_batches() {
    // Eight batches a packet.
    let (baskets, each) = (8, 20_000);
    let entries = baskets * each;
    let stored = doubles(each, (0..entries).map(|i| (i % 2) as f64));
    let catalog = catalog(each, vec![Stored::new("x", F64, stored)]);
    let numbers = Numbers::default();
    let specification = query(&[above("x", 0.5)], sum("y"));
    let bound = Bound::new(&specification, &catalog, foreign(numbers.clone()), None).unwrap();
    let total = float(packets(&bound, entries as u64, entries as u64).unwrap());
    let odd: usize = (0..entries).filter(|i| i % 2 == 1).sum();
    assert_eq!(total, odd as f64);
    let asked = numbers.asked.lock().unwrap();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked.iter().all(|(name, _)| name == "y"));
    assert_eq!(asked[0].1.start, 0);
    assert_eq!(asked[1].1.end, entries as u64, "not beyond the packet");
}

#[test]
fn a_foreign_column_hides_the_trees_of_its_name() {
    let catalog = counting(20);
    let x = Field::new("x", DataType::Float64, false);
    let other = Foreign::new(Box::new(Refusing), Arc::new(Schema::new(vec![x])));
    let bound = Bound::new(&query(&[], sum("x")), &catalog, Some(other), None).unwrap();
    assert!(packets(&bound, 20, 20).is_err());
}

#[test]
fn errors_of_providers_arrive_as_they_are() {
    let catalog = counting(20);
    let bound = Bound::new(&query(&[], sum("y")), &catalog, foreign(Refusing), None).unwrap();
    let Err(EngineError::Provider(cause)) = packets(&bound, 20, 20) else {
        panic!("no error of the provider's");
    };
    assert_eq!(cause.downcast_ref::<NotToday>(), Some(&NotToday));
}

#[test]
fn values_that_are_too_few_are_an_error() {
    let catalog = counting(20);
    let numbers = Numbers {
        too_few: 1,
        ..Numbers::default()
    };
    let bound = Bound::new(&query(&[], sum("y")), &catalog, foreign(numbers), None).unwrap();
    let error = packets(&bound, 20, 20).unwrap_err();
    assert!(matches!(error, EngineError::Misfit(_)));
    let message = "y: 19 values came for entries 0..20, which are 20";
    assert_eq!(error.to_string(), message);
}

#[test]
fn what_turns_out_to_be_unsupported_comes_from_the_rescue() {
    let stored = |name, features| Stored {
        features,
        ..Stored::new(name, F64, doubles(10, (0..20).map(f64::from)))
    };
    let catalog = catalog(10, vec![stored("x", None), stored("new", Some(0x80))]);
    let numbers = Numbers::default();
    // All entries of a batch, and some.
    for (filters, expected) in [(vec![], 190.0), (vec![above("x", 17.5)], 37.0)] {
        let specification = query(&filters, sum("new"));
        let bound = Bound::new(&specification, &catalog, None, None).unwrap();
        let Err(EngineError::Read(error)) = packets(&bound, 20, 20) else {
            panic!("it was read");
        };
        assert_eq!(error.kind, ErrorKind::Unsupported, "{error}");
        let rescue = Some(Box::new(numbers.clone()) as Box<dyn Provider>);
        let bound = Bound::new(&specification, &catalog, None, rescue).unwrap();
        assert_eq!(float(packets(&bound, 20, 20).unwrap()), expected);
    }
    assert!(
        numbers
            .asked
            .lock()
            .unwrap()
            .iter()
            .all(|(n, _)| n == "new")
    );
}

#[test]
fn a_query_ends_where_it_is_stopped() {
    let catalog = counting(20);
    let bound = Bound::new(&query(&[], sum("x")), &catalog, None, None).unwrap();
    let (mut partial, control) = (bound.query().partial(), Control::default());
    control.stop();
    assert_eq!(bound.run(5..20, &mut partial, &control).unwrap(), 5);
    assert_eq!(control.counters.entries(), 0);
}

#[test]
fn what_is_wrong_with_a_query_is_said_when_it_is_bound() {
    let catalog = counting(20);
    let Err(EngineError::Query(error)) = Bound::new(&query(&[], sum("z")), &catalog, None, None)
    else {
        panic!("it was bound");
    };
    assert_eq!(error.text.as_deref(), Some("z"));
}

#[test]
fn a_query_is_compiled_once_for_tables_of_the_same_columns() {
    let specification = query(&[], sum("x"));
    let other = catalog(
        10,
        vec![
            Stored::new("x", F64, doubles(10, (0..10).map(f64::from))),
            Stored::new("y", F64, doubles(10, (0..10).map(f64::from))),
        ],
    );
    let of = |catalog: &Catalog| Bound::new(&specification, catalog, None, None).unwrap();
    let (first, second, third) = (of(&counting(20)), of(&counting(30)), of(&other));
    assert!(std::ptr::eq(first.query(), second.query()));
    assert!(!std::ptr::eq(first.query(), third.query()));
    assert_eq!(float(packets(&second, 30, 30).unwrap()), 435.0);
    assert_eq!(float(packets(&third, 10, 10).unwrap()), 45.0);
}

/// Runs the file's last packet while its first one runs, and notes how many readers are idle then.
#[derive(Default)]
struct Overtaken {
    bound: OnceLock<Weak<Bound>>,
    idle: OnceLock<usize>,
}

/// What the query is given.
struct Shared(Arc<Overtaken>);

impl Provider for Shared {
    fn read(&self, _: &str, entries: Range<u64>) -> Result<ArrayRef, Cause> {
        if entries.start == 0 {
            let bound = self.0.bound.get().and_then(Weak::upgrade).unwrap();
            let mut partial = bound.query().partial();
            bound.run(90..100, &mut partial, &Control::default())?;
            self.0.idle.set(bound.idle_readers()).unwrap();
        }
        let rows = entries.end - entries.start;
        Ok(Arc::new(Float64Array::from(vec![1.0; rows as usize])))
    }
}

#[test]
fn stragglers_take_over_what_the_last_packet_has_left() {
    let catalog = counting(100);
    let overtaken = Arc::new(Overtaken::default());
    let schema = Schema::new(vec![Field::new("other", DataType::Float64, false)]);
    let foreign = Foreign::new(Box::new(Shared(overtaken.clone())), Arc::new(schema));
    let specification = query(&[above("x", -1.0)], sum("other"));
    let bound = Arc::new(Bound::new(&specification, &catalog, Some(foreign), None).unwrap());
    overtaken.bound.set(Arc::downgrade(&bound)).unwrap();
    let mut partial = bound.query().partial();
    bound.run(0..10, &mut partial, &Control::default()).unwrap();
    assert_eq!(overtaken.idle.get(), Some(&1), "the last packet's reader");
    assert_eq!(bound.idle_readers(), 0, "all packets are done");
}

#[test]
fn a_packet_that_fails_runs_no_more() {
    struct Failing;
    impl Provider for Failing {
        fn read(&self, _: &str, _: Range<u64>) -> Result<ArrayRef, Cause> {
            Err("no".into())
        }
    }
    let catalog = counting(100);
    let schema = Schema::new(vec![Field::new("other", DataType::Float64, false)]);
    let foreign = Foreign::new(Box::new(Failing), Arc::new(schema));
    let specification = query(&[above("x", 50.0)], sum("other"));
    let bound = Bound::new(&specification, &catalog, Some(foreign), None).unwrap();
    let mut partial = bound.query().partial();
    let control = Control::default();
    bound.run(0..10, &mut partial, &control).unwrap();
    assert_eq!(bound.idle_readers(), 1);
    bound.run(50..100, &mut partial, &control).unwrap_err();
    bound.run(10..20, &mut partial, &control).unwrap();
    assert_eq!(bound.idle_readers(), 1);
}
