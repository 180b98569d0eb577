//! What is read of combinations in one go (mass and momentum of vectors' sums), and through cuts on
//! them, against loops written out: the same to the bit, for every number of items, NaN and infinities.

use crate::common::table::Table;
use crate::common::{Steps, combinations};
use proptest::prelude::*;
use treemill_query::{DType, Number, Outcome};

/// px, py, pz, energy, and a small integer.
type Item = ([f64; 4], i64);

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        12 => (-400..400_i32).prop_map(|x| f64::from(x) / 8.0 + 0.1),
        4 => (-3..4_i32).prop_map(f64::from),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(-0.0),
        1 => -1e6..1e6_f64,
    ]
}

fn events() -> impl Strategy<Value = Vec<Vec<Item>>> {
    let item = || (prop::array::uniform4(number()), -2..3_i64);
    let short = prop::collection::vec(item(), 0..6);
    let any = prop::collection::vec(item(), 0..15);
    prop::collection::vec(prop_oneof![2 => short, 1 => any], 1..8)
}

fn table(events: &[Vec<Item>], dtype: DType) -> Table {
    let counts: Vec<f64> = events.iter().map(|list| list.len() as f64).collect();
    let mut table = Table::new().scalar("nA", DType::I32, &counts);
    for (place, name) in ["px", "py", "pz", "energy"].iter().enumerate() {
        let lists: Vec<Vec<f64>> = events
            .iter()
            .map(|list| list.iter().map(|item| item.0[place]).collect())
            .collect();
        table = table.list(&format!("A_{name}"), dtype, Some("nA"), &lists);
    }
    let lists: Vec<Vec<f64>> = events
        .iter()
        .map(|list| list.iter().map(|item| item.1 as f64).collect())
        .collect();
    table.list("A_k", DType::I16, Some("nA"), &lists)
}

fn signed_root(x: f64) -> f64 {
    x.abs().sqrt().copysign(x)
}

/// A value of px, py, pz and energy.
type Value = fn([f64; 4]) -> f64;

/// A combination and its value.
type Found = (Vec<Item>, f64);

/// What users write, and what it is of summed coordinates.
const VALUES: &[(&str, Value)] = &[
    ("mass", |[x, y, z, e]| {
        signed_root(e * e - (x * x + y * y + z * z))
    }),
    ("mass2", |[x, y, z, e]| e * e - (x * x + y * y + z * z)),
    ("pt", |[x, y, _, _]| (x * x + y * y).sqrt()),
    ("p", |[x, y, z, _]| (x * x + y * y + z * z).sqrt()),
    ("p2", |[x, y, z, _]| x * x + y * y + z * z),
    ("mt", |[_, _, z, e]| signed_root(e * e - z * z)),
    ("mt2", |[_, _, z, e]| e * e - z * z),
];

fn summed(items: &[Item]) -> [f64; 4] {
    std::array::from_fn(|c| items[1..].iter().fold(items[0].0[c], |sum, x| sum + x.0[c]))
}

/// The position of the least value: the first of equal ones; NaN comes last.
fn first_least(values: &[f64]) -> i64 {
    let mut best: Option<usize> = None;
    for (i, x) in values.iter().enumerate() {
        let better =
            best.is_none_or(|old| *x < values[old] || (values[old].is_nan() && !x.is_nan()));
        if better {
            best = Some(i);
        }
    }
    best.map_or(-1, |i| i as i64)
}

fn total(outcome: &Outcome) -> f64 {
    match outcome {
        Outcome::Sum(Number::Float(x)) => *x,
        Outcome::Sum(Number::Int(x)) => *x as f64,
        other => panic!("{other:?}"),
    }
}

