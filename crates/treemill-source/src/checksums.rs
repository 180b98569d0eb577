//! Checksums of whole files, as servers and documents write them: read, and compared. Pure; computes none, and knows no
//! protocol.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::collections::BTreeMap;
use std::fmt;

/// How a checksum is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// Adler-32 (RFC 1950), which most storage of the field keeps.
    Adler32,
    /// CRC-32C (Castagnoli).
    Crc32c,
    /// MD5.
    Md5,
    /// SHA-1.
    Sha1,
    /// SHA-256.
    Sha256,
    /// SHA-512.
    Sha512,
}

/// Each algorithm, the names that it has in headers, documents and answers, and its bytes; the first name is for messages.
/// `crc32` is left out: servers mean different sums by it.
const ALGORITHMS: [(Algorithm, &[&str], usize); 6] = [
    (Algorithm::Adler32, &["adler32", "adler", "adler-32"], 4),
    (Algorithm::Crc32c, &["crc32c"], 4),
    (Algorithm::Md5, &["md5"], 16),
    (Algorithm::Sha1, &["sha-1", "sha1", "sha"], 20),
    (Algorithm::Sha256, &["sha-256", "sha256"], 32),
    (Algorithm::Sha512, &["sha-512", "sha512"], 64),
];

impl Algorithm {
    /// The algorithm of this name, and its bytes.
    fn named(name: &str) -> Option<(Self, usize)> {
        let is_name = |own: &&str| own.eq_ignore_ascii_case(name.trim());
        let mut all = ALGORITHMS.iter();
        let found = all.find(|(_, names, _)| names.iter().any(is_name))?;
        Some((found.0, found.2))
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = ALGORITHMS.iter();
        let own = all.find(|(algorithm, ..)| algorithm == self);
        f.write_str(own.and_then(|(_, names, _)| names.first()).unwrap_or(&"?"))
    }
}

/// Which checksums of a file are wanted of its server, by what they cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum WantedChecksums {
    /// The ones that it tells without being asked.
    Told,
    /// The server is asked for others, too, if it is known to keep them.
    #[default]
    Stored,
    /// The server is asked even if it may have to read the whole file.
    Computed,
}

/// What is known of a file's checksums, one for each algorithm.
///
/// ```
/// use treemill_source::Checksums;
///
/// let mut here = Checksums::default();
/// here.add("adler32", "3da0195");
/// here.add("MD5", "HB2QdfKsFdpx1AmJxgXmgw==");
/// let mut there = Checksums::default();
/// there.add("ADLER32", "03DA0195");
/// assert_eq!(here.difference(&there), None);
/// there.add("md5", "00000000000000000000000000000000");
/// let difference = here.difference(&there).unwrap();
/// assert_eq!(difference.algorithm.to_string(), "md5");
/// assert_eq!(difference.this, "1c1d9075f2ac15da71d40989c605e683");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Checksums(BTreeMap<Algorithm, Vec<u8>>);

/// Two files that are not the same: an algorithm, and the value of each in hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The algorithm that both are known by.
    pub algorithm: Algorithm,
    /// The value of the first one.
    pub this: String,
    /// The value of the other one.
    pub other: String,
}

impl Checksums {
    /// Adds a checksum by the name of its algorithm, in hexadecimal digits or in base64. A name that is not known, and a
    /// value that cannot be one of this algorithm, say nothing; of several values the first one counts.
    pub fn add(&mut self, algorithm: &str, value: &str) {
        let Some((algorithm, length)) = Algorithm::named(algorithm) else {
            return;
        };
        if let Some(bytes) = bytes(value.trim(), length) {
            self.0.entry(algorithm).or_insert(bytes);
        }
    }

    /// Whether none is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where two files differ, by the first algorithm that both are known by with different values.
    #[must_use]
    pub fn difference(&self, other: &Checksums) -> Option<Difference> {
        self.0.iter().find_map(|(algorithm, this)| {
            let other = other.0.get(algorithm).filter(|other| *other != this)?;
            Some(Difference {
                algorithm: *algorithm,
                this: hexadecimal(this),
                other: hexadecimal(other),
            })
        })
    }
}

