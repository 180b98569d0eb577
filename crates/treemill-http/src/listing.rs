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
}

/// What a link of a listing names, if it is something directly in the folder. `folder` is the path of a URL.
fn child(link: &str, folder: &str) -> Option<Entry> {
    // Relative links are resolved as browsers do, with any host.
    let base = Url::parse("http://host/").ok()?.join(folder).ok()?;
    let url = base.join(link).ok()?;
    if url.query().is_some() {
        return None;
    }
    let plain = |path: &str| Some(percent_decode_str(path).decode_utf8().ok()?.into_owned());
    let (folder, path) = (plain(base.path())?, plain(url.path())?);
    let rest = path.strip_prefix(&folder)?;
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let (name, is_folder) = match rest.strip_suffix('/') {
        Some(name) => (name, true),
        None => (rest, false),
    };
    let sound = !name.is_empty() && !name.contains(['/', '\0']);
    sound.then(|| Entry {
        name: name.to_owned(),
        is_folder,
    })
}

fn sorted(mut entries: Vec<Entry>) -> Vec<Entry> {
    entries.sort();
    entries.dedup();
    entries
}
