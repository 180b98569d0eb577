//! A relay between clients and a server, which counts, cuts and spoils.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, dead_code)]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A relay to one server.
pub struct Relay {
    pub port: u16,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    connections: AtomicU64,
    /// How often a client sent something after the server had.
    turns: AtomicU64,
}

/// Whether the server's byte at this place of a connection arrives as another one; connections count from 1.
type Spoils = Arc<dyn Fn(u64, u64) -> bool + Send + Sync>;

impl Relay {
    /// Relays to a port of this machine; ends each connection after `most` bytes of the server's.
    pub fn start(server: u16, most: u64) -> Self {
        Self::begin(server, most, Arc::new(|_, _| false))
    }

    /// Relays, and flips bits of the server's bytes for which `spoils`, by the number of the connection and the place in
    /// it, says so.
    pub fn spoiling(
        server: u16,
        spoils: impl Fn(u64, u64) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self::begin(server, u64::MAX, Arc::new(spoils))
    }

    fn begin(server: u16, most: u64, spoils: Spoils) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let Ok(server) = TcpStream::connect(("127.0.0.1", server)) else {
                    continue; // the client sees the end of its connection
                };
                let number = counted.connections.fetch_add(1, Ordering::SeqCst) + 1;
                let spoils = Arc::clone(&spoils);
                let spoils = move |place| spoils(number, place);
                relay(client.unwrap(), server, most, &counted, spoils);
            }
        });
        Relay { port, counts }
    }

    pub fn connections(&self) -> u64 {
        self.counts.connections.load(Ordering::SeqCst)
    }

    /// Round trips so far, without those of TCP.
    pub fn turns(&self) -> u64 {
        self.counts.turns.load(Ordering::SeqCst)
    }
}

fn relay(
    client: TcpStream,
    server: TcpStream,
    most: u64,
    counts: &Arc<Counts>,
    spoils: impl Fn(u64) -> bool + Send + 'static,
) {
    let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    // Bytes of the server's since the client's last ones; a client begins.
    let answered = Arc::new(AtomicU64::new(1));
    let (heard, counted) = (Arc::clone(&answered), Arc::clone(counts));
    std::thread::spawn(move || {
        copy(from, to, u64::MAX, |_, _| {
            if heard.swap(0, Ordering::SeqCst) > 0 {
                counted.turns.fetch_add(1, Ordering::SeqCst);
            }
        });
    });
    std::thread::spawn(move || {
        copy(server, client, most, |place, bytes| {
            answered.fetch_add(bytes.len() as u64, Ordering::SeqCst);
            for (place, byte) in (place..).zip(bytes) {
                *byte ^= u8::from(spoils(place));
            }
        });
    });
}

/// Copies until either side ends, or a number of bytes; `seen` gets them, with their place, before they are passed on.
fn copy(mut from: TcpStream, mut to: TcpStream, most: u64, seen: impl Fn(u64, &mut [u8])) {
    let (mut buffer, mut left) = (vec![0; 64 << 10], most);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let some = u64::try_from(count).unwrap().min(left);
        let place = most - left;
        left -= some;
        let some = usize::try_from(some).unwrap();
        seen(place, &mut buffer[..some]);
        if to.write_all(&buffer[..some]).is_err() || left == 0 {
            break;
        }
    }
    to.shutdown(Shutdown::Both).ok();
    from.shutdown(Shutdown::Both).ok();
}
