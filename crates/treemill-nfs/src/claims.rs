//! Whether a server was told that nothing else of a former state is claimed (RECLAIM_COMPLETE), without which it opens nothing
//! new. The first request of a new client says it, in front of what it asks, so that it takes no round trip. Knows no connection.

use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::{Mutex, MutexGuard};

/// What a client still has to tell its server.
#[derive(Debug)]
pub(crate) struct Claims {
    is_left: AtomicBool,
    turn: Mutex<()>,
    /// Others wait until it is said.
    is_waited_for: bool,
}

/// The request that holds it says it.
pub(crate) struct Turn<'a> {
    claims: &'a Claims,
    _one: MutexGuard<'a, ()>,
}

impl Claims {
    /// Nothing is left to be told yet. A data server opens nothing, so that reads need not wait there.
    pub(crate) fn new(is_data: bool) -> Self {
        Claims {
            is_left: AtomicBool::new(false),
            turn: Mutex::default(),
            is_waited_for: !is_data,
        }
    }

    /// The server takes us for a new client.
    pub(crate) fn begin(&self) {
        self.is_left.store(true, Ordering::Relaxed);
    }

    fn is_left(&self) -> bool {
        self.is_left.load(Ordering::Relaxed)
    }

    /// Gives a request that is going to be sent the turn to say it; `None` if it does not have to.
    pub(crate) async fn turn(&self) -> Option<Turn<'_>> {
        if !self.is_left() {
            return None;
        }
        let one = match self.is_waited_for {
            true => self.turn.lock().await,
            false => self.turn.try_lock().ok()?,
        };
        self.is_left().then_some(Turn {
            claims: self,
            _one: one,
        })
    }
}

impl Turn<'_> {
    /// The server knows it.
    pub(crate) fn end(self) {
        self.claims.is_left.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::task::{Context, Poll, Waker};

    fn now<T>(future: impl Future<Output = T>) -> Option<T> {
        match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        }
    }

    #[test]
    fn one_request_says_it_and_others_wait_but_at_a_data_server() {
        for is_data in [false, true] {
            let claims = Claims::new(is_data);
            assert!(now(claims.turn()).unwrap().is_none());
            claims.begin();
            let turn = now(claims.turn()).unwrap().unwrap();
            assert_eq!(now(claims.turn()).is_some(), is_data);
            turn.end();
            assert!(now(claims.turn()).unwrap().is_none());
        }
    }

    #[test]
    fn what_failed_is_said_by_the_next_one() {
        let claims = Claims::new(false);
        claims.begin();
        drop(now(claims.turn()).unwrap());
        assert!(now(claims.turn()).unwrap().is_some());
    }
}
