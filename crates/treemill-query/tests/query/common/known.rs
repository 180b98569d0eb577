//! Jets and muons in three events, and expressions whose value in each of them is known.

use super::table::Table;
use super::{Steps, results_of_each};
use treemill_query::{DType, Number, Outcome};

/// Jets in three events: three, none, two. Muons: one, two, none.
pub fn events() -> Table {
    let list = |lists: [&[f64]; 3]| lists.map(<[f64]>::to_vec);
    let jet = |table: Table, name: &str, lists| {
        table.list(
            &format!("Jet_{name}"),
            DType::F64,
            Some("nJet"),
            &list(lists),
        )
    };
    let muon = |table: Table, name: &str, lists| {
        table.list(
            &format!("Muon_{name}"),
            DType::F64,
            Some("nMuon"),
            &list(lists),
        )
    };
    let mut table = Table::new()
        .scalar("nJet", DType::U32, &[3.0, 0.0, 2.0])
        .scalar("nMuon", DType::U32, &[1.0, 2.0, 0.0])
        .scalar("MET_pt", DType::F64, &[10.0, 20.0, 30.0])
        .scalar("MET_phi", DType::F64, &[0.0, 1.0, 2.0]);
    table = jet(table, "pt", [&[50.0, 30.0, 20.0], &[], &[40.0, 60.0]]);
    table = jet(table, "eta", [&[0.5, -1.0, 2.0], &[], &[0.0, 1.0]]);
    table = jet(table, "phi", [&[0.0, 3.0, -3.0], &[], &[1.0, 2.0]]);
    table = jet(table, "mass", [&[5.0, 4.0, 3.0], &[], &[2.0, 1.0]]);
    table = muon(table, "pt", [&[25.0], &[15.0, 35.0], &[]]);
    table = muon(table, "eta", [&[0.4], &[1.0, -1.0], &[]]);
    table = muon(table, "phi", [&[0.1], &[0.0, 3.0], &[]]);
    table = muon(table, "mass", [&[0.1], &[0.1, 0.1], &[]]);
    table
        .list(
            "Muon_jet",
            DType::I32,
            Some("nMuon"),
            &list([&[1.0], &[-1.0, 5.0], &[]]),
        )
        .list(
            "Muon_charge",
            DType::I32,
            Some("nMuon"),
            &list([&[1.0], &[1.0, -1.0], &[]]),
        )
}

/// The value of an expression in each event; NaN where it is missing.
pub fn each(text: &str) -> Vec<f64> {
    let steps = Steps::new()
        .sum(text)
        .sum(&format!("1.0 * is_missing({text})"));
    let query = steps
        .compile(&events())
        .unwrap_or_else(|e| panic!("{text}: {e:?}"));
    results_of_each(&query, &events())
        .into_iter()
        .map(|results| {
            if results[1] == Outcome::Sum(Number::Float(1.0)) {
                return f64::NAN;
            }
            match &results[0] {
                Outcome::Sum(Number::Float(x)) => *x,
                Outcome::Sum(Number::Int(x)) => *x as f64,
                other => panic!("{other:?}"),
            }
        })
        .collect()
}

/// The sum of an expression over all events in one batch.
pub fn total(text: &str) -> f64 {
    match &Steps::new().sum(text).run(&events())[0] {
        Outcome::Sum(Number::Float(x)) => *x,
        Outcome::Sum(Number::Int(x)) => *x as f64,
        other => panic!("{other:?}"),
    }
}

pub fn check(cases: &[(&str, [f64; 3])]) {
    for (text, expected) in cases {
        let found = each(text);
        let same = found
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs() || (a.is_nan() && b.is_nan()));
        assert!(same, "{text}: {found:?} instead of {expected:?}");
        let sum: f64 = expected.iter().filter(|x| !x.is_nan()).sum();
        let all = total(text);
        assert!(
            (all - sum).abs() <= 1e-9 * sum.abs(),
            "{text} in one batch: {all}"
        );
    }
}

pub const NONE: f64 = f64::NAN;
