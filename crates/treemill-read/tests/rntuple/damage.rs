//! Damaged RNTuples whose checksums are right all the same: reading them must end, either with an error of the
//! right kind or with arrays as long as announced.

use crate::samples::{changes, structures};
use crate::values::{by, open, read};
use crate::writer::{Cluster, NTuple, Part, counted};
use proptest::prelude::*;
use treemill_read::{ErrorKind, ReadError};
use treemill_source::Costs;
use treemill_testing::{FAR, peak_of};

fn is_fair(error: &ReadError) -> bool {
    matches!(
        error.kind,
        ErrorKind::Format | ErrorKind::Truncated | ErrorKind::Unsupported | ErrorKind::Source
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn damage_under_right_checksums_does_no_harm(
        which in 0_usize..2, part in 0_usize..4, skip in 0_usize..40,
        edits in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let part = [Part::Header, Part::PageList, Part::Footer, Part::Page][part];
        let (sample, _) = if which == 0 { structures() } else { changes() };
        let mut seen = 0;
        let (bytes, key) = sample.write_damaged(&mut |this, bytes| {
            if this != part || bytes.is_empty() {
                return;
            }
            // One of the many pages; of other parts there is only one.
            let is_meant = this != Part::Page || seen == skip;
            seen += 1;
            if is_meant {
                for (at, value) in &edits {
                    let at = at.index(bytes.len());
                    bytes[at] = *value;
                }
                if let Some(cut) = &cut {
                    bytes.truncate(cut.index(bytes.len()));
                }
            }
        });
        match open(bytes, &key, Costs::NEAR) {
            Err(error) => prop_assert!(is_fair(&error), "{}", error),
            Ok(file) if file.ntuple().entries <= 1000 => {
                for field in 0..file.fields().len() {
                    let _ = file.bytes(field);
                    match read(&file, field, by(2)) {
                        Ok(values) => prop_assert_eq!(values.len() as u64, file.ntuple().entries),
                        Err(error) => prop_assert!(is_fair(&error), "{}", error),
                    }
                }
            }
            // A file may claim any number of entries: the first batch is enough.
            Ok(file) => {
                for field in 0..file.fields().len() {
                    if let Ok(mut reader) = treemill_read::Reader::new(file.clone(), &[field]) {
                        let _ = reader.read(0, 0..1000);
                    }
                }
            }
        }
    }

    #[test]
    fn any_flipped_byte_of_the_file_does_no_harm(at: prop::sample::Index, value: u8) {
        let (sample, known) = structures();
        let (mut bytes, key) = sample.write();
        let at = at.index(bytes.len());
        bytes[at] = value;
        if let Ok(file) = open(bytes, &key, FAR) {
            for (name, values) in known {
                match read(&file, file.field(name).unwrap(), by(2)) {
                    Ok(found) => prop_assert_eq!(found, values, "{}", name),
                    Err(error) => prop_assert!(is_fair(&error), "{}", error),
                }
            }
        }
    }
}

/// A cluster group's record in the footer: its size, first entry, entries, clusters, and the link.
const GROUP: usize = 8 + 8 + 8 + 4 + 8 + 4 + 8;

#[test]
fn groups_that_name_the_same_page_list_take_no_memory() {
    let sample = NTuple {
        clusters: vec![Cluster::default(); 5_000],
        ..NTuple::default()
    };
    let (bytes, key) = sample.write_damaged(&mut |part, bytes| {
        if part == Part::Footer {
            let group = bytes.split_off(bytes.len() - GROUP);
            bytes.truncate(bytes.len() - counted(0, &[]).len());
            bytes.extend(counted(10_000, &group.repeat(10_000)));
        }
    });
    assert!(bytes.len() <= 1 << 20, "{} bytes", bytes.len());
    let most = 20 * bytes.len();
    let (opened, taken) = peak_of(|| open(bytes, &key, Costs::NEAR));
    let error = opened.unwrap_err();
    assert!(error.to_string().contains("page lists announce"), "{error}");
    assert!(taken <= most, "{taken} bytes of {most}");
}
