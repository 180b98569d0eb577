//! Bytes to and from a server over TCP, encrypted from some time on or never. Knows no messages.

use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::options::Options;
use crate::tls::Tls;
use crate::url::Server;
use std::borrow::Cow;
use std::io::{ErrorKind as IoErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;
use treemill_transfer::{Connected, wait};

/// A socket. One thread reads, another one writes.
pub(crate) struct Transport {
    socket: TcpStream,
    tls: OnceLock<Mutex<Tls>>,
}

/// Bytes that have arrived.
pub(crate) struct Arrived<'a> {
    pub(crate) bytes: Cow<'a, [u8]>,
    /// Whether they came by TLS.
    pub(crate) is_encrypted: bool,
}

impl<'a> Arrived<'a> {
    fn clear(bytes: &'a [u8]) -> Self {
        Arrived {
            bytes: Cow::Borrowed(bytes),
            is_encrypted: false,
        }
    }

    fn sealed(bytes: Vec<u8>) -> Self {
        Arrived {
            bytes: Cow::Owned(bytes),
            is_encrypted: true,
        }
    }
}

impl Transport {
    /// Connects, and says how long a round trip took.
    pub(crate) fn connect(server: &Server, options: &Options) -> Result<(Self, Duration), Error> {
        let (socket, took) = connect(server, options.connect)?;
        let silence = options.deadlines.silence.max(limits::TICK);
        prepare(&socket, silence).map_err(lost)?;
        let tls = OnceLock::new();
        Ok((Transport { socket, tls }, took))
    }

    /// Encrypts what is written and read from now on. Nothing may be on its way in either direction.
    pub(crate) fn encrypt(&self, tls: Tls) {
        self.tls.get_or_init(|| Mutex::new(tls));
    }

    fn tls(&self) -> Option<MutexGuard<'_, Tls>> {
        let tls = self.tls.get()?;
        Some(tls.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Bytes that have arrived; none if none came within a tick.
    pub(crate) fn read<'a>(&self, buffer: &'a mut [u8]) -> Result<Arrived<'a>, Error> {
        match (&self.socket).read(buffer) {
            Ok(0) => {
                let what = "the connection was closed";
                Err(Error::new(ErrorKind::Connection, what))
            }
            Ok(count) => {
                let arrived = buffer.get(..count).unwrap_or_default();
                match self.tls() {
                    Some(mut tls) => tls.open(arrived).map(Arrived::sealed),
                    None => Ok(Arrived::clear(arrived)),
                }
            }
            Err(e) if is_pause(e.kind()) => Ok(Arrived::clear(&[])),
            Err(e) => Err(lost(e)),
        }
    }

    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        // The lock is not held while the socket makes its writer wait: the reading thread needs it.
        let sealed = self.tls().map(|mut tls| tls.seal(bytes)).transpose()?;
        let bytes = sealed.as_deref().unwrap_or(bytes);
        (&self.socket).write_all(bytes).map_err(lost)
    }

    /// Whether there is something to send that no caller has asked to write.
    pub(crate) fn wants_write(&self) -> bool {
        self.tls().is_some_and(|tls| tls.wants_write())
    }

    /// Ends the socket: both threads see it at once.
    pub(crate) fn close(&self) {
        self.socket.shutdown(Shutdown::Both).ok();
    }
}

fn prepare(socket: &TcpStream, silence: Duration) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(limits::TICK))?;
    socket.set_write_timeout(Some(silence))
}

/// Whether a read ended only because nothing came within a tick.
fn is_pause(kind: IoErrorKind) -> bool {
    matches!(
        kind,
        IoErrorKind::WouldBlock | IoErrorKind::TimedOut | IoErrorKind::Interrupted
    )
}

fn connect(server: &Server, limit: Duration) -> Result<(TcpStream, Duration), Error> {
    let (host, port) = (server.host.clone(), server.port);
    let connecting = async move {
        let Connected { socket, took } = treemill_transfer::connect(&host, port, limit).await?;
        Ok((socket.into_std(), took))
    };
    let (socket, took) = wait(connecting).map_err(Error::of_connecting)?;
    let socket = socket.map_err(lost)?;
    socket.set_nonblocking(false).map_err(lost)?;
    Ok((socket, took))
}

fn lost(error: std::io::Error) -> Error {
    let what = format!("the connection is lost: {error}");
    Error::new(ErrorKind::Connection, what).with_cause(error)
}
