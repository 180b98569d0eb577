//! Each fusion fires: operations that are written apart become one step of a program, wherever and
//! however often they stand. Results are compared in `forms.rs` and `together.rs`.

use crate::common::Steps;
use crate::common::table::Table;
use treemill_query::DType;

/// Two collections by pt, eta, phi, mass, one by px, py, pz, energy, and numbers of the entry.
fn table() -> Table {
    let mut table = Table::new();
    for name in ["A", "B", "C"] {
        table = table.scalar(&format!("n{name}"), DType::U32, &[1.0]);
        let stored = match name {
            "C" => ["px", "py", "pz", "energy"],
            _ => ["pt", "eta", "phi", "mass"],
        };
        for coordinate in stored {
            let counter = format!("n{name}");
            let name = format!("{name}_{coordinate}");
            table = table.list(&name, DType::F32, Some(&counter), &[vec![1.5]]);
        }
    }
    table.scalar("phi", DType::F64, &[0.5])
}

/// The steps of all programs of a query that sums these values.
fn steps(texts: &[&str]) -> Vec<String> {
    let book = |steps: Steps, text: &&str| steps.sum(text);
    let query = texts.iter().fold(Steps::new(), book).compile(&table());
    let lines = query.unwrap().explain().programs;
    let steps = lines.iter().filter_map(|line| line.split_once(" = "));
    steps.map(|(_, work)| work.to_owned()).collect()
}

fn count(texts: &[&str], start: &str) -> usize {
    let found = steps(texts);
    found.iter().filter(|work| work.starts_with(start)).count()
}

#[test]
fn sine_and_cosine_of_one_angle() {
    for texts in [
        ["sin(phi)", "cos(phi)"],
        ["cos(phi)", "sin(phi)"],
        ["sin(phi) + cos(phi)", "cos(phi) * 2"],
    ] {
        let found = steps(&texts);
        assert_eq!(count(&texts, "sin, cos(phi)"), 1, "{found:?}");
        assert!(
            !found.iter().any(|work| work.starts_with("sin(")),
            "{found:?}"
        );
    }
    assert_eq!(steps(&["sin(phi) + cos(phi + 1)"]).len(), 4);
}

#[test]
fn coordinates_of_vectors() {
    let all = |name: &str| ["px", "py", "pz", "energy"].map(|of| format!("{name}.{of}"));
    let texts = |name: &str| {
        let sums = all("j").map(|of| format!("sum({of} for j in {name})"));
        sums.to_vec()
    };
    let one = texts("A");
    let found = steps(&one.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(
        found,
        ["px, py(A_pt, A_phi)", "pz, energy(A_pt, A_eta, A_mass)"]
    );
    // Of each collection, not of the first one only.
    let both = [texts("A"), texts("B")].concat();
    let found = steps(&both.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!(found.len(), 4, "{found:?}");
    // In either order, and of two only.
    assert_eq!(
        steps(&["sum(j.energy for j in A)", "sum(j.pz for j in A)"]),
        ["pz, energy(A_pt, A_eta, A_mass)"]
    );
    assert_eq!(
        steps(&["sum(j.py for j in A)", "sum(j.px for j in A)"]),
        ["px, py(A_pt, A_phi)"]
    );
    assert_eq!(steps(&["sum(j.px for j in A)"]), ["px(A_pt, A_phi)"]);
    // An energy alone needs no pz of its own.
    assert_eq!(
        steps(&["sum(j.energy for j in A)"]),
        ["pz, energy(A_pt, A_eta, A_mass)"]
    );
}

#[test]
fn a_pair_of_two_collections_fuses_both() {
    let found = steps(&["max((a + b).mass for a in A for b in B)"]);
    for wanted in [
        "px, py(A_pt, A_phi)",
        "px, py(B_pt, B_phi)",
        "pz, energy(A_pt, A_eta, A_mass)",
        "pz, energy(B_pt, B_eta, B_mass)",
    ] {
        assert!(
            found.iter().any(|work| work == wanted),
            "{wanted}: {found:?}"
        );
    }
}

#[test]
fn squares_of_combinations_sums() {
    for (attribute, shape) in [
        ("mass", "signed root of difference of squares of sums("),
        ("mass2", "difference of squares of sums("),
        ("p", "root of sum of squares of sums("),
        ("pt", "root of sum of squares of sums("),
        ("mt", "signed root of difference of squares of sums("),
    ] {
        for items in ["a, b", "a, b, c"] {
            let size = items.split(',').count();
            let sum = items.replace(',', " +");
            let loops = format!("for {items} in combinations(C, {size})");
            let text = format!("max(({sum}).{attribute} {loops})");
            let found = steps(&[&text]);
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].starts_with(shape), "{text}: {found:?}");
        }
    }
}

