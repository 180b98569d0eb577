//! Metalink documents, which say where a file lies: of version 4 (RFC 5854) and of version 3. Pure.

use crate::limits::MOST_PLACES;
use crate::listing::resolved;
use quick_xml::NsReader;
use quick_xml::events::{BytesStart, Event};
use quick_xml::name::{Namespace, ResolveResult};
use treemill_source::Checksums;

const FOUR: Namespace<'static> = Namespace(b"urn:ietf:params:xml:ns:metalink");
const THREE: Namespace<'static> = Namespace(b"http://www.metalinker.org/");

/// A file, as a document describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Described {
    /// Bytes, if the document says so.
    pub size: Option<u64>,
    /// The checksums of the whole file that the document has.
    pub checksums: Checksums,
    /// Where it lies, the places that the document prefers first.
    pub urls: Vec<String>,
}

/// The file that a document describes; `None` if it is no Metalink document, or not one of one file.
///
/// ```
/// let document = r#"<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="a.root">
///     <size>12</size><hash type="adler32">1e6b03ff</hash>
///     <url priority="2">https://far.site.org/a.root</url>
///     <url priority="1">https://near.site.org/a.root</url>
/// </file></metalink>"#;
/// let file = treemill_http::metalink(document).unwrap();
/// assert_eq!((file.size, file.checksums.is_empty()), (Some(12), false));
/// assert_eq!(file.urls, ["https://near.site.org/a.root", "https://far.site.org/a.root"]);
/// ```
#[must_use]
pub fn metalink(text: &str) -> Option<Described> {
    let mut reader = NsReader::from_str(text);
    let (mut files, mut size, mut urls) = (0_u32, None, Vec::new());
    let mut checksums = Checksums::default();
    let mut field: Option<Field> = None;
    loop {
        let (namespace, event) = reader.read_resolved_event().ok()?;
        let is_ours =
            namespace == ResolveResult::Bound(FOUR) || namespace == ResolveResult::Bound(THREE);
        match (event, &mut field) {
            (Event::Eof, _) => break,
            (Event::Start(tag), field) if is_ours => {
                files = files.saturating_add(u32::from(tag.local_name().as_ref() == b"file"));
                *field = Field::of(&tag);
            }
            (Event::End(_), field) => match field.take() {
                Some(Field::Size(text)) => size = text.trim().parse().ok(),
                Some(Field::Hash(kind, text)) => checksums.add(&kind, &text),
                Some(Field::Url(order, text)) if urls.len() < MOST_PLACES => {
                    urls.push((order, text.trim().to_owned()));
                }
                _ => {}
            },
            (Event::Text(piece), Some(field)) => field.add(&piece.decode().ok()?),
            (Event::CData(piece), Some(field)) => field.add(&piece.decode().ok()?),
            (Event::GeneralRef(entity), Some(field)) => field.add(&resolved(&entity)?),
            _ => {}
        }
    }
    urls.sort_by_key(|(order, _)| *order);
    let urls = urls.into_iter().map(|(_, url)| url).collect();
    (files == 1).then_some(Described {
        size,
        checksums,
        urls,
    })
}

/// An element whose text counts, and the text so far.
enum Field {
    Size(String),
    /// A checksum of the whole file, by the name of its algorithm.
    Hash(String, String),
    /// A URL and its place among the others: the least comes first.
    Url(i64, String),
}

impl Field {
    fn of(tag: &BytesStart<'_>) -> Option<Self> {
        match tag.local_name().as_ref() {
            b"size" => Some(Field::Size(String::new())),
            // Those of the file's pieces have no type of their own, in version 3 a number.
            b"hash" if attribute(tag, "piece").is_none() => {
                Some(Field::Hash(attribute(tag, "type")?, String::new()))
            }
            // Version 3 has addresses of descriptions for other programs among those of files.
            b"url" if attribute(tag, "type").as_deref() != Some("bittorrent") => {
                Some(Field::Url(order(tag), String::new()))
            }
            _ => None,
        }
    }

    fn add(&mut self, text: &str) {
        match self {
            Field::Size(all) | Field::Hash(_, all) | Field::Url(_, all) => all.push_str(text),
        }
    }
}

/// Version 4 counts priorities from 1, which is the best; in version 3 the best preference is 100.
fn order(tag: &BytesStart<'_>) -> i64 {
    let number = |name| -> Option<i64> { attribute(tag, name)?.trim().parse().ok() };
    let preference = || number("preference").map(|best| 100_i64.saturating_sub(best));
    number("priority").or_else(preference).unwrap_or(i64::MAX)
}

