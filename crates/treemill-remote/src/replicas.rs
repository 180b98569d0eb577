//! One file at several addresses.

use std::sync::Arc;
use treemill_source::{Observed, Part, Source, SourceError, is_off};
use treemill_transfer::replicas::{Opener, Replicas, Warn};

/// Opens a file that lies at several addresses, some of which may be paths of this machine. Two are read from at once;
/// the others stand in for what fails, is late or gets worse. `name`: its logical name, for messages and for its
/// identity. `warn` gets a message about each address with another file, which is left out; from any thread.
///
/// ```
/// let gone = ["/no/such/file.root".to_owned()];
/// let warn = Box::new(|message: &str| eprintln!("{message}"));
/// let error = treemill_remote::open_replicas("/store/file.root", &gone, warn).err().unwrap();
/// assert!(error.to_string().contains("/no/such/file.root"), "{error}");
/// ```
///
/// # Errors
/// If none can be opened; the error says why for each.
pub fn open_replicas(
    name: &str,
    addresses: &[String],
    warn: Warn,
) -> Result<Arc<dyn Source>, SourceError> {
    let most = match is_off(Part::Multisource) {
        true => 1,
        false => addresses.len(),
    };
    let openers = addresses
        .iter()
        .take(most)
        .map(|address| opener(address))
        .collect();
    let replicas = Replicas::open(name, openers, warn)?;
    Ok(crate::opened(Arc::new(replicas)).0)
}

fn opener(address: &str) -> Opener {
    let owned = address.to_owned();
    Opener {
        name: shown(address),
        open: Box::new(move || match owned.contains("://") {
            true => crate::open_bare(&owned),
            false => {
                let source = crate::mounts::open_bare(&owned)?;
                match source.costs().is_near() {
                    true => Ok(Arc::new(Observed::of(source))),
                    false => Ok(source), // it is observed
                }
            }
        }),
    }
}

/// An address without what may be a secret: user and password, and the query.
///
/// ```
/// let shown = treemill_remote::shown("https://me:secret@host/store/f.root?authz=token");
/// assert_eq!(shown, "https://host/store/f.root");
/// ```
#[must_use]
pub fn shown(address: &str) -> String {
    let whole = address.split(['?', '#']).next().unwrap_or_default();
    let Some((scheme, rest)) = whole.split_once("://") else {
        return address.to_owned();
    };
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let host = host.rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}/{path}")
}

#[cfg(test)]
mod tests {
    use super::shown;

    #[test]
    fn names_have_no_credentials() {
        let hidden = shown("https://me:secret@host:8443/store/f.root?authz=token");
        assert_eq!(hidden, "https://host:8443/store/f.root");
        assert_eq!(
            shown("root://host//store/f.root"),
            "root://host//store/f.root"
        );
        assert_eq!(shown("/eos/what?.root"), "/eos/what?.root");
    }
}
