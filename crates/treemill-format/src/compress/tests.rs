//! Tests of the block reader against blocks made here with each library's own compressor.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use super::*;
use proptest::prelude::*;

const TAGS: [&[u8; 2]; 5] = [b"ZL", b"CS", b"XZ", b"L4", b"ZS"];

fn body(tag: &[u8; 2], data: &[u8]) -> Vec<u8> {
    match tag {
        b"ZL" => {
            let mut c = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
            let mut out = vec![0; c.zlib_compress_bound(data.len())];
            let n = c.zlib_compress(data, &mut out).unwrap();
            out.truncate(n);
            out
        }
        b"CS" => {
            let mut c = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
            let mut out = vec![0; c.deflate_compress_bound(data.len())];
            let n = c.deflate_compress(data, &mut out).unwrap();
            out.truncate(n);
            out
        }
        b"XZ" => liblzma::encode_all(data, 6).unwrap(),
        b"L4" => {
            let packed = ::lz4::block::compress(data, None, false).unwrap();
            let mut out = xxhash_rust::xxh64::xxh64(&packed, 0).to_be_bytes().to_vec();
            out.extend(packed);
            out
        }
        b"ZS" => {
            let mut out = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
            zstd_safe::compress(&mut out, data, 5).unwrap();
            out
        }
        _ => panic!("no such tag"),
    }
}

fn block(tag: &[u8; 2], data: &[u8]) -> Vec<u8> {
    let body = body(tag, data);
    let mut out = tag.to_vec();
    out.push(8);
    out.extend(&(body.len() as u32).to_le_bytes()[..3]);
    out.extend(&(data.len() as u32).to_le_bytes()[..3]);
    out.extend(body);
    out
}

fn record(tag: &[u8; 2], data: &[u8], block_len: usize) -> Vec<u8> {
    data.chunks(block_len).flat_map(|c| block(tag, c)).collect()
}

#[test]
fn every_codec_gives_back_what_was_compressed_in_one_block_and_in_several() {
    let data: Vec<u8> = (0..100_000_u32)
        .flat_map(|i| (i / 7).to_be_bytes())
        .collect();
    let mut decompressor = Decompressor::new();
    let mut out = Vec::new();
    for tag in TAGS {
        for block_len in [data.len(), 65_537] {
            let src = record(tag, &data, block_len);
            decompressor.decompress(&src, data.len(), &mut out).unwrap();
            assert!(out == data, "{tag:?} in blocks of {block_len}");
            let unpacked = decompressor.unpack_verified(&src, data.len(), &mut out);
            assert!(
                unpacked.unwrap() == data,
                "{tag:?} in blocks of {block_len}"
            );
        }
    }
}

#[test]
fn blocks_of_different_codecs_may_follow_one_another() {
    let data: Vec<u8> = (0..4000_u32).flat_map(|i| i.to_be_bytes()).collect();
    let src: Vec<u8> = data
        .chunks(3200)
        .zip(TAGS)
        .flat_map(|(c, tag)| block(tag, c))
        .collect();
    let mut out = vec![7; 3];
    Decompressor::new()
        .decompress(&src, data.len(), &mut out)
        .unwrap();
    assert_eq!(out, data);
}

#[test]
fn the_longest_block_of_zeros_is_not_taken_for_a_bomb() {
    let data = vec![0; (1 << 24) - 1];
    let mut out = Vec::new();
    for tag in TAGS {
        let src = block(tag, &data);
        Decompressor::new()
            .decompress(&src, data.len(), &mut out)
            .unwrap();
        assert!(out == data, "{tag:?}");
    }
}

#[test]
fn sizes_that_a_codec_cannot_reach_are_refused_before_memory_is_taken() {
    let mut src = block(b"ZL", b"abc");
    src[6..9].copy_from_slice(&[0xff; 3]);
    let mut out = Vec::new();
    let err = Decompressor::new()
        .decompress(&src, (1 << 24) - 1, &mut out)
        .unwrap_err();
    assert!(err.to_string().contains("cannot hold"), "{err}");
    assert_eq!(out.capacity(), 0);
    let err = Decompressor::new()
        .decompress(&src, usize::MAX, &mut out)
        .unwrap_err();
    assert!(matches!(err, FormatError::Malformed { .. }));
    assert_eq!(out.capacity(), 0);
}

