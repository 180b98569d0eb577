//! Certificates of a test's own, made by `openssl`: an authority, and a server that it has signed.

#![allow(clippy::unwrap_used, dead_code)]

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

pub struct Certificates {
    folder: tempfile::TempDir,
}

impl Certificates {
    /// Certificates for a server called `name`, such as `IP:127.0.0.1`; `None`, with the reason printed, where
    /// there is no openssl.
    pub fn make(name: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let certificates = Certificates { folder };
        let subject = format!("subjectAltName={name}");
        let made = certificates.openssl(&[
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=test authority",
            "-keyout",
            "ca.key",
            "-out",
            "ca.pem",
        ]) && certificates.openssl(&[
            "req",
            "-x509",
            "-newkey",
            "ec",
            "-pkeyopt",
            "ec_paramgen_curve:prime256v1",
            "-nodes",
            "-days",
            "2",
            "-subj",
            "/CN=test server",
            "-addext",
            &subject,
            "-addext",
            "basicConstraints=critical,CA:FALSE",
            "-CA",
            "ca.pem",
            "-CAkey",
            "ca.key",
            "-keyout",
            "server.key",
            "-out",
            "server.pem",
        ]);
        if !made {
            println!("skipped: openssl, which makes certificates, is not installed or too old");
            return None;
        }
        Some(certificates)
    }

    fn openssl(&self, arguments: &[&str]) -> bool {
        let mut command = Command::new("openssl");
        command.args(arguments).current_dir(self.folder.path());
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Puts the server's certificate and key where the server can read them: their paths.
    pub fn install(&self, folder: &Path) {
        for name in ["server.pem", "server.key", "ca.pem"] {
            std::fs::copy(self.path(name), folder.join(name)).unwrap();
        }
    }

    /// A client's trust in this authority alone.
    pub fn trusted(&self) -> Arc<RootCertStore> {
        let mut store = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_file(self.path("ca.pem")).unwrap();
        store.add(certificate).unwrap();
        Arc::new(store)
    }
}
