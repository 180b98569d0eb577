//! The authorities to trust: the system's (Mozilla's where it has none), or those of `SSL_CERT_FILE` and
//! `SSL_CERT_DIR`; and those of `X509_CERT_DIR`, where grids keep theirs.

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::path::{Path, PathBuf};

/// Where grids keep their authorities' certificates if `X509_CERT_DIR` does not say it.
const GRID: &str = "/etc/grid-security/certificates";

/// The certificates of all authorities that the user trusts. Files that cannot be read are left out: a server whose
/// authority is then missing is refused.
#[must_use]
pub fn trusted() -> RootCertStore {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let named = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    // A small container has none. Who names a file trusts that one only.
    if store.is_empty()
        && !["SSL_CERT_FILE", "SSL_CERT_DIR"]
            .into_iter()
            .any(|name| named(name).is_some())
    {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let named = named("X509_CERT_DIR");
    for path in certificates(&named.map_or_else(|| GRID.into(), PathBuf::from)) {
        let found = CertificateDer::pem_file_iter(&path).into_iter().flatten();
        store.add_parsable_certificates(found.flatten());
    }
    store
}

/// The files of a grid's folder that hold certificates: named by a digest and a number, or `.pem`. Others are policies
/// and lists of what was revoked.
fn certificates(folder: &Path) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
    paths.retain(|path| {
        let ending = path.extension().and_then(|ending| ending.to_str());
        ending.is_some_and(|e| e == "pem" || e.bytes().all(|b| b.is_ascii_digit()))
    });
    paths.sort();
    paths
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn certificates_are_told_from_what_lies_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "5168735f.0",
            "CERN.pem",
            "5168735f.r0",
            "CERN.info",
            "policy",
            "CERN.signing_policy",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let found = certificates(folder.path());
        let names: Vec<_> = found
            .iter()
            .map(|path| path.file_name().unwrap().to_str().unwrap())
            .collect();
        assert_eq!(names, ["5168735f.0", "CERN.pem"]);
        assert!(certificates(&folder.path().join("none")).is_empty());
    }
}
