//! Bytes to and from a server over TCP, encrypted from some time on or never. Knows no messages.

use crate::error::trouble;
use crate::limits;
use crate::tls::Tls;
use crate::url::Server;
use std::borrow::Cow;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;
use treemill_transfer::{Connected, read, write};
use treemill_transfer::{Kind, Trouble};

/// A socket, which one task reads and another one writes. It ends with them.
pub(crate) struct Transport {
    socket: TcpStream,
    /// How long the server may take no byte of what is written.
    silence: Duration,
}

impl Transport {
    /// Connects within `limit`, and says how long a round trip took.
    pub(crate) async fn connect(
        server: &Server,
        limit: Duration,
        silence: Duration,
    ) -> Result<(Self, Duration), Trouble> {
        let connected = treemill_transfer::connect(&server.host, server.port, limit).await;
        let Connected { socket, took } = connected?;
        socket.set_nodelay(true).map_err(lost)?;
        let silence = silence.max(limits::TICK);
        Ok((Transport { socket, silence }, took))
    }

    /// The number of bytes that have arrived; 0 if none came within a tick.
    pub(crate) async fn read(&self, buffer: &mut [u8]) -> Result<usize, Trouble> {
        match timeout(limits::TICK, read(&self.socket, buffer)).await {
            Ok(Ok(0)) => {
                let what = "the server has closed the connection";
                Err(trouble(Kind::Lost, what))
            }
            Ok(came) => came.map_err(lost),
            Err(_) => Ok(0),
        }
    }

    pub(crate) async fn write(&self, bytes: &[u8]) -> Result<(), Trouble> {
        write(&self.socket, bytes, self.silence).await.map_err(lost)
    }
}

/// The encryption of a connection, once it has begun. One task opens what arrives, another one seals what leaves.
#[derive(Default)]
pub(crate) struct Encryption(OnceLock<Mutex<Tls>>);

/// Bytes that have arrived.
pub(crate) struct Arrived<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Whether they came by TLS.
    pub(crate) is_encrypted: bool,
}

impl Encryption {
    /// Encrypts what is written and read from now on. Nothing may be on its way in either direction.
    pub(crate) fn begin(&self, tls: Tls) {
        self.0.get_or_init(|| Mutex::new(tls));
    }

    fn tls(&self) -> Option<MutexGuard<'_, Tls>> {
        let tls = self.0.get()?;
        Some(tls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Bytes of the socket as bytes of the protocol.
    pub(crate) fn open<'a>(&self, arrived: &'a [u8]) -> Result<Arrived<'a>, Trouble> {
        let sealed = self.tls().filter(|_| !arrived.is_empty());
        Ok(match sealed {
            Some(mut tls) => Arrived {
                bytes: Cow::Owned(tls.open(arrived)?),
                is_encrypted: true,
            },
            None => Arrived {
                bytes: Cow::Borrowed(arrived),
                is_encrypted: false,
            },
        })
    }

    /// Bytes of the protocol as bytes for the socket, with those that TLS itself has to send.
    pub(crate) fn seal<'a>(&self, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>, Trouble> {
        match self.tls() {
            Some(mut tls) => tls.seal(bytes).map(Cow::Owned),
            None => Ok(Cow::Borrowed(bytes)),
        }
    }

    /// Whether there is something to send that no caller has asked to write.
    pub(crate) fn wants_write(&self) -> bool {
        self.tls().is_some_and(|tls| tls.wants_write())
    }
}

fn lost(error: std::io::Error) -> Trouble {
    let what = format!("the connection is lost: {error}");
    trouble(Kind::Lost, what).with_cause(error)
}
