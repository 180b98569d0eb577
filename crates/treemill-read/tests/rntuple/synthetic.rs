//! Small RNTuples written from the specification: structures, late and suppressed columns, and what
//! must be refused.

use crate::samples::{
    BIT, CHAR, COLLECTION, I32, INDEX32, LEAF, SWITCH, U8, VARIANT, bytes, changes, i32s,
    structures, switches,
};
use crate::values::{by, open, read};
use crate::writer::{Cluster, NTuple, Part};
use treemill_read::{ErrorKind, Options, Reader};
use treemill_source::Costs;
use treemill_testing::FAR;

#[test]
fn every_structure_is_read_by_any_batches_from_any_source() {
    for (sample, known) in [structures(), changes()] {
        let (file, key) = sample.write();
        for costs in [Costs::NEAR, FAR] {
            let file = open(file.clone(), &key, costs).unwrap();
            for batch in [100, 1, 2, 3] {
                for (name, values) in &known {
                    let field = file
                        .field(name)
                        .unwrap_or_else(|| panic!("no field {name}"));
                    let found = read(&file, field, by(batch)).unwrap();
                    assert_eq!(&found, values, "{name}, batches of {batch}, {costs:?}");
                }
            }
        }
    }
}

#[test]
fn an_empty_range_has_arrays_of_the_right_type() {
    let (sample, _) = structures();
    let (file, key) = sample.write();
    let file = open(file, &key, Costs::NEAR).unwrap();
    for field in 0..file.fields().len() {
        let mut reader = Reader::new(file.clone(), &[field]).unwrap();
        let array = reader.read(0, 2..2).unwrap();
        assert_eq!(array.len(), 0);
        assert_eq!(
            array.data_type(),
            file.arrow_field(field).unwrap().data_type()
        );
        assert!(
            reader.batches(2..6, Options::default()).is_err(),
            "there are 5 entries"
        );
    }
}

/// The error that reading the field `f` brings.
fn refused(ntuple: &NTuple) -> (ErrorKind, String) {
    let (file, key) = ntuple.write();
    let result = open(file, &key, Costs::NEAR).and_then(|file| {
        let field = file.field("f").unwrap();
        read(&file, field, by(10))
    });
    let error = result.expect_err("this should not be readable");
    (error.kind, error.to_string())
}

/// A column's type and bits, and its page's elements and bytes.
type TypeAndPage = ((u16, u16), (u32, Vec<u8>));

/// A field `f` whose columns have these pages in one cluster of three entries.
fn broken(role: u16, type_name: &'static str, columns: &[TypeAndPage]) -> NTuple {
    let mut n = NTuple::default();
    let f = n.field(None, role, "f", type_name);
    let mut cluster = Cluster {
        entries: 3,
        ..Cluster::default()
    };
    for (i, (kind, page)) in columns.iter().enumerate() {
        let field = if i == 0 || role == LEAF {
            f
        } else {
            n.field(Some(f), LEAF, "_0", "std::uint8_t")
        };
        n.column(field, kind.0, kind.1);
        cluster.columns.push(Some(vec![page.clone()]));
    }
    n.clusters.push(cluster);
    n
}

