//! Functions that take arguments whose values rows share: they get few values and places, and the results are those of a
//! function that gets a value for each row.

use crate::common::parse::parse;
use crate::common::table::Table;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};
use treemill_query::spec::{Action, Booking, Expr, Expression, Spec, Step, Wanted};
use treemill_query::{
    Argument, DType, Fixed, Function, Functions, Outcome, Parameter, ParameterType, Provided,
    Query, Scratch, Shared,
};

/// How many values each argument has, and how many places in each of its lists.
type Noted = Vec<(usize, Vec<usize>)>;

/// `x * 3 + y - z`, which notes what it gets.
#[derive(Clone)]
struct Mixed {
    shares: bool,
    noted: Arc<Mutex<Noted>>,
}

fn mixed([x, y, z]: [f64; 3]) -> f64 {
    x * 3.0 + y - z
}

impl Function for Mixed {
    fn parameters(&self) -> Vec<Parameter> {
        let parameter = |name: &str| Parameter {
            name: name.to_owned(),
            ty: ParameterType::Float,
        };
        ["x", "y", "z"].map(parameter).to_vec()
    }

    fn evaluate(&self, arguments: &[Argument<'_>], out: &mut [f64]) -> Result<(), String> {
        for (row, to) in out.iter_mut().enumerate() {
            let mut values = [0.0; 3];
            for (value, argument) in values.iter_mut().zip(arguments) {
                let Argument::Float(all) = argument else {
                    return Err("numbers".to_owned());
                };
                *value = all[if all.len() == 1 { 0 } else { row }];
            }
            *to = mixed(values);
        }
        Ok(())
    }

    fn shares(&self) -> bool {
        self.shares
    }

    fn evaluate_shared(
        &self,
        arguments: &[Shared<'_>],
        chosen: Option<&[u32]>,
        out: &mut [f64],
    ) -> Result<(), String> {
        let noted = arguments.iter().map(|argument| {
            let places = argument.places.iter().map(|list| list.len());
            (argument.values.len(), places.collect())
        });
        *self.noted.lock().unwrap() = noted.collect();
        for (i, to) in out.iter_mut().enumerate() {
            let row = chosen.map_or(i, |chosen| chosen[i] as usize);
            let mut values = [0.0; 3];
            for (value, argument) in values.iter_mut().zip(arguments) {
                let place = match argument.places {
                    [] if argument.values.len() == 1 => 0,
                    lists => lists.iter().fold(row, |place, list| list[place] as usize),
                };
                *value = argument.values[place];
            }
            *to = mixed(values);
        }
        Ok(())
    }

    fn specialised(&self, _: &[Option<Fixed>]) -> Result<Arc<dyn Function>, String> {
        Ok(Arc::new(self.clone()))
    }
}

fn table(events: &[(f64, Vec<f64>)]) -> Table {
    let scalar: Vec<f64> = events.iter().map(|event| event.0).collect();
    let counts: Vec<f64> = events.iter().map(|event| event.1.len() as f64).collect();
    let lists: Vec<Vec<f64>> = events.iter().map(|event| event.1.clone()).collect();
    let table = Table::new().scalar("s", DType::F64, &scalar);
    let table = table.scalar("nA", DType::I32, &counts);
    table.list("A_x", DType::F64, Some("nA"), &lists)
}

/// The sum of an expression that calls `f`, and what the last call got.
fn sum(text: &str, table: &Table, shares: bool) -> (Vec<Outcome>, Noted) {
    let given = Expression {
        tree: Expr::Provided {
            id: "1".to_owned(),
            name: "f".to_owned(),
            at: (0, 1),
        },
        ..parse("f")
    };
    let step = |parent, action| Step {
        parent,
        action,
        variation: None,
    };
    let define = Action::Define {
        name: "f".to_owned(),
        expr: given,
    };
    let filter = Action::Filter {
        expr: parse("s > 0"),
        name: None,
    };
    let spec = Spec {
        version: 1,
        steps: vec![step(None, define), step(Some(0), filter)],
        bookings: vec![Booking {
            at: Some(1),
            result: Wanted::Sum { expr: parse(text) },
            variation: None,
        }],
        relations: Default::default(),
    };
    let function = Mixed {
        shares,
        noted: Arc::default(),
    };
    let noted = Arc::clone(&function.noted);
    let functions = Functions::from([("1".to_owned(), Provided::One(Arc::new(function)))]);
    let query = Query::with_functions(&spec, &table.schema(), &functions).unwrap();
    let mut partial = query.partial();
    let mut batch = table.batch(&query, 0, table.rows());
    query
        .process(&mut batch, &mut partial, &mut Scratch::default())
        .unwrap();
    let noted = noted.lock().unwrap().clone();
    (partial.results(), noted)
}

const TEXTS: &[&str] = &[
    "sum(f(a.x, b.x, s) for a in A for b in A)",
    "sum(f(a.x * b.x, s, c.x) for a, b in combinations(A, 2) for c in A if c.x > a.x)",
    "sum(f(2, a.x - b.x, c.x) for a in A for b in A if b.x != a.x for c in A[1:])",
    "sum(f(a.x, b.x, 1) if s > 2 else f(b.x, s, a.x) for a in A for b in A)",
    "max([(a, b) for a in A for b in A], key=lambda a, b: f(a.x, b.x, b.x))[0].x",
    "f(s, s * 2, A[0].x)",
    "sum(f(a.x, b.x, d.x) for a, b in combinations(A, 2) for c in A[1:] if c.x != a.x for d in A if d.x < c.x)",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_with_a_value_for_each_row(
        events in prop::collection::vec(
            (-2..6_i32, prop::collection::vec(-9..9_i32, 0..5)), 1..12,
        ),
    ) {
        let list = |list: &Vec<i32>| list.iter().map(|x| f64::from(*x) / 4.0).collect();
        let events: Vec<(f64, Vec<f64>)> =
            events.iter().map(|(s, items)| (f64::from(*s), list(items))).collect();
        let table = table(&events);
        for text in TEXTS {
            let (alone, _) = sum(text, &table, false);
            let (shared, _) = sum(text, &table, true);
            prop_assert_eq!(format!("{:?}", alone), format!("{:?}", shared), "{}", text);
        }
    }
}

#[test]
fn it_gets_each_value_once() {
    let events: Vec<(f64, Vec<f64>)> = (1..4).map(|i| (f64::from(i), vec![1.5; 4])).collect();
    let (_, noted) = sum(TEXTS[0], &table(&events), true);
    let values: Vec<usize> = noted.iter().map(|(values, _)| *values).collect();
    assert_eq!(values, [12, 12, 3], "of 48 rows");
}

#[test]
fn places_are_found_level_by_level() {
    let events: Vec<(f64, Vec<f64>)> = (1..4).map(|i| (f64::from(i), vec![1.5; 4])).collect();
    let text = "sum(f(a.x, a.x * b.x, c.x) for a, b in combinations(A, 2) for c in A)";
    let (_, noted) = sum(text, &table(&events), true);
    // 4 items in each of 3 events are 6 pairs, and 24 rows.
    assert_eq!(noted, [(12, vec![72, 18]), (18, vec![72]), (12, vec![72])]);
}
