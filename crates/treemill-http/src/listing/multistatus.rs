//! The answer to WebDAV's `PROPFIND`. Pure.

use super::{Entry, child, literal_child, sorted};
use quick_xml::NsReader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, Event};
use quick_xml::name::{Namespace, ResolveResult};

const DAV: Namespace<'static> = Namespace(b"DAV:");

/// The names directly in the folder of this path, from a multistatus document; `None` if it is none. `is_literal`: its links
/// are paths as they are, without escapes, as XRootD writes them.
///
/// ```
/// let answer = r#"<d:multistatus xmlns:d="DAV:">
///     <d:response><d:href>/data/</d:href></d:response>
///     <d:response><d:href>/data/a%20b.root</d:href></d:response>
/// </d:multistatus>"#;
/// let entries = treemill_http::parsing::multistatus(answer, "/data/", false).unwrap();
/// assert_eq!(entries[0].name, "a b.root");
/// let entries = treemill_http::parsing::multistatus(answer, "/data/", true).unwrap();
/// assert_eq!(entries[0].name, "a%20b.root");
/// assert_eq!(entries[0].written.as_deref(), Some("a%2520b.root"));
/// ```
#[must_use]
pub fn multistatus(text: &str, folder: &str, is_literal: bool) -> Option<Vec<Entry>> {
    let read = match is_literal {
        true => literal_child,
        false => child,
    };
    let mut reader = NsReader::from_str(text);
    let mut entries = Vec::new();
    let mut one = One::default();
    let (mut is_multistatus, mut in_link) = (false, false);
    loop {
        let (namespace, event) = reader.read_resolved_event().ok()?;
        let is_dav = namespace == ResolveResult::Bound(DAV);
        match event {
            Event::Eof => break,
            Event::Start(tag) if is_dav => match tag.local_name().as_ref() {
                b"multistatus" => is_multistatus = true,
                b"response" => one = One::default(),
                b"href" => in_link = one.link.is_empty(),
                b"collection" => one.is_folder = true,
                _ => {}
            },
            Event::Empty(tag) if is_dav && tag.local_name().as_ref() == b"collection" => {
                one.is_folder = true;
            }
            Event::End(tag) if is_dav => match tag.local_name().as_ref() {
                b"href" => in_link = false,
                b"response" => entries.extend(std::mem::take(&mut one).entry(folder, read)),
                _ => {}
            },
            Event::Text(piece) if in_link => one.link.push_str(&piece.decode().ok()?),
            Event::CData(piece) if in_link => one.link.push_str(&piece.decode().ok()?),
            Event::GeneralRef(entity) if in_link => one.link.push_str(&resolved(&entity)?),
            _ => {}
        }
    }
    is_multistatus.then(|| sorted(entries))
}

/// One `response` as it is read.
#[derive(Default)]
struct One {
    link: String,
    is_folder: bool,
}

impl One {
    fn entry(self, folder: &str, read: fn(&str, &str) -> Option<Entry>) -> Option<Entry> {
        let mut entry = read(self.link.trim(), folder)?;
        entry.is_folder |= self.is_folder;
        Some(entry)
    }
}

/// The character that a reference stands for; entities of a document's own are not looked at.
pub(crate) fn resolved(entity: &BytesRef<'_>) -> Option<String> {
    if let Some(character) = entity.resolve_char_ref().ok()? {
        return Some(character.into());
    }
    resolve_predefined_entity(&entity.decode().ok()?).map(str::to_owned)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(answer: &str, folder: &str) -> Vec<(String, bool)> {
        let entries = multistatus(answer, folder, false).unwrap();
        entries.into_iter().map(|e| (e.name, e.is_folder)).collect()
    }

    #[test]
    fn folders_and_files_of_any_prefix_are_read() {
        let answer = r#"<?xml version="1.0" encoding="utf-8"?>
            <D:multistatus xmlns:D="DAV:" xmlns:x="urn:other">
            <D:response><D:href>/data/</D:href><D:propstat><D:prop><D:resourcetype><D:collection/></D:resourcetype></D:prop></D:propstat></D:response>
            <D:response><D:href>/data/b&amp;c&#x41;.root</D:href><x:href>no</x:href><D:propstat><D:prop><D:resourcetype/></D:prop></D:propstat></D:response>
            <response xmlns="DAV:"><href><![CDATA[https://other:99/data/sub]]></href><propstat><prop><resourcetype><collection></collection></resourcetype></prop></propstat></response>
            <D:response><D:href>/elsewhere/x</D:href></D:response>
            <D:response><D:href>/data/deep/x</D:href></D:response>
            </D:multistatus>"#;
        let expected = [("b&cA.root".to_owned(), false), ("sub".to_owned(), true)];
        assert_eq!(names(answer, "/data/"), expected);
        assert_eq!(names(answer, "/data"), expected);
    }

    #[test]
    fn literal_links_are_names_as_they_are() {
        let link = |name: &str| format!("<d:response><d:href>/a b/{name}</d:href></d:response>");
        let links: String = ["per%20cent", "per cent", "q?x", "hash#1"]
            .map(link)
            .concat();
        let answer = format!("<d:multistatus xmlns:d='DAV:'>{links}</d:multistatus>");
        let entries = multistatus(&answer, "/a%20b/", true).unwrap();
        let written = |entry: Entry| (entry.name, entry.written);
        let found: Vec<_> = entries.into_iter().map(written).collect();
        let expected = [
            ("hash#1", Some("hash%231")),
            ("per cent", Some("per cent")),
            ("per%20cent", Some("per%2520cent")),
            ("q?x", None),
        ];
        let owned =
            |(name, written): (&str, Option<&str>)| (name.to_owned(), written.map(str::to_owned));
        assert_eq!(found, expected.map(owned));
    }

    #[test]
    fn other_documents_are_none() {
        for text in [
            "",
            "<html></html>",
            "<multistatus/>",
            "<d:multistatus xmlns:d='DAV:'><d:href></d:multistatus>",
        ] {
            assert_eq!(multistatus(text, "/", false), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_name_comes_back(name in "[^/\\x00-\\x1f\\x7f]{1,20}") {
            prop_assume!(name != "." && name != "..");
            let link = percent_encoding::utf8_percent_encode(&name, percent_encoding::NON_ALPHANUMERIC);
            let answer = format!("<m:multistatus xmlns:m='DAV:'><m:response><m:href>/f/{link}</m:href></m:response></m:multistatus>");
            // A dot is a dot to URLs even if it is encoded.
            prop_assert_eq!(names(&answer, "/f/"), [(name, false)]);
        }

        #[test]
        fn no_text_panics(text in "(<d:[a-z]{1,9} xmlns:d='DAV:'>|</d:[a-z]{1,9}>|&[a-z#0-9]{0,4};|.{0,9}){0,9}") {
            let _ = (multistatus(&text, "/", false), multistatus(&text, "/", true));
        }
    }
}
