//! The authorities to trust: the system's (Mozilla's where it has none), or those of `SSL_CERT_FILE` and
//! `SSL_CERT_DIR`; and those of `X509_CERT_DIR`, where grids keep theirs.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What names files or folders of authorities.
const NAMES: [&str; 3] = ["SSL_CERT_FILE", "SSL_CERT_DIR", "X509_CERT_DIR"];

/// Where grids keep their authorities' certificates if `X509_CERT_DIR` does not say it.
const GRID: &str = "/etc/grid-security/certificates";

/// Judges servers' certificates by the authorities that the user trusts at that moment: a user whom an error has told of
/// `SSL_CERT_FILE` sets it in the notebook that runs.
#[derive(Debug)]
pub struct Trusted {
    provider: Arc<CryptoProvider>,
    /// What the variables named when the authorities were read last, since systems have many; `None` for no authority.
    read: Mutex<Option<(Named, Option<Arc<WebPkiServerVerifier>>)>>,
}

/// The values of [`NAMES`].
type Named = [Option<OsString>; NAMES.len()];

impl Trusted {
    /// Reads nothing yet: most users never speak TLS.
    #[must_use]
    pub fn new(provider: Arc<CryptoProvider>) -> Self {
        let read = Mutex::new(None);
        Trusted { provider, read }
    }

    fn verifier(&self, named: Named) -> Option<Arc<WebPkiServerVerifier>> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, verifier)) = read.as_ref().filter(|(then, _)| *then == named) {
            return verifier.clone();
        }
        let store = Arc::new(authorities(&named));
        let verifier =
            WebPkiServerVerifier::builder_with_provider(store, Arc::clone(&self.provider));
        let verifier = verifier.build().ok();
        *read = Some((named, verifier.clone()));
        verifier
    }
}

impl ServerCertVerifier for Trusted {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verifier = self
            .verifier(named())
            .ok_or(CertificateError::UnknownIssuer)?;
        verifier.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, cert, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, cert, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        let algorithms = &self.provider.signature_verification_algorithms;
        algorithms.supported_schemes()
    }
}

fn named() -> Named {
    NAMES.map(|name| std::env::var_os(name).filter(|value| !value.is_empty()))
}

/// The certificates of all authorities that the user trusts. Files that cannot be read are left out: a server whose
/// authority is then missing is refused.
fn authorities([file, directory, grid]: &Named) -> RootCertStore {
    let mut store = RootCertStore::empty();
    store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    // A small container has none. Who names a file trusts that one only.
    if store.is_empty() && file.is_none() && directory.is_none() {
        store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
    }
    let grid = grid.as_ref().map_or_else(|| GRID.into(), PathBuf::from);
    for path in certificates(&grid) {
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
    fn authorities_are_read_again_only_where_other_files_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let trusted = Trusted::new(Arc::new(rustls::crypto::ring::default_provider()));
        let at = |path: &Path| [None, None, Some(path.as_os_str().to_owned())];
        let read = || {
            let verifier = trusted.verifier(at(folder.path()));
            verifier.map(|verifier| Arc::as_ptr(&verifier) as usize)
        };
        let first = read();
        assert_eq!(read(), first);
        trusted.verifier(at(&folder.path().join("other")));
        let then = trusted.read.lock().unwrap().as_ref().unwrap().0.clone();
        assert_eq!(then, at(&folder.path().join("other")));
    }

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