fn attribute(tag: &BytesStart<'_>, name: &str) -> Option<String> {
    let found = tag.try_get_attribute(name).ok()??;
    Some(std::str::from_utf8(&found.value).ok()?.to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn version_3_is_read_in_its_order() {
        let old = r#"<?xml version="1.0"?><metalink version="3.0" xmlns="http://www.metalinker.org/"><files>
            <file name="f"><size>7</size><resources>
            <url type="https" preference="10">https://b/f?x=1&amp;y=2</url>
            <url type="bittorrent" preference="100">https://b/f.torrent</url>
            <url type="root" preference="90">root://a//f</url>
            <url><![CDATA[https://c/f]]></url></resources></file></files></metalink>"#;
        let found = metalink(old).unwrap();
        assert_eq!(found.size, Some(7));
        assert_eq!(
            found.urls,
            ["root://a//f", "https://b/f?x=1&y=2", "https://c/f"]
        );
    }

    #[test]
    fn what_is_no_document_of_one_file_is_none() {
        let file = r#"<file name="f"><url>https://a/f</url></file>"#;
        let of =
            |space: &str, inner: &str| format!(r#"<metalink xmlns="{space}">{inner}</metalink>"#);
        let four = "urn:ietf:params:xml:ns:metalink";
        assert!(metalink(&of(four, file)).is_some());
        assert!(metalink(&of(four, &file.repeat(2))).is_none());
        assert!(metalink(&of(four, "")).is_none());
        assert!(metalink(&of("urn:other", file)).is_none());
        assert!(metalink("<html><file>").is_none());
        assert!(metalink("ROOT file").is_none());
    }

    #[test]
    fn checksums_of_the_whole_file_are_read_and_those_of_its_pieces_are_not() {
        let of = |pairs: &[(&str, &str)]| {
            let mut all = Checksums::default();
            pairs.iter().for_each(|(name, value)| all.add(name, value));
            all
        };
        let four = r#"<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="f">
            <pieces length="262144" type="adler32"><hash>00000001</hash></pieces>
            <hash type="adler32"> 91e01de </hash>
            <hash type="md5">25f9e794323b453885f5181f1b624d0b</hash><hash type="new">1</hash>
            <url>https://a/f</url></file></metalink>"#;
        let both = of(&[
            ("adler32", "091e01de"),
            ("md5", "25f9e794323b453885f5181f1b624d0b"),
        ]);
        assert_eq!(metalink(four).unwrap().checksums, both);
        let three = r#"<metalink xmlns="http://www.metalinker.org/"><files><file name="f"><verification>
            <pieces length="5" type="md5"><hash type="md5" piece="0">00000000000000000000000000000000</hash></pieces>
            <hash type="md5">25f9e794323b453885f5181f1b624d0b</hash></verification>
            <resources><url>https://a/f</url></resources></file></files></metalink>"#;
        let md5 = of(&[("md5", "25f9e794323b453885f5181f1b624d0b")]);
        assert_eq!(metalink(three).unwrap().checksums, md5);
    }

    #[test]
    fn there_is_a_bound() {
        let many = "<url>https://a/f</url>".repeat(10_000);
        let text = format!(
            r#"<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file>{many}</file></metalink>"#
        );
        assert_eq!(metalink(&text).unwrap().urls.len(), MOST_PLACES);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_in_order_of_priority(
            places in prop::collection::vec((1..9_i64, "[ -~é]{1,12}"), 0..9),
            size in any::<u64>(),
        ) {
            let written = places.iter().map(|(priority, path)| {
                let path = quick_xml::escape::escape(path.as_str());
                format!("<m:url location='x' priority='{priority}'> https://a/{path}| </m:url>")
            });
            let written: String = written.collect();
            let text = format!(
                "<m:metalink xmlns:m='urn:ietf:params:xml:ns:metalink'><m:file name='f'>{written}<m:size>{size}</m:size></m:file></m:metalink>"
            );
            let mut expected = places;
            expected.sort_by_key(|(priority, _)| *priority);
            let urls = expected.iter().map(|(_, path)| format!("https://a/{path}|")).collect();
            let checksums = Checksums::default();
            prop_assert_eq!(metalink(&text), Some(Described { size: Some(size), checksums, urls }));
        }

        #[test]
        fn any_text_is_read_or_refused(
            text in r#"(<(metalink xmlns="urn:ietf:params:xml:ns:metalink"|/?file|/?url|/?hash|url priority="[-0-9x]{0,9}"|hash type="md5"|size)>|&[a-z#0-9]{0,4};|[ -~]){0,30}"#,
        ) {
            let _ = metalink(&text);
        }
    }
}