#[test]
fn squares_of_several_attributes() {
    let found = steps(&[
        "max((a + b).mass for a, b in combinations(A, 2))",
        "max((a + b).pt for a, b in combinations(A, 2))",
    ]);
    assert_eq!(
        found
            .iter()
            .filter(|work| work.contains("of sums("))
            .count(),
        2,
        "{found:?}"
    );
}

#[test]
fn a_distance_is_one_root_of_squares() {
    let found = steps(&["max(a.deltaR(b) for a, b in combinations(A, 2))"]);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[2].starts_with("root of sum of squares("), "{found:?}");
}

#[test]
fn fusions_stand_behind_filters_and_in_cuts() {
    let query = Steps::new()
        .filter("nA > 1")
        .sum("max((a + b).mass for a, b in combinations(A, 2) if a.pt > b.pt)")
        .compile(&table());
    let lines = query.unwrap().explain().programs.join("\n");
    assert!(lines.contains("of sums("), "{lines}");
    assert!(lines.contains("px, py(A_pt, A_phi)"), "{lines}");
}

/// Lines that say that a program's results are reduced as they come.
fn folds(steps: Steps) -> Vec<String> {
    let lines = steps.compile(&table()).unwrap().explain().programs;
    let folds = lines.iter().filter(|line| line.ends_with("list by list"));
    folds.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn reductions_of_combinations() {
    let mass = "(a + b + c).mass for a, b, c in combinations(A, 3)";
    for (text, wanted) in [
        (format!("min({mass})"), "min of r0, list by list"),
        (format!("sum({mass})"), "sum of r0, list by list"),
        (
            "any(a.pt + b.pt > 60 for a, b in combinations(A, 2))".to_owned(),
            "any of r0, list by list",
        ),
    ] {
        assert_eq!(folds(Steps::new().sum(&text)), [wanted], "{text}");
    }
    let key = "lambda t: abs((t[0] + t[1] + t[2]).mass - 172.5)";
    let top = Steps::new().define("top", &format!("min(combinations(A, 3), key={key})"));
    let found = folds(top.sum("(top[0] + top[1] + top[2]).pt"));
    assert_eq!(found, ["argmin of r0, list by list"]);
    // What another value wants, too, is computed once and kept.
    let masses = Steps::new().define("masses", &format!("[{mass}]"));
    let found = folds(masses.sum("min(masses)").sum("max(masses)"));
    assert!(found.is_empty(), "{found:?}");
}

#[test]
fn light_values_are_steps_of_all_that_want_them() {
    // As variations of an object's members: its lists and its vectors are made of other numbers.
    let of = |member: &str| format!("sum(j.{member} for j in A if j.pt > 30)");
    let varied = Steps::new().define("A_pt", "A_pt * 1.5");
    let all = ["px", "py", "pz", "energy"];
    let query = all.iter().fold(varied, |steps, name| steps.sum(&of(name)));
    let lines = query.compile(&table()).unwrap().explain().programs;
    let found: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    assert_eq!(
        found,
        [
            "the items counted by nA: r0",
            "r0 = (A_pt > 20)",
            "some of the items counted by nA: r1, r2, r3, r4",
            "r0 = (A_pt * 1.5)",
            "r1, r2 = px, py(r0, A_phi)",
            "r3, r4 = pz, energy(r0, A_eta, A_mass)",
        ]
    );
    // What takes more than one column, or is slow, is written down.
    for slow in ["A_pt * A_mass", "sin(A_pt)", "A_pt * phi"] {
        let varied = Steps::new().define("A_pt", slow);
        let query = varied.sum("sum(j.pt for j in A if j.pt > 30)");
        let lines = query.compile(&table()).unwrap().explain().programs;
        let mask = lines.iter().find(|line| line.contains("> 30)")).unwrap();
        assert!(!mask.contains("r0 >"), "{slow}: {lines:?}");
    }
}

#[test]
fn what_rises_or_falls_with_a_column_is_a_bound_of_it() {
    for (text, wanted) in [
        ("sum(A_pt * 2 > 30)", "(A_pt > 15)"),
        ("sum(30 >= A_pt * 2)", "(A_pt <= 15)"),
        ("sum(1 - A_pt / 4 < 0.5)", "(A_pt > 2)"),
        ("sum(-A_pt + 1 > 3)", "(A_pt < -2)"),
    ] {
        assert_eq!(steps(&[text]), [wanted], "{text}");
    }
    // What is equal is no bound, and two columns have none.
    for text in ["sum(A_pt * 2 == 30)", "sum(A_pt * A_eta > 30)"] {
        assert_eq!(steps(&[text]).len(), 2, "{text}");
    }
}
