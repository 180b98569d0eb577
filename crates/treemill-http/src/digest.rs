//! What an answer's headers say of the checksums of the whole file (`Digest`, RFC 3230; `Repr-Digest`, RFC 9530), and what
//! asks for them. Pure.

use crate::limits::MOST_DIGESTS;
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, SERVER};
use treemill_source::Checksums;

/// The headers that have a digest of the whole file, of whichever range the answer is. `Content-Digest` and `Content-MD5`
/// are of the answer alone.
const HEADERS: [&str; 2] = ["digest", "repr-digest"];

/// The checksums that an answer's headers tell.
pub(crate) fn told(headers: &HeaderMap) -> Checksums {
    let mut all = Checksums::default();
    for header in HEADERS.iter().flat_map(|name| headers.get_all(*name)) {
        header.to_str().into_iter().for_each(|h| add(h, &mut all));
    }
    all
}

/// Adds the checksums of one header: `adler32=091e01de, md5=JfnnlDI7RTiF9RgfG2JNCw==`, or `md5=:JfnnlDI7RTiF9RgfG2JNCw==:`.
pub fn add(header: &str, all: &mut Checksums) {
    for part in header.split(',').take(MOST_DIGESTS) {
        let part = part.split(';').next().unwrap_or_default();
        if let Some((algorithm, value)) = part.split_once('=') {
            let value = value.trim();
            let inner = value.strip_prefix(':').and_then(|v| v.strip_suffix(':'));
            all.add(algorithm, inner.unwrap_or(value));
        }
    }
}

/// Whether a server computes a checksum when it is asked for one that it has not kept: XRootD's own reads the whole file
/// before it answers.
pub(crate) fn is_computed(headers: &HeaderMap) -> bool {
    let server = headers.get(SERVER).and_then(|value| value.to_str().ok());
    server.is_some_and(|name| name.starts_with("XrootD"))
}

/// What a request for checksums says: those that storage keeps as a rule.
pub(crate) fn wanted() -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("want-digest", HeaderValue::from_static("adler32, md5"));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(headers: &[(&'static str, &str)]) -> Checksums {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.append(*name, value.parse().unwrap());
        }
        told(&all)
    }

    fn sums(pairs: &[(&str, &str)]) -> Checksums {
        let mut all = Checksums::default();
        pairs.iter().for_each(|(name, value)| all.add(name, value));
        all
    }

    #[test]
    fn digests_are_read_as_servers_write_them() {
        let both = sums(&[
            ("adler32", "091e01de"),
            ("md5", "25f9e794323b453885f5181f1b624d0b"),
        ]);
        for headers in [
            &[("digest", "adler32=091e01de,md5=JfnnlDI7RTiF9RgfG2JNCw==")][..],
            &[("digest", "ADLER32=91E01DE , MD5 = JfnnlDI7RTiF9RgfG2JNCw==")],
            &[
                ("digest", "unixsum=3, adler32=91e01de"),
                ("digest", "md5=JfnnlDI7RTiF9RgfG2JNCw==;q=1"),
            ],
            &[(
                "repr-digest",
                "adler=:CR4B3g==:, md5=:JfnnlDI7RTiF9RgfG2JNCw==:",
            )],
        ] {
            assert_eq!(of(headers), both, "{headers:?}");
        }
    }

    #[test]
    fn digests_of_an_answer_and_what_is_none_say_nothing() {
        for headers in [
            &[("content-digest", "md5=:JfnnlDI7RTiF9RgfG2JNCw==:")][..],
            &[("content-md5", "JfnnlDI7RTiF9RgfG2JNCw==")],
            &[("digest", "md5"), ("digest", ""), ("digest", ",=,;")],
            &[("repr-digest", "md5=:JfnnlDI7RTiF9RgfG2JNCw==")],
        ] {
            assert!(of(headers).is_empty(), "{headers:?}");
        }
        let late = format!("{}adler32=091e01de", "md5=,".repeat(MOST_DIGESTS));
        assert!(of(&[("digest", &late)]).is_empty(), "there is a bound");
    }

    #[test]
    fn servers_that_compute_are_known_by_their_name() {
        let named = |name: &'static str| {
            let headers = [(SERVER, HeaderValue::from_static(name))];
            is_computed(&headers.into_iter().collect())
        };
        assert!(named("XrootD/v5.5.3"));
        assert!(!named("dCache/9.2.7") && !is_computed(&HeaderMap::new()));
    }

    proptest! {
        #[test]
        fn any_header_is_read(header in "(=|,|;|:|md5|adler32|sha-256|[ -~é]){0,60}") {
            add(&header, &mut Checksums::default());
        }
    }
}
