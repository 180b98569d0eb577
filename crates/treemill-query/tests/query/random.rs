//! Random expressions over random jagged data, against an evaluator that goes event by event.

use crate::common::parse::parse;
use crate::common::table::Table;
use crate::common::{Steps, regular};
use crate::reference::evaluate::{Event, V, evaluate};
use crate::reference::expressions::{condition, list, mask, scalar};
use proptest::prelude::*;
use treemill_query::{DType, Number, Outcome, Scratch};

/// Random events, as the evaluator and as the engine see them.
#[derive(Clone)]
struct Data {
    events: Vec<Event>,
}

impl std::fmt::Debug for Data {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // One line per event.
        self.events
            .iter()
            .try_for_each(|event| write!(f, "\n{event:?}"))
    }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => (-40..40_i32).prop_map(|x| f64::from(x) / 4.0),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(-0.0),
        1 => (-1e6..1e6_f32).prop_map(f64::from),
    ]
}

/// An item of the collection A.
type Item = (f64, f64, i64, bool);

fn event() -> impl Strategy<Value = Event> {
    let scalars = (
        number(),
        -9..9_i64,
        any::<i64>(),
        any::<u64>(),
        any::<bool>(),
    );
    let items = prop::collection::vec((number(), number(), -4..5_i64, any::<bool>()), 0..5);
    let free = prop::collection::vec(number(), 0..4);
    let fixed = prop::collection::vec(number(), 3);
    (scalars, items, free, fixed).prop_map(|((x, i, l, u, b), items, free, fixed)| {
        let floats = |list: Vec<f64>| V::L(list.into_iter().map(V::F).collect(), V::F(1.0).into());
        let member = |f: &dyn Fn(&Item) -> V| {
            let example = f(&(1.0, 1.0, 1, true));
            V::L(items.iter().map(f).collect(), example.into())
        };
        Event::from([
            ("x".to_owned(), V::F(x)),
            ("i".to_owned(), V::I(i)),
            ("l".to_owned(), V::I(l)),
            ("u".to_owned(), V::U(u)),
            ("b".to_owned(), V::B(b)),
            ("nA".to_owned(), V::I(items.len() as i64)),
            ("A_x".to_owned(), member(&|item| V::F(item.0))),
            ("A_y".to_owned(), member(&|item| V::F(item.1))),
            ("A_k".to_owned(), member(&|item| V::I(item.2))),
            ("A_b".to_owned(), member(&|item| V::B(item.3))),
            ("free".to_owned(), floats(free)),
            ("fixed".to_owned(), floats(fixed)),
        ])
    })
}

fn data() -> impl Strategy<Value = Data> {
    prop::collection::vec(event(), 1..9).prop_map(|events| Data { events })
}

fn float(v: &V) -> f64 {
    match v {
        V::B(x) => f64::from(u8::from(*x)),
        V::I(x) => *x as f64,
        V::U(x) => *x as f64,
        V::F(x) => *x,
        other => panic!("{other:?}"),
    }
}

impl Data {
    fn table(&self) -> Table {
        let column = |name: &str| -> Vec<V> {
            self.events
                .iter()
                .map(|event| event[name].clone())
                .collect()
        };
        let scalars = |name: &str| column(name).iter().map(float).collect::<Vec<f64>>();
        let lists = |name: &str| -> Vec<Vec<f64>> {
            let to_floats = |v: V| match v {
                V::L(list, _) => list.iter().map(float).collect(),
                other => panic!("{other:?}"),
            };
            column(name).into_iter().map(to_floats).collect()
        };
        let longs: Vec<i64> = column("l")
            .iter()
            .map(|v| match v {
                V::I(x) => *x,
                other => panic!("{other:?}"),
            })
            .collect();
        let unsigned: Vec<u64> = column("u")
            .iter()
            .map(|v| match v {
                V::U(x) => *x,
                other => panic!("{other:?}"),
            })
            .collect();
        let counter = Some("nA");
        Table::new()
            .scalar("x", DType::F32, &scalars("x"))
            .scalar("i", DType::I16, &scalars("i"))
            .i64("l", &longs)
            .u64("u", &unsigned)
            .scalar("b", DType::Bool, &scalars("b"))
            .scalar("nA", DType::U32, &scalars("nA"))
            .list("A_x", DType::F32, counter, &lists("A_x"))
            .list("A_y", DType::F64, counter, &lists("A_y"))
            .list("A_k", DType::I8, counter, &lists("A_k"))
            .list("A_b", DType::Bool, counter, &lists("A_b"))
            .list("free", DType::F64, None, &lists("free"))
            .array("fixed", DType::F32, 3, &lists("fixed").concat())
    }
}

/// What sum, mean, minimum and maximum of these values are.
fn summary(values: &[V]) -> [Option<f64>; 4] {
    let present: Vec<f64> = values
        .iter()
        .filter(|v| **v != V::Missing)
        .map(float)
        .collect();
    let sum = present.iter().fold(0.0, |sum, x| sum + x);
    let n = present.len() as f64;
    let mean = (!present.is_empty()).then(|| sum / n);
    let ordered = || present.iter().copied().filter(|x| !x.is_nan());
    [
        Some(sum),
        mean,
        ordered().reduce(f64::min),
        ordered().reduce(f64::max),
    ]
}

