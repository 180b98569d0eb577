//! How far servers are: the least time that making a connection to each has taken. A server that takes long to answer may be
//! next door. Measured below the client, which makes connections for whichever request needs one.

use reqwest::Url;
use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};
use tower_layer::Layer;
use tower_service::Service;

/// Servers by scheme, host and port.
static SERVERS: LazyLock<Mutex<HashMap<String, Arc<Distance>>>> = LazyLock::new(Mutex::default);

tokio::task_local! {
    /// The server that this task sends a request to.
    static SENDING: Arc<Distance>;
}

/// The distance of one server.
#[derive(Debug)]
pub(crate) struct Distance {
    /// Round trips in which a connection is made: TLS needs one more.
    trips: u32,
    /// The least that was seen.
    nanoseconds: AtomicU64,
}

impl Distance {
    /// The distance of the server of an address.
    pub(crate) fn of(url: &Url) -> Arc<Distance> {
        let origin = url.origin().ascii_serialization();
        let mut all = SERVERS.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            Arc::new(Distance {
                trips: if url.scheme() == "https" { 2 } else { 1 },
                nanoseconds: AtomicU64::new(u64::MAX),
            })
        };
        Arc::clone(all.entry(origin).or_insert_with(new))
    }

    /// The network's round trip; `None` before a connection was made.
    pub(crate) fn round_trip(&self) -> Option<Duration> {
        let least = self.nanoseconds.load(Ordering::Relaxed);
        (least < u64::MAX).then(|| Duration::from_nanos(least))
    }

    /// A connection was made in this time.
    fn connected(&self, time: Duration) {
        let trip = time.checked_div(self.trips).unwrap_or(time);
        let trip = u64::try_from(trip.as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.fetch_min(trip, Ordering::Relaxed);
    }

    /// Sends a request to the server. If it makes a connection, that is measured.
    pub(crate) async fn measured<T>(self: Arc<Self>, send: impl Future<Output = T>) -> T {
        SENDING.scope(self, send).await
    }
}

/// Measures the making of connections.
#[derive(Debug, Clone)]
pub(crate) struct Measuring;

impl<S> Layer<S> for Measuring {
    type Service = Measured<S>;

    fn layer(&self, inner: S) -> Measured<S> {
        Measured(inner)
    }
}

/// What makes connections.
#[derive(Debug, Clone)]
pub(crate) struct Measured<S>(S);

impl<S, R> Service<R> for Measured<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: R) -> Self::Future {
        let server = SENDING.try_with(Arc::clone).ok();
        let begun = Instant::now();
        let connecting = self.0.call(request);
        Box::pin(async move {
            let made = connecting.await;
            if let (Some(server), Ok(_)) = (server, &made) {
                server.connected(begun.elapsed());
            }
            made
        })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn the_least_time_counts_and_tls_takes_one_trip_more() {
        let of = |text: &str| Distance::of(&Url::parse(text).unwrap());
        assert_eq!(of("http://a:1/f").round_trip(), None);
        for time in [30, 20, 40] {
            of("http://a:1/f").connected(Duration::from_millis(time));
            of("https://a:1/f").connected(Duration::from_millis(time));
        }
        let found = ["http://a:1/g", "https://a:1/", "http://a:2/"].map(|url| of(url).round_trip());
        let expected = [Some(20), Some(10), None].map(|time| time.map(Duration::from_millis));
        assert_eq!(found, expected);
    }
}
