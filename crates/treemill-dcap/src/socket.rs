//! Bytes to and from a server over TCP. Knows no messages.

use tokio::net::TcpStream;
use treemill_transfer::{Kind, SILENCE, Trouble};

/// Connects to `host:port`, which is also what errors call it.
pub(crate) async fn connect(server: &str) -> Result<TcpStream, Trouble> {
    let (host, port) = server.rsplit_once(':').unwrap_or((server, ""));
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let bad = |_| {
        Trouble::new(
            Kind::Permanent,
            format!("the port of {server} is not a number"),
        )
    };
    let connected = treemill_transfer::connect(host, port.parse().map_err(bad)?, SILENCE);
    let socket = connected
        .await
        .map_err(|trouble| at(server, &trouble))?
        .socket;
    socket
        .set_nodelay(true)
        .map_err(|error| at(server, &failed(error)))?;
    Ok(socket)
}

/// Some bytes that have come; none only if the server has ended the connection.
pub(crate) async fn read(socket: &TcpStream, buffer: &mut [u8]) -> Result<usize, Trouble> {
    treemill_transfer::read(socket, buffer)
        .await
        .map_err(failed)
}

pub(crate) async fn write(socket: &TcpStream, bytes: &[u8]) -> Result<(), Trouble> {
    treemill_transfer::write(socket, bytes, SILENCE)
        .await
        .map_err(failed)
}

/// The same trouble, with the server's name.
pub(crate) fn at(server: &str, trouble: &Trouble) -> Trouble {
    let what = format!("{} (server {server})", trouble.what);
    Trouble {
        what,
        ..trouble.clone()
    }
}

fn failed(error: std::io::Error) -> Trouble {
    // Every failure may pass in a moment, but that of a name that does not exist; its kind of error has other causes, too.
    Trouble::new(
        Kind::Transient,
        format!("no connection could be made: {error}"),
    )
    .with_cause(error)
}
