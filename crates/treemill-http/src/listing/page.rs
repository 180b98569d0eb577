//! The index pages that nginx and Apache write. Pure.

use super::{Entry, child, sorted};

/// The names directly in the folder of this path, from an index page; `None` if the page is no such page for certain:
/// its title says so, and its first link that is not for sorting leads to the parent folder.
///
/// ```
/// let page = "<html><head><title>Index of /data/</title></head><body>\
///     <a href=\"../\">../</a> <a href=\"a.root\">a.root</a></body></html>";
/// let entries = treemill_http::parsing::index_page(page, "/data/").unwrap();
/// assert_eq!(entries[0].name, "a.root");
/// ```
#[must_use]
pub fn index_page(text: &str, folder: &str) -> Option<Vec<Entry>> {
    let title = between(text, "<title>", "</title>")?;
    title.trim().strip_prefix("Index of ")?;
    let mut links = links(text).filter(|link| !link.starts_with('?'));
    let parent = links.next();
    if folder.trim_matches('/').is_empty() && parent.as_deref() != Some("../") {
        // Apache's page of the topmost folder links to no parent.
        let all = parent.into_iter().chain(links);
        return Some(sorted(
            all.filter_map(|link| child(&link, folder)).collect(),
        ));
    }
    let parent = parent?;
    let up = folder
        .trim_end_matches('/')
        .rsplit_once('/')
        .map_or("", |(up, _)| up);
    if parent != "../" && parent.trim_end_matches('/') != up {
        return None;
    }
    Some(sorted(
        links.filter_map(|link| child(&link, folder)).collect(),
    ))
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    Some(rest.split_once(close)?.0)
}

/// The targets of links, in order.
fn links(text: &str) -> impl Iterator<Item = String> {
    let after = text.split("<a href=\"").skip(1);
    after.filter_map(|rest| {
        let link = rest.split_once('"')?.0;
        Some(
            link.replace("&lt;", "<")
                .replace("&gt;", ">")
                .replace("&quot;", "\"")
                .replace("&amp;", "&"),
        )
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names(page: &str, folder: &str) -> Option<Vec<(String, bool)>> {
        let entries = index_page(page, folder)?;
        Some(entries.into_iter().map(|e| (e.name, e.is_folder)).collect())
    }

    #[test]
    fn pages_of_nginx_and_apache_are_read() {
        let expected = Some(vec![
            ("a b.root".to_owned(), false),
            ("sub".to_owned(), true),
        ]);
        let nginx = "<html>\r\n<head><title>Index of /d/</title></head>\r\n<body>\r\n<h1>Index of /d/</h1><hr><pre>\
            <a href=\"../\">../</a>\r\n<a href=\"sub/\">sub/</a> 23-Nov-2026 01:00 -\r\n<a href=\"a%20b.root\">a b.root</a> 4\r\n</pre>";
        assert_eq!(names(nginx, "/d/"), expected);
        let apache = "<title>Index of /d</title><a href=\"?C=N;O=D\">Name</a><a href=\"/\">Parent Directory</a>\
            <a href=\"a%20b.root\">a b.root</a><a href=\"sub/\">sub/</a>";
        assert_eq!(names(apache, "/d/"), expected);
        let topmost = "<title>Index of /</title><a href=\"?C=N;O=D\">Name</a><a href=\"a%20b.root\">a</a><a href=\"sub/\">sub/</a>";
        assert_eq!(names(topmost, "/"), expected);
    }

    #[test]
    fn other_pages_are_none() {
        for page in [
            "",
            "<title>Our data</title><a href=\"../\"></a><a href=\"a.root\"></a>",
            "<title>Index of stock prices</title><a href=\"/home\"></a><a href=\"a.root\"></a>",
        ] {
            assert_eq!(names(page, "/d/"), None, "{page}");
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(<title>|Index of |</title>|<a href=\"|\"|&amp;|\\.\\./|.{0,9}){0,12}", folder in ".{0,9}") {
            let _ = index_page(&text, &folder);
        }
    }
}
