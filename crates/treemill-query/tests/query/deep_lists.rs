//! Lists of lists: known answers.

use crate::common::Steps;
use crate::common::table::Table;
use treemill_query::{DType, Number, Outcome};

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
        ("sum(sum(Track_hits[[0, 2]]))", 10.0),
        ("sum(len(hits) for hits in Track_hits[[-1, 0]])", 6.0),
        ("sum(1 for hits in Track_hits[[0, 5]])", 6.0),
        (
            "sum(hits[0] for hits in Track_hits[[2, 0]] if len(hits) == 1)",
            7.0,
        ),
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
