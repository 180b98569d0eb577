//! Loops, tuples, vectors and lists of lists: known answers, event by event.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod common;

use common::table::Table;
use common::{Steps, regular, values};
use treemill_query::{DType, Number, Outcome, Scratch};

/// Jets in three events: three, none, two. Muons: one, two, none.
fn events() -> Table {
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
fn each(text: &str) -> Vec<f64> {
    let table = events();
    let query = Steps::new()
        .sum(text)
        .sum(&format!("1.0 * is_missing({text})"))
        .compile(&table)
        .unwrap_or_else(|e| panic!("{text}: {e:?}"));
    (0..table.rows())
        .map(|i| {
            let mut partial = query.partial();
            let mut batch = table.batch(&query, i, i + 1);
            query
                .process(&mut batch, &mut partial, &mut Scratch::default())
                .unwrap();
            let results = partial.results();
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

/// The same over all events in one batch, summed.
fn total(text: &str) -> f64 {
    match &Steps::new().sum(text).run(&events())[0] {
        Outcome::Sum(Number::Float(x)) => *x,
        Outcome::Sum(Number::Int(x)) => *x as f64,
        other => panic!("{other:?}"),
    }
}

fn check(cases: &[(&str, [f64; 3])]) {
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

const NONE: f64 = f64::NAN;

#[test]
fn loops_are_closed_by_reductions() {
    check(&[
        ("sum(j.pt for j in Jet)", [100.0, 0.0, 100.0]),
        ("sum(j.pt for j in Jet if j.pt > 25)", [80.0, 0.0, 100.0]),
        (
            "sum(j.pt for j in Jet if j.pt > 25 if j.eta < 0.7)",
            [80.0, 0.0, 40.0],
        ),
        (
            "sum(j.pt for j in Jet if j.pt > 25 and sqrt(j.pt) > 7)",
            [50.0, 0.0, 60.0],
        ),
        ("sum(1 for j in Jet if j.eta > 0)", [2.0, 0.0, 1.0]),
        ("sum(MET_pt for j in Jet)", [30.0, 0.0, 60.0]),
        ("len(j for j in Jet if j.pt < 45)", [2.0, 0.0, 1.0]),
        ("len([j for j in Jet])", [3.0, 0.0, 2.0]),
        ("count(j.pt for j in Jet)", [3.0, 0.0, 2.0]),
        ("mean(j.pt for j in Jet if j.pt > 25)", [40.0, NONE, 50.0]),
        ("max(j.pt for j in Jet)", [50.0, NONE, 60.0]),
        ("max((j.pt for j in Jet), default=-1.5)", [50.0, -1.5, 60.0]),
        ("min(Jet_pt, default=7)", [20.0, 7.0, 40.0]),
        ("argmax(j.pt for j in Jet)", [0.0, NONE, 1.0]),
        ("first(j.pt for j in Jet if j.pt < 45)", [30.0, NONE, 40.0]),
        ("last(Jet).eta", [2.0, NONE, 1.0]),
        ("first(Jet.pt, default=0)", [50.0, 0.0, 40.0]),
        ("any(j.pt == 60 for j in Jet)", [0.0, 0.0, 1.0]),
        ("all(j.pt > 25 for j in Jet)", [0.0, 1.0, 1.0]),
        ("sum(x for x in Jet_pt if x > 25)", [80.0, 0.0, 100.0]),
        ("sum(x * x for x in [1, 2, 3])", [14.0, 14.0, 14.0]),
    ]);
}

#[test]
fn loops_nest() {
    check(&[
        (
            "sum(j.pt * m.pt for j in Jet for m in Muon)",
            [2500.0, 0.0, 0.0],
        ),
        ("len(j for j in Jet for m in Muon)", [3.0, 0.0, 0.0]),
        ("mean(m.pt for j in Jet for m in Muon)", [25.0, NONE, NONE]),
        (
            "sum(1 for a in Jet for b in Jet if a.pt > b.pt)",
            [3.0, 0.0, 1.0],
        ),
        (
            "sum(1 for a in Jet if a.pt > 25 for b in Jet if b.pt > 45)",
            [2.0, 0.0, 2.0],
        ),
        (
            "sum(1 for a in Jet for b in Jet if a.pt > 25 if b.pt > 45)",
            [2.0, 0.0, 2.0],
        ),
        (
            "sum(sum(b.pt for b in Jet if b.pt < a.pt) for a in Jet)",
            [70.0, 0.0, 40.0],
        ),
        (
            "sum(any(b.eta > a.eta for b in Jet) for a in Jet)",
            [2.0, 0.0, 1.0],
        ),
        ("sum(a.pt == max(Jet.pt) for a in Jet)", [1.0, 0.0, 1.0]),
        (
            "sum(a.pt for a in Jet if not any(b.pt > a.pt for b in Jet if b.eta > 0))",
            [50.0, 0.0, 60.0],
        ),
        (
            "sum(j.pt for j in Jet if not any(abs(j.eta - m.eta) < 0.5 for m in Muon))",
            [50.0, 0.0, 100.0],
        ),
        (
            "sum(any(abs(j.eta - Muon.eta) < 0.5) for j in Jet)",
            [1.0, 0.0, 0.0],
        ),
        (
            "sum(len(Muon[Muon.pt < j.pt]) for j in Jet)",
            [2.0, 0.0, 0.0],
        ),
        (
            "sum(min(Muon, key=lambda m: abs(m.eta - j.eta)).pt for j in Jet)",
            [75.0, 0.0, 0.0],
        ),
        (
            "sum(x + y for x in [1, 2] for y in [10, 20])",
            [66.0, 66.0, 66.0],
        ),
        (
            "sum(a.pt for a in [j for j in Jet if j.pt > 25] if a.eta > 0)",
            [50.0, 0.0, 60.0],
        ),
    ]);
}

#[test]
fn tuples() {
    check(&[
        ("len(combinations(Jet, 2))", [3.0, 0.0, 1.0]),
        ("len(combinations(Jet, 3))", [1.0, 0.0, 0.0]),
        (
            "sum(a.pt * b.pt for a, b in combinations(Jet, 2))",
            [3100.0, 0.0, 2400.0],
        ),
        (
            "sum(t[0].pt - t[-1].pt for t in combinations(Jet, 2))",
            [60.0, 0.0, -20.0],
        ),
        (
            "sum(x * y for x, y in combinations(Jet_pt, 2))",
            [3100.0, 0.0, 2400.0],
        ),
        (
            "sum(1 for a, b in combinations(Muon, 2) if a.charge != b.charge)",
            [0.0, 1.0, 0.0],
        ),
        ("len(zip(Jet, Muon))", [1.0, 0.0, 0.0]),
        (
            "sum(j.pt + m.pt for j, m in zip(Jet, Muon))",
            [75.0, 0.0, 0.0],
        ),
        (
            "sum(x * y for x, y in zip(Jet_pt, Jet_eta))",
            [35.0, 0.0, 60.0],
        ),
        (
            "sum(i * j.pt for i, j in enumerate(Jet))",
            [70.0, 0.0, 60.0],
        ),
        ("sum(l.pt for l in concat(Jet, Muon))", [125.0, 50.0, 100.0]),
        (
            "sum(l.pt for l in concat(Muon, Jet) if l.pt > 25)",
            [80.0, 35.0, 100.0],
        ),
        ("len(concat(Jet_pt, Muon_charge))", [4.0, 2.0, 2.0]),
        ("first(concat(Muon, Jet)).pt", [25.0, 15.0, 40.0]),
        ("sum(concat(Jet_pt, Muon_pt)[:2])", [80.0, 50.0, 100.0]),
        ("sorted(Jet, key=lambda j: j.pt)[0].eta", [2.0, NONE, 0.0]),
        (
            "sorted(Jet, key=lambda j: j.pt, reverse=True)[1].pt",
            [30.0, NONE, 40.0],
        ),
        ("sorted(Jet_pt)[0]", [20.0, NONE, 40.0]),
        ("sum(sorted(Jet_pt, reverse=True)[:2])", [80.0, 0.0, 100.0]),
        (
            "sum(i * j.pt for i, j in enumerate(sorted(Jet, key=lambda j: j.pt)))",
            [130.0, 0.0, 60.0],
        ),
        (
            "len((a, b) for a in Jet for b in Muon if a.pt > b.pt)",
            [2.0, 0.0, 0.0],
        ),
        (
            "sum(t[0].pt for t in [(a, b) for a in Jet for b in Muon] if t[1].pt < t[0].pt)",
            [80.0, 0.0, 0.0],
        ),
    ]);
}

#[test]
fn single_records() {
    check(&[
        ("max(Jet, key=lambda j: j.pt).eta", [0.5, NONE, 1.0]),
        ("min(Jet, key=lambda j: abs(j.eta)).pt", [50.0, NONE, 40.0]),
        ("argmin(Jet, key=lambda j: j.eta)", [1.0, NONE, 0.0]),
        (
            "max((j for j in Jet if j.pt < 45), key=lambda j: j.pt).eta",
            [-1.0, NONE, 0.0],
        ),
        (
            "max(combinations(Jet, 2), key=lambda t: t[0].pt + t[1].pt)[1].pt",
            [30.0, NONE, 60.0],
        ),
        ("max(Jet_pt, key=lambda x: -x)", [20.0, NONE, 40.0]),
        ("Jet[0].pt", [50.0, NONE, 40.0]),
        ("Jet[-1].pt", [20.0, NONE, 60.0]),
        ("Jet[5].pt", [NONE, NONE, NONE]),
        ("is_missing(Jet[0])", [0.0, 1.0, 0.0]),
        (
            "is_missing(max(combinations(Jet, 2), key=lambda t: t[0].pt))",
            [0.0, 1.0, 0.0],
        ),
        ("fill_missing(Jet[2].pt, -1)", [20.0, -1.0, -1.0]),
        ("sum(Jet.pt[[0, 2]])", [70.0, 0.0, 40.0]),
        ("sum(Jet[[0, -1]].pt)", [70.0, 0.0, 100.0]),
        ("sum(Jet.pt[Muon.jet])", [30.0, 0.0, 0.0]),
        ("count(Jet.pt[Muon.jet])", [1.0, 0.0, 0.0]),
        ("sum(Jet[m.jet].eta for m in Muon)", [-1.0, 0.0, 0.0]),
        ("sum(is_missing(Jet[m.jet]) for m in Muon)", [0.0, 2.0, 0.0]),
        ("sum(1 for m in Muon if Jet[m.jet].pt > 0)", [1.0, 0.0, 0.0]),
        ("Jet[Muon[0].jet].pt", [30.0, NONE, NONE]),
    ]);
}

#[test]
fn vectors() {
    let mass = |a: [f64; 4], b: [f64; 4]| {
        let four = |[pt, eta, phi, m]: [f64; 4]| {
            let p = [pt * phi.cos(), pt * phi.sin(), pt * eta.sinh()];
            let e = (p.iter().map(|x| x * x).sum::<f64>() + m * m).sqrt();
            [p[0], p[1], p[2], e]
        };
        let (a, b) = (four(a), four(b));
        let sum: Vec<f64> = a.iter().zip(b).map(|(x, y)| x + y).collect();
        (sum[3] * sum[3] - sum[..3].iter().map(|x| x * x).sum::<f64>()).sqrt()
    };
    let first = mass([50.0, 0.5, 0.0, 5.0], [30.0, -1.0, 3.0, 4.0]);
    let last = mass([40.0, 0.0, 1.0, 2.0], [60.0, 1.0, 2.0, 1.0]);
    let muons = mass([15.0, 1.0, 0.0, 0.1], [35.0, -1.0, 3.0, 0.1]);
    let turn = 2.0 * std::f64::consts::PI - 6.0;
    check(&[
        ("(Jet[0] + Jet[1]).mass", [first, NONE, last]),
        (
            "sum((a + b).mass for a, b in combinations(Muon, 2))",
            [0.0, muons, 0.0],
        ),
        (
            "any(60 < (a + b).mass < 120 for a, b in combinations(Muon, 2) if a.charge != b.charge)",
            [0.0, f64::from(u8::from(60.0 < muons && muons < 120.0)), 0.0],
        ),
        (
            "(min(combinations(Jet, 2), key=lambda t: abs((t[0] + t[1]).mass - 90))[0] * 2).pt",
            [100.0, NONE, 80.0],
        ),
        ("Jet[1].deltaphi(Jet[2])", [-turn, NONE, NONE]),
        (
            "Jet[0].deltaR(Jet[1])",
            [(1.5_f64 * 1.5 + 9.0).sqrt(), NONE, 2.0_f64.sqrt()],
        ),
        (
            "sum(j.deltaeta(m) for j in Jet for m in Muon)",
            [0.3, 0.0, 0.0],
        ),
        (
            "min(j.deltaR(m) for j in Jet for m in Muon)",
            [0.02_f64.sqrt(), NONE, NONE],
        ),
        ("(Jet[0] - Jet[0]).pt", [0.0, NONE, 0.0]),
        ("(-Jet[0]).px", [-50.0, NONE, -40.0 * 1.0_f64.cos()]),
        ("sum(j.pt for j in Jet if j.px > 0)", [50.0, 0.0, 40.0]),
        (
            "sqrt(2 * Muon[0].pt * MET.pt * (1 - cos(Muon[0].deltaphi(MET))))",
            [
                (500.0 * (1.0 - 0.1_f64.cos())).sqrt(),
                (600.0 * (1.0 - 1.0_f64.cos())).sqrt(),
                NONE,
            ],
        ),
        (
            "vector(px=3, py=4, pz=0, energy=13).mass",
            [12.0, 12.0, 12.0],
        ),
        (
            "(vector(pt=MET_pt, eta=0, phi=0, mass=0) + vector(pt=MET_pt, eta=0, phi=pi, mass=0)).mass",
            [20.0, 40.0, 60.0],
        ),
    ]);
}

#[test]
fn jagged_results_and_records_are_defined() {
    let table = events();
    let steps = Steps::new()
        .define("good", "[j for j in Jet if j.pt > 25]")
        .define(
            "best",
            "max(combinations(good, 2), key=lambda t: (t[0] + t[1]).pt)",
        )
        .define("scaled", "[2 * j.pt for j in good]")
        .hist(&[("good.pt", regular(4, 0.0, 80.0))], None)
        .hist(&[("scaled", regular(4, 0.0, 160.0))], Some("good.pt"))
        .sum("best[0].pt + best[1].pt")
        .sum("sum(g.pt for g in good if g.pt == max(good.pt))")
        .hist(
            &[(
                "[a.pt - b.pt for a in Jet for b in Muon]",
                regular(2, -50.0, 50.0),
            )],
            None,
        )
        .sum("sum(scaled)");
    for size in [1, 2, 3] {
        let results = steps.run_in(&table, size);
        assert_eq!(values(&results[0]), [0.0, 0.0, 1.0, 2.0, 1.0, 0.0]);
        assert_eq!(values(&results[1]), [0.0, 0.0, 30.0, 90.0, 60.0, 0.0]);
        assert_eq!(results[2], Outcome::Sum(Number::Float(180.0)));
        assert_eq!(results[3], Outcome::Sum(Number::Float(110.0)));
        assert_eq!(values(&results[4]), [0.0, 1.0, 2.0, 0.0]);
        assert_eq!(results[5], Outcome::Sum(Number::Float(360.0)));
    }
}

#[test]
fn lists_of_lists_have_two_levels() {
    let hits = [
        vec![vec![1.0, 2.0], vec![], vec![3.0]],
        vec![],
        vec![vec![4.0], vec![5.0, 6.0]],
    ];
    let table = Table::new()
        .scalar("nTrack", DType::U32, &[3.0, 0.0, 2.0])
        .list(
            "Track_pt",
            DType::F64,
            Some("nTrack"),
            &[vec![10.0, 20.0, 30.0], vec![], vec![40.0, 50.0]],
        )
        .lists("Track_hits", Some("nTrack"), &hits);
    let one = |text: &str| {
        let steps = Steps::new().sum(text);
        steps
            .compile(&table)
            .unwrap_or_else(|e| panic!("{text}: {e:?}"));
        match &steps.run(&table)[0] {
            Outcome::Sum(Number::Float(x)) => *x,
            Outcome::Sum(Number::Int(x)) => *x as f64,
            other => panic!("{other:?}"),
        }
    };
    for (text, expected) in [
        ("Track_hits", 21.0),
        ("sum(sum(Track_hits))", 21.0),
        ("sum(max(Track_hits, default=0))", 15.0),
        (
            "sum(len(Track_hits) * Track_pt)",
            20.0 + 30.0 + 40.0 + 100.0,
        ),
        ("Track_hits * Track_pt", 30.0 + 90.0 + 160.0 + 550.0),
        ("sum(sum(hits) for hits in Track_hits)", 21.0),
        (
            "sum(len(hits) for hits in Track_hits if len(hits) > 1)",
            4.0,
        ),
        ("sum(t.pt for t in Track if any(t.hits > 2))", 120.0),
        (
            "sum(t.pt * max(t.hits) for t in Track if len(t.hits) > 1)",
            20.0 + 300.0,
        ),
        ("sum(Track[0].hits)", 7.0),
        (
            "sum(sum(h for h in t.hits) for t in Track if t.pt > 15)",
            18.0,
        ),
        ("sum(max(Track, key=lambda t: t.pt).hits)", 14.0),
        // Whole lists as elements, inside of another loop or over several.
        ("sum(sum(h) for t in Track for h in Track_hits)", 48.0),
        (
            "sum(t.pt * len(h) for t in Track for h in Track_hits)",
            450.0,
        ),
        ("[h for t in Track for h in Track_hits]", 48.0),
        ("[Track_pt for t in Track]", 360.0),
        ("[Track_hits * t.pt for t in Track]", 360.0 + 1350.0),
        ("Track_hits[len(Track_hits) > 1]", 14.0),
        ("Track_hits[:1]", 7.0),
    ] {
        let found = one(text);
        assert_eq!(found, expected, "{text}");
    }
    let filtered = Steps::new()
        .filter("nTrack > 2")
        .sum("sum(sum(Track_hits))")
        .run(&table);
    assert_eq!(filtered[0], Outcome::Sum(Number::Float(6.0)));
}

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
