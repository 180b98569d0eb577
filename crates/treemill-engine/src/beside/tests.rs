//! Columns beside those of a table: which there are, and what they hold.
#![allow(clippy::restriction)]

use super::*;
use crate::tables::{Stored, above, catalog, doubles, query, sum};
use arrow_array::{Float64Array, Int32Array, Int64Array, LargeStringArray};
use treemill_format::layout::{Layout, Number};

const EACH: usize = 4;

/// A table with `x`, numbers from `first` on, and with `n`, which counts 0 to 3.
fn table(first: i32, baskets: usize) -> Table {
    let entries = baskets * EACH;
    let x = (0..entries).map(|i| f64::from(first) + i as f64);
    let counts = (0..baskets).map(|_| (0..EACH as i32).flat_map(i32::to_be_bytes).collect());
    let stored = vec![
        Stored::new("x", Layout::Number(Number::F64), doubles(EACH, x)),
        Stored::new("n", Layout::Number(Number::I32), counts.collect()),
    ];
    catalog(EACH, stored).table().clone()
}

fn default(name: &str, value: Option<ArrayRef>, counter: Option<&str>) -> DefaultColumn {
    let value = value.map(|value| DefaultValue {
        value,
        is_nullable: false,
        counter: counter.map(str::to_owned),
    });
    DefaultColumn {
        name: name.to_owned(),
        value,
    }
}

fn number(value: f64) -> Option<ArrayRef> {
    Some(Arc::new(Float64Array::from(vec![value])))
}

fn defaults(defaults: Vec<DefaultColumn>) -> Beside {
    Beside {
        defaults,
        ..Beside::default()
    }
}

fn of_friend(name: &str, kind: DataType) -> FriendColumn {
    FriendColumn::new(name, "x", &kind, false, None, None)
}

fn piece(table: &Table, first: u64, entries: Range<u64>) -> OpenPiece {
    OpenPiece {
        table: table.clone(),
        first,
        entries,
    }
}

fn names(columns: &Columns) -> Vec<&str> {
    let fields = columns.schema.fields().iter();
    fields.map(|field| field.name().as_str()).collect()
}

/// Numbers of a column.
fn read(columns: &Arc<Columns>, name: &str, entries: Range<u64>) -> Vec<f64> {
    let values = columns.read(name, entries).unwrap();
    let values = values.as_any().downcast_ref::<Float64Array>().unwrap();
    values.values().to_vec()
}

#[test]
fn a_table_without_anything_beside_it_is_bound_alone() {
    let nothing = Beside::default().columns(&table(0, 1), &[], Vec::new());
    assert!(Arc::new(nothing.unwrap()).foreign().is_none());
}

#[test]
fn a_default_is_for_tables_that_lack_the_column() {
    let beside = defaults(vec![
        default("x", number(-1.0), None),
        default("y", number(-2.0), None),
    ]);
    let columns = Arc::new(beside.columns(&table(0, 1), &[], Vec::new()).unwrap());
    assert_eq!(names(&columns), ["y"]);
    assert_eq!(read(&columns, "y", 1..4), [-2.0; 3]);
    assert_eq!(read(&columns, "y", 7..7), [0.0; 0]);
    assert!(columns.read("x", 0..1).is_err());
    assert!(columns.foreign().is_some());
}

#[test]
fn a_table_is_the_callers_if_the_default_is_not_known() {
    let of = |name| defaults(vec![default(name, None, None)]).columns(&table(0, 1), &[], vec![]);
    assert!(of("y").is_none());
    assert!(
        of("x").is_some(),
        "a table that has the column needs no default"
    );
}

#[test]
fn what_may_be_missing_is_said_of_the_column() {
    for is_nullable in [false, true] {
        let mut column = default("y", number(1.0), None);
        column.value.as_mut().unwrap().is_nullable = is_nullable;
        let columns = defaults(vec![column]).columns(&table(0, 1), &[], vec![]);
        assert_eq!(columns.unwrap().schema.field(0).is_nullable(), is_nullable);
    }
}

#[test]
fn a_list_has_as_many_items_as_its_counter_says() {
    let beside = defaults(vec![default("l", number(2.5), Some("n"))]);
    let columns = Arc::new(beside.columns(&table(0, 2), &[], vec![]).unwrap());
    let field = columns.schema.field(0);
    assert_eq!(field.metadata().get(COUNTER).map(String::as_str), Some("n"));
    for (start, stop) in [(0, 8), (2, 6), (3, 4), (5, 5)] {
        let lists = columns.read("l", start..stop).unwrap();
        assert_eq!(lists.data_type(), field.data_type());
        let lists = lists.as_list::<i32>();
        let counts: Vec<u64> = lists
            .iter()
            .map(|list| list.unwrap().len() as u64)
            .collect();
        assert_eq!(
            counts,
            (start..stop).map(|entry| entry % 4).collect::<Vec<_>>()
        );
        let items = lists.values().as_any().downcast_ref::<Float64Array>();
        assert!(items.unwrap().iter().all(|item| item == Some(2.5)));
    }
}