/// The bytes of a value, of which there must be `length`. No value can be read in both forms: base64 of so few bytes ends
/// with `=`, or is shorter than their digits. Four bytes are a number to some servers, which leave out zeros before it.
fn bytes(value: &str, length: usize) -> Option<Vec<u8>> {
    let digits = length.checked_mul(2)?;
    let least = if length == 4 { 1 } else { digits };
    let is_hexadecimal = value.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_hexadecimal && (least..=digits).contains(&value.len()) {
        let padded = format!("{value:0>digits$}");
        let pairs = padded.as_bytes().chunks(2);
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        return pairs.map(byte).collect();
    }
    // A hostile value may be long.
    let is_short = value.len() <= digits.checked_add(4)?;
    let decoded = is_short.then(|| BASE64_STANDARD.decode(value).ok())?;
    decoded.filter(|bytes| bytes.len() == length)
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(pairs: &[(&str, &str)]) -> Checksums {
        let mut all = Checksums::default();
        pairs.iter().for_each(|(name, value)| all.add(name, value));
        all
    }

    #[test]
    fn the_same_value_is_read_however_it_is_written() {
        // Of "123456789", by zlib and hashlib; that of CRC-32C is its catalogue's check value.
        for [one, other] in [
            [("adler32", "091e01de"), ("ADLER32", "91E01DE")],
            [("adler32", " 91e01de "), ("adler", "CR4B3g==")],
            [("crc32c", "e3069283"), ("CRC32C", "4waSgw==")],
            [
                ("md5", "25f9e794323b453885f5181f1b624d0b"),
                ("MD5", "JfnnlDI7RTiF9RgfG2JNCw=="),
            ],
            [
                ("sha", "98O8HYCOBHMq32eZZczDTKeuNEE="),
                ("SHA-1", "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
            ],
            [
                ("sha-256", "FeKw08M4keuw8e9gnsQZQgwg4yDOlMZfvIwzEkSOsiU="),
                (
                    "sha256",
                    "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225",
                ),
            ],
        ] {
            assert_eq!(of(&[one]), of(&[other]), "{one:?}");
            assert!(!of(&[one]).is_empty(), "{one:?}");
        }
    }

    #[test]
    fn what_cannot_be_a_checksum_says_nothing() {
        for (name, value) in [
            ("adler32", ""),
            ("adler32", "0x91e01de"),
            ("adler32", "0091e01de"),
            ("adler32", "91e01dg"),
            ("adler32", "CR4B3g"),
            ("adler32", "-1"),
            ("md5", "25f9e794323b453885f5181f1b624d0"),
            ("md5", "JfnnlDI7RTiF9RgfG2JN"),
            ("md5", "é"),
            ("crc32", "cbf43926"),
            ("", "091e01de"),
            ("adler32 ", &"0".repeat(1 << 20)),
        ] {
            let shown = value.get(..40).unwrap_or(value);
            assert!(of(&[(name, value)]).is_empty(), "{name} {shown}");
        }
    }

    #[test]
    fn only_what_both_know_is_compared_and_the_first_value_counts() {
        let one = of(&[("adler32", "1"), ("adler32", "2"), ("md5", &"a".repeat(32))]);
        assert_eq!(one.difference(&Checksums::default()), None);
        assert_eq!(Checksums::default().difference(&one), None);
        assert_eq!(one.difference(&of(&[("sha1", &"0".repeat(40))])), None);
        assert_eq!(one.difference(&of(&[("adler32", "00000001")])), None);
        let found = one.difference(&of(&[("adler32", "2"), ("md5", &"A".repeat(32))]));
        let found = found.unwrap();
        assert_eq!(found.algorithm, Algorithm::Adler32);
        assert_eq!(
            (found.this, found.other),
            ("00000001".into(), "00000002".into())
        );
    }

    proptest! {
        #[test]
        fn values_of_all_algorithms_are_equal_in_all_forms_and_differ_by_one_bit(
            which in 0..ALGORITHMS.len(),
            bytes in prop::collection::vec(any::<u8>(), 64),
            bit in 0..512_usize,
        ) {
            let (algorithm, names, length) = ALGORITHMS[which];
            let bytes = &bytes[..length];
            let digits = hexadecimal(bytes);
            let told = of(&[(names[0], &digits)]);
            for name in names {
                prop_assert_eq!(&told, &of(&[(&name.to_uppercase(), &digits.to_uppercase())]));
                prop_assert_eq!(&told, &of(&[(name, &BASE64_STANDARD.encode(bytes))]));
            }
            if length == 4 {
                let bare = digits.trim_start_matches('0');
                prop_assert_eq!(&told, &of(&[(names[0], if bare.is_empty() { "0" } else { bare })]));
            }
            let mut other = bytes.to_vec();
            other[bit / 8 % length] ^= 1 << (bit % 8);
            let found = told.difference(&of(&[(names[0], &hexadecimal(&other))])).unwrap();
            prop_assert_eq!(found.algorithm, algorithm);
            prop_assert_eq!((found.this, found.other), (digits, hexadecimal(&other)));
        }

        #[test]
        fn any_text_is_read_or_says_nothing(
            name in "(adler32|md5|sha-256|SHA|[ -~é]{0,9})",
            value in "([0-9a-fA-F]{0,70}|[A-Za-z0-9+/]{0,90}={0,3}|[ -~é]{0,20})",
        ) {
            let _ = of(&[(&name, &value)]);
        }
    }
}
