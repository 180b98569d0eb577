//! What is read and when, merging, transport.

use crate::common::table::Table;
use crate::common::{Steps, regular};
use proptest::prelude::*;
use treemill_query::{DType, Outcome, Partial, ProcessError, Query, QueryError, Scratch};

fn jets() -> Table {
    let lists = |start: f64| vec![vec![start, start + 1.0], vec![], vec![start + 2.0]];
    Table::new()
        .scalar("nJet", DType::U32, &[2.0, 0.0, 1.0])
        .list("Jet_pt", DType::F32, Some("nJet"), &lists(1.0))
        .list("Jet_eta", DType::F32, Some("nJet"), &lists(-1.0))
        .f32("MET_pt", &[10.0, 20.0, 30.0])
        .f32("other", &[1.0, 2.0, 3.0])
}

/// The columns that one batch of all events was asked for.
fn asked(steps: &Steps, table: &Table) -> Vec<String> {
    let query = steps.compile(table).unwrap();
    let mut batch = table.batch(&query, 0, table.rows());
    let mut partial = query.partial();
    query
        .process(&mut batch, &mut partial, &mut Scratch::default())
        .unwrap();
    assert!(batch.asked.values().all(|n| *n == 1), "{:?}", batch.asked);
    batch.asked.into_keys().collect()
}

fn columns(steps: &Steps) -> Vec<String> {
    steps.compile(&jets()).unwrap().columns().to_vec()
}

#[test]
fn columns_come_in_the_order_of_need() {
    let steps = Steps::new()
        .hist(&[("other", regular(1, 0.0, 1.0))], None)
        .filter("sum(Jet_pt > 40) >= 2")
        .hist(&[("MET_pt", regular(1, 0.0, 1.0))], Some("Jet_eta"));
    assert_eq!(columns(&steps), ["Jet_pt", "other", "MET_pt", "Jet_eta"]);
    // The length of a collection costs its counter only, and nothing if a member is read anyway.
    assert_eq!(columns(&Steps::new().sum("len(Jet)")), ["nJet"]);
    assert_eq!(columns(&Steps::new().sum("len(Jet_pt)")), ["nJet"]);
    let steps = Steps::new().filter("max(Jet_pt) > 1").sum("len(Jet)");
    assert_eq!(columns(&steps), ["Jet_pt"]);
    // What no booking leads to is not needed.
    let steps = Steps::new().filter("MET_pt > 1").at(None).count();
    assert!(columns(&steps).is_empty());
}

#[test]
fn columns_are_asked_for_where_an_event_survives() {
    let none = Steps::new()
        .filter("MET_pt > 99")
        .sum("Jet_pt")
        .sum("other");
    assert_eq!(asked(&none, &jets()), ["MET_pt"]);
    let some = Steps::new()
        .filter("MET_pt > 15")
        .sum("Jet_pt")
        .filter("other > 9")
        .sum("Jet_eta");
    assert_eq!(asked(&some, &jets()), ["Jet_pt", "MET_pt", "other"]);
    let nothing = Steps::new().filter("False").sum("Jet_pt");
    assert!(asked(&nothing, &jets()).is_empty());
}

#[test]
fn empty_batches_add_nothing() {
    let steps = Steps::new().filter("MET_pt > 1").sum("max(Jet_pt)").count();
    let query = steps.compile(&jets()).unwrap();
    let mut partial = query.partial();
    let mut batch = jets().batch(&query, 1, 1);
    query
        .process(&mut batch, &mut partial, &mut Scratch::default())
        .unwrap();
    assert!(batch.asked.is_empty());
    assert_eq!(partial, query.partial());
}

/// All kinds of bookings.
fn everything() -> Steps {
    Steps::new()
        .count()
        .sum("x")
        .sum("i")
        .mean("i")
        .mean("x")
        .min("x")
        .max("i")
        .extent("x")
        .hist(
            &[("x", regular(5, -2.0, 2.0)), ("i", regular(3, -5.0, 5.0))],
            None,
        )
        .hist(&[("x", regular(5, -2.0, 2.0))], Some("i"))
        .filter("i > 0")
        .sum("x * i")
}

fn partial(values: &[(f64, f64)]) -> Partial {
    let (x, i): (Vec<f64>, Vec<f64>) = values.iter().copied().unzip();
    let table = Table::new()
        .scalar("x", DType::F64, &x)
        .scalar("i", DType::I32, &i);
    let query = everything().compile(&table).unwrap();
    let mut partial = query.partial();
    let mut batch = table.batch(&query, 0, table.rows());
    query
        .process(&mut batch, &mut partial, &mut Scratch::default())
        .unwrap();
    partial
}

