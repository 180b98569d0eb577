//! Cells of axes, as boost-histogram chose them (axis_golden.py wrote axis_golden.json).

use crate::common::table::Table;
use crate::common::{Steps, values};
use serde::Deserialize;
use treemill_query::DType;
use treemill_query::spec::Axis;

#[derive(Deserialize)]
struct Golden {
    axis: Axis,
    values: Values,
    cells: Vec<i64>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Values {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

/// The cell of every row, by a second axis of one bin per row.
fn cells(table: &Table, axis: &Axis) -> Vec<i64> {
    let rows = table.rows();
    let by_row = Axis::Integer {
        start: 0,
        stop: rows as i64,
        underflow: false,
        overflow: false,
        circular: false,
    };
    let hist = Steps::new().hist(&[("x", axis.clone()), ("row", by_row)], None);
    let counts = values(&hist.run(table)[0]);
    // And alone, where the fill is another.
    let alone = values(&Steps::new().hist(&[("x", axis.clone())], None).run(table)[0]);
    for (cell, count) in alone.iter().enumerate() {
        assert_eq!(*count, counts[cell * rows..][..rows].iter().sum::<f64>());
    }
    (0..rows)
        .map(|row| {
            let found = counts.iter().skip(row).step_by(rows).position(|n| *n > 0.0);
            found.map_or(-1, |cell| cell as i64)
        })
        .collect()
}

fn rows(n: usize) -> Table {
    Table::new().i64("row", &(0..n as i64).collect::<Vec<_>>())
}

#[test]
fn cells_are_those_of_boost_histogram() {
    let mut compared = 0;
    for line in include_str!("axis_golden.json").lines() {
        let golden: Golden = serde_json::from_str(line).unwrap();
        let n = golden.cells.len();
        compared += n;
        let axis = &golden.axis;
        match &golden.values {
            Values::Integers(x) => {
                assert_eq!(cells(&rows(n).i64("x", x), axis), golden.cells, "{axis:?}");
            }
            Values::Texts(texts) if matches!(axis, Axis::StrCategory { .. }) => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let table = rows(n).strings("x", &texts);
                assert_eq!(cells(&table, axis), golden.cells, "{axis:?}");
            }
            Values::Texts(texts) => {
                let x: Vec<f64> = texts
                    .iter()
                    .map(|digits| f64::from_bits(u64::from_str_radix(digits, 16).unwrap()))
                    .collect();
                let table = rows(n).scalar("x", DType::F64, &x);
                assert_eq!(cells(&table, axis), golden.cells, "{axis:?}");
                // Values that f32 holds fall into the same cells from a column of f32.
                let exact = |x: &f64| f64::from(*x as f32) == *x;
                let (narrow, expected): (Vec<f64>, Vec<i64>) = x
                    .iter()
                    .zip(&golden.cells)
                    .filter(|(x, _)| exact(x))
                    .unzip();
                let table = rows(narrow.len()).scalar("x", DType::F32, &narrow);
                assert_eq!(cells(&table, axis), expected, "{axis:?}");
            }
        }
    }
    assert!(compared > 2000, "{compared}");
}

#[test]
fn integers_beyond_32_bits_go_to_flow() {
    let axis = Axis::Integer {
        start: -2,
        stop: 2,
        underflow: true,
        overflow: true,
        circular: false,
    };
    let table = rows(4).i64("x", &[i64::MIN, i64::MAX, 1 << 32, -1]);
    assert_eq!(cells(&table, &axis), [0, 5, 5, 2]);
    let table = rows(2).u64("x", &[u64::MAX, 1]);
    assert_eq!(cells(&table, &axis), [5, 4]);
}

#[test]
fn impossible_axes_are_refused() {
    let flow = |kind: &str, rest: &str| {
        format!(r#"{{"kind":"{kind}",{rest},"underflow":true,"overflow":true,"circular":false}}"#)
    };
    let refused = [
        flow("regular", r#""bins":0,"start":0.0,"stop":1.0"#),
        flow("regular", r#""bins":4294967295,"start":0.0,"stop":1.0"#),
        flow("regular", r#""bins":5,"start":1.0,"stop":1.0"#),
        flow("regular", r#""bins":5,"start":-1.7e308,"stop":1.7e308"#),
        flow("variable", r#""edges":[1.0]"#),
        flow("variable", r#""edges":[1.0,1.0]"#),
        flow("integer", r#""start":5,"stop":4"#),
        flow(
            "integer",
            r#""start":-9223372036854775808,"stop":9223372036854775807"#,
        ),
        r#"{"kind":"int_category","categories":[1,1],"overflow":true}"#.to_owned(),
    ];
    let table = rows(1).i64("x", &[1]);
    for text in refused {
        let axis: Axis = serde_json::from_str(&text).unwrap();
        let found = Steps::new().hist(&[("x", axis)], None).compile(&table);
        assert!(found.is_err(), "{text}");
    }
    // Each is possible, together they are too many bins.
    let axis: Axis =
        serde_json::from_str(&flow("regular", r#""bins":100000,"start":0.0,"stop":1.0"#)).unwrap();
    let two = [("x", axis.clone()), ("x", axis)];
    assert!(Steps::new().hist(&two, None).compile(&table).is_err());
}

/// It is said before anything is filled, and before the memory is taken.
#[test]
fn memory_of_histograms_is_bounded() {
    let table = rows(1).i64("x", &[1]);
    let axis = |bins: u32| {
        let text = format!(
            r#"{{"kind":"regular","bins":{bins},"start":0.0,"stop":1.0,
                "underflow":false,"overflow":false,"circular":false}}"#
        );
        ("x", serde_json::from_str(&text).unwrap())
    };
    // 8 bytes a bin, with weights 16: 4 GB is as much as there may be, which two of these are with weights.
    let many = |count: usize, weight: Option<&str>| {
        (0..count).fold(Steps::new(), |steps, _| {
            steps.hist(&[axis(1 << 20), axis(128)], weight)
        })
    };
    assert!(many(2, Some("x")).compile(&table).is_ok());
    let error = many(3, Some("x")).compile(&table).err().unwrap();
    assert!(
        error.message.contains("more than 4096 MB together"),
        "{error}"
    );
    assert!(many(4, None).compile(&table).is_ok());
}
