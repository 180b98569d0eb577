//! Bytes to and from a server over TCP, encrypted from some time on or never. Knows no messages.

use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::options::Options;
use crate::tls::Tls;
use crate::url::Server;
use std::borrow::Cow;
use std::io::{ErrorKind as IoErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream, ToSocketAddrs};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

/// A socket. One thread reads, another one writes.
pub(crate) struct Transport {
    socket: TcpStream,
    tls: OnceLock<Mutex<Tls>>,
}

impl Transport {
    pub(crate) fn connect(server: &Server, options: &Options) -> Result<Self, Error> {
        let socket = connect(server, options.connect)?;
        let silence = options.deadlines.silence.max(limits::TICK);
        prepare(&socket, silence).map_err(lost)?;
        let tls = OnceLock::new();
        Ok(Transport { socket, tls })
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
    pub(crate) fn read<'a>(&self, buffer: &'a mut [u8]) -> Result<Cow<'a, [u8]>, Error> {
        match (&self.socket).read(buffer) {
            Ok(0) => {
                let what = "the connection was closed";
                Err(Error::new(ErrorKind::Connection, what))
            }
            Ok(count) => {
                let arrived = buffer.get(..count).unwrap_or_default();
                match self.tls() {
                    Some(mut tls) => tls.open(arrived).map(Cow::Owned),
                    None => Ok(Cow::Borrowed(arrived)),
                }
            }
            Err(e) if is_pause(e.kind()) => Ok(Cow::Borrowed(&[])),
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

fn connect(server: &Server, limit: Duration) -> Result<TcpStream, Error> {
    let addresses = (server.host.as_str(), server.port)
        .to_socket_addrs()
        .map_err(|e| {
            Error::new(ErrorKind::Connection, format!("no address is known: {e}")).with_cause(e)
        })?;
    let mut last = Error::new(ErrorKind::Connection, "the server's name has no address");
    for address in addresses {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(socket) => return Ok(socket),
            Err(e) => {
                let is_late = e.kind() == IoErrorKind::TimedOut;
                let kind = if is_late {
                    ErrorKind::Timeout
                } else {
                    ErrorKind::Connection
                };
                last = Error::new(kind, format!("no connection: {e}")).with_cause(e);
            }
        }
    }
    Err(last)
}

fn lost(error: std::io::Error) -> Error {
    let what = format!("the connection is lost: {error}");
    Error::new(ErrorKind::Connection, what).with_cause(error)
}
