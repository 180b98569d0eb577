//! Expressions over small tables, with results worked out by hand.

use crate::common::events::events;
use crate::common::{Steps, regular, results_of_each, values};
use treemill_query::{Number, Outcome};

/// The values in order of events, by way of one batch per event; `None`: none in that event.
fn each(text: &str) -> Vec<Option<f64>> {
    let table = events();
    let steps = Steps::new().min(text).max(text);
    let query = steps
        .compile(&table)
        .unwrap_or_else(|e| panic!("{text}: {e:?}"));
    results_of_each(&query, &table)
        .into_iter()
        .map(|results| {
            let value = |number: Option<Number>| {
                number.map(|number| match number {
                    Number::Bool(x) => f64::from(u8::from(x)),
                    Number::Int(x) => x as f64,
                    Number::Float(x) => x,
                })
            };
            match (&results[0], &results[1]) {
                (Outcome::Min(a), Outcome::Max(b)) => {
                    assert_eq!(value(*a), value(*b), "{text} has several values");
                    value(*a)
                }
                other => panic!("{other:?}"),
            }
        })
        .collect()
}

fn all(values: [f64; 4]) -> Vec<Option<f64>> {
    values.into_iter().map(Some).collect()
}

#[test]
fn arithmetic_and_precedence() {
    assert_eq!(each("MET_pt + 2 * 3"), all([16.0, 26.0, 36.0, 46.0]));
    assert_eq!(each("-MET_pt ** 2"), all([-100.0, -400.0, -900.0, -1600.0]));
    assert_eq!(each("signed // 2")[..2], [Some(-4.0), Some(3.0)]);
    assert_eq!(each("signed % 4")[..2], [Some(1.0), Some(3.0)]);
    assert_eq!(each("7 // nMuon"), [Some(3.0), None, Some(7.0), Some(2.0)]);
    assert_eq!(each("signed / 2")[0], Some(-3.5));
    assert_eq!(each("nMuon ** 2"), all([4.0, 0.0, 1.0, 9.0]));
    assert_eq!(each("2 ** nMuon"), all([4.0, 1.0, 2.0, 8.0]));
    assert_eq!(each("nMuon << 2 | 1"), all([9.0, 1.0, 5.0, 13.0]));
    assert_eq!(each("abs(signed)")[0], Some(7.0));
    assert_eq!(
        each("min(MET_pt, 25, nMuon * 20)"),
        all([10.0, 0.0, 20.0, 25.0])
    );
    assert_eq!(
        each("sqrt(MET_pt * 10) + pi * 0"),
        all([10.0, 200f64.sqrt(), 300f64.sqrt(), 20.0])
    );
    assert_eq!(each("flag + flag"), all([2.0, 0.0, 0.0, 2.0]));
    assert_eq!(each("~flag"), all([0.0, 1.0, 1.0, 0.0]));
    assert_eq!(each("~nMuon"), all([-3.0, -1.0, -2.0, -4.0]));
    assert_eq!(each("1 if MET_pt > 20 else 2.5"), all([2.5, 2.5, 1.0, 1.0]));
    assert_eq!(
        each("where(flag, MET_pt, -1)"),
        all([10.0, -1.0, -1.0, 40.0])
    );
    assert_eq!(each("clip(MET_pt, 15, 35)"), all([15.0, 20.0, 30.0, 35.0]));
    assert_eq!(each("int(MET_pt / 7)"), all([1.0, 2.0, 4.0, 5.0]));
}

#[test]
fn large_integers_stay_exact() {
    let exact = |text: &str| Steps::new().sum(text).run(&events()).remove(0);
    let total = 1 + 2 + (1_i128 << 53) + 1 + i128::from(u64::MAX);
    assert_eq!(exact("event"), Outcome::Sum(Number::Int(total)));
    assert_eq!(each("event == 9007199254740993"), all([0.0, 0.0, 1.0, 0.0]));
    assert_eq!(each("event == 9007199254740992.0"), all([0.0; 4]));
    assert_eq!(
        each("event == 18446744073709551615"),
        all([0.0, 0.0, 0.0, 1.0])
    );
    assert_eq!(each("event > signed"), all([1.0, 0.0, 0.0, 1.0]));
    assert_eq!(each("signed < 9223372036854775807.0"), all([1.0; 4]));
    assert_eq!(
        exact("signed + 0"),
        Outcome::Sum(Number::Int(i128::from(i64::MAX)))
    );
    let extent = Steps::new().extent("event").run(&events()).remove(0);
    let high = Number::Int(i128::from(u64::MAX));
    assert_eq!(extent, Outcome::Extent(Some((Number::Int(1), high, 4))));
}

