//! RNTuples with known values.

use crate::writer::{Cluster, NTuple, Pages};

/// Field names and their values.
pub type Known = Vec<(&'static str, Vec<&'static str>)>;

pub const LEAF: u16 = 0;
pub const COLLECTION: u16 = 1;
pub const RECORD: u16 = 2;
pub const VARIANT: u16 = 3;

pub const BIT: (u16, u16) = (0x00, 1);
pub const CHAR: (u16, u16) = (0x02, 8);
pub const I8: (u16, u16) = (0x03, 8);
pub const U8: (u16, u16) = (0x04, 8);
pub const I16: (u16, u16) = (0x05, 16);
pub const I32: (u16, u16) = (0x07, 32);
pub const F32: (u16, u16) = (0x0c, 32);
pub const F64: (u16, u16) = (0x0d, 64);
pub const INDEX32: (u16, u16) = (0x0e, 32);
pub const SWITCH: (u16, u16) = (0x10, 96);
pub const SPLIT_INDEX64: (u16, u16) = (0x1b, 64);

/// One page of elements that have these bytes.
pub fn page<const N: usize>(elements: &[[u8; N]]) -> (u32, Vec<u8>) {
    (elements.len() as u32, elements.concat())
}

pub fn i32s(values: &[i32]) -> (u32, Vec<u8>) {
    page(&values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

pub fn f32s(values: &[f32]) -> (u32, Vec<u8>) {
    page(&values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

pub fn f64s(values: &[f64]) -> (u32, Vec<u8>) {
    page(&values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>())
}

pub fn bytes(values: &[u8]) -> (u32, Vec<u8>) {
    (values.len() as u32, values.to_vec())
}

pub fn switches(values: &[(u64, u32)]) -> (u32, Vec<u8>) {
    let elements = values
        .iter()
        .map(|(i, tag)| [&i.to_le_bytes()[..], &tag.to_le_bytes()].concat());
    (values.len() as u32, elements.flatten().collect())
}

/// Ends as they are stored in split pages: differences, their first bytes first.
pub fn split_ends(ends: &[u64]) -> (u32, Vec<u8>) {
    let before = std::iter::once(&0).chain(ends);
    let steps: Vec<[u8; 8]> = ends
        .iter()
        .zip(before)
        .map(|(e, b)| e.wrapping_sub(*b).to_le_bytes())
        .collect();
    let planes = (0..8).flat_map(|k| steps.iter().map(move |step| step[k]));
    (ends.len() as u32, planes.collect())
}

fn pages(pages: &[(u32, Vec<u8>)]) -> Pages {
    Some(pages.to_vec())
}

/// Every structure, in clusters of 3, 0 and 2 entries.
pub fn structures() -> (NTuple, Known) {
    let mut n = NTuple::default();
    let mut columns: Vec<[Pages; 2]> = Vec::new();
    let mut column = |n: &mut NTuple,
                      field: u32,
                      kind: (u16, u16),
                      first: &[(u32, Vec<u8>)],
                      second: &[(u32, Vec<u8>)]| {
        columns.push([pages(first), pages(second)]);
        n.column(field, kind.0, kind.1)
    };

    let x = n.field(None, LEAF, "x", "std::int32_t");
    column(
        &mut n,
        x,
        I32,
        &[i32s(&[1, -2]), i32s(&[3])],
        &[i32s(&[4, 5])],
    );

    let s = n.field(None, LEAF, "s", "std::string");
    column(&mut n, s, INDEX32, &[i32s(&[1, 1, 3])], &[i32s(&[0, 2])]);
    column(
        &mut n,
        s,
        CHAR,
        &[bytes(b"ab"), bytes(b"b")],
        &[bytes(b"cd")],
    );

    let v = n.field(None, COLLECTION, "v", "std::vector<float>");
    let ends = column(
        &mut n,
        v,
        SPLIT_INDEX64,
        &[split_ends(&[1, 1]), split_ends(&[3])],
        &[split_ends(&[0, 1])],
    );
    let item = n.field(Some(v), LEAF, "_0", "float");
    column(
        &mut n,
        item,
        F32,
        &[f32s(&[1.5, 2.0, 3.0])],
        &[f32s(&[4.0])],
    );
    let nv = n.field(None, LEAF, "nv", "ROOT::RNTupleCardinality<std::uint32_t>");
    n.fields[nv as usize].projected_from = Some(v);
    n.aliases.push((ends, nv));

    let o = n.field(
        None,
        COLLECTION,
        "o",
        "std::optional<std::optional<std::int8_t>>",
    );
    column(&mut n, o, INDEX32, &[i32s(&[1, 1, 2])], &[i32s(&[1, 2])]);
    let inner = n.field(Some(o), COLLECTION, "_0", "std::optional<std::int8_t>");
    column(&mut n, inner, INDEX32, &[i32s(&[0, 1])], &[i32s(&[1, 2])]);
    let item = n.field(Some(inner), LEAF, "_0", "std::int8_t");
    column(&mut n, item, I8, &[bytes(&[7])], &[bytes(&[8, 0xf7])]);

    let a = n.field(None, LEAF, "a", "std::array<bool,3>");
    n.fields[a as usize].repetition = Some(3);
    let item = n.field(Some(a), LEAF, "_0", "bool");
    column(
        &mut n,
        item,
        BIT,
        &[(9, vec![0b1000_1101, 0b1])],
        &[(4, vec![0b0011]), (2, vec![0b10])],
    );

    let bits = n.field(None, LEAF, "bits", "std::bitset<2>");
    n.fields[bits as usize].repetition = Some(2);
    column(
        &mut n,
        bits,
        BIT,
        &[(6, vec![0b10_0110])],
        &[(4, vec![0b0001])],
    );

    let var = n.field(
        None,
        VARIANT,
        "var",
        "std::variant<std::int16_t,std::string>",
    );
    column(
        &mut n,
        var,
        SWITCH,
        &[switches(&[(0, 2), (0, 1), (1, 2)])],
        &[switches(&[(0, 0), (0, 1)])],
    );
    let item = n.field(Some(var), LEAF, "_0", "std::int16_t");
    column(
        &mut n,
        item,
        I16,
        &[bytes(&[1, 0])].map(|(_, b)| (1, b)),
        &[(1, vec![2, 0])],
    );
    let item = n.field(Some(var), LEAF, "_1", "std::string");
    column(&mut n, item, INDEX32, &[i32s(&[2, 3])], &[]);
    column(&mut n, item, CHAR, &[bytes(b"yes")], &[]);

    let ov = n.field(
        None,
        COLLECTION,
        "ov",
        "std::optional<std::variant<std::uint8_t>>",
    );
    column(&mut n, ov, INDEX32, &[i32s(&[0, 1, 2])], &[i32s(&[0, 1])]);
    let inner = n.field(Some(ov), VARIANT, "_0", "std::variant<std::uint8_t>");
    column(
        &mut n,
        inner,
        SWITCH,
        &[switches(&[(0, 1), (0, 0)])],
        &[switches(&[(0, 1)])],
    );
    let item = n.field(Some(inner), LEAF, "_0", "std::uint8_t");
    column(&mut n, item, U8, &[bytes(&[11])], &[bytes(&[12])]);

    let r = n.field(None, RECORD, "r", "Derived");
    let base = n.field(Some(r), RECORD, ":_0", "Base");
    let pt = n.field(Some(base), LEAF, "pt", "std::uint8_t");
    column(&mut n, pt, U8, &[bytes(&[1, 2, 3])], &[bytes(&[4, 5])]);
    let pt = n.field(Some(r), LEAF, "pt", "std::uint8_t");
    column(&mut n, pt, U8, &[bytes(&[6, 7, 8])], &[bytes(&[9, 10])]);

    let m = n.field(None, COLLECTION, "m", "std::map<std::uint8_t,Base>");
    column(&mut n, m, INDEX32, &[i32s(&[1, 2, 2])], &[i32s(&[0, 1])]);
    let pair = n.field(Some(m), RECORD, "_0", "std::pair<std::uint8_t,Base>");
    let key = n.field(Some(pair), LEAF, "_0", "std::uint8_t");
    column(&mut n, key, U8, &[bytes(&[1, 2])], &[bytes(&[3])]);
    let base = n.field(Some(pair), RECORD, "_1", "Base");
    let pt = n.field(Some(base), LEAF, "pt", "std::uint8_t");
    column(&mut n, pt, U8, &[bytes(&[21, 22])], &[bytes(&[23])]);

    let oa = n.field(None, COLLECTION, "oa", "std::optional<std::array<Base,2>>");
    column(&mut n, oa, INDEX32, &[i32s(&[1, 1, 1])], &[i32s(&[0, 1])]);
    let array = n.field(Some(oa), LEAF, "_0", "std::array<Base,2>");
    n.fields[array as usize].repetition = Some(2);
    let base = n.field(Some(array), RECORD, "_0", "Base");
    let pt = n.field(Some(base), LEAF, "pt", "std::uint8_t");
    column(&mut n, pt, U8, &[bytes(&[31, 32])], &[bytes(&[33, 34])]);

    let color = n.field(None, LEAF, "color", "Color");
    let item = n.field(Some(color), LEAF, "_0", "std::uint8_t");
    column(&mut n, item, U8, &[bytes(&[1, 0, 2])], &[bytes(&[0, 1])]);

    let (first, second) = columns
        .into_iter()
        .map(|[first, second]| (first, second))
        .unzip();
    let none = n.columns.iter().map(|_| Some(Vec::new())).collect();
    n.clusters = vec![
        Cluster {
            entries: 3,
            columns: first,
        },
        Cluster {
            entries: 0,
            columns: none,
        },
        Cluster {
            entries: 2,
            columns: second,
        },
    ];
    let known = vec![
        ("x", vec!["1", "-2", "3", "4", "5"]),
        ("s", vec![r#""a""#, r#""""#, r#""bb""#, r#""""#, r#""cd""#]),
        ("v", vec!["[1.5]", "[]", "[2, 3]", "[]", "[4]"]),
        ("nv", vec!["1", "0", "2", "0", "1"]),
        ("o", vec!["null", "null", "7", "8", "-9"]),
        (
            "a",
            vec![
                "[true, false, true]",
                "[true, false, false]",
                "[false, true, true]",
                "[true, true, false]",
                "[false, false, true]",
            ],
        ),
        (
            "bits",
            vec![
                "[false, true]",
                "[true, false]",
                "[false, true]",
                "[true, false]",
                "[false, false]",
            ],
        ),
        ("var", vec![r#""ye""#, "1", r#""s""#, "none", "2"]),
        ("ov", vec!["none", "11", "none", "none", "12"]),
        (
            "r",
            vec![
                "{pt: 6, Base::pt: 1}",
                "{pt: 7, Base::pt: 2}",
                "{pt: 8, Base::pt: 3}",
                "{pt: 9, Base::pt: 4}",
                "{pt: 10, Base::pt: 5}",
            ],
        ),
        ("r.pt", vec!["6", "7", "8", "9", "10"]),
        ("r.Base::pt", vec!["1", "2", "3", "4", "5"]),
        (
            "m",
            vec![
                "[{0: 1, 1: {pt: 21}}]",
                "[{0: 2, 1: {pt: 22}}]",
                "[]",
                "[]",
                "[{0: 3, 1: {pt: 23}}]",
            ],
        ),
        ("m.0", vec!["[1]", "[2]", "[]", "[]", "[3]"]),
        ("m.1.pt", vec!["[21]", "[22]", "[]", "[]", "[23]"]),
        (
            "oa",
            vec![
                "[{pt: 31}, {pt: 32}]",
                "null",
                "null",
                "null",
                "[{pt: 33}, {pt: 34}]",
            ],
        ),
        (
            "oa.pt",
            vec!["[31, 32]", "null", "null", "null", "[33, 34]"],
        ),
        ("color", vec!["1", "0", "2", "0", "1"]),
    ];
    (n, known)
}

/// Columns that came late, and columns in two representations; clusters of 2, 3 and 1 entries.
pub fn changes() -> (NTuple, Known) {
    let mut n = NTuple::default();
    let d = n.field(None, LEAF, "d", "double");
    n.column(d, F32.0, F32.1);
    n.column(d, F64.0, F64.1);
    n.columns[1].representation = 1;
    let alias = n.field(None, LEAF, "alias", "double");
    n.fields[alias as usize].projected_from = Some(d);
    n.aliases.extend([(0, alias), (1, alias)]);
    // Added before entry 3: two values into the second cluster.
    let late = n.field(None, LEAF, "late", "std::array<std::int32_t,2>");
    n.fields[late as usize].repetition = Some(2);
    let item = n.field(Some(late), LEAF, "_0", "std::int32_t");
    n.column(item, I32.0, I32.1);
    n.columns[2].first = Some(6);
    let list = n.field(None, COLLECTION, "list", "std::vector<std::int8_t>");
    n.column(list, INDEX32.0, INDEX32.1);
    n.columns[3].first = Some(3);
    let item = n.field(Some(list), LEAF, "_0", "std::int8_t");
    n.column(item, I8.0, I8.1);
    n.clusters = vec![
        Cluster {
            entries: 2,
            columns: vec![pages(&[f32s(&[0.5, 1.5])]), None],
        },
        Cluster {
            entries: 3,
            columns: vec![
                None,
                pages(&[f64s(&[0.1, 0.2, 0.3])]),
                pages(&[i32s(&[7, 8, 9, 10])]),
                pages(&[i32s(&[1, 3])]),
                pages(&[bytes(&[1, 2, 3])]),
            ],
        },
        Cluster {
            entries: 1,
            columns: vec![
                pages(&[f32s(&[2.5])]),
                None,
                pages(&[i32s(&[11, 12])]),
                pages(&[i32s(&[1])]),
                pages(&[bytes(&[4])]),
            ],
        },
    ];
    let reals = vec!["0.5", "1.5", "0.1", "0.2", "0.3", "2.5"];
    let known = vec![
        ("d", reals.clone()),
        ("alias", reals),
        (
            "late",
            vec![
                "[0, 0]", "[0, 0]", "[0, 0]", "[7, 8]", "[9, 10]", "[11, 12]",
            ],
        ),
        ("list", vec!["[]", "[]", "[]", "[1]", "[2, 3]", "[4]"]),
    ];
    (n, known)
}
