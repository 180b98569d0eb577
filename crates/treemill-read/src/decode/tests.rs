//! Tests of the decoders against an encoder written here: values of any layout go to bytes as
//! ROOT writes them, and must come back.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use super::*;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type, Int16Type, Int32Type};
use arrow_array::{Array, ArrayRef};
use proptest::prelude::*;
use treemill_format::error::FormatError;
use treemill_format::layout::{Number, Truncation};

/// A value, as the tests see it.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Int(i64),
    Float(f64),
    Many(Vec<Value>),
    Text(Vec<u8>),
}

fn number(n: Number) -> Layout {
    Layout::Number(n)
}

fn array(item: Layout, len: u32) -> Layout {
    Layout::Array {
        item: Box::new(item),
        len,
    }
}

fn counted(item: Layout, header: u8) -> Layout {
    Layout::Counted {
        item: Box::new(item),
        header,
    }
}

fn vector(item: Layout, header: u8) -> Layout {
    Layout::Vector {
        item: Box::new(item),
        header,
    }
}

fn record(members: Vec<Layout>) -> Layout {
    let named = members.into_iter().enumerate();
    Layout::Record(named.map(|(i, m)| (format!("m{i}"), m)).collect())
}

/// The bytes of a value, as the layout says.
fn encode(layout: &Layout, value: &Value, out: &mut Vec<u8>) {
    match (layout, value) {
        (Layout::Number(Number::F32), Value::Float(v)) => out.extend((*v as f32).to_be_bytes()),
        (Layout::Number(Number::F64), Value::Float(v)) => out.extend(v.to_be_bytes()),
        (Layout::Number(Number::Double32(Truncation::AsF32)), Value::Float(v)) => {
            out.extend((*v as f32).to_be_bytes());
        }
        (Layout::Number(Number::Bool | Number::I8), Value::Int(v)) => out.push(*v as u8),
        (Layout::Number(Number::I16), Value::Int(v)) => out.extend((*v as i16).to_be_bytes()),
        (Layout::Number(Number::I32), Value::Int(v)) => out.extend((*v as i32).to_be_bytes()),
        (Layout::Array { item, .. }, Value::Many(values)) => {
            values.iter().for_each(|v| encode(item, v, out));
        }
        (Layout::Counted { item, header }, Value::Many(values)) => {
            out.extend(std::iter::repeat_n(1, usize::from(*header)));
            values.iter().for_each(|v| encode(item, v, out));
        }
        (Layout::Vector { item, header }, Value::Many(values)) => {
            out.extend(std::iter::repeat_n(0x40, usize::from(*header)));
            out.extend((values.len() as i32).to_be_bytes());
            values.iter().for_each(|v| encode(item, v, out));
        }
        (Layout::String { header }, Value::Text(text)) => {
            out.extend(std::iter::repeat_n(0x40, usize::from(*header)));
            match u8::try_from(text.len()) {
                Ok(len) if len < 255 => out.push(len),
                _ => {
                    out.push(255);
                    out.extend((text.len() as i32).to_be_bytes());
                }
            }
            out.extend(text);
        }
        (Layout::Record(members), Value::Many(values)) => {
            members
                .iter()
                .zip(values)
                .for_each(|((_, m), v)| encode(m, v, out));
        }
        _ => panic!("{layout:?} {value:?}"),
    }
}

/// Entries' bytes and starts.
fn encode_all(layout: &Layout, values: &[Value]) -> (Vec<u8>, Vec<u32>) {
    let mut data = Vec::new();
    let mut starts = vec![0];
    for value in values {
        encode(layout, value, &mut data);
        starts.push(data.len() as u32);
    }
    (data, starts)
}

/// Value `i` of a decoded array.
fn value_at(array: &dyn Array, i: usize) -> Value {
    use arrow_schema::DataType as T;
    let all =
        |items: ArrayRef| Value::Many((0..items.len()).map(|i| value_at(&items, i)).collect());
    match array.data_type() {
        T::Boolean => Value::Int(i64::from(array.as_boolean().value(i))),
        T::Int8 => Value::Int(
            array
                .as_primitive::<arrow_array::types::Int8Type>()
                .value(i)
                .into(),
        ),
        T::Int16 => Value::Int(array.as_primitive::<Int16Type>().value(i).into()),
        T::Int32 => Value::Int(array.as_primitive::<Int32Type>().value(i).into()),
        T::Float32 => Value::Float(array.as_primitive::<Float32Type>().value(i).into()),
        T::Float64 => Value::Float(array.as_primitive::<Float64Type>().value(i)),
        T::Binary => Value::Text(array.as_binary::<i32>().value(i).to_vec()),
        T::List(_) => all(array.as_list::<i32>().value(i)),
        T::FixedSizeList(..) => all(array.as_fixed_size_list().value(i)),
        T::Struct(_) => Value::Many(
            array
                .as_struct()
                .columns()
                .iter()
                .map(|c| value_at(c, i))
                .collect(),
        ),
        other => panic!("{other}"),
    }
}

