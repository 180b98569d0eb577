//! How a client behaves. Data only.

use crate::limits;
use crate::stream::Deadlines;
use rustls::RootCertStore;
use std::sync::Arc;
use std::time::Duration;
use treemill_transfer::credentials::Places;

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct Options {
    /// The user's name for logins and for the authentication `unix`, if the address has none; "treemill" by default.
    pub user: String,
    /// How long it may take to connect to a server, the look-up of its name included.
    pub connect: Duration,
    /// Servers that take less than this to connect to are left alone; zero by default.
    pub beyond: Duration,
    /// How long answers may take.
    pub deadlines: Deadlines,
    /// The round trip from which on large ranges are read with checksums, if the server has them. A server sends pages with
    /// checksums at a fifth of the speed of plain ones (0.7 against 4 GB/s on loopback, measured with XRootD 5.5): nearer than
    /// [`FAR`](treemill_transfer::FAR) it would be the limit, farther away the link is.
    pub checks_from: Duration,
    /// The authorities whose certificates count for TLS; if `None`, those of [`treemill_transfer::credentials::Trusted`].
    pub trusted: Option<Arc<RootCertStore>>,
    /// Where bearer tokens are looked for; if `None`, where this process's environment says.
    pub tokens: Option<Places>,
}

impl Options {
    /// The options for servers that shall get no bearer token.
    ///
    /// ```
    /// let options = treemill_xrootd::Options::default().without_tokens();
    /// assert!(options.tokens.is_some_and(|places| places.find().is_ok_and(|found| found.is_none())));
    /// ```
    #[must_use]
    pub fn without_tokens(self) -> Self {
        let tokens = Some(Places::default());
        Options { tokens, ..self }
    }
}

impl Default for Options {
    fn default() -> Self {
        let (connect, deadlines) = (limits::CONNECT, Deadlines::default());
        Options {
            user: "treemill".to_owned(),
            connect,
            beyond: Duration::ZERO,
            deadlines,
            checks_from: treemill_transfer::FAR,
            trusted: None,
            tokens: None,
        }
    }
}
