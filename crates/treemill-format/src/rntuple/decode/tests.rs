#![allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]
//! Round trips of every encoding: the encoders are here, written from the specification.

use super::*;
use proptest::prelude::*;

fn split(bytes: &[u8], size: usize) -> Vec<u8> {
    let mut planes = Vec::new();
    for k in 0..size {
        planes.extend(bytes.chunks_exact(size).map(|element| element[k]));
    }
    planes
}

fn pack(values: &[u32], bits: u8) -> Vec<u8> {
    let width = usize::from(bits);
    let mut bytes = vec![0; (values.len() * width).div_ceil(8)];
    for (i, value) in values.iter().enumerate() {
        for k in 0..width {
            let at = i * width + k;
            bytes[at / 8] |= ((value >> k & 1) as u8) << (at % 8);
        }
    }
    bytes
}

fn read<T: Decode>(
    element: Element,
    split: bool,
    bytes: &[u8],
    wanted: Range<usize>,
    count: usize,
) -> Vec<T> {
    let mut out = Vec::new();
    let run = Run {
        bytes,
        count,
        wanted,
    };
    T::decode(&Encoding { element, split }, &run, &mut out).unwrap();
    out
}

/// A part of `n` elements.
fn part(n: usize, a: usize, b: usize) -> Range<usize> {
    let (a, b) = (a % (n + 1), b % (n + 1));
    a.min(b)..a.max(b)
}

macro_rules! integers {
    ($($name:ident, $type:ty, $element:ident, $size:expr, $zigzag:expr;)*) => {
        proptest! {$(
            #[test]
            fn $name(values in proptest::collection::vec(any::<$type>(), 0..200), a: usize, b: usize) {
                let wanted = part(values.len(), a, b);
                let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
                let read_plain: Vec<$type> = read(Element::$element, false, &bytes, wanted.clone(), values.len());
                prop_assert_eq!(&read_plain, &values[wanted.clone()]);
                if $size > 1 {
                    let zigzag: fn($type) -> $type = $zigzag;
                    let bytes: Vec<u8> = values.iter().flat_map(|v| zigzag(*v).to_le_bytes()).collect();
                    let bytes = split(&bytes, $size);
                    let read_split: Vec<$type> = read(Element::$element, true, &bytes, wanted.clone(), values.len());
                    prop_assert_eq!(&read_split, &values[wanted]);
                }
            }
        )*}
    };
}

integers! {
    u8_round_trip, u8, U8, 1, |v| v;
    i8_round_trip, i8, I8, 1, |v| v;
    u16_round_trip, u16, U16, 2, |v| v;
    u32_round_trip, u32, U32, 4, |v| v;
    u64_round_trip, u64, U64, 8, |v| v;
    // x to 2x where x is not negative, else to -2x - 1.
    i16_round_trip, i16, I16, 2, |v| (v << 1) ^ (v >> 15);
    i32_round_trip, i32, I32, 4, |v| (v << 1) ^ (v >> 31);
    i64_round_trip, i64, I64, 8, |v| (v << 1) ^ (v >> 63);
}