fn values_of(array: &dyn Array) -> Vec<Value> {
    (0..array.len()).map(|i| value_at(array, i)).collect()
}

/// Decodes in runs of the given lengths, each from its own bytes, as baskets are.
fn decode(layout: &Layout, runs: &[(Vec<u8>, Vec<u32>)]) -> Result<ArrayRef> {
    let mut column = Column::new(layout, 10)?;
    for (data, starts) in runs {
        let count = starts.len() - 1;
        append(
            &mut column,
            layout,
            Entries {
                data,
                starts,
                count,
            },
        )?;
    }
    column.finish(layout)
}

/// What the tests can encode, to any depth.
fn layouts() -> impl Strategy<Value = Layout> {
    let numbers = prop_oneof![
        Just(number(Number::F32)),
        Just(number(Number::F64)),
        Just(number(Number::Bool)),
        Just(number(Number::I8)),
        Just(number(Number::I16)),
        Just(number(Number::I32)),
        Just(number(Number::Double32(Truncation::AsF32))),
    ];
    let fixed = prop_oneof![
        numbers.clone(),
        (numbers.clone(), 1_u32..4).prop_map(|(item, len)| array(item, len)),
        proptest::collection::vec(numbers, 1..4).prop_map(record),
    ];
    let inner = prop_oneof![
        fixed.clone(),
        Just(Layout::String { header: 0 }),
        Just(Layout::String { header: 7 }),
    ]
    .prop_recursive(3, 12, 3, |item| {
        prop_oneof![
            item.clone().prop_map(|item| vector(item, 0)),
            item.clone().prop_map(|item| vector(item, 10)),
            (item.clone(), 1_u32..4).prop_map(|(item, len)| array(item, len)),
            proptest::collection::vec(item, 1..4).prop_map(record),
        ]
    });
    prop_oneof![
        inner,
        (fixed, prop_oneof![Just(0_u8), Just(1)]).prop_map(|(item, h)| counted(item, h)),
    ]
}

/// Values of a layout.
fn values(layout: &Layout) -> BoxedStrategy<Value> {
    match layout {
        Layout::Number(Number::Bool) => (0_i64..2).prop_map(Value::Int).boxed(),
        Layout::Number(Number::F32 | Number::F64 | Number::Double32(_)) => {
            (-1e6_f32..1e6).prop_map(|v| Value::Float(v.into())).boxed()
        }
        Layout::Number(Number::I8) => (-128_i64..128).prop_map(Value::Int).boxed(),
        Layout::Number(_) => (-32768_i64..32768).prop_map(Value::Int).boxed(),
        Layout::Array { item, len } => proptest::collection::vec(values(item), *len as usize)
            .prop_map(Value::Many)
            .boxed(),
        Layout::Counted { item, .. } | Layout::Vector { item, .. } => {
            proptest::collection::vec(values(item), 0..5)
                .prop_map(Value::Many)
                .boxed()
        }
        Layout::String { .. } => prop_oneof![
            proptest::collection::vec(any::<u8>(), 0..20),
            proptest::collection::vec(any::<u8>(), 253..257),
        ]
        .prop_map(Value::Text)
        .boxed(),
        Layout::Record(members) => members
            .iter()
            .map(|(_, m)| values(m))
            .collect::<Vec<_>>()
            .prop_map(Value::Many)
            .boxed(),
        _ => panic!(),
    }
}

fn layout_and_runs() -> impl Strategy<Value = (Layout, Vec<Vec<Value>>)> {
    layouts().prop_flat_map(|layout| {
        let run = proptest::collection::vec(values(&layout), 0..8);
        (Just(layout), proptest::collection::vec(run, 1..4))
    })
}

proptest! {
    #[test]
    fn what_was_encoded_is_decoded((layout, runs) in layout_and_runs()) {
        let bytes: Vec<_> = runs.iter().map(|run| encode_all(&layout, run)).collect();
        let array = decode(&layout, &bytes).unwrap();
        prop_assert_eq!(array.data_type(), &arrow_type(&layout).unwrap());
        prop_assert_eq!(values_of(&array), runs.concat());
    }

    #[test]
    fn starts_are_found_without_offsets((layout, runs) in layout_and_runs()) {
        for run in &runs {
            let (data, starts) = encode_all(&layout, run);
            let mut found = vec![7];
            let is_told = matches!(&layout, Layout::Record(of) if starts::has_string_first(of));
            match (&layout, run.is_empty() || is_told) {
                (_, true) => {}
                (Layout::Counted { item, header }, _) => {
                    let count = |v: &Value| match v {
                        Value::Many(items) => items.len() as u32,
                        _ => panic!(),
                    };
                    let counts: Vec<u32> = run.iter().map(count).collect();
                    let mut find = |len| starts::from_counts(item, *header, &counts, len, &mut found);
                    prop_assert!(find(data.len() + 1).is_err());
                    find(data.len()).unwrap();
                    prop_assert_eq!(&found, &starts);
                }
                _ => {
                    starts::by_reading(&layout, &data, run.len(), &mut found).unwrap();
                    prop_assert_eq!(&found, &starts);
                    prop_assert!(starts::by_reading(&layout, &data, run.len() + 1, &mut found).is_err());
                }
            }
        }
    }

    #[test]
    fn random_bytes_never_panic_nor_grow(
        layout in layouts(),
        data in proptest::collection::vec(any::<u8>(), 0..200),
        mut cuts in proptest::collection::vec(0_u32..200, 0..10),
    ) {
        cuts.iter_mut().for_each(|c| *c = (*c).min(data.len() as u32));
        cuts.sort_unstable();
        let count = cuts.len().saturating_sub(1);
        if let Ok(mut column) = Column::new(&layout, 0) {
            let entries = Entries { data: &data, starts: &cuts, count };
            if append(&mut column, &layout, entries).is_ok() {
                let array = column.finish(&layout).unwrap();
                prop_assert_eq!(array.len(), count);
                prop_assert!(array.get_array_memory_size() < 64 * 1024);
            }
        }
        let mut found = Vec::new();
        let _ = starts::by_reading(&layout, &data, 5, &mut found);
        let _ = starts::by_reading(&layout, &data, usize::MAX, &mut found);
        prop_assert!(found.capacity() < 1000);
    }
}

