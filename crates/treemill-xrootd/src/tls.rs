//! One side of TLS: bytes of a socket to bytes of the protocol and back. Knows no socket and no protocol.

use crate::error::trouble;
use crate::url::Server;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore};
use std::io::{ErrorKind as IoErrorKind, Read, Write};
use std::sync::Arc;
use treemill_transfer::credentials::Trusted;
use treemill_transfer::{Kind, Trouble};

/// What all connections of a client share: the authorities that it trusts, those of the user if `None`.
///
/// # Errors
/// If the library refuses its own defaults.
pub(crate) fn configure(trusted: Option<Arc<RootCertStore>>) -> Result<Arc<ClientConfig>, Trouble> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(refused)?;
    let config = match trusted {
        Some(trusted) => config.with_root_certificates(trusted),
        None => config
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(Trusted::new(provider))),
    };
    Ok(Arc::new(config.with_no_client_auth()))
}

/// TLS of one connection.
pub(crate) struct Tls(ClientConnection);

impl Tls {
    /// The beginning: [`Tls::seal`] has bytes to send.
    pub(crate) fn begin(config: &Arc<ClientConfig>, server: &Server) -> Result<Self, Trouble> {
        let name = ServerName::try_from(server.host.clone()).map_err(|_| {
            let what = "no certificate can have the server's name";
            trouble(Kind::Invalid, what)
        })?;
        let mut connection = ClientConnection::new(Arc::clone(config), name).map_err(refused)?;
        // Requests may pile up until the handshake is done.
        connection.set_buffer_limit(None);
        Ok(Tls(connection))
    }

    /// Bytes that have arrived, as bytes of the protocol.
    pub(crate) fn open(&mut self, mut arrived: &[u8]) -> Result<Vec<u8>, Trouble> {
        let mut plain = Vec::new();
        while !arrived.is_empty() {
            self.0.read_tls(&mut arrived).map_err(broken)?;
            self.0.process_new_packets().map_err(refused)?;
            match self.0.reader().read_to_end(&mut plain) {
                Ok(_) => break, // the server has said that nothing follows
                Err(error) if error.kind() == IoErrorKind::WouldBlock => {}
                Err(error) => return Err(broken(error)),
            }
        }
        Ok(plain)
    }

    /// Bytes of the protocol, and what TLS itself has to say, as bytes to send.
    pub(crate) fn seal(&mut self, plain: &[u8]) -> Result<Vec<u8>, Trouble> {
        let mut sealed = Vec::new();
        self.0.writer().write_all(plain).map_err(broken)?;
        while self.0.wants_write() {
            self.0.write_tls(&mut sealed).map_err(broken)?;
        }
        Ok(sealed)
    }

    /// Whether TLS itself has something to say.
    pub(crate) fn wants_write(&self) -> bool {
        self.0.wants_write()
    }
}

fn refused(error: rustls::Error) -> Trouble {
    let words = treemill_transfer::credentials::in_words(&error);
    if matches!(error, rustls::Error::InvalidCertificate(_)) {
        let what = format!(
            "{words}. treemill trusts the authorities of the system, of SSL_CERT_FILE and of X509_CERT_DIR"
        );
        return trouble(Kind::Untrusted, what).with_cause(error);
    }
    trouble(Kind::Malformed, words).with_cause(error)
}

fn broken(error: std::io::Error) -> Trouble {
    // What the reading task has heard is said to the writing one, too.
    match error.downcast::<rustls::Error>() {
        Ok(error) => refused(error),
        Err(error) => trouble(Kind::Malformed, format!("TLS failed: {error}")).with_cause(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_that_is_not_trusted_is_so_for_all() {
        let why = rustls::Error::InvalidCertificate(rustls::CertificateError::BadSignature);
        let one = refused(why.clone());
        let other = broken(std::io::Error::new(std::io::ErrorKind::InvalidData, why));
        assert_eq!(one.to_string(), other.to_string());
        assert!(matches!(other.kind, Kind::Untrusted));
        let lost = broken(std::io::ErrorKind::BrokenPipe.into());
        assert!(lost.to_string().starts_with("TLS failed"), "{lost}");
    }
}