proptest! {
    #[test]
    fn reals_round_trip(values in proptest::collection::vec(any::<f32>(), 0..100), a: usize, b: usize) {
        let wanted = part(values.len(), a, b);
        let expected: Vec<u32> = values[wanted.clone()].iter().map(|v| v.to_bits()).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        for (is_split, bytes) in [(false, bytes.clone()), (true, split(&bytes, 4))] {
            let singles: Vec<f32> = read(Element::F32, is_split, &bytes, wanted.clone(), values.len());
            prop_assert_eq!(singles.iter().map(|v| v.to_bits()).collect::<Vec<_>>(), expected.clone());
            let doubles: Vec<f64> = read(Element::F32, is_split, &bytes, wanted.clone(), values.len());
            prop_assert!(doubles.iter().zip(&singles).all(|(d, s)| *d == f64::from(*s) || s.is_nan()));
        }
        let bytes: Vec<u8> = values.iter().flat_map(|v| f64::from(*v).to_le_bytes()).collect();
        for (is_split, bytes) in [(false, bytes.clone()), (true, split(&bytes, 8))] {
            let doubles: Vec<f64> = read(Element::F64, is_split, &bytes, wanted.clone(), values.len());
            let expected = values[wanted.clone()].iter().map(|v| f64::from(*v));
            prop_assert!(doubles.iter().zip(expected).all(|(d, e)| d.to_bits() == e.to_bits()));
        }
    }

    #[test]
    fn halves_round_trip(values in proptest::collection::vec(any::<u16>(), 0..100), a: usize, b: usize) {
        let wanted = part(values.len(), a, b);
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        for (is_split, bytes) in [(false, bytes.clone()), (true, split(&bytes, 2))] {
            let singles: Vec<f32> = read(Element::F16, is_split, &bytes, wanted.clone(), values.len());
            let doubles: Vec<f64> = read(Element::F16, is_split, &bytes, wanted.clone(), values.len());
            for ((single, double), bits) in singles.iter().zip(&doubles).zip(&values[wanted.clone()]) {
                prop_assert_eq!(single.to_bits(), half::to_f32(*bits).to_bits());
                prop_assert!(single.is_nan() || f64::from(*single) == *double);
            }
        }
    }

    #[test]
    fn bits_round_trip(values in proptest::collection::vec(any::<bool>(), 0..100), a: usize, b: usize) {
        let wanted = part(values.len(), a, b);
        let bytes = pack(&values.iter().map(|v| u32::from(*v)).collect::<Vec<_>>(), 1);
        let bits: Vec<bool> = read(Element::Bit, false, &bytes, wanted.clone(), values.len());
        prop_assert_eq!(&bits, &values[wanted]);
    }

    #[test]
    fn truncated_round_trip(values in proptest::collection::vec(any::<f32>(), 0..100), bits in 10_u8..32, a: usize, b: usize) {
        let wanted = part(values.len(), a, b);
        let cut = 32 - u32::from(bits);
        let stored: Vec<u32> = values.iter().map(|v| v.to_bits() >> cut).collect();
        let bytes = pack(&stored, bits);
        let element = Element::Truncated { bits };
        prop_assert_eq!(bytes.len(), Encoding { element, split: false }.page_bytes(values.len() as u32));
        let singles: Vec<f32> = read(element, false, &bytes, wanted.clone(), values.len());
        for (single, stored) in singles.iter().zip(&stored[wanted]) {
            prop_assert_eq!(single.to_bits(), stored << cut);
        }
    }

    #[test]
    fn quantized_values_are_within_half_a_step(
        values in proptest::collection::vec(-20.0_f64..30.0, 0..100), bits in 1_u8..=32, a: usize, b: usize,
    ) {
        let wanted = part(values.len(), a, b);
        let (min, max) = (-20.0, 30.0);
        let most = f64::from(u32::MAX >> (32 - u32::from(bits)));
        let stored: Vec<u32> = values.iter().map(|v| (0.5 + (v - min) * most / (max - min)) as u32).collect();
        let bytes = pack(&stored, bits);
        let element = Element::Quantized { bits, min, max };
        let doubles: Vec<f64> = read(element, false, &bytes, wanted.clone(), values.len());
        let singles: Vec<f32> = read(element, false, &bytes, wanted.clone(), values.len());
        for ((double, single), value) in doubles.iter().zip(&singles).zip(&values[wanted]) {
            prop_assert!((double - value).abs() <= 0.5 * (max - min) / most + 1e-12);
            prop_assert_eq!(*single, *double as f32);
        }
    }

    #[test]
    fn ends_round_trip(
        start in prop_oneof![Just(0), any::<u32>().prop_map(|n| n >> 1)],
        counts in prop_oneof![
            proptest::collection::vec(0_u32..256, 0..100),
            proptest::collection::vec(0_u32..1000, 0..100),
        ],
    ) {
        let ends: Vec<u64> = counts.iter().scan(u64::from(start), |sum, n| { *sum += u64::from(*n); Some(*sum) }).collect();
        let decode = |element, is_split, bytes: &[u8]| {
            let mut above = vec![99; 7]; // what was there is written over
            let first = decode_ends(&Encoding { element, split: is_split }, bytes, ends.len(), &mut above).unwrap();
            above.into_iter().map(|more| first + u64::from(more)).collect::<Vec<u64>>()
        };
        let wide: Vec<u8> = ends.iter().flat_map(|v| v.to_le_bytes()).collect();
        let narrow: Vec<u8> = ends.iter().flat_map(|v| (*v as u32).to_le_bytes()).collect();
        prop_assert_eq!(&decode(Element::Index64, false, &wide), &ends);
        prop_assert_eq!(&decode(Element::Index32, false, &narrow), &ends);
        // The first element as it is, the others as differences.
        let mut steps = counts;
        if let Some(first) = steps.first_mut() {
            *first += start;
        }
        let wide: Vec<u8> = steps.iter().flat_map(|v| u64::from(*v).to_le_bytes()).collect();
        let narrow: Vec<u8> = steps.iter().flat_map(|v| v.to_le_bytes()).collect();
        prop_assert_eq!(&decode(Element::Index64, true, &split(&wide, 8)), &ends);
        prop_assert_eq!(&decode(Element::Index32, true, &split(&narrow, 4)), &ends);
    }

    #[test]
    fn switches_round_trip(values in proptest::collection::vec((any::<u64>(), any::<u32>()), 0..50), a: usize, b: usize) {
        let wanted = part(values.len(), a, b);
        let bytes: Vec<u8> = values.iter().flat_map(|(i, t)| [&i.to_le_bytes()[..], &t.to_le_bytes()].concat()).collect();
        let mut out = Vec::new();
        let run = Run { bytes: &bytes, count: values.len(), wanted: wanted.clone() };
        decode_switches(&Encoding { element: Element::Switch, split: false }, &run, &mut out).unwrap();
        let expected: Vec<Switch> = values[wanted].iter().map(|&(index, tag)| Switch { index, tag }).collect();
        prop_assert_eq!(out, expected);
    }

    #[test]
    fn any_bytes_and_any_run_do_no_harm(
        bytes in proptest::collection::vec(any::<u8>(), 0..100), count in 0_usize..40,
        start in 0_usize..40, len in 0_usize..40, bits in 1_u8..=32, is_split: bool,
    ) {
        let run = Run { bytes: &bytes, count, wanted: start..start + len };
        let elements = [
            Element::Bit, Element::U8, Element::I8, Element::I16, Element::U16, Element::I32, Element::U32,
            Element::I64, Element::U64, Element::F16, Element::F32, Element::F64, Element::Index32,
            Element::Index64, Element::Switch, Element::Truncated { bits: bits.clamp(10, 31) },
            Element::Quantized { bits, min: 0.0, max: 1.0 },
        ];
        for element in elements {
            let encoding = Encoding { element, split: is_split };
            fn check<T: Decode>(encoding: &Encoding, run: &Run<'_>) -> bool {
                let mut out = Vec::new();
                T::decode(encoding, run, &mut out).is_err() || out.len() == run.wanted.len()
            }
            prop_assert!(check::<bool>(&encoding, &run) && check::<u8>(&encoding, &run) && check::<i8>(&encoding, &run));
            prop_assert!(check::<u16>(&encoding, &run) && check::<i16>(&encoding, &run));
            prop_assert!(check::<u32>(&encoding, &run) && check::<i32>(&encoding, &run));
            prop_assert!(check::<u64>(&encoding, &run) && check::<i64>(&encoding, &run));
            prop_assert!(check::<f32>(&encoding, &run) && check::<f64>(&encoding, &run));
            let _ = decode_ends(&encoding, &bytes, count, &mut Vec::new());
            let _ = decode_switches(&encoding, &run, &mut Vec::new());
        }
    }
}

