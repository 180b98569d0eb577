//! Connections to servers by their names. All addresses of a name are raced (RFC 8305): one that is dead hides no other, and
//! does not add to the time after which there is an error. Knows no protocol.

use crate::limits::STAGGER;
use crate::runtime::wait;
use crate::{Kind, Trouble};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// A connection that was made.
#[derive(Debug)]
pub struct Connected {
    /// The connection.
    pub socket: TcpStream,
    /// How long its address took to answer, which is one round trip.
    pub took: Duration,
}

/// Connects to a server, the look-up of its name included.
///
/// ```
/// use std::time::Duration;
/// use treemill_transfer::{Kind, connect, wait};
///
/// let listener = std::net::TcpListener::bind("127.0.0.1:0")?;
/// let port = listener.local_addr()?.port();
/// let limit = Duration::from_secs(10);
/// assert!(wait(async move { connect("127.0.0.1", port, limit).await }).is_ok());
/// drop(listener);
/// let refused = wait(async move { connect("127.0.0.1", port, limit).await });
/// assert_eq!(refused.unwrap_err().kind, Kind::Unreachable);
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// `Unreachable` if the name has no address or none takes connections; `Reset` if one was made and reset at once; `Silent` if there
/// is none within `limit`.
pub async fn connect(host: &str, port: u16, limit: Duration) -> Result<Connected, Trouble> {
    bounded(limit, async {
        race(in_turn(addresses(host, port).await?)).await
    })
    .await
}

/// The addresses of a server, looked up by a thread that may wait.
///
/// # Errors
/// As [`connect`].
pub fn look_up(host: &str, port: u16, limit: Duration) -> Result<Vec<SocketAddr>, Trouble> {
    let host = host.to_owned();
    wait(async move { bounded(limit, addresses(&host, port)).await })
}

async fn bounded<T>(
    limit: Duration,
    what: impl Future<Output = Result<T, Trouble>>,
) -> Result<T, Trouble> {
    timeout(limit, what).await.unwrap_or_else(|_| {
        let what = format!("no connection could be made within {} s", limit.as_secs());
        Err(Trouble::new(Kind::Silent, what))
    })
}

async fn addresses(host: &str, port: u16) -> Result<Vec<SocketAddr>, Trouble> {
    let found = lookup_host((host, port)).await.map_err(|error| {
        let said = error.to_string();
        let reason = said.rsplit(": ").next().unwrap_or(&said);
        let what = format!("the server's name cannot be resolved ({reason}): check the address");
        Trouble::new(Kind::Unreachable, what).with_cause(error)
    })?;
    Ok(found.collect())
}

/// The addresses in the order in which they are tried: as the system has them, but of both kinds in turn.
fn in_turn(addresses: Vec<SocketAddr>) -> Vec<SocketAddr> {
    let is_first_v6 = addresses.first().is_some_and(SocketAddr::is_ipv6);
    let (preferred, others): (Vec<_>, Vec<_>) = addresses
        .into_iter()
        .partition(|address| address.is_ipv6() == is_first_v6);
    let (mut preferred, mut others) = (preferred.into_iter(), others.into_iter());
    let mut all = Vec::new();
    loop {
        let two = [preferred.next(), others.next()];
        if two.iter().all(Option::is_none) {
            return all;
        }
        all.extend(two.into_iter().flatten());
    }
}

/// Tries the next address when one has failed, or has said nothing for a moment; the first that answers wins.
async fn race(addresses: Vec<SocketAddr>) -> Result<Connected, Trouble> {
    let mut left = addresses.into_iter();
    let mut running = JoinSet::new();
    let mut last = Trouble::new(Kind::Unreachable, "the server's name has no address");
    loop {
        if let Some(address) = left.next() {
            running.spawn(attempt(address));
        }
        let ended = match left.len() {
            0 => running.join_next().await,
            _ => match timeout(STAGGER, running.join_next()).await {
                Ok(ended) => ended,
                Err(_) => continue,
            },
        };
        match ended {
            Some(Ok(Ok(connected))) => return Ok(connected),
            Some(Ok(Err(trouble))) => last = trouble,
            Some(Err(gone)) => last = Trouble::new(Kind::Transient, gone.to_string()),
            None => return Err(last),
        }
    }
}