fn merged(parts: &[&Partial]) -> Partial {
    let mut all = parts[0].clone();
    parts[1..].iter().for_each(|part| all.merge(part).unwrap());
    all
}

fn values() -> impl Strategy<Value = Vec<(f64, f64)>> {
    // Sums of eighths are exact, so that order cannot matter.
    let value = (-100..100_i32, -9..9_i32).prop_map(|(x, i)| (f64::from(x) / 8.0, f64::from(i)));
    prop::collection::vec(value, 0..30)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn merging_is_associative_and_the_whole_is_its_parts(
        a in values(), b in values(), c in values()
    ) {
        let parts = [partial(&a), partial(&b), partial(&c)];
        let [x, y, z] = &parts;
        let left = merged(&[&merged(&[x, y]), z]);
        let right = merged(&[x, &merged(&[y, z])]);
        prop_assert_eq!(left.results(), right.results());
        prop_assert_eq!(merged(&[z, x, y]).results(), right.results());
        let whole = partial(&[a, b, c].concat());
        prop_assert_eq!(whole.results(), right.results());
    }

    #[test]
    fn bytes_bring_back_what_was_sent(a in values()) {
        let sent = partial(&a);
        let bytes = sent.to_bytes().unwrap();
        prop_assert_eq!(Partial::from_bytes(&bytes).unwrap(), sent);
    }

    #[test]
    fn damaged_bytes_are_refused_or_harmless(
        a in values(), at in any::<prop::sample::Index>(), bit in 0..8_u8, cut in any::<bool>()
    ) {
        let mut bytes = partial(&a).to_bytes().unwrap();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] ^= 1 << bit }
        if let Ok(mut damaged) = Partial::from_bytes(&bytes) {
            // Whatever came out: merging and looking at it must not crash.
            let _ = damaged.merge(&partial(&a));
            let _ = damaged.results();
        }
    }
}

#[test]
fn partials_of_another_query_are_refused() {
    let table = jets();
    let one = Steps::new().count().compile(&table).unwrap();
    let hist = Steps::new().hist(&[("other", regular(2, 0.0, 1.0))], None);
    let other = hist.compile(&table).unwrap();
    let longer = Steps::new().hist(&[("other", regular(3, 0.0, 1.0))], None);
    let longer = longer.compile(&table).unwrap();
    assert!(one.partial().merge(&other.partial()).is_err());
    assert!(longer.partial().merge(&other.partial()).is_err());
    let mut batch = table.batch(&other, 0, 3);
    for wrong in [one, longer] {
        let mut partial = wrong.partial();
        let result = other.process(&mut batch, &mut partial, &mut Scratch::default());
        assert!(matches!(result, Err(ProcessError::Query(_))));
    }
}

#[test]
fn files_of_other_types_share_a_partial() {
    let narrow = Table::new().scalar("x", DType::I16, &[1.0, 2.0]);
    let wide = Table::new().scalar("x", DType::F64, &[0.5, 7.0]);
    let steps = Steps::new().sum("x").mean("x").max("x");
    let mut partial = steps.compile(&narrow).unwrap().partial();
    for table in [narrow, wide] {
        let query = steps.compile(&table).unwrap();
        let mut batch = table.batch(&query, 0, 2);
        query
            .process(&mut batch, &mut partial, &mut Scratch::default())
            .unwrap();
    }
    let expected = [
        Outcome::Sum(treemill_query::Number::Float(10.5)),
        Outcome::Mean(Some(2.625)),
        Outcome::Max(Some(treemill_query::Number::Float(7.0))),
    ];
    assert_eq!(partial.results(), expected);
}

#[test]
fn a_thousand_histograms_share_their_columns() {
    let mut steps = Steps::new();
    for i in 0..1000 {
        let cut = format!("MET_pt > {}", i % 10);
        steps = steps
            .at(None)
            .filter(&cut)
            .hist(&[("MET_pt * 2", regular(10, 0.0, 100.0))], None);
    }
    assert_eq!(asked(&steps, &jets()), ["MET_pt"]);
    let results = steps.run(&jets());
    assert_eq!(results.len(), 1000);
    assert!(
        results
            .iter()
            .all(|result| crate::common::values(result).iter().sum::<f64>() == 3.0)
    );
}

fn shared<T: Send + Sync>() {}

#[test]
fn queries_and_partials_go_between_threads() {
    shared::<Query>();
    shared::<Partial>();
    shared::<QueryError>();
    shared::<ProcessError>();
    fn moved<T: Send>() {}
    moved::<Scratch>();
}