#[test]
fn comparisons_logic_membership() {
    assert_eq!(each("10 < MET_pt <= 30"), all([0.0, 1.0, 1.0, 0.0]));
    assert_eq!(each("MET_pt > 10 and not flag"), all([0.0, 1.0, 1.0, 0.0]));
    assert_eq!(each("(MET_pt > 20) | flag"), all([1.0, 0.0, 1.0, 1.0]));
    assert_eq!(each("nMuon in [1, 3]"), all([0.0, 0.0, 1.0, 1.0]));
    assert_eq!(each("nMuon not in (1, 3)"), all([1.0, 1.0, 0.0, 0.0]));
    let many = "signed in [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -7]";
    assert_eq!(each(many), all([1.0, 1.0, 0.0, 0.0]));
    assert_eq!(each("label == 'a'"), all([1.0, 0.0, 1.0, 0.0]));
    assert_eq!(each("label != label"), all([0.0; 4]));
    assert_eq!(
        each("label in ['b', 'long one']"),
        all([0.0, 1.0, 0.0, 1.0])
    );
    assert_eq!(each("35 in Muon_pt"), all([0.0, 0.0, 1.0, 0.0]));
    assert_eq!(each("nMuon and flag"), all([1.0, 0.0, 0.0, 1.0]));
    assert_eq!(each("nMuon in []"), all([0.0; 4]));
}

#[test]
fn reductions_close_a_list() {
    assert_eq!(each("sum(Muon_pt)"), all([70.0, 0.0, 35.0, 100.5]));
    assert_eq!(each("sum(Muon_pt > 30)"), all([1.0, 0.0, 1.0, 2.0]));
    assert_eq!(each("any(Muon.pt > 30)"), all([1.0, 0.0, 1.0, 1.0]));
    assert_eq!(each("all(Muon.pt > 30)"), all([0.0, 1.0, 1.0, 0.0]));
    assert_eq!(each("len(Muon)"), all([2.0, 0.0, 1.0, 3.0]));
    assert_eq!(
        each("len(Muon_pt[Muon_pt > 30])"),
        all([1.0, 0.0, 1.0, 2.0])
    );
    assert_eq!(each("count(Muon_pt)"), all([2.0, 0.0, 1.0, 3.0]));
    assert_eq!(
        each("max(Muon_pt)"),
        [Some(50.0), None, Some(35.0), Some(60.0)]
    );
    assert_eq!(
        each("min(Muon_charge)"),
        [Some(-1.0), None, Some(1.0), Some(-1.0)]
    );
    assert_eq!(
        each("mean(Muon_charge)"),
        [Some(0.0), None, Some(1.0), Some(-1.0 / 3.0)]
    );
    assert_eq!(
        each("argmax(Muon_pt)"),
        [Some(0.0), None, Some(0.0), Some(1.0)]
    );
    assert_eq!(
        each("Muon_eta[argmax(Muon_pt)]"),
        [Some(0.5), None, Some(-1.0), Some(-0.1_f32 as f64)]
    );
    assert_eq!(
        each("sum(Muon_charge * Muon_charge)"),
        all([2.0, 0.0, 1.0, 3.0])
    );
    assert_eq!(
        each("sum(Muon_pt * MET_pt)"),
        all([700.0, 0.0, 1050.0, 4020.0])
    );
    assert_eq!(each("sum(P4)"), all([3.0, 12.0, 21.0, 30.0]));
    assert_eq!(each("max(P4) - P4[-1]"), all([0.0; 4]));
    assert_eq!(each("len(P4)"), all([3.0; 4]));
    assert_eq!(each("sum(vx * vy)"), all([5.0, 0.0, 33.0, 32.0]));
}

