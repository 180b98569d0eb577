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

/// A number of bytes that every codec makes a little shorter.
fn noise(len: usize) -> Vec<u8> {
    let word = |i: u32| ((i / 3).wrapping_mul(2_654_435_761) >> 7).to_be_bytes();
    (0..).flat_map(word).take(len).collect()
}

#[test]
fn the_front_of_a_record_is_had_without_the_rest() {
    let data = noise(1 << 20);
    let mut d = Decompressor::new();
    for tag in TAGS {
        for block_len in [data.len(), 300_000] {
            let src = record(tag, &data, block_len);
            for wanted in [0, 1, 131_072, 131_073, 400_000, data.len()] {
                let mut out = Vec::new();
                let front = d.unpack_front(&src, data.len(), wanted, &mut out).unwrap();
                assert!(
                    front.len() >= wanted && data.starts_with(front),
                    "{tag:?} {wanted}"
                );
                let longest = if tag == b"ZS" { 131_072 } else { block_len };
                assert!(
                    front.len() < wanted + longest,
                    "{tag:?} {wanted} {}",
                    front.len()
                );
            }
            // Whole ones in between and afterwards.
            let mut out = Vec::new();
            assert!(
                d.unpack(&src, data.len(), &mut out).unwrap() == data,
                "{tag:?}"
            );
        }
    }
    let stored = d
        .unpack_front(&data, data.len(), 10, &mut Vec::new())
        .unwrap()
        .len();
    assert_eq!(stored, data.len());
}

#[test]
fn what_lies_behind_the_front_is_not_looked_at_and_its_size_is() {
    let data = noise(1 << 20);
    let mut d = Decompressor::new();
    let mut out = Vec::new();
    let mut src = record(b"ZS", &data, data.len());
    let len = src.len();
    src[len - 60..].fill(0xa5);
    assert!(d.unpack(&src, data.len(), &mut out).is_err());
    let front = d.unpack_front(&src, data.len(), 500_000, &mut out).unwrap();
    assert!(data.starts_with(front));
    for tag in TAGS {
        let mut src = record(tag, &data, 600_000);
        let second =
            9 + usize::from(src[3]) + (usize::from(src[4]) << 8) + (usize::from(src[5]) << 16);
        assert_eq!(&src[second..second + 2], tag);
        src[second + 20] ^= 0x10;
        assert!(
            d.unpack_front(&src, data.len(), 600_000, &mut out).is_ok(),
            "{tag:?}"
        );
        src[second + 6] ^= 1;
        assert!(
            d.unpack_front(&src, data.len(), 600_000, &mut out).is_err(),
            "{tag:?}"
        );
    }
}

#[test]
fn checksums_are_verified_of_fronts_too() {
    let data = noise(1 << 20);
    let mut d = Decompressor::new();
    let mut with_checksum = zstd_safe::CCtx::create();
    with_checksum
        .set_parameter(zstd_safe::CParameter::ChecksumFlag(true))
        .unwrap();
    let mut body = Vec::with_capacity(zstd_safe::compress_bound(data.len()));
    with_checksum.compress2(&mut body, &data).unwrap();
    let mut zstd = b"ZS\x01".to_vec();
    zstd.extend(&(body.len() as u32).to_le_bytes()[..3]);
    zstd.extend(&(data.len() as u32).to_le_bytes()[..3]);
    zstd.extend(body);
    let records = [
        zstd,
        block(b"ZL", &data),
        block(b"XZ", &data),
        block(b"L4", &data),
    ];
    for mut src in records {
        let mut out = Vec::new();
        let all = d.unpack_front(&src, data.len(), 10, &mut out).unwrap();
        assert_eq!(all.len(), data.len());
        let last = src.len() - 1;
        src[last] ^= 1;
        let front = d.unpack_front(&src, data.len(), 10, &mut out);
        assert!(front.is_err(), "{}", src[..2].escape_ascii());
    }
}

#[test]
fn announced_lengths_must_be_right_for_a_front() {
    let data = noise(1 << 20);
    for wrong in [data.len() - 1, data.len() + 1] {
        let mut src = block(b"ZS", &data);
        src[6..9].copy_from_slice(&(wrong as u32).to_le_bytes()[..3]);
        let mut out = Vec::new();
        let front = Decompressor::new().unpack_front(&src, wrong, 10, &mut out);
        assert!(front.is_err(), "{wrong}");
    }
}

proptest! {
    #[test]
    fn fronts_of_changed_or_cut_frames_never_panic(
        at in 0_usize..300_000, to in any::<u8>(), cut in 0_usize..1000, wanted in 0_usize..300_000,
    ) {
        let data = noise(300_000);
        let mut src = block(b"ZS", &data);
        let at = at % src.len();
        src[at] = to;
        // The header of the frame and of its first blocks: what steers the streaming.
        src[9 + at % 16] ^= to;
        src.truncate(src.len() - cut);
        let mut d = Decompressor::new();
        let _ = d.unpack_front(&src, data.len(), wanted, &mut Vec::new());
        let sound = block(b"ZS", &data);
        prop_assert!(d.unpack(&sound, data.len(), &mut Vec::new()).unwrap() == data);
    }

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

/// The working memory goes from one decompressor of a thread to the next, also after damage and where two are used in turn.
#[test]
fn decompressors_that_come_after_others_give_the_same_bytes() {
    let data: Vec<u8> = (0..3000_u32).flat_map(|n| (n / 7).to_le_bytes()).collect();
    let unpack = |decompressor: &mut Decompressor, record: &[u8]| {
        let mut out = Vec::new();
        let done = decompressor.decompress(record, data.len(), &mut out);
        done.map(|()| out)
    };
    for tag in TAGS {
        let good = record(tag, &data, 5000);
        let mut damaged = good.clone();
        let middle = damaged.len() / 2;
        damaged[middle..].iter_mut().for_each(|byte| *byte ^= 0x5a);
        for _ in 0..3 {
            let mut first = Decompressor::new();
            assert!(unpack(&mut first, &damaged).is_err());
            let mut second = Decompressor::new();
            assert_eq!(unpack(&mut second, &good).unwrap(), data);
            drop(second);
            assert_eq!(unpack(&mut first, &good).unwrap(), data);
            drop(first);
            assert_eq!(unpack(&mut Decompressor::new(), &good).unwrap(), data);
        }
    }
}