/// Forty events, numbered i, of which every tenth has x below 1, and lists of one item each.
fn forty() -> Table {
    let x: Vec<f64> = (0..40).map(|i| f64::from(i % 10)).collect();
    let n: Vec<f64> = (0..40).map(|i| f64::from(i % 3)).collect();
    let lists: Vec<Vec<f64>> = (0..40)
        .map(|i| (0..i % 3).map(|k| f64::from(i + k)).collect())
        .collect();
    Table::new()
        .scalar("x", DType::F64, &x)
        .scalar("y", DType::F64, &x)
        .scalar("z", DType::F64, &x)
        .scalar("i", DType::F64, &(0..40).map(f64::from).collect::<Vec<_>>())
        .scalar("n", DType::I32, &n)
        .list("a_p", DType::F64, Some("n"), &lists)
        .list("a_q", DType::F64, Some("n"), &lists)
}

/// How many entries of which columns one batch of all events gave.
fn entries_of(steps: &Steps) -> Vec<(String, usize)> {
    let table = forty();
    let query = steps.compile(&table).unwrap();
    let mut batch = table.batch(&query, 0, table.rows());
    query
        .process(&mut batch, &mut query.partial(), &mut Scratch::default())
        .unwrap();
    let whole = batch.asked.into_keys().map(|name| (name, 40));
    let mut all: Vec<_> = whole.chain(batch.selected).collect();
    all.sort();
    all
}

fn named(all: &[(&str, usize)]) -> Vec<(String, usize)> {
    all.iter()
        .map(|(name, n)| ((*name).to_owned(), *n))
        .collect()
}

#[test]
fn of_what_filters_leave_no_more_is_read() {
    let few = Steps::new().filter("x < 1").sum("y").sum("a_p * a_q");
    let expected = [("a_p", 4), ("a_q", 4), ("n", 40), ("x", 40), ("y", 4)];
    let found = entries_of(&few);
    // The lists tell their own lengths, where no counter has been read.
    assert!(
        found.iter().all(|entry| named(&expected).contains(entry)),
        "{found:?}"
    );
    // What a filter further out needs is read for all that this leaves.
    let both = Steps::new()
        .filter("x < 1")
        .sum("z")
        .filter("y > 5")
        .sum("z")
        .at(None)
        .sum("y");
    assert_eq!(entries_of(&both), named(&[("x", 40), ("y", 40), ("z", 4)]));
    // Where most are left, the batch is read as it is, ...
    let most = Steps::new().filter("x < 5").sum("y");
    assert_eq!(entries_of(&most), named(&[("x", 40), ("y", 40)]));
    let most = Steps::new().filter("i > 10").sum("y");
    assert_eq!(entries_of(&most), named(&[("i", 40), ("y", 40)]));
    // ... but not where they lie together.
    let together = Steps::new().filter("i >= 26").sum("y");
    assert_eq!(entries_of(&together), named(&[("i", 40), ("y", 14)]));
    let before_others = Steps::new().filter("i >= 26 and y > 5").sum("z");
    assert_eq!(
        entries_of(&before_others),
        named(&[("i", 40), ("y", 14), ("z", 8)])
    );
}

#[test]
fn the_terms_of_a_filter_are_filters_one_behind_the_other() {
    // The list comes last, though it stands first.
    let steps = Steps::new()
        .filter("any(a_p > 0) and x < 1 and y < 5")
        .count();
    assert_eq!(
        entries_of(&steps),
        named(&[("a_p", 4), ("x", 40), ("y", 4)])
    );
    let nothing = Steps::new()
        .filter("x < 0 and (y < 5 and sum(a_p) > 1)")
        .count();
    assert_eq!(entries_of(&nothing), named(&[("x", 40)]));
    for text in ["x < 1 and sum(a_p) > 11", "not (x >= 1 or sum(a_p) <= 11)"] {
        let steps = Steps::new().filter(text).count().sum("a_q");
        assert_eq!(
            steps.run(&forty()),
            [
                Outcome::Count(1),
                Outcome::Sum(treemill_query::Number::Float(41.0))
            ],
            "{text}"
        );
    }
}

#[test]
fn shared_terms_are_computed_once_and_missing_ones_pass_nothing() {
    let steps = Steps::new()
        .filter("x < 5 and a_p[0] > 3")
        .count()
        .at(None)
        .filter("x < 5 and not (a_p[0] > 3)")
        .count()
        .at(None)
        .filter("x < 5 and len(a_p) == 0")
        .count()
        .at(None)
        .filter("x < 5")
        .count();
    let counts: Vec<u64> = steps
        .run(&forty())
        .iter()
        .map(|outcome| match outcome {
            Outcome::Count(n) => *n,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(counts[3], 20);
    assert_eq!(counts[..3].iter().sum::<u64>(), 20, "{counts:?}");
}