/// Ends of collections as a page stores them, and what they are read as.
fn read_ends(element: Element, is_split: bool, stored: &[u64]) -> Result<Vec<u64>> {
    let size = if element == Element::Index32 { 4 } else { 8 };
    let each = stored.iter().map(|end| end.to_le_bytes());
    let bytes: Vec<u8> = each.flat_map(|end| end[..size].to_vec()).collect();
    let bytes = if is_split { split(&bytes, size) } else { bytes };
    let encoding = Encoding {
        element,
        split: is_split,
    };
    let mut above = Vec::new();
    let first = decode_ends(&encoding, &bytes, stored.len(), &mut above)?;
    Ok(above.iter().map(|more| first + u64::from(*more)).collect())
}

#[test]
fn ends_that_descend_are_malformed() {
    for (element, is_split, stored) in [
        (Element::Index32, false, vec![5, 4]),
        (Element::Index64, false, vec![5, 4]),
        // Sums that wrap around.
        (Element::Index32, true, vec![5, u64::from(u32::MAX)]),
        (Element::Index64, true, vec![5, u64::MAX]),
        (Element::Index32, true, vec![u64::from(u32::MAX), 2]),
        (Element::Index64, true, vec![u64::MAX, 2]),
    ] {
        let found = read_ends(element, is_split, &stored);
        assert!(
            matches!(found, Err(FormatError::Malformed { .. })),
            "{element:?} {stored:?}: {found:?}"
        );
    }
}

#[test]
fn ends_at_the_widths_bounds_are_read() {
    let high = u64::MAX - 300;
    for is_split in [false, true] {
        let stored = if is_split {
            vec![high, 255, 45]
        } else {
            vec![high, high + 255, u64::MAX]
        };
        let found = read_ends(Element::Index64, is_split, &stored).unwrap();
        assert_eq!(found, [high, high + 255, u64::MAX]);
    }
    let most = u64::from(u32::MAX);
    assert_eq!(
        read_ends(Element::Index32, true, &[most - 255, 255]).unwrap(),
        [most - 255, most]
    );
    assert_eq!(
        read_ends(Element::Index64, true, &[7, most]).unwrap(),
        [7, 7 + most]
    );
    let found = read_ends(Element::Index64, true, &[7, most + 1]);
    assert!(
        matches!(found, Err(FormatError::Unsupported { .. })),
        "{found:?}"
    );
}

#[test]
fn the_sign_is_the_declared_types_and_the_encoding_the_columns() {
    let whole = 0..2;
    let ones: Vec<i8> = read(Element::U8, false, &[255, 1], whole.clone(), 2);
    assert_eq!(ones, [-1, 1]);
    // 1 and 2 in zigzag are -1 and 1; in a column without signs they are themselves.
    let stored = split(&[1, 0, 2, 0], 2);
    let signed: Vec<u16> = read(Element::I16, true, &stored, whole.clone(), 2);
    let unsigned: Vec<i16> = read(Element::U16, true, &stored, whole, 2);
    assert_eq!((signed, unsigned), (vec![u16::MAX, 1], vec![1, 2]));
}