#[test]
fn a_table_is_the_callers_if_a_list_has_no_counter_there() {
    for counter in ["nowhere", "x"] {
        let beside = defaults(vec![default("l", number(1.0), Some(counter))]);
        assert!(
            beside.columns(&table(0, 1), &[], vec![]).is_none(),
            "{counter}"
        );
    }
}

#[test]
fn lists_are_no_longer_than_they_may_be() {
    let item = number(1.0).unwrap();
    let lists =
        |counts: Vec<i64>| counted(&item, &(Arc::new(Int64Array::from(counts)) as ArrayRef));
    assert_eq!(lists(vec![2, 0, 1]).unwrap().len(), 3);
    assert_eq!(lists(vec![]).unwrap().len(), 0);
    let most = i64::from(DEFAULT_ITEMS);
    for counts in [vec![-1], vec![most + 1], vec![most, 1], vec![1, i64::MAX]] {
        assert!(lists(counts.clone()).is_err(), "{counts:?}");
    }
    let real: ArrayRef = Arc::new(Float64Array::from(vec![1.0]));
    assert!(counted(&item, &real).is_err());
}

#[test]
fn constants_are_alike_in_all_entries() {
    let constants = [
        ("flag".to_owned(), Constant::Bool(true)),
        ("scale".to_owned(), Constant::Real(0.5)),
        ("label".to_owned(), Constant::Text("tt".to_owned())),
        ("number".to_owned(), Constant::Signed(-3)),
    ];
    let columns = Beside::default().columns(&table(0, 1), &constants, vec![]);
    let columns = Arc::new(columns.unwrap());
    assert_eq!(names(&columns), ["flag", "scale", "label", "number"]);
    assert_eq!(read(&columns, "scale", 0..3), [0.5; 3]);
    let labels = columns.read("label", 0..2).unwrap();
    let labels = labels.as_any().downcast_ref::<LargeStringArray>();
    assert!(labels.unwrap().iter().all(|label| label == Some("tt")));
    for name in names(&columns) {
        assert_eq!(columns.read(name, 5..9).unwrap().len(), 4, "{name}");
    }
}

#[test]
fn a_name_means_a_friends_column_before_a_constant_and_that_before_a_default() {
    let kind = DataType::Float64;
    let beside = Beside {
        defaults: vec![
            default("a", number(3.0), None),
            default("b", number(3.0), None),
        ],
        friends: vec![vec![of_friend("a", kind)]],
        joined: Vec::new(),
    };
    let constants = ["a", "b"].map(|name| (name.to_owned(), Constant::Real(2.0)));
    let pieces: Arc<[OpenPiece]> = [piece(&table(10, 1), 0, 0..4)].into();
    let columns = beside.columns(&table(0, 1), &constants, vec![pieces]);
    let columns = Arc::new(columns.unwrap());
    assert_eq!(names(&columns), ["a", "b"]);
    assert_eq!(read(&columns, "a", 0..2), [10.0, 11.0]);
    assert_eq!(read(&columns, "b", 0..2), [2.0, 2.0]);
}

#[test]
fn a_name_of_a_friend_means_it_whatever_a_table_has() {
    let named = ["x", "z", "f.x"].map(|name| of_friend(name, DataType::Float64));
    let beside = Beside {
        defaults: Vec::new(),
        friends: vec![named.into()],
        joined: Vec::new(),
    };
    let pieces: Arc<[OpenPiece]> = [piece(&table(10, 1), 0, 0..4)].into();
    let columns = beside.columns(&table(0, 1), &[], vec![pieces]);
    let columns = Arc::new(columns.unwrap());
    assert_eq!(names(&columns), ["x", "z", "f.x"]);
    assert_eq!(read(&columns, "x", 0..2), [10.0, 11.0]);
}

#[test]
fn entries_of_a_friend_are_joined_where_its_files_meet() {
    // Entries 0 to 3 are the last ones of one file, 4 to 11 all of another, 12 and 13 the first ones of a third.
    let pieces = [
        piece(&table(100, 2), 4, 0..4),
        piece(&table(200, 2), 0, 4..12),
        piece(&table(300, 1), 0, 12..14),
    ];
    let numbers = [104..108, 200..208, 300..302].map(|part: Range<i32>| part.map(f64::from));
    let all: Vec<f64> = numbers.into_iter().flatten().collect();
    let beside = Beside {
        defaults: Vec::new(),
        friends: vec![vec![of_friend("f", DataType::Float64)]],
        joined: Vec::new(),
    };
    let columns = beside.columns(&table(0, 4), &[], vec![pieces.into()]);
    let columns = Arc::new(columns.unwrap());
    for start in 0..all.len() {
        for stop in start + 1..=all.len() {
            let found = read(&columns, "f", start as u64..stop as u64);
            assert_eq!(found, all[start..stop], "{start}..{stop}");
        }
    }
}