#[test]
fn elements_that_contradict_each_other_are_malformed() {
    let vector = |ends: &[i32], items: &[u8]| {
        broken(
            COLLECTION,
            "std::vector<std::uint8_t>",
            &[(INDEX32, i32s(ends)), (U8, bytes(items))],
        )
    };
    let optional = NTuple {
        fields: {
            let mut fields = vector(&[0, 2, 2], &[1, 2]).fields;
            fields[0].type_name = "std::optional<std::uint8_t>";
            fields
        },
        ..vector(&[0, 2, 2], &[1, 2])
    };
    let variant = |values: &[(u64, u32)]| {
        broken(
            VARIANT,
            "std::variant<std::uint8_t>",
            &[(SWITCH, switches(values)), (U8, bytes(&[1, 2]))],
        )
    };
    let string = broken(
        LEAF,
        "std::string",
        &[(INDEX32, i32s(&[1, 2, 9])), (CHAR, bytes(b"ab"))],
    );
    let cases = [
        (vector(&[2, 1, 2], &[1, 2]), "end before they begin"),
        (
            vector(&[0, 1, 3], &[1, 2]),
            "elements 0..3 are needed of a column that has 2",
        ),
        (
            vector(&[0, 1, i32::MAX], &[1, 2]),
            "are needed of a column that has 2",
        ),
        (vector(&[0, 1], &[1]), "no column has elements for them"),
        (optional, "two values"),
        (
            variant(&[(0, 1), (1, 2), (0, 0)]),
            "a variant of 1 alternatives names alternative 2",
        ),
        (
            variant(&[(0, 1), (7, 1), (0, 0)]),
            "are needed of a column that has 2",
        ),
        (variant(&[(0, 1), (u64::MAX - 1, 1), (0, 0)]), "2^31"),
        (string, "are needed of a column that has 2"),
        (
            broken(LEAF, "std::int32_t", &[(I32, (3, vec![0; 11]))]),
            "no compression codec",
        ),
        (
            broken(LEAF, "std::int32_t", &[(I32, (3, vec![0; 13]))]),
            "a page of 12 bytes is stored in 13",
        ),
        (
            broken(LEAF, "bool", &[(BIT, (3, vec![]))]),
            "block's header",
        ),
    ];
    for (ntuple, expected) in cases {
        let (kind, message) = refused(&ntuple);
        assert!(
            message.contains(expected),
            "{message}; expected: {expected}"
        );
        let is_limit = expected == "2^31";
        assert_eq!(
            kind,
            if is_limit {
                ErrorKind::Unsupported
            } else {
                ErrorKind::Format
            },
            "{message}"
        );
    }
}

#[test]
fn variants_have_their_elements_in_any_order() {
    let switches = switches(&[(1, 1), (0, 1), (1, 1)]);
    let sample = broken(
        VARIANT,
        "std::variant<std::uint8_t>",
        &[(SWITCH, switches), (U8, bytes(&[7, 9]))],
    );
    let (file, key) = sample.write();
    let file = open(file, &key, Costs::NEAR).unwrap();
    for batch in [1, 2, 3] {
        let found = read(&file, file.field("f").unwrap(), by(batch)).unwrap();
        assert_eq!(found, ["9", "7", "9"], "batches of {batch}");
    }
}

#[test]
fn a_damaged_page_is_found_by_its_checksum() {
    let (sample, _) = structures();
    let (mut bytes, key) = sample.write();
    let at = b"root, or not".len(); // the first page, of x
    bytes[at] ^= 1;
    let file = open(bytes, &key, Costs::NEAR).unwrap();
    let error = read(&file, file.field("x").unwrap(), Options::default()).unwrap_err();
    assert_eq!(
        (error.kind, error.offset),
        (ErrorKind::Format, Some(at as u64 + 8)),
        "{error}"
    );
    assert_eq!(
        (error.branch.as_deref(), error.entries.clone()),
        (Some("x"), Some(0..3))
    );
    assert!(error.message.contains("checksum"), "{error}");
    assert!(
        read(&file, file.field("s").unwrap(), Options::default()).is_ok(),
        "other pages are sound"
    );
}

