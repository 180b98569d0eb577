//! TLS by rustls with the provider ring, and the certificate that the user shows: a proxy, or one with its key.

use crate::certificate::ends;
use rustls::client::ResolvesClientCert;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, SignatureScheme};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

/// The client's side of TLS: trusts whom the user trusts; shows the user's proxy or certificate to servers that ask for one.
pub(crate) fn client() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trusted = treemill_transfer::credentials::Trusted::new(Arc::clone(&provider));
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(trusted))
        .with_client_cert_resolver(Arc::new(Shown));
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(config)
}

/// The user's certificate, read when a server asks for it: proxies live for hours and are renewed.
#[derive(Debug)]
struct Shown;

impl ResolvesClientCert for Shown {
    fn resolve(
        &self,
        _authorities: &[&[u8]],
        _schemes: &[SignatureScheme],
    ) -> Option<Arc<CertifiedKey>> {
        let (chain, key) = files()?;
        certified(&chain, &key).map(Arc::new)
    }

    fn has_certs(&self) -> bool {
        true
    }
}

/// What is wrong with the certificate that the user wants to be shown, in words, for a server that has refused: the file is not
/// there, has none, or what it has has expired. `None` if nothing is, or if there is none.
pub(crate) fn complaint() -> Option<String> {
    let (chain, key) = files()?;
    let which = match chain == key {
        true => format!("the proxy certificate {}", chain.display()),
        false => format!("the certificate {}", chain.display()),
    };
    let renew = "make another one (voms-proxy-init, grid-proxy-init)";
    if let Err(error) = std::fs::metadata(&chain).and_then(|_| std::fs::metadata(&key)) {
        return Some(format!("{which} cannot be read ({error}): {renew}"));
    }
    let Some(shown) = certified(&chain, &key) else {
        let what = "holds no usable certificate with its key in PEM form";
        return Some(format!("{which} {what}: {renew}"));
    };
    let ends = shown.cert.iter().filter_map(|each| ends(each)).min()?;
    let when = httpdate::fmt_http_date(ends);
    (ends < SystemTime::now()).then(|| format!("{which} expired on {when}: {renew}"))
}

/// The files of the certificate chain and of its key, in the order in which grids look for them.
fn files() -> Option<(PathBuf, PathBuf)> {
    let named = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    if let Some(proxy) = named("X509_USER_PROXY") {
        return Some((proxy.clone(), proxy));
    }
    if let (Some(chain), Some(key)) = (named("X509_USER_CERT"), named("X509_USER_KEY")) {
        return Some((chain, key));
    }
    let user = rustix::process::geteuid().as_raw();
    let proxy = PathBuf::from(format!("/tmp/x509up_u{user}"));
    // All users may write there: the file counts only if it is the user's own.
    let own = std::fs::metadata(&proxy).is_ok_and(|file| file.uid() == user);
    own.then(|| (proxy.clone(), proxy))
}

/// The chain with its key. rustls's own way would refuse proxies: their critical extension (RFC 3820) is none that
/// servers' certificates may have.
fn certified(chain: &Path, key: &Path) -> Option<CertifiedKey> {
    let chain: Vec<_> = CertificateDer::pem_file_iter(chain)
        .ok()?
        .flatten()
        .collect();
    let key = PrivateKeyDer::from_pem_file(key).ok()?;
    let key = rustls::crypto::ring::sign::any_supported_type(&key).ok()?;
    (!chain.is_empty()).then(|| CertifiedKey::new(chain, key))
}
