//! Names in a folder, from what servers answer. Pure.

mod multistatus;
mod page;

pub use multistatus::multistatus;
pub(crate) use multistatus::resolved;
pub use page::index_page;
use percent_encoding::percent_decode_str;
use url::Url;

/// A name in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// The last part of its path, as users write it.
    pub name: String,
    /// Whether it is a folder.
    pub is_folder: bool,
    /// The name as addresses write it: what they may hold as it is stays as it is. `None` if none can ask this server for it.
    pub written: Option<String>,
}

/// Signs that are not parts of names in addresses: they begin an escape, a query or a fragment, or are taken for slashes.
const ENCODED: [char; 4] = ['%', '?', '#', '\\'];

/// What a link of a listing names, if it is something directly in the folder. `folder` is the path of a URL.
fn child(link: &str, folder: &str) -> Option<Entry> {
    // Relative links are resolved as browsers do, with any host.
    let base = Url::parse("http://host/").ok()?.join(folder).ok()?;
    let url = base.join(link).ok()?;
    if url.query().is_some() {
        return None;
    }
    let (folder, path) = (plain(base.path())?, plain(url.path())?);
    let rest = path.strip_prefix(&folder)?;
    named(rest, |name| Some(encoded(name)))
}

/// What a link names that is a path as it is, of a server that encodes none. Nor does it take a question mark that is encoded
/// for a part of a name.
fn literal_child(link: &str, folder: &str) -> Option<Entry> {
    let write = |name: &str| (!name.contains('?')).then(|| encoded(name));
    match link.strip_prefix(&plain(folder)?) {
        Some(rest) => named(rest, write),
        None => child(link, folder), // it is no path
    }
}

fn plain(path: &str) -> Option<String> {
    Some(percent_decode_str(path).decode_utf8().ok()?.into_owned())
}

fn encoded(name: &str) -> String {
    let one = |sign: char| match sign.is_ascii_control() || ENCODED.contains(&sign) {
        true => format!("%{:02X}", u32::from(sign)),
        false => sign.to_string(),
    };
    name.chars().map(one).collect()
}

/// The entry of the rest of a path, behind that of its folder.
fn named(rest: &str, write: impl Fn(&str) -> Option<String>) -> Option<Entry> {
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let (name, is_folder) = match rest.strip_suffix('/') {
        Some(name) => (name, true),
        None => (rest, false),
    };
    let sound = !name.is_empty() && !name.contains(['/', '\0']);
    sound.then(|| Entry {
        name: name.to_owned(),
        is_folder,
        written: write(name),
    })
}

fn sorted(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort();
    entries.dedup();
    entries
}
