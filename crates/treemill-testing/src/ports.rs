//! Ports for servers that tests start as programs, which bind them some time after they were chosen.

use std::net::TcpListener;
use std::sync::atomic::{AtomicU16, Ordering};

/// Below the ports that systems give to programs that ask for any: none of those comes in between.
const FIRST: u16 = 12_000;
const COUNT: u16 = 20_000;
/// Ports that one process asks for, about; others begin elsewhere.
const OF_A_PROCESS: u16 = 50;

static NEXT: AtomicU16 = AtomicU16::new(0);

/// A port of this machine at which nothing listens, and which is given to no other caller.
///
/// # Panics
/// If no port is free.
#[must_use]
pub fn free_port() -> u16 {
    let slots = u32::from(COUNT / OF_A_PROCESS);
    let own = u16::try_from(std::process::id() % slots).unwrap_or_default() * OF_A_PROCESS;
    let port = |_| FIRST + (own + NEXT.fetch_add(1, Ordering::Relaxed) % COUNT) % COUNT;
    let is_free = |port: &u16| TcpListener::bind(("127.0.0.1", *port)).is_ok();
    (0..COUNT)
        .map(port)
        .find(is_free)
        .expect("a port that is free")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_port_is_given_twice() {
        let ports: HashSet<u16> = (0..1000).map(|_| free_port()).collect();
        assert_eq!(ports.len(), 1000);
        let taken = TcpListener::bind(("127.0.0.1", free_port())).unwrap();
        let taken = taken.local_addr().unwrap().port();
        NEXT.fetch_sub(1, Ordering::Relaxed);
        assert_ne!(free_port(), taken);
    }
}
