//! A relay between clients and a server, which counts, cuts and spoils.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, dead_code)]

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// A relay to one server.
pub struct Relay {
    pub port: u16,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    connections: AtomicU64,
    /// Connections that may be open at once; none: as many as there are.
    limit: AtomicU64,
    /// Connections that clients have ended.
    ended: AtomicU64,
    /// How often a client sent something after the server had.
    turns: AtomicU64,
    /// Whether small answers arrive alone: of each connection only the first bytes.
    is_narrow: AtomicBool,
}

/// Bytes of a connection that arrive through a relay that is narrow.
const NARROW: u64 = 1 << 10;

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

    /// Relays this number of connections at once, and ends all others.
    pub fn limited(server: u16, open: u64) -> Self {
        let relay = Self::start(server, u64::MAX);
        relay.counts.limit.store(open, Ordering::SeqCst);
        relay
    }

    fn begin(server: u16, most: u64, spoils: Spoils) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let counts = Arc::new(Counts::default());
        let counted = Arc::clone(&counts);
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let limit = counted.limit.load(Ordering::SeqCst);
                let open = counted.connections.load(Ordering::SeqCst)
                    - counted.ended.load(Ordering::SeqCst);
                if limit > 0 && open >= limit {
                    continue; // the client sees the end of its connection
                }
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

    /// Lets only the first bytes of each connection arrive from now on, or all: files can be opened, and bring nothing.
    pub fn narrow(&self, is_narrow: bool) {
        self.counts.is_narrow.store(is_narrow, Ordering::SeqCst);
    }

    pub fn connections(&self) -> u64 {
        self.counts.connections.load(Ordering::SeqCst)
    }

    pub fn ended(&self) -> u64 {
        self.counts.ended.load(Ordering::SeqCst)
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
            let turn = heard.swap(0, Ordering::SeqCst) > 0;
            counted.turns.fetch_add(u64::from(turn), Ordering::SeqCst);
            true
        });
        counted.ended.fetch_add(1, Ordering::SeqCst);
    });
    let counted = Arc::clone(counts);
    std::thread::spawn(move || {
        copy(server, client, most, |place, bytes| {
            answered.fetch_add(bytes.len() as u64, Ordering::SeqCst);
            for (place, byte) in (place..).zip(bytes.iter_mut()) {
                *byte ^= u8::from(spoils(place));
            }
            let end = place + u64::try_from(bytes.len()).unwrap();
            end <= NARROW || !counted.is_narrow.load(Ordering::SeqCst)
        });
    });
}

/// Copies until either side ends, or a number of bytes; `seen` gets them, with their place, before they are passed on, and says
/// whether they are.
fn copy(mut from: TcpStream, mut to: TcpStream, most: u64, seen: impl Fn(u64, &mut [u8]) -> bool) {
    let (mut buffer, mut left) = (vec![0; 64 << 10], most);
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        let some = u64::try_from(count).unwrap().min(left);
        let place = most - left;
        left -= some;
        let some = usize::try_from(some).unwrap();
        let passes = seen(place, &mut buffer[..some]);
        if (passes && to.write_all(&buffer[..some]).is_err()) || left == 0 {
            break;
        }
    }
    to.shutdown(Shutdown::Both).ok();
    from.shutdown(Shutdown::Both).ok();
}