#[test]
fn what_is_unknown_is_unsupported_by_name_and_spoils_nothing_else() {
    let (mut sample, known) = structures();
    let unknown = [
        sample.field(None, 4, "streamed", "TLorentzVector"),
        sample.field(None, 9, "role", "Thing"),
        sample.field(None, LEAF, "column", "float"),
        sample.field(None, COLLECTION, "vector", "std::vector<float>"),
    ];
    sample.column(unknown[2], 0x77, 32);
    sample.column(unknown[3], INDEX32.0, INDEX32.1);
    let item = sample.field(Some(unknown[3]), LEAF, "_0", "float");
    sample.column(item, 0x1d, 33);
    for cluster in &mut sample.clusters {
        cluster
            .columns
            .extend([Some(Vec::new()), Some(Vec::new()), Some(Vec::new())]);
    }
    let (bytes, key) = sample.write();
    let file = open(bytes, &key, Costs::NEAR).unwrap();
    for (name, expected) in [
        ("streamed", "TLorentzVector, serialised by ROOT's streamer"),
        ("role", "structural role 0x09"),
        ("column", "column of type 0x77"),
        ("vector", "column of type 0x1d with 33 bits"),
    ] {
        let error = file.shape(file.field(name).unwrap()).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unsupported);
        assert!(error.to_string().contains(expected), "{error}");
        assert_eq!(error.branch.as_deref(), Some(name));
    }
    let x = file.field("x").unwrap();
    assert_eq!(read(&file, x, Options::default()).unwrap(), known[0].1);

    sample.feature_flags = 1;
    let (bytes, key) = sample.write();
    let error = open(bytes, &key, Costs::NEAR).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unsupported);
    assert!(error.to_string().contains("feature flag 0"), "{error}");
}

#[test]
fn clusters_must_cover_the_entries() {
    let (sample, _) = structures();
    let mut summaries = 0;
    let (bytes, key) = sample.write_damaged(&mut |part, bytes| {
        if part == Part::PageList {
            // Header's checksum, the list's size and number, the first record's size: its first entry.
            bytes[8 + 12 + 8] = 1;
            summaries += 1;
        }
    });
    assert_eq!(summaries, 1);
    let error = open(bytes, &key, Costs::NEAR).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Format);
    assert!(error.to_string().contains("begins at entry"), "{error}");
}

#[test]
fn a_distant_source_is_asked_few_times() {
    use std::sync::Arc;
    use treemill_source::Memory;
    use treemill_testing::Watched;
    let (sample, known) = structures();
    let (bytes, key) = sample.write();
    let source = Arc::new(Watched::new(Memory::new("m", bytes, FAR)));
    let file = Arc::new(treemill_read::rntuple::NTupleFile::open(source.clone(), &key).unwrap());
    assert_eq!(
        source.reads().len(),
        3,
        "anchor; header and footer; page lists"
    );
    for (name, _) in known {
        read(&file, file.field(name).unwrap(), by(1)).unwrap();
        assert_eq!(
            source.reads().len(),
            1,
            "{name}: all pages of all columns at once"
        );
    }
}

/// The pages between two rows that are far apart are not decompressed, however far away the file is.
#[test]
fn single_rows_of_a_distant_source_decode_their_own_pages() {
    use std::sync::Arc;
    use treemill_read::Counters;
    let mut n = NTuple::default();
    let f = n.field(None, LEAF, "f", "std::int32_t");
    n.column(f, I32.0, I32.1);
    let page = |first: i32| i32s(&(first..first + 1000).collect::<Vec<_>>());
    n.clusters.push(Cluster {
        entries: 10_000,
        columns: vec![Some((0..10).map(|i| page(i * 1000)).collect())],
    });
    let (bytes, key) = n.write();
    for costs in [Costs::NEAR, FAR] {
        let file = open(bytes.clone(), &key, costs).unwrap();
        let counters = Arc::new(Counters::default());
        let mut reader = Reader::new(file, &[0])
            .unwrap()
            .with_counters(Arc::clone(&counters));
        let mut batches = reader.batches(0..10_000, Options::default()).unwrap();
        let mut batch = batches.next_batch().unwrap();
        let found = batch.column_at(0, &[5, 9_995]).unwrap();
        assert_eq!(crate::values::all(&found), ["5", "9995"]);
        assert_eq!(counters.bytes_decompressed(), 2 * 4000, "{costs:?}");
    }
}