#[test]
fn a_vector_that_announces_what_it_does_not_hold_is_malformed() {
    for item in [number(Number::I32), Layout::String { header: 0 }] {
        let layout = vector(item, 10);
        for count in [2_i32, i32::MAX, -1] {
            let mut data = vec![0; 10];
            data.extend(count.to_be_bytes());
            data.extend([0, 0, 0, 9]);
            let starts = vec![0, data.len() as u32];
            let error = decode(&layout, &[(data, starts)]).unwrap_err();
            assert!(matches!(error, FormatError::Malformed { .. }), "{error}");
        }
    }
}

#[test]
fn entries_that_are_no_whole_number_of_items_are_malformed() {
    for item in [number(Number::F32), array(number(Number::F32), 3)] {
        let error = decode(&counted(item, 0), &[(vec![0; 24], vec![0, 14, 24])]).unwrap_err();
        assert!(matches!(error, FormatError::Malformed { .. }), "{error}");
    }
}

#[test]
fn what_has_no_bytes_or_is_unknown_is_unsupported() {
    let nothing = record(vec![]);
    let unknown = Layout::Unsupported {
        reason: "TLorentzVector".to_owned(),
    };
    for layout in [
        nothing.clone(),
        vector(nothing, 0),
        vector(counted(number(Number::I8), 0), 0),
        vector(array(number(Number::I8), 0), 0),
        unknown,
        number(Number::Float16(Truncation::Mantissa { bits: 15 })),
    ] {
        let error = Column::new(&layout, 0).unwrap_err();
        assert!(
            matches!(error, FormatError::Unsupported { .. }),
            "{layout:?}"
        );
    }
}

/// ROOT's own encoder of truncated mantissas (TBufferFile::WriteFloat16), restated.
fn mantissa_bytes(value: f32, bits: u32) -> [u8; 3] {
    let raw = value.to_bits();
    let exponent = (raw >> 23) as u8;
    let mut mantissa = ((1 << (bits + 1)) - 1) & (raw >> (23 - bits - 1));
    mantissa = (mantissa + 1) >> 1;
    if mantissa & (1 << bits) != 0 {
        mantissa = (1 << bits) - 1;
    }
    if value < 0.0 {
        mantissa |= 1 << (bits + 1);
    }
    let [high, low] = (mantissa as u16).to_be_bytes();
    [exponent, high, low]
}

#[test]
fn truncated_numbers() {
    for bits in [8_u8, 12, 14] {
        let truncation = Truncation::Mantissa { bits };
        for wide in [false, true] {
            let form = if wide {
                Number::Double32(truncation)
            } else {
                Number::Float16(truncation)
            };
            let values = [0.0_f32, 1.0, -1.0, 3.140_625, -1e-3, 6.5e10];
            let data: Vec<u8> = values
                .iter()
                .flat_map(|v| mantissa_bytes(*v, bits.into()))
                .collect();
            let starts = vec![0; values.len() + 1];
            let array = decode(&number(form), &[(data, starts)]).unwrap();
            for (i, wanted) in values.iter().enumerate() {
                let Value::Float(got) = value_at(&array, i) else {
                    panic!()
                };
                let wanted = f64::from(*wanted);
                assert!(
                    (got - wanted).abs() <= wanted.abs() / f64::from(1 << bits),
                    "{got} {wanted}"
                );
            }
        }
    }
    let range = Truncation::Range {
        min: -1.0,
        factor: 1000.0,
    };
    let data: Vec<u8> = [0_u32, 1500].iter().flat_map(|v| v.to_be_bytes()).collect();
    let array = decode(&number(Number::Double32(range)), &[(data, vec![0; 3])]).unwrap();
    assert_eq!(values_of(&array), [Value::Float(-1.0), Value::Float(0.5)]);
}
