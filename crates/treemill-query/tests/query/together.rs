//! Values that are computed together, as coordinates of vectors are, are those that each has alone: any
//! of them, before and behind a filter, in batches of all sizes.

use crate::common::Steps;
use crate::common::table::Table;
use proptest::prelude::*;
use treemill_query::DType;

const VALUES: &[&str] = &[
    "sum(j.px for j in A)",
    "sum(j.py for j in A)",
    "sum(j.pz for j in A)",
    "sum(j.energy for j in A)",
    "sum(sin(j.phi) for j in A)",
    "sum(cos(j.phi) for j in A)",
    "sum(cos(j.phi) - sin(j.phi) * j.pt for j in A)",
    "sum(j.px for j in A if j.pt > 3)",
    "sum(j.energy - j.pz for j in A if j.px > 0)",
    "sum((a + b).mass for a, b in combinations(A, 2))",
    "max((a + b).pt for a, b in combinations(A, 2) if a.px > b.py)",
    "min(A, key=lambda j: j.px).energy",
    "cos(phi)",
    "sin(phi) * pt",
    "sin(phi) + cos(phi)",
    "pt * cos(phi)",
    "cos(sin(phi)) * sin(sin(phi))",
    "pt * 2 + 1",
];

/// pt, eta, phi, mass.
type Vector = [f64; 4];

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        10 => (-64..64_i32).prop_map(|x| f64::from(x) / 16.0),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(3e5),
    ]
}

fn events() -> impl Strategy<Value = Vec<(Vector, Vec<Vector>)>> {
    let vector = || prop::array::uniform4(number());
    let event = (vector(), prop::collection::vec(vector(), 0..6));
    prop::collection::vec(event, 1..40)
}

fn table(events: &[(Vector, Vec<Vector>)]) -> Table {
    let scalar = |c: usize| -> Vec<f64> { events.iter().map(|event| event.0[c]).collect() };
    let counts: Vec<f64> = events.iter().map(|event| event.1.len() as f64).collect();
    let mut table = Table::new()
        .scalar("nA", DType::U32, &counts)
        .scalar("pt", DType::F32, &scalar(0))
        .scalar("phi", DType::F64, &scalar(2));
    for (c, name) in ["pt", "eta", "phi", "mass"].iter().enumerate() {
        let of = |event: &(Vector, Vec<Vector>)| event.1.iter().map(|v| v[c]).collect();
        let lists: Vec<Vec<f64>> = events.iter().map(of).collect();
        table = table.list(&format!("A_{name}"), DType::F32, Some("nA"), &lists);
    }
    table
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn as_alone(
        events in events(),
        before in prop::sample::subsequence(VALUES, 0..5),
        behind in prop::sample::subsequence(VALUES, 1..9),
        size in 1..50_usize,
    ) {
        let table = table(&events);
        let all = |before: &[&str], behind: &[&str]| {
            let steps = before.iter().fold(Steps::new(), |steps, text| steps.sum(text));
            let steps = steps.filter("pt > 0");
            let steps = behind.iter().fold(steps, |steps, text| steps.sum(text).max(text));
            let outcomes = steps.run_in(&table, size);
            outcomes.iter().map(|one| format!("{one:?}")).collect::<Vec<_>>()
        };
        let together = all(&before, &behind);
        let mut alone: Vec<String> = before.iter().flat_map(|text| all(&[text], &[])).collect();
        alone.extend(behind.iter().flat_map(|text| all(&[], &[text])));
        prop_assert_eq!(together, alone, "{:?} | {:?}", before, behind);
    }
}