/// Sessions of this process that have worker processes.
static SHARING: AtomicUsize = AtomicUsize::new(0);

/// Whether worker processes want connections beside this process: it keeps those that it does not use only for a moment, since a
/// firewall may allow few.
pub fn are_connections_shared() -> bool {
    SHARING.load(Ordering::Relaxed) > 0
}

/// A session of this process has worker processes from now on, or has ended them.
pub fn share_connections(has_workers: bool) {
    let change = |now: usize| match has_workers {
        true => Some(now.saturating_add(1)),
        false => Some(now.saturating_sub(1)),
    };
    let _ = SHARING.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change);
}

/// Why a connection may be ended before anything was said over it.
pub const CROWDED: &str = ". The server or a firewall may accept no more connections: each worker process needs one, and \
                           threads share one";

/// What to look at if nothing takes connections at a port.
pub const REFUSED: &str = ". No program listens at this port: check the host and the port";

async fn attempt(address: SocketAddr) -> Result<Connected, Trouble> {
    let begun = Instant::now();
    let connected = TcpStream::connect(address).await;
    let socket = connected.map_err(|error| {
        let (kind, why) = match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => (Kind::Reset, CROWDED),
            ErrorKind::ConnectionRefused => (Kind::Unreachable, REFUSED),
            _ => (Kind::Unreachable, ""),
        };
        Trouble::new(kind, format!("no connection could be made: {error}{why}")).with_cause(error)
    })?;
    let took = begun.elapsed();
    Ok(Connected { socket, took })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::net::TcpListener;
    use tokio::net::TcpSocket;

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    #[test]
    fn both_kinds_of_addresses_are_tried_in_turn() {
        let all = ["[::1]:1", "[::2]:1", "[::3]:1", "1.1.1.1:1"].map(address);
        let order = ["[::1]:1", "1.1.1.1:1", "[::2]:1", "[::3]:1"].map(address);
        assert_eq!(in_turn(all.to_vec()), order);
        assert_eq!(in_turn(Vec::new()), []);
    }

    /// An address that answers nothing: its queue of connections is full.
    async fn dead() -> (SocketAddr, Vec<TcpStream>, tokio::net::TcpListener) {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(address("127.0.0.1:0")).unwrap();
        let listener = socket.listen(1).unwrap();
        let place = listener.local_addr().unwrap();
        let mut queue = Vec::new();
        while let Ok(connected) = timeout(STAGGER, TcpStream::connect(place)).await {
            queue.push(connected.unwrap());
            assert!(queue.len() < 64, "the queue has no end");
        }
        (place, queue, listener)
    }

    #[test]
    fn a_living_address_is_found_behind_dead_ones_and_none_is_an_error_in_time() {
        let living = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = living.local_addr().unwrap();
        let all = async move {
            let (dead, _queue, _listener) = dead().await;
            let connected = race(vec![dead, dead, dead, place]).await?;
            assert_eq!(connected.socket.peer_addr().unwrap(), place);
            bounded(2 * STAGGER, race(vec![dead; 5])).await
        };
        assert_eq!(wait(all).unwrap_err().kind, Kind::Silent);
    }

    #[test]
    fn one_that_refuses_is_passed_over_at_once() {
        let gone = TcpListener::bind("127.0.0.1:0").unwrap();
        let refuses = gone.local_addr().unwrap();
        drop(gone);
        let living = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = living.local_addr().unwrap();
        assert!(wait(async move { race(vec![refuses, place]).await }).is_ok());
        let refused = wait(async move { race(vec![refuses, refuses]).await });
        assert_eq!(refused.unwrap_err().kind, Kind::Unreachable);
        let none = wait(async { race(Vec::new()).await });
        assert_eq!(none.unwrap_err().kind, Kind::Unreachable);
    }
}