/// A value of the combinations that a cut leaves.
fn check(events: &[Vec<Item>], size: usize, which: usize, is_cut: bool, dtype: DType) {
    let (name, value) = VALUES[which];
    let names = &["a", "b", "c", "d"][..size];
    let value_text = format!("({}).{name}", names.join(" + "));
    let last = names[size - 1];
    let cut = if is_cut {
        format!(" if a.k != {last}.k")
    } else {
        String::new()
    };
    let combined = format!("for {} in combinations(A, {size}){cut}", names.join(", "));
    let below = format!("sum({value_text} - 10 < 2.5 {combined})");
    let least = format!("fill_missing(argmin([{value_text} {combined}]), -1)");
    let far = format!(
        "min([({}) {combined}], key=lambda t: abs({}.{name} - 12))",
        names.join(", "),
        format_args!(
            "({})",
            (0..size)
                .map(|k| format!("t[{k}]"))
                .collect::<Vec<_>>()
                .join(" + ")
        )
    );
    let tag = format!("fill_missing(({far})[{}].k, 9)", size - 1);
    let finite = format!("sum({value_text} if abs({value_text}) < 1e9 else 3.5 {combined})");

    let kept: Vec<Vec<Found>> = events
        .iter()
        .map(|list| {
            let all = combinations(list, size).into_iter();
            all.filter(|items| !is_cut || items[0].1 != items[size - 1].1)
                .map(|items| {
                    let x = value(summed(&items));
                    (items, x)
                })
                .collect()
        })
        .collect();
    let sum = |of: &dyn Fn(&[Found]) -> f64| kept.iter().map(|list| of(list)).sum::<f64>();
    let wanted = [
        sum(&|list| list.iter().filter(|(_, x)| x - 10.0 < 2.5).count() as f64),
        sum(&|list| first_least(&list.iter().map(|(_, x)| *x).collect::<Vec<_>>()) as f64),
        sum(&|list| {
            let keys: Vec<f64> = list.iter().map(|(_, x)| (x - 12.0).abs()).collect();
            match usize::try_from(first_least(&keys)) {
                Ok(best) => list[best].0[size - 1].1 as f64,
                Err(_) => 9.0,
            }
        }),
    ];
    let steps = Steps::new().sum(&below).sum(&least).sum(&tag);
    let whole = table(events, dtype);
    for batch in [1, 3, usize::MAX] {
        let outcomes = steps.run_in(&whole, batch);
        let got: Vec<f64> = outcomes.iter().map(total).collect();
        assert_eq!(got, wanted, "{value_text}{cut}: {below}, {least}, {tag}");
    }
    // One event's sum is made in the order of its combinations.
    let longest = (0..events.len()).max_by_key(|i| events[*i].len()).unwrap();
    let terms = kept[longest]
        .iter()
        .map(|(_, x)| if x.abs() < 1e9 { *x } else { 3.5 });
    let one = table(&events[longest..=longest], dtype);
    let got = total(&Steps::new().sum(&finite).run(&one)[0]);
    assert_eq!(got, terms.fold(0.0, |sum, x| sum + x), "{finite}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn sums_of_vectors(
        events in events(),
        size in 2..5_usize,
        which in 0..VALUES.len(),
        is_cut in any::<bool>(),
    ) {
        check(&events, size, which, is_cut, DType::F64);
    }

    #[test]
    fn sums_of_vectors_of_integers(
        lists in prop::collection::vec(
            prop::collection::vec((prop::array::uniform4(-9..10_i32), -2..3_i64), 0..8), 1..6),
        size in 2..5_usize,
        which in 0..VALUES.len(),
        is_cut in any::<bool>(),
    ) {
        let real = |list: Vec<([i32; 4], i64)>| -> Vec<Item> {
            list.into_iter().map(|(p, k)| (p.map(f64::from), k)).collect()
        };
        let events: Vec<Vec<Item>> = lists.into_iter().map(real).collect();
        check(&events, size, which, is_cut, DType::I32);
    }
}

#[test]
fn every_value_of_every_size() {
    // Lists of every length up to 14, values that repeat.
    let events: Vec<Vec<Item>> = (0..15_usize)
        .map(|n| {
            let number = |i: usize, c: usize| ((n * 31 + i * 17 + c * 7) % 23) as f64 * 1.3 - 4.0;
            let item = |i: usize| ([0, 1, 2, 3].map(|c| number(i, c)), (i % 3) as i64);
            (0..n).map(item).collect()
        })
        .collect();
    for size in 2..5 {
        for which in 0..VALUES.len() {
            for is_cut in [false, true] {
                check(&events, size, which, is_cut, DType::F64);
            }
        }
    }
}
