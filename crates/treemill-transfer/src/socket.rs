//! Bytes to and from a server over a socket that one task reads while another one writes. Knows no protocol.

use std::io::{Error, ErrorKind, Result};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Some bytes that have come; none only if the server has ended the connection.
///
/// # Errors
/// Those of the socket.
pub async fn read(socket: &TcpStream, buffer: &mut [u8]) -> Result<usize> {
    loop {
        socket.readable().await?;
        match socket.try_read(buffer) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            done => return done,
        }
    }
}

/// Writes all bytes, for however long the server takes some of them within `patience`.
///
/// # Errors
/// `TimedOut` if it takes none for longer; those of the socket.
pub async fn write(socket: &TcpStream, mut bytes: &[u8], patience: Duration) -> Result<()> {
    while !bytes.is_empty() {
        let taking = timeout(patience, socket.writable());
        taking.await.map_err(|_| slow(patience))??;
        match socket.try_write(bytes) {
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn slow(patience: Duration) -> Error {
    let what = format!(
        "the server has accepted no bytes for {} s",
        patience.as_secs()
    );
    Error::new(ErrorKind::TimedOut, what)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::{Trouble, connect, wait};
    use std::net::TcpListener;

    #[test]
    fn a_server_that_takes_nothing_is_waited_for_no_longer_than_said() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let error = wait(async move {
            let socket = connect("127.0.0.1", port, Duration::from_secs(10)).await?;
            let many = vec![0; 64 << 20];
            Ok::<_, Trouble>(write(&socket.socket, &many, Duration::from_millis(50)).await)
        });
        assert_eq!(error.unwrap().unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