#[test]
fn announced_lengths_must_be_right() {
    let data = vec![3_u8; 5000];
    for tag in TAGS {
        let right = block(tag, &data);
        for wrong in [4999_u32, 5001] {
            let mut src = right.clone();
            src[6..9].copy_from_slice(&wrong.to_le_bytes()[..3]);
            let mut out = Vec::new();
            let result = Decompressor::new().decompress(&src, wrong as usize, &mut out);
            assert!(result.is_err(), "{tag:?} {wrong}");
        }
        let mut out = Vec::new();
        assert!(
            Decompressor::new()
                .decompress(&right, 4999, &mut out)
                .is_err()
        );
        assert!(
            Decompressor::new()
                .decompress(&right, 5001, &mut out)
                .is_err()
        );
    }
}

#[test]
fn damage_is_found_by_the_checksums() {
    let data: Vec<u8> = (0..9000_u32).flat_map(|i| (i * i).to_be_bytes()).collect();
    for tag in [b"ZL", b"XZ", b"L4"] {
        let mut src = block(tag, &data);
        let middle = src.len() / 2;
        src[middle] ^= 0x10;
        let mut out = Vec::new();
        let result = Decompressor::new().decompress(&src, data.len(), &mut out);
        assert!(result.is_err(), "{tag:?}");
    }
}

#[test]
fn zlib_checksums_are_passed_over_only_where_the_bytes_were_verified() {
    let data: Vec<u8> = (0..9000_u32).flat_map(|i| (i * i).to_be_bytes()).collect();
    let mut src = block(b"ZL", &data);
    *src.last_mut().unwrap() ^= 1;
    let (mut decompressor, mut out) = (Decompressor::new(), Vec::new());
    assert!(decompressor.unpack(&src, data.len(), &mut out).is_err());
    let unpacked = decompressor.unpack_verified(&src, data.len(), &mut out);
    assert!(unpacked.unwrap() == data);
    assert!(decompressor.unpack(&src, data.len(), &mut out).is_err());
    src[BLOCK_HEADER] ^= 1; // the frame's header is looked at nevertheless
    assert!(
        decompressor
            .unpack_verified(&src, data.len(), &mut out)
            .is_err()
    );
}

#[test]
fn unknown_codecs_are_malformed() {
    let mut src = block(b"ZL", b"some bytes");
    src[..2].copy_from_slice(b"QQ");
    let err = Decompressor::new()
        .decompress(&src, 10_000, &mut Vec::new())
        .unwrap_err();
    assert!(matches!(&err, FormatError::Malformed { what, at: 0 } if what.contains("QQ")));
}

#[test]
fn a_record_as_long_as_its_object_is_stored() {
    let mut out = Vec::new();
    let mut d = Decompressor::new();
    assert_eq!(d.unpack(b"stored", 6, &mut out).unwrap(), b"stored");
    let data = [1_u8; 500];
    let src = block(b"ZS", &data);
    assert_eq!(d.unpack(&src, 500, &mut out).unwrap(), data);
}

proptest! {
    #[test]
    fn any_bytes_come_back(data in proptest::collection::vec(any::<u8>(), 1..3000), block_len in 1_usize..3000) {
        let mut out = Vec::new();
        let mut d = Decompressor::new();
        for tag in TAGS {
            d.decompress(&record(tag, &data, block_len), data.len(), &mut out).unwrap();
            prop_assert_eq!(&out, &data);
        }
    }

    #[test]
    fn random_bytes_after_a_header_never_panic(
        tag in 0_usize..TAGS.len(),
        body in proptest::collection::vec(any::<u8>(), 0..300),
        len in 0_u32..70_000,
    ) {
        let mut src = TAGS[tag].to_vec();
        src.push(8);
        src.extend(&(body.len() as u32).to_le_bytes()[..3]);
        src.extend(&len.to_le_bytes()[..3]);
        src.extend(body);
        let mut out = Vec::new();
        let _ = Decompressor::new().decompress(&src, len as usize, &mut out);
        let _ = Decompressor::new().unpack_verified(&src, len as usize, &mut out);
    }

    #[test]
    fn a_changed_or_cut_block_never_panics(
        tag in 0_usize..TAGS.len(), at in 0_usize..200, to in any::<u8>(), cut in 0_usize..200,
    ) {
        let data: Vec<u8> = (0..600_u32).map(|i| (i % 13) as u8).collect();
        let mut src = block(TAGS[tag], &data);
        let at = at % src.len();
        src[at] = to;
        src.truncate(src.len().saturating_sub(cut));
        let mut out = Vec::new();
        let _ = Decompressor::new().decompress(&src, data.len(), &mut out);
        let _ = Decompressor::new().unpack_verified(&src, data.len(), &mut out);
    }
}
