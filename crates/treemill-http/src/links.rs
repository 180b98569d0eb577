//! What `Link` headers say of a file's other places (RFC 8288, RFC 6249). Pure.

use crate::limits::MOST_PLACES;
use url::Url;

/// Where a file lies besides, as a server says.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Links {
    /// Addresses of the file, each with its priority: the least is the best.
    duplicates: Vec<(u32, String)>,
    descriptions: Vec<String>,
}

impl Links {
    /// Addresses of the same file, the best first.
    #[must_use]
    pub fn duplicates(&self) -> Vec<String> {
        let mut all = self.duplicates.clone();
        all.sort_by_key(|(priority, _)| *priority);
        all.into_iter().map(|(_, url)| url).collect()
    }

    /// Addresses of Metalink documents that describe the file.
    #[must_use]
    pub fn descriptions(&self) -> &[String] {
        &self.descriptions
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.duplicates.is_empty() && self.descriptions.is_empty()
    }

    /// Adds the links of one header of an answer from `base`. Links of other relations, with a context of their own, or
    /// with a login are left out.
    ///
    /// ```
    /// use treemill_http::Links;
    ///
    /// let mut links = Links::default();
    /// let header = r#"</mirror/a.root>; rel=duplicate; pri=2, <https://b.org/a.root>; rel="duplicate"; pri=1"#;
    /// links.add(header, &"https://a.org/a.root".parse().unwrap());
    /// assert_eq!(links.duplicates(), ["https://b.org/a.root", "https://a.org/mirror/a.root"]);
    /// ```
    pub fn add(&mut self, header: &str, base: &Url) {
        let mut rest = header;
        while let Some((target, after)) = target(rest) {
            let (parameters, next) = parameters(after);
            rest = next;
            let count = self.duplicates.len();
            if count.saturating_add(self.descriptions.len()) >= MOST_PLACES {
                return;
            }
            let has_context = parameters.value("anchor").is_some();
            let url = base.join(target).ok().filter(is_bare);
            if let Some(url) = url.filter(|_| !has_context) {
                self.sort_in(url.into(), &parameters);
            }
        }
    }

    fn sort_in(&mut self, url: String, parameters: &Parameters) {
        let relations = parameters.value("rel").unwrap_or_default();
        let is = |relation: &str| {
            let mut all = relations.split_ascii_whitespace();
            all.any(|one| one.eq_ignore_ascii_case(relation))
        };
        let kind = parameters.value("type").unwrap_or_default();
        if is("duplicate") {
            let priority = parameters.value("pri").and_then(|pri| pri.parse().ok());
            self.duplicates.push((priority.unwrap_or(u32::MAX), url));
        } else if is("describedby") && kind.to_ascii_lowercase().starts_with(METALINK) {
            self.descriptions.push(url);
        }
    }
}

/// How the types of Metalink documents begin: `metalink4+xml` and `metalink+xml`.
const METALINK: &str = "application/metalink";

fn is_bare(url: &Url) -> bool {
    url.username().is_empty() && url.password().is_none()
}

/// The parameters of a link, by their names.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    /// The first value of this name: later ones do not count.
    fn value(&self, name: &str) -> Option<&str> {
        let mut all = self.0.iter();
        let found = all.find(|(own, _)| own.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// What stands between the first angle brackets, and what follows.
fn target(text: &str) -> Option<(&str, &str)> {
    let (_, inner) = text.split_once('<')?;
    inner.split_once('>')
}

/// The parameters of a link, up to the comma that ends it, and what follows.
fn parameters(text: &str) -> (Parameters, &str) {
    let (mut all, mut rest) = (Vec::new(), text);
    loop {
        rest = rest.trim_start();
        let Some(after) = rest.strip_prefix(';') else {
            let next = rest.split_once(',').map_or("", |(_, next)| next);
            return (Parameters(all), next);
        };
        let end = after.find(['=', ';', ',']).unwrap_or(after.len());
        let (name, value) = after.split_at(end);
        let (value, next) = match value.strip_prefix('=') {
            None => (String::new(), value),
            Some(value) => one_value(value.trim_start()),
        };
        all.push((name.trim().to_owned(), value));
        rest = next;
    }
}

/// A value, in quotes or bare, and what follows.
fn one_value(text: &str) -> (String, &str) {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find([';', ',']).unwrap_or(text.len());
        let (value, rest) = text.split_at(end);
        return (value.trim().to_owned(), rest);
    };
    let (mut value, mut letters) = (String::new(), quoted.chars());
    while let Some(letter) = letters.next() {
        match letter {
            '"' => return (value, letters.as_str()),
            '\\' => value.extend(letters.next()),
            _ => value.push(letter),
        }
    }
    (value, "")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn links(header: &str) -> Links {
        let mut links = Links::default();
        links.add(header, &Url::parse("https://a.org/store/f.root").unwrap());
        links
    }

    #[test]
    fn relations_are_told_apart() {
        let found = links(concat!(
            r#"<f.meta4>; rel=describedby; type="application/metalink4+xml", "#,
            r#"<x.asc>; rel=describedby; type="application/pgp-signature", "#,
            r#"<//b.org/f,1>; pri=3; rel="alternate Duplicate"; title="a, \"b\"; <c>", "#,
            r#"<g>; rel=next; rel=duplicate, <h>;rel=duplicate;anchor="/other","#,
            r#"<root://c.org//f>;REL = duplicate"#,
        ));
        assert_eq!(found.descriptions(), ["https://a.org/store/f.meta4"]);
        assert_eq!(found.duplicates(), ["https://b.org/f,1", "root://c.org//f"]);
        assert!(links("").is_empty() && links("no link").is_empty());
    }

    #[test]
    fn logins_of_a_server_are_not_taken_and_there_is_a_bound() {
        assert!(links("<https://me:secret@b.org/f>; rel=duplicate").is_empty());
        let many = "<https://b.org/f>; rel=duplicate,".repeat(1000);
        assert_eq!(links(&many).duplicates().len(), MOST_PLACES);
    }

    /// A link as a server may write it: its path and priority, whether its values are quoted, and a title.
    fn link() -> impl Strategy<Value = (String, u32, bool, String)> {
        ("[a-z,;=]{1,9}", 0..9_u32, any::<bool>(), "[ -~]{0,9}")
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_in_order_of_priority(written in prop::collection::vec(link(), 0..9)) {
            let one = |(path, priority, is_quoted, title): &(String, u32, bool, String)| {
                let quote = if *is_quoted { "\"" } else { "" };
                let title = title.replace('\\', "\\\\").replace('"', "\\\"");
                format!("</{path}>; title=\"{title}\" ;rel={quote}duplicate{quote}; pri={quote}{priority}{quote}")
            };
            let header: Vec<String> = written.iter().map(one).collect();
            let mut expected = written;
            expected.sort_by_key(|(_, priority, ..)| *priority);
            let expected: Vec<String> = expected.iter().map(|(path, ..)| format!("https://a.org/{path}")).collect();
            prop_assert_eq!(links(&header.join(" , ")).duplicates(), expected);
        }

        #[test]
        fn any_header_is_read(header in "(<|>|;|,|=|\"|\\\\|rel|duplicate|pri|[ -~é]){0,60}") {
            prop_assert!(links(&header).duplicates().len() <= MOST_PLACES);
        }
    }
}