/// Values of what is made in one go, and the same by steps: their sums are equal to the bit.
const BY_STEPS: &[(&str, &str)] = &[
    ("j.px for j in A", "j.pt * cos(j.phi) for j in A"),
    ("j.py for j in A", "j.pt * sin(j.phi) for j in A"),
    ("j.pz for j in A", "j.pt * sinh(j.eta) for j in A"),
    (
        "j.energy for j in A",
        "sqrt(max(copysign(j.mass ** 2, j.mass) + (j.pt ** 2 + (j.pt * sinh(j.eta)) ** 2), 0)) for j in A",
    ),
    (
        "j.px for i, j in enumerate(concat(A, A)) if i >= nA",
        "j.pt * cos(j.phi) for j in A",
    ),
    (
        "j.pz for i, j in enumerate(concat(A, A)) if i < nA",
        "j.pt * sinh(j.eta) for j in A",
    ),
    (
        "j.energy for j in concat(A, A) if j.pt > 2",
        "j.energy for j in concat([a for a in A if a.pt > 2], [a for a in A if a.pt > 2])",
    ),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn coordinates_are_those_of_single_steps(events in events(), size in 1..50_usize) {
        let table = table(&events);
        let run = |texts: &[&str]| {
            let book = |steps: Steps, text: &&str| steps.sum(&format!("sum({text})"));
            let outcomes = texts.iter().fold(Steps::new(), book).run_in(&table, size);
            outcomes.iter().map(|one| format!("{one:?}")).collect::<Vec<_>>()
        };
        let together: Vec<&str> = BY_STEPS.iter().map(|(text, _)| *text).collect();
        let alone: Vec<String> = BY_STEPS.iter().flat_map(|(_, text)| run(&[text])).collect();
        prop_assert_eq!(run(&together), alone);
    }
}

#[test]
fn values_of_more_steps_than_a_program_has() {
    // Each is made from the one before, which is wanted too.
    let mut steps = Steps::new().define("v0", "pt * 2 + phi");
    for i in 1..6 {
        let term = |k: usize| format!("(v{} * {k}.25 - {k}.5)", i - 1);
        let terms: Vec<String> = (1..8).map(term).collect();
        steps = steps.define(&format!("v{i}"), &terms.join(" + "));
    }
    let all = (0..6).fold(steps.clone(), |steps, i| steps.sum(&format!("v{i}")));
    let events: Vec<(Vector, Vec<Vector>)> = (0..20)
        .map(|n| {
            (
                [1.0; 4],
                vec![[f64::from(n) / 4.0, 0.5, 0.25, 1.0]; n as usize % 5],
            )
        })
        .collect();
    let table = table(&events);
    let together = all.run(&table);
    for (i, found) in together.iter().enumerate() {
        let alone = steps.clone().sum(&format!("v{i}")).run(&table);
        assert_eq!(format!("{found:?}"), format!("{:?}", alone[0]));
    }
}

/// Values of vectors whose pt was varied.
const VARIED: &[&str] = &[
    "sum(A.pt)",
    "sum(A.pt > 1)",
    "sum(A.pt[A.pt > 1])",
    "sum(j.px for j in A if j.pt > 1)",
    "sum((a + b + c).mass for a, b, c in combinations([j for j in A if j.pt > -1], 3))",
    "max(j.pt for j in [k for k in A if k.eta < 2] if j.pt > 1)",
    "max([j for j in A if j.pt > 0], key=lambda j: j.energy).pt",
    "sum(a.pt + b.pt for a, b in combinations(A, 2) if a.pt > b.pt)",
    "sum(sorted([j for j in A if j.pt < 3], key=lambda j: j.pt)[:2].pt)",
    "pt * 2",
];

/// All values of one definition of the varied member, together and each alone.
fn varied(table: &Table, definition: &str, size: usize) -> [String; 2] {
    let steps = Steps::new().define("A_pt", definition);
    let steps = steps.filter("sum(A.pt > 0) >= 1");
    let book = |steps: Steps, text: &&str| steps.sum(text);
    let all = VARIED.iter().fold(steps.clone(), book).run_in(table, size);
    let each = VARIED
        .iter()
        .flat_map(|text| steps.clone().sum(text).run(table));
    [
        format!("{all:?}"),
        format!("{:?}", each.collect::<Vec<_>>()),
    ]
}

proptest! {
    #[test]
    fn light_values_are_those_that_are_written_down(events in events()) {
        let table = table(&events);
        // The second takes another column, and is not light.
        let [light, each] = varied(&table, "A_pt * 1.5 - 0.25", usize::MAX);
        let [heavy, _] = varied(&table, "A_pt * (1.5 if A_eta == A_eta else 1.5) - 0.25", usize::MAX);
        prop_assert_eq!(&light, &each);
        prop_assert_eq!(&light, &heavy);
    }
}
