//! Whole queries: strings, filters between values, what they say of themselves, and where they end.

use crate::common::Steps;
use crate::common::known::{each, events};
use crate::common::table::Table;
use treemill_query::{DType, Number, Outcome, Scratch};

#[test]
fn strings_have_an_order() {
    let table = Table::new().strings("label", &["a", "b", "c", "ab"]);
    let results = Steps::new()
        .sum("label < 'b'")
        .sum("'ab' <= label")
        .sum("label == 'c' or label != label")
        .sum("'a' < 'b'")
        .run(&table);
    let sums: Vec<Outcome> = [2, 3, 1, 4].map(|n| Outcome::Sum(Number::Int(n))).into();
    assert_eq!(results, sums);
}

#[test]
fn queries_explain_themselves() {
    let steps = Steps::new()
        .filter("sum(Jet_pt > 40) >= 1")
        .sum("sum(j.pt for j in Jet if j.eta > 0)")
        .sum("sum(Jet_pt > 40)");
    let found = steps.compile(&events()).unwrap().explain();
    assert_eq!(found.columns, ["Jet_pt", "Jet_eta"]);
    assert_eq!(found.columns_of_filters, 1);
    assert_eq!(found.filters, ["(sum((Jet_pt > 40)) >= 1)"]);
    assert!(
        found
            .levels
            .iter()
            .any(|level| level.contains("some of the items counted by nJet"))
    );
    assert!(
        found
            .shared
            .iter()
            .any(|line| line == "2 × sum((Jet_pt > 40))"),
        "{found:?}"
    );
}

#[test]
fn under_filters_all_is_the_same() {
    let table = events();
    for text in [
        "sum(sum(b.pt for b in Jet if b.pt < a.pt) for a in Jet)",
        "sum(Jet[m.jet].eta for m in Muon)",
        "max(combinations(Jet, 2), key=lambda t: t[0].pt)[1].pt",
        "sum(l.pt for l in concat(Muon, Jet) if l.pt > 25)",
    ] {
        let steps = Steps::new()
            .sum(text)
            .filter("MET_pt > 15")
            .sum(text)
            .filter("MET_pt > 25")
            .sum(text);
        let sums: Vec<f64> = each(text)
            .iter()
            .map(|x| if x.is_nan() { 0.0 } else { *x })
            .collect();
        let expected = [sums.iter().sum(), sums[1] + sums[2], sums[2]];
        for (found, expected) in steps.run(&table).iter().zip(expected) {
            assert_eq!(*found, Outcome::Sum(Number::Float(expected)), "{text}");
        }
    }
}

#[test]
fn many_combinations_are_made_in_parts_or_refused() {
    let lists: Vec<Vec<f64>> = (0..40).map(|_| (0..400).map(f64::from).collect()).collect();
    let counts: Vec<f64> = lists.iter().map(|list| list.len() as f64).collect();
    let table =
        Table::new()
            .scalar("nA", DType::U32, &counts)
            .list("A_x", DType::F64, Some("nA"), &lists);
    let text = "sum(a.x + b.x for a, b in combinations(A, 2))";
    let steps = Steps::new().sum("len(A)").filter("nA > 0").sum(text);
    let results = steps.run(&table);
    assert_eq!(results[0], Outcome::Sum(Number::Int(16_000)));
    let expected = 40.0 * 399.0 * (399.0 * 400.0 / 2.0);
    assert_eq!(results[1], Outcome::Sum(Number::Float(expected)));

    let list: Vec<f64> = (0..100_000).map(f64::from).collect();
    let table =
        Table::new()
            .scalar("nA", DType::U32, &[1e5])
            .list("A_x", DType::F64, Some("nA"), &[list]);
    let query = Steps::new().sum(text).compile(&table).unwrap();
    let mut batch = table.batch(&query, 0, 1);
    let error = query
        .process(&mut batch, &mut query.partial(), &mut Scratch::default())
        .unwrap_err();
    let message = error.to_string();
    assert!(
        message.contains("entry 0: 4999950000 combinations"),
        "{message}"
    );
}