#[test]
fn files_of_a_friend_have_the_column_as_its_first_file_has_it() {
    let own = table(0, 1);
    let specification = query(&[above("x", -1.0)], sum("f"));
    let fits = |kind: DataType, column: &str| {
        let friend = FriendColumn::new("f", column, &kind, false, None, None);
        let beside = Beside {
            defaults: Vec::new(),
            friends: vec![vec![friend]],
            joined: Vec::new(),
        };
        let pieces: Arc<[OpenPiece]> = [piece(&table(0, 1), 0, 0..4)].into();
        let columns = Arc::new(beside.columns(&own, &[], vec![pieces]).unwrap());
        let catalog = crate::Catalog::new(own.clone());
        let bound = crate::Bound::new(&specification, &catalog, columns.foreign(), None);
        columns.fits(bound.unwrap().query())
    };
    assert!(fits(DataType::Float64, "x"));
    assert!(!fits(DataType::Float32, "x"));
    assert!(!fits(DataType::Float64, "nowhere"));
    assert!(fits(DataType::Int32, "n"));
}

#[test]
fn files_of_a_friend_that_lack_a_column_have_its_default() {
    let own = table(0, 4);
    // Entries 0 to 3 lie in a file that has `x` and `l`, the others in one that lacks both.
    let full = table(100, 1);
    let bare = catalog(EACH, {
        let counts = (0..3).flat_map(|_| (0..EACH as i32).flat_map(i32::to_be_bytes));
        let counts: Vec<u8> = counts.collect();
        let baskets = counts.chunks(4 * EACH).map(<[u8]>::to_vec).collect();
        vec![Stored::new("n", Layout::Number(Number::I32), baskets)]
    });
    let pieces: Arc<[OpenPiece]> = [piece(&full, 0, 0..4), piece(bare.table(), 0, 4..16)].into();
    let of = |column: &str, kind: DataType, default| {
        let friend = FriendColumn::new("f", column, &kind, false, None, default);
        let beside = Beside {
            defaults: Vec::new(),
            friends: vec![vec![friend]],
            joined: Vec::new(),
        };
        let columns = beside.columns(&own, &[], vec![Arc::clone(&pieces)]);
        let columns = Arc::new(columns.unwrap());
        let specification = query(&[above("x", -1.0)], sum("f"));
        let catalog = crate::Catalog::new(own.clone());
        let bound = crate::Bound::new(&specification, &catalog, columns.foreign(), None).unwrap();
        let fits = columns.fits(bound.query());
        (columns, fits)
    };
    let value = |counter: Option<&str>| default("x", number(-1.0), counter).value;
    let (columns, fits) = of("x", DataType::Float64, value(None));
    assert!(fits);
    assert_eq!(read(&columns, "f", 2..7), [102.0, 103.0, -1.0, -1.0, -1.0]);
    assert_eq!(read(&columns, "f", 8..9), [-1.0]);
    assert!(!of("x", DataType::Float64, None).1, "without a default");
    assert!(
        !of("x", DataType::Float32, value(None)).1,
        "of another type"
    );
    // What all of them lack may be lists, as long as their counter says.
    let lists = DataType::List(item_field(&number(0.0).unwrap()));
    let (columns, fits) = of("l", lists.clone(), value(Some("n")));
    assert!(fits);
    let found = columns.read("f", 2..8).unwrap();
    let lengths: Vec<usize> = found
        .as_list::<i32>()
        .iter()
        .map(|l| l.unwrap().len())
        .collect();
    assert_eq!(lengths, [2, 3, 0, 1, 2, 3]);
    assert!(!of("l", lists, value(Some("nowhere"))).1);
}

#[test]
fn lengths_are_whole_numbers_of_any_size() {
    let of = |array: ArrayRef| lengths(&array).ok();
    assert_eq!(of(Arc::new(Int32Array::from(vec![0, 7]))), Some(vec![0, 7]));
    assert_eq!(of(Arc::new(Int32Array::from(vec![0, -7]))), None);
    assert_eq!(of(Arc::new(LargeStringArray::from(vec!["1"]))), None);
}

#[test]
fn pieces_are_the_parts_of_a_friends_files_that_lie_beside_a_files_entries() {
    let files = NearFiles::new(Vec::new());
    let joined = Joined::new(files, vec![0, 4, 4, 10], vec![0, 3, 3, 8, 10]);
    let of = |number, span: Range<u64>, entries| {
        let pieces = joined.pieces(number, &span, entries)?;
        let parts = pieces.into_iter().map(|p| (p.number, p.first, p.entries));
        Some(parts.collect::<Vec<_>>())
    };
    assert_eq!(of(0, 0..4, 4), Some(vec![(0, 0, 0..3), (2, 0, 3..4)]));
    assert_eq!(of(0, 1..2, 4), Some(vec![(0, 1, 1..2)]));
    assert_eq!(of(1, 0..0, 0), Some(vec![]));
    assert_eq!(of(2, 0..6, 6), Some(vec![(2, 1, 0..4), (3, 0, 4..6)]));
    assert_eq!(of(2, 5..9, 6), Some(vec![(3, 1, 5..6)]), "to its end");
    assert_eq!(of(2, 0..6, 7), None, "it is not what it was");
    assert_eq!(of(3, 0..1, 1), None, "there is no such file");
    let short = Joined::new(NearFiles::new(Vec::new()), vec![0, 4], vec![0, 3]);
    assert_eq!(short.pieces(0, &(0..4), 4), None, "the friend has fewer");
}