#[test]
fn masks_indices_slices() {
    assert_eq!(
        each("sum(Muon_pt[Muon_pt > 30])"),
        all([50.0, 0.0, 35.0, 90.5])
    );
    let twice = "sum(Muon_pt[Muon_pt > 30][abs(Muon_eta[Muon_pt > 30]) < 1])";
    assert_eq!(each(twice), all([50.0, 0.0, 0.0, 60.0]));
    assert_eq!(
        each("sum(Muon[Muon.pt > 30].eta)"),
        all([0.5, 0.0, -1.0, 1.5 - 0.1_f32 as f64])
    );
    assert_eq!(
        each("Muon_pt[0]"),
        [Some(50.0), None, Some(35.0), Some(10.0)]
    );
    assert_eq!(
        each("Muon_pt[-1]"),
        [Some(20.0), None, Some(35.0), Some(30.5)]
    );
    assert_eq!(each("Muon[1].pt"), [Some(20.0), None, None, Some(60.0)]);
    assert_eq!(
        each("last(Muon.charge)"),
        [Some(-1.0), None, Some(1.0), Some(1.0)]
    );
    assert_eq!(
        each("Muon_pt[nMuon - 1]"),
        [Some(20.0), None, Some(35.0), Some(30.5)]
    );
    assert_eq!(each("sum(Muon_pt[:2])"), all([70.0, 0.0, 35.0, 70.0]));
    assert_eq!(each("sum(Muon_pt[1:])"), all([20.0, 0.0, 0.0, 90.5]));
    assert_eq!(
        each("Muon_pt[::-1][0]"),
        [Some(20.0), None, Some(35.0), Some(30.5)]
    );
    assert_eq!(
        each("sum(Muon[:1].pt * Muon[:1].charge)"),
        all([50.0, 0.0, 35.0, -10.0])
    );
    assert_eq!(each("P4[1]"), all([1.0, 4.0, 7.0, 10.0]));
    assert_eq!(each("sum(P4[P4 > 4])"), all([0.0, 5.0, 21.0, 30.0]));
    assert_eq!(
        each("sum(vx[vx > 1] * vy[vx > 1])"),
        all([0.0, 0.0, 33.0, 32.0])
    );
}

#[test]
fn missing_values_are_carried_through() {
    assert_eq!(
        each("Muon_pt[0] * 2"),
        [Some(100.0), None, Some(70.0), Some(20.0)]
    );
    assert_eq!(each("is_missing(Muon_pt[0])"), all([0.0, 1.0, 0.0, 0.0]));
    assert_eq!(
        each("fill_missing(Muon_pt[0], -1)"),
        all([50.0, -1.0, 35.0, 10.0])
    );
    assert_eq!(
        each("nMuon == 0 or Muon_pt[0] > 30"),
        all([1.0, 1.0, 1.0, 0.0])
    );
    assert_eq!(
        each("nMuon > 0 and Muon_pt[0] > 30"),
        all([1.0, 0.0, 1.0, 0.0])
    );
    assert_eq!(
        each("Muon_pt[0] > 30 or nMuon == 0"),
        all([1.0, 1.0, 1.0, 0.0])
    );
    assert_eq!(
        each("not (Muon_pt[0] > 30)"),
        [Some(0.0), None, Some(0.0), Some(1.0)]
    );
    assert_eq!(
        each("Muon_pt[0] if nMuon > 0 else -5"),
        all([50.0, -5.0, 35.0, 10.0])
    );
    assert_eq!(
        each("sum(Muon_pt * Muon_pt[1])"),
        all([70.0 * 20.0, 0.0, 0.0, 6030.0])
    );
    assert_eq!(
        each("len(Muon_pt[Muon_pt < Muon_pt[1]])"),
        all([0.0, 0.0, 0.0, 2.0])
    );
    assert_eq!(
        each("only(Muon_pt[0], Muon_pt[1] > 5)"),
        [Some(50.0), None, None, Some(10.0)]
    );
    assert_eq!(
        each("sum(only(Muon_pt, Muon_pt > 15))"),
        each("sum(Muon_pt[Muon_pt > 15])")
    );
    assert_eq!(each("len(only(nMuon, Muon_pt > 15))"), each("nMuon"));
    let count = Steps::new()
        .filter("Muon_pt[0] > 15")
        .count()
        .run(&events());
    assert_eq!(count, [Outcome::Count(2)]);
    let hist = Steps::new().hist(&[("Muon_pt[0]", regular(2, 0.0, 40.0))], None);
    assert_eq!(values(&hist.run(&events())[0]), [0.0, 1.0, 1.0, 1.0]);
}
