//! Loops, tuples and records: known answers, event by event.

use crate::common::known::{NONE, check, events};
use crate::common::{Steps, regular, values};
use treemill_query::{Number, Outcome};

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
fn values_of_the_event_are_lists() {
    check(&[
        ("max([MET_pt, 20])", [20.0, 20.0, 30.0]),
        ("max([Jet_pt[0], 45])", [50.0, 45.0, 45.0]),
        ("len([Jet_pt[0], MET_pt])", [2.0, 2.0, 2.0]),
        ("count([Jet_pt[0], MET_pt])", [2.0, 1.0, 2.0]),
        ("sorted([MET_pt, 20, MET_phi])[1]", [10.0, 20.0, 20.0]),
        (
            "sum(x * 2 for x in [MET_pt, MET_phi] if x > 1)",
            [20.0, 40.0, 64.0],
        ),
        ("sum([MET_pt, MET_phi] * 2)", [20.0, 42.0, 64.0]),
        ("[MET_pt, MET_phi][nMuon]", [0.0, NONE, 30.0]),
        ("[MET_pt, MET_phi][-1]", [0.0, 1.0, 2.0]),
        ("sum(Jet_pt[[nMuon, nMuon]])", [60.0, 0.0, 80.0]),
        ("sum(concat([MET_pt], Jet_pt))", [110.0, 20.0, 130.0]),
        ("MET_pt in [nMuon * 10, 20]", [1.0, 1.0, 0.0]),
        (
            "max([Jet[0], Muon[0]], key=lambda v: v.pt).eta",
            [0.5, 1.0, 0.0],
        ),
        ("sum(max([j.pt, 35]) for j in Jet)", [120.0, 0.0, 100.0]),
        ("any([MET_pt > 15, MET_phi > 5])", [0.0, 1.0, 1.0]),
    ]);
}

#[test]
fn functions_of_lists_made_of_others() {
    check(&[
        ("var([3, 5, MET_pt - MET_pt + 10])", [26.0 / 3.0; 3]),
        ("std(Jet_pt)", [(1400.0_f64 / 9.0).sqrt(), NONE, 10.0]),
        (
            "std(Jet_pt, ddof=1)",
            [(700.0_f64 / 3.0).sqrt(), NONE, 200.0_f64.sqrt()],
        ),
        ("median(Jet_pt)", [30.0, NONE, 50.0]),
        ("median(j.pt for j in Jet if j.pt > 25)", [40.0, NONE, 50.0]),
        (
            "sum(i * p for i, p in enumerate(cumsum(Jet_pt)))",
            [280.0, 0.0, 100.0],
        ),
        ("sum(cumsum(Jet_pt) * Jet_eta)", [145.0, 0.0, 100.0]),
        (
            "sum(i * k for i, k in enumerate(argsort(Jet_pt)))",
            [1.0, 0.0, 1.0],
        ),
        ("first(Jet_pt[argsort(Jet_pt)])", [20.0, NONE, 40.0]),
        ("sum(unique([3, 1, 3, nMuon]))", [4.0, 6.0, 4.0]),
        ("len(unique([Jet_pt[0], Jet_pt[0], 1]))", [2.0, 1.0, 2.0]),
        ("len(permutations(Jet, 2))", [6.0, 0.0, 2.0]),
        (
            "sum(a.pt - 2 * b.pt for a, b in permutations(Jet, 2))",
            [-200.0, 0.0, -100.0],
        ),
        ("len(combinations(concat(Jet, Jet), 5))", [6.0, 0.0, 0.0]),
        (
            "sum(t[0].pt for t in combinations(Jet, 1))",
            [100.0, 0.0, 100.0],
        ),
        ("sum(m.pt for m in Muon.nearest(Jet))", [50.0, 0.0, 0.0]),
        ("Jet[0].nearest(Muon).pt", [25.0, NONE, NONE]),
        (
            "len(m for m in Jet.nearest(Muon, threshold=0.2) if m.pt > 0)",
            [1.0, 0.0, 0.0],
        ),
        ("deltaphi(Jet_phi[0], MET_phi)", [0.0, NONE, -1.0]),
        (
            "vector(px=3, py=4, pz=0, E=nJet + 10).m",
            [12.0, 75.0_f64.sqrt(), 119.0_f64.sqrt()],
        ),
    ]);
}
