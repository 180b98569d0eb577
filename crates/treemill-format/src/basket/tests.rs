//! Tests of baskets' headers and parts against records made here as ROOT writes them.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use super::*;
use crate::error::FormatError;
use proptest::prelude::*;

/// A basket's record head as ROOT writes it, with `features` if given.
fn head(entries: i32, data: i32, payload: i32, features: Option<u8>) -> Vec<u8> {
    let mut tail = Vec::new();
    for s in ["TBasket", "pt", "Events"] {
        tail.push(s.len() as u8);
        tail.extend(s.bytes());
    }
    tail.extend(3_i16.to_be_bytes());
    tail.extend(32000_i32.to_be_bytes());
    match features {
        Some(f) => {
            tail.extend((-1000_i32).to_be_bytes());
            tail.push(f);
        }
        None => tail.extend(1000_i32.to_be_bytes()),
    }
    tail.extend(entries.to_be_bytes());
    let key_len = 26 + tail.len() as i32 + 5;
    tail.extend((key_len + data).to_be_bytes());
    tail.push(0);
    let mut out = (key_len + payload).to_be_bytes().to_vec();
    out.extend(4_i16.to_be_bytes());
    out.extend(payload.to_be_bytes());
    out.extend([0; 4]);
    out.extend((key_len as i16).to_be_bytes());
    out.extend(1_i16.to_be_bytes());
    out.extend([0; 8]);
    out.extend(tail);
    assert_eq!(out.len(), key_len as usize);
    out
}

fn offsets(header: &BasketHeader, starts: &[i32]) -> Vec<u8> {
    let mut out = (starts.len() as i32).to_be_bytes().to_vec();
    for s in starts {
        out.extend((s + header.key_len as i32).to_be_bytes());
    }
    out
}

#[test]
fn header_of_a_plain_basket() {
    let bytes = head(5, 20, 20, None);
    let header = BasketHeader::parse(&bytes).unwrap();
    assert_eq!(header.entries, 5);
    assert_eq!(header.data_end, 20);
    assert_eq!(header.key_len, bytes.len());
    assert!(!header.generated_offsets);
    let data = [1_u8; 20];
    let payload = header.split(&data).unwrap();
    assert_eq!(payload.data, data);
    assert!(payload.stored_offsets.is_empty());
}

#[test]
fn offsets_are_relative_to_the_key_and_the_border_ends_them() {
    let header = BasketHeader::parse(&head(3, 12, 12 + 20, None)).unwrap();
    let mut payload = vec![0; 12];
    payload.extend(offsets(&header, &[0, 4, 4, -999]));
    let parts = header.split(&payload).unwrap();
    let mut starts = vec![9];
    header.entry_starts(parts, &mut starts).unwrap();
    assert_eq!(starts, [0, 4, 4, 12]);
}

#[test]
fn sizes_stand_in_for_offsets_where_the_features_say_so() {
    let header = BasketHeader::parse(&head(3, 12, 12 + 20, Some(1))).unwrap();
    for (sizes, right) in [
        ([7_i32, 4, 0, -4], true),
        ([7, 4, 9, 0], false),
        ([7, 4, -1, 9], false),
    ] {
        let mut payload = vec![0; 12];
        payload.extend(4_i32.to_be_bytes());
        sizes.iter().for_each(|s| payload.extend(s.to_be_bytes()));
        let mut starts = vec![9];
        let found = header.entry_starts(header.split(&payload).unwrap(), &mut starts);
        assert_eq!(found.is_ok(), right, "{sizes:?}");
        if right {
            assert_eq!(starts, [0, 4, 4, 12]);
        }
    }
}

#[test]
fn offsets_out_of_order_or_outside_are_malformed() {
    let header = BasketHeader::parse(&head(3, 12, 12 + 20, None)).unwrap();
    for bad in [[0, 8, 4, 0], [0, 4, 13, 0], [-1, 4, 8, 0]] {
        let mut payload = vec![0; 12];
        payload.extend(offsets(&header, &bad));
        let parts = header.split(&payload).unwrap();
        assert!(
            header.entry_starts(parts, &mut Vec::new()).is_err(),
            "{bad:?}"
        );
    }
}

#[test]
fn a_wrong_count_of_offsets_is_malformed_and_displacements_are_passed_over() {
    let header = BasketHeader::parse(&head(3, 12, 100, None)).unwrap();
    let mut payload = vec![0; 12];
    payload.extend(offsets(&header, &[0, 4]));
    assert!(matches!(
        header.split(&payload),
        Err(FormatError::Malformed { at: 12, .. })
    ));
    let mut payload = vec![0; 12];
    payload.extend(offsets(&header, &[0, 4, 8, 0]));
    let alone = payload.clone();
    payload.extend(offsets(&header, &[0, 4, 8, 0]));
    let expected = header.split(&alone).unwrap();
    assert_eq!(header.split(&payload).unwrap(), expected);
    payload.extend([0; 4]);
    payload[alone.len() + 3] += 1;
    assert!(matches!(
        header.split(&payload),
        Err(FormatError::Malformed { at: 12, .. })
    ));
}

#[test]
fn io_features() {
    let header = BasketHeader::parse(&head(3, 12, 12, Some(1))).unwrap();
    assert!(header.generated_offsets);
    let err = BasketHeader::parse(&head(3, 12, 12, Some(2))).unwrap_err();
    assert!(matches!(err, FormatError::Unsupported { .. }));
}

#[test]
fn fields_that_contradict_one_another_are_malformed() {
    for (entries, data, payload) in [(-1, 12, 12), (3, 13, 12), (3, -1, 12), (3, 12, -1)] {
        assert!(BasketHeader::parse(&head(entries, data, payload, None)).is_err());
    }
    let bytes = head(3, 12, 12, None);
    for len in 0..bytes.len() {
        assert!(BasketHeader::parse(&bytes[..len]).is_err(), "{len}");
    }
}

proptest! {
    #[test]
    fn any_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(header) = BasketHeader::parse(&bytes)
            && let Ok(parts) = header.split(&bytes)
        {
            let _ = header.entry_starts(parts, &mut Vec::new());
        }
    }

    #[test]
    fn any_payload_of_a_good_header_never_panics(
        payload in proptest::collection::vec(any::<u8>(), 0..100),
        count in 0_u8..20,
    ) {
        let header = BasketHeader::parse(&head(i32::from(count), 12, 60, None)).unwrap();
        let mut payload = payload;
        if let Some(slot) = payload.get_mut(12..16) {
            slot.copy_from_slice(&i32::from(count).to_be_bytes());
        }
        if let Ok(parts) = header.split(&payload) {
            let mut starts = Vec::new();
            if header.entry_starts(parts, &mut starts).is_ok() {
                prop_assert!(starts.iter().all(|&s| s as usize <= parts.data.len()));
            }
        }
    }
}
