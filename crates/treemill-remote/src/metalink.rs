//! Files that Metalink documents describe, by the documents' addresses. Knows no protocol.

use crate::checksums::Description;
use crate::found::{Place, is_wanted, may_be_named};
use crate::limits::MOST_DOCUMENT;
use std::sync::Arc;
use treemill_source::{Source, SourceError, Ticket};
use treemill_transfer::replicas::{Opener, Replicas};

/// Whether an address is that of a Metalink document, by its end.
pub(crate) fn is_document(url: &str) -> bool {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.to_ascii_lowercase();
    [".meta4", ".metalink"]
        .iter()
        .any(|end| path.ends_with(end))
}

/// What a document says of its file, and where that lies.
pub(crate) fn read(document: &dyn Source) -> Result<(Description, Vec<String>), SourceError> {
    let wrong = |what: &str| SourceError::new(document.name(), what);
    let size = document.size();
    if size == 0 || size > MOST_DOCUMENT {
        return Err(wrong("it is too large for a Metalink document, or empty"));
    }
    let tickets = document.submit(std::iter::once(0..size).collect());
    let bytes = tickets.first().map(Ticket::wait).transpose()?;
    let text = String::from_utf8_lossy(&bytes.unwrap_or_default()).into_owned();
    let mut found = treemill_http::metalink(&text)
        .ok_or_else(|| wrong("it is not a Metalink document of one file"))?;
    found.urls.retain(|url| may_be_named(url));
    match found.urls.is_empty() {
        true => Err(wrong("it names no address that treemill reads")),
        false => Ok((
            Description {
                document: document.name().to_owned(),
                size: found.size,
                checksums: found.checksums,
            },
            found.urls,
        )),
    }
}

/// The file that a document describes, from all of its places that have it.
pub(crate) fn open(url: &str) -> Result<Arc<dyn Source>, SourceError> {
    let document = crate::open_bare(url)?;
    let (description, urls) = read(&*document)?;
    let place = |address| Place::named_by(address, url).described(description.clone());
    let openers = urls.into_iter().map(|address| place(address).opener());
    let most = if is_wanted() { usize::MAX } else { 1 };
    let openers: Vec<Opener> = openers.take(most).collect();
    let source = Replicas::open(document.name(), openers, Box::new(|_| {}))?;
    Ok(Arc::new(source))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use treemill_source::{Costs, Memory};

    #[test]
    fn documents_are_known_by_their_end() {
        assert!(is_document("https://host/store/f.root.meta4?authz=x"));
        assert!(is_document("http://host/f.METALINK"));
        assert!(!is_document("https://host/f.root?like=f.meta4"));
    }

    #[test]
    fn addresses_that_no_server_may_name_are_left_out_of_documents() {
        let document = |urls: &str| {
            let text = format!(
                r#"<metalink xmlns="urn:ietf:params:xml:ns:metalink"><file>{urls}</file></metalink>"#
            );
            Memory::new("m", text.into_bytes(), Costs::NEAR)
        };
        let both = document("<url>file:///etc/passwd</url><url>root://a//f</url>");
        assert_eq!(read(&both).unwrap().1, ["root://a//f"]);
        let none = read(&document("<url>file:///etc/passwd</url>")).unwrap_err();
        assert!(none.what.contains("names no address"), "{none}");
        let other = read(&Memory::new("m", b"root".to_vec(), Costs::NEAR)).unwrap_err();
        assert!(other.what.contains("not a Metalink document"), "{other}");
    }
}