fn found(outcomes: &[Outcome]) -> [Option<f64>; 4] {
    let value = |number: &Number| match number {
        Number::Bool(x) => f64::from(u8::from(*x)),
        Number::Int(x) => *x as f64,
        Number::Float(x) => *x,
    };
    match outcomes {
        [
            Outcome::Sum(sum),
            Outcome::Mean(mean),
            Outcome::Min(min),
            Outcome::Max(max),
        ] => [
            Some(value(sum)),
            *mean,
            min.as_ref().map(value),
            max.as_ref().map(value),
        ],
        other => panic!("{other:?}"),
    }
}

fn equal(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a == b || (a.is_nan() && b.is_nan()),
        (a, b) => a == b,
    }
}

fn near(a: Option<f64>, b: Option<f64>, scale: f64) -> bool {
    match (a, b) {
        (Some(x), Some(y)) if x.is_finite() && y.is_finite() => (x - y).abs() <= 1e-12 * scale,
        _ => equal(a, b),
    }
}

fn booked(text: &str) -> Steps {
    Steps::new().sum(text).mean(text).min(text).max(text)
}

/// One value per event: exactly the same in every event.
fn check_scalar(text: &str, data: &Data) -> Result<(), TestCaseError> {
    let tree = parse(text).tree;
    let table = data.table();
    let query = booked(text).compile(&table);
    let query = query.map_err(|e| TestCaseError::fail(format!("{text}: {e:?}")))?;
    let mut scratch = Scratch::default();
    for (i, event) in data.events.iter().enumerate() {
        let expected = evaluate(&tree, event);
        let mut partial = query.partial();
        let mut batch = table.batch(&query, i, i + 1);
        query
            .process(&mut batch, &mut partial, &mut scratch)
            .unwrap();
        let (found, wanted) = (found(&partial.results()), summary(&[expected]));
        let same = found.iter().zip(&wanted).all(|(a, b)| equal(*a, *b));
        prop_assert!(
            same,
            "{text}\n{event:?}\nfound {found:?}\nwanted {wanted:?}"
        );
    }
    Ok(())
}

/// Any number of values per event, in batches of all sizes, under a filter.
fn check_values(text: &str, filter: &str, data: &Data, size: usize) -> Result<(), TestCaseError> {
    let (tree, passes) = (parse(text).tree, parse(filter).tree);
    let table = data.table();
    let mut values = Vec::new();
    let mut passed = 0;
    for event in &data.events {
        let keep = match evaluate(&passes, event) {
            V::Missing => false,
            v => float(&v) != 0.0,
        };
        if keep {
            passed += 1;
            match evaluate(&tree, event) {
                V::L(list, _) => values.extend(list),
                v => values.push(v),
            }
        }
    }
    let steps = Steps::new()
        // So that the values are known for all events before some of them are asked for.
        .sum(text)
        .filter(filter)
        .sum(text)
        .mean(text)
        .min(text)
        .max(text)
        .count()
        .hist(&[(text, regular(5, -3.0, 3.0))], Some("i"));
    let compiled = steps.compile(&table);
    prop_assert!(compiled.is_ok(), "{text} {filter}: {:?}", compiled.err());
    let mut outcomes = steps.run_in(&table, size);
    prop_assert_eq!(&outcomes[5], &Outcome::Count(passed), "{}", filter);
    let hist = crate::common::values(&outcomes.remove(6));
    let (found, wanted) = (found(&outcomes[1..5]), summary(&values));
    let scale: f64 = values
        .iter()
        .filter(|v| **v != V::Missing)
        .map(|v| float(v).abs())
        .filter(|x| x.is_finite())
        .sum::<f64>()
        .max(1e-300);
    let same = near(found[0], wanted[0], scale)
        && near(found[1], wanted[1], scale)
        && equal(found[2], wanted[2])
        && equal(found[3], wanted[3]);
    prop_assert!(
        same,
        "{text} if {filter}\nfound {found:?}\nwanted {wanted:?}\n{values:?}"
    );
    // Weights are small integers, so sums of them are exact.
    let mut cells = [0.0; 7];
    for event in &data.events {
        if evaluate(&passes, event) != V::Missing && float(&evaluate(&passes, event)) != 0.0 {
            let list = match evaluate(&tree, event) {
                V::L(list, _) => list,
                v => vec![v],
            };
            for v in list.iter().filter(|v| **v != V::Missing) {
                let x = float(v);
                let cell = (((x + 3.0) / 6.0) * 5.0).floor();
                let cell = if x.is_nan() {
                    5.0
                } else {
                    cell.clamp(-1.0, 5.0)
                };
                cells[(cell + 1.0) as usize] += float(&event["i"]);
            }
        }
    }
    prop_assert_eq!(hist, cells.to_vec(), "{} if {}: {:?}", text, filter, values);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 350, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn one_value_per_event(text in scalar(3), data in data()) {
        check_scalar(&text, &data)?;
    }

    #[test]
    fn conditions(text in condition(3), data in data()) {
        check_scalar(&text, &data)?;
    }

    #[test]
    fn lists_under_filters(
        text in list(3), filter in condition(2), data in data(), size in 1..9_usize
    ) {
        check_values(&text, &filter, &data, size)?;
    }

    #[test]
    fn masked_lists_under_filters(
        text in (list(2), mask(2)).prop_map(|(list, mask)| format!("({list})[{mask}]")),
        filter in condition(2), data in data(), size in 1..9_usize
    ) {
        check_values(&text, &filter, &data, size)?;
    }
}
