//! What filters keep of lists, for events that passed a cut on the same condition, against the same for events that a stored
//! number chooses: there the condition is computed anew. Equal to the bit.

use crate::common::table::Table;
use crate::common::{Steps, regular};
use proptest::prelude::*;
use treemill_query::{DType, Outcome};

/// pt and a small number.
type Item = (f64, f64);

fn lists() -> impl Strategy<Value = Vec<Vec<Item>>> {
    let pt = prop_oneof![
        12 => (0..80_i32).prop_map(|x| f64::from(x) + 0.3),
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(-0.0),
    ];
    let item = (pt, (-2..3_i32).prop_map(f64::from));
    let short = prop::collection::vec(item.clone(), 0..6);
    let long = prop::collection::vec(item, 0..25);
    prop::collection::vec(prop_oneof![4 => short, 1 => long], 1..40)
}

/// The lists, and whether each has at least `least` items above 30.
fn table(lists: &[Vec<Item>], least: usize) -> Table {
    let of = |part: fn(&Item) -> f64| -> Vec<Vec<f64>> {
        let list = |list: &Vec<Item>| list.iter().map(part).collect();
        lists.iter().map(list).collect()
    };
    let counts: Vec<f64> = lists.iter().map(|list| list.len() as f64).collect();
    let many = lists.iter().map(|list| {
        let above = list.iter().filter(|item| item.0 as f32 > 30.0).count();
        f64::from(u8::from(above >= least))
    });
    Table::new()
        .scalar("nA", DType::U32, &counts)
        .scalar("many", DType::I32, &many.collect::<Vec<_>>())
        .list("A_pt", DType::F32, Some("nA"), &of(|item| item.0))
        .list("A_k", DType::I16, Some("nA"), &of(|item| item.1))
}

/// Results of what a cut keeps, also below a second cut, event by event and in batches.
fn results(cut: &str, table: &Table, size: usize) -> Vec<Outcome> {
    let axis = || regular(8, 0.0, 400.0);
    let steps = Steps::new()
        .filter(cut)
        .sum("sum(A_pt[A_pt > 30])")
        .hist(&[("sum(A_pt[A_pt > 30])", axis())], Some("nA"))
        .hist(&[("A_pt[A_pt > 30] * 1.5", axis())], None)
        .sum("sum(A_k[A_pt > 30])")
        .sum("len(A_pt[A_pt > 30])")
        .min("min(A_pt[A_pt > 30])")
        .sum("max(a * b for a, b in combinations(A_pt[A_pt > 30], 2))")
        .sum("sum(A_pt[A_pt > 30][A_k[A_pt > 30] > 0])")
        .filter("sum(A_k > 0) >= 1")
        .sum("sum(A_pt[A_pt > 30])")
        .sum("sum(A_pt[A_k > 0])")
        .hist(&[("A_pt[A_k > 0]", axis())], None);
    steps.run_in(table, size)
}

proptest! {
    #[test]
    fn what_is_kept_is_what_is_computed_anew(lists in lists(), least in 0..4_usize) {
        let table = table(&lists, least);
        let shared = format!("sum(A_pt > 30) >= {least}");
        for size in [lists.len(), 7] {
            let found = format!("{:?}", results(&shared, &table, size));
            prop_assert_eq!(found, format!("{:?}", results("many == 1", &table, size)));
        }
    }
}
