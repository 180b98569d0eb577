//! The connections of a file beside its first one. They may be begun together with that one, before it is known which file
//! they must have and whether they are worth it. Knows no protocol, and not what is asked for on them.

use super::{Connection, Opening};
use crate::connections::deal::distance;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::timeout;
use treemill_source::{Identity, Source};
use treemill_transfer::runtime;

/// Which file the connections must have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Wanted {
    /// It is not known yet.
    #[default]
    Unknown,
    /// The one of this size and identity.
    File(u64, Option<Identity>),
    /// There are no further connections: they are not worth it.
    None,
}

impl Wanted {
    fn takes(&self, source: &dyn Source) -> bool {
        match self {
            Wanted::Unknown => true,
            Wanted::File(size, identity) => {
                source.size() == *size && source.identity() == *identity
            }
            Wanted::None => false,
        }
    }
}

#[derive(Default)]
struct State {
    wanted: Wanted,
    open: Vec<Connection>,
    /// Connections that are being opened.
    due: usize,
}

/// The other connections of one file. One that cannot be opened, or that has another file, is left out.
#[derive(Default)]
pub(crate) struct Pool {
    state: Mutex<State>,
    bell: Notify,
}

impl Pool {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Opens connections of these numbers, side by side.
    pub(crate) fn open(self: &Arc<Self>, numbers: impl Iterator<Item = usize>, opening: &Opening) {
        for number in numbers {
            let (opening, due) = (opening(number, distance(number)), Due::new(self));
            if let Ok(runtime) = runtime() {
                runtime.spawn(async move { due.arrived(opening.await.ok()) });
            }
        }
    }

    fn arrived(&self, source: Option<Arc<dyn Source>>) {
        let mut state = self.state();
        state.due = state.due.saturating_sub(1);
        let (fits, other) = match source {
            Some(source) if state.wanted.takes(&*source) => (Some(source), None),
            other => (None, other),
        };
        state.open.extend(fits.map(Connection::new));
        drop(state);
        drop(other); // when nothing is locked: it may have something to say to its server
        self.bell.notify_waiters();
    }

    /// The file is known: what has another one goes, and all if the file is not worth them (`None`).
    pub(crate) fn settle(&self, file: Option<&dyn Source>) {
        let mut state = self.state();
        state.wanted = match file {
            Some(file) => Wanted::File(file.size(), file.identity()),
            None => Wanted::None,
        };
        let open = std::mem::take(&mut state.open);
        let (fit, others) = open
            .into_iter()
            .partition(|connection| state.wanted.takes(&*connection.source));
        state.open = fit;
        drop(state);
        drop::<Vec<Connection>>(others);
    }

    /// Waits until all are open that were begun, but not for long.
    pub(crate) async fn wait(&self, patience: Duration) {
        let all = async {
            loop {
                let told = self.bell.notified(); // before the look: it hears of what comes after that
                if self.state().due == 0 {
                    return;
                }
                told.await;
            }
        };
        let _ = timeout(patience, all).await; // the late are left out
    }

    /// The connections that are open.
    pub(crate) fn connections(&self) -> Vec<Connection> {
        let state = self.state();
        match state.wanted {
            Wanted::File(..) => state.open.clone(),
            _ => Vec::new(),
        }
    }
}

/// A connection that is being opened. Without a runtime there is none, and it is no longer due.
struct Due(Option<Arc<Pool>>);

impl Due {
    fn new(pool: &Arc<Pool>) -> Self {
        let mut state = pool.state();
        state.due = state.due.saturating_add(1);
        Due(Some(Arc::clone(pool)))
    }

    fn arrived(mut self, source: Option<Arc<dyn Source>>) {
        if let Some(pool) = self.0.take() {
            pool.arrived(source);
        }
    }
}

impl Drop for Due {
    fn drop(&mut self) {
        if let Some(pool) = self.0.take() {
            pool.arrived(None);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::connections::tests::done;
    use std::future::{poll_fn, ready};
    use std::sync::mpsc::{TryRecvError, channel};
    use std::task::Poll;
    use treemill_source::{Costs, Memory, SourceError};

    fn file(bytes: usize) -> Arc<dyn Source> {
        let far = Costs::far(Duration::from_millis(137));
        Arc::new(Memory::new("m", vec![7; bytes], far))
    }

    fn opened(sizes: &'static [usize]) -> Arc<Pool> {
        let opening: Opening = Arc::new(|number, _| {
            let size = sizes.get(number).copied();
            let none = || SourceError::new("m", "no more connections");
            Box::pin(ready(size.map(file).ok_or_else(none)))
        });
        let pool = Arc::new(Pool::default());
        pool.open(0..=sizes.len(), &opening);
        done(pool.wait(Duration::MAX));
        pool
    }

    #[test]
    fn what_has_another_file_goes_when_the_file_is_known() {
        let pool = opened(&[5, 6, 5]);
        assert!(pool.connections().is_empty(), "what they have is not known");
        pool.settle(Some(&*file(5)));
        assert_eq!(pool.connections().len(), 2);
    }

    #[test]
    fn a_near_file_has_none() {
        let pool = opened(&[5, 5]);
        pool.settle(None);
        assert!(pool.connections().is_empty());
        pool.arrived(Some(file(5)));
        pool.settle(Some(&*file(5)));
        assert!(pool.connections().is_empty(), "they were not kept");
    }

    #[test]
    fn one_that_is_never_opened_is_not_waited_for() {
        let pool = Arc::new(Pool::default());
        drop(Due::new(&pool));
        done(pool.wait(Duration::MAX));
        assert_eq!(pool.state().due, 0);
    }

    #[test]
    fn the_late_are_looked_at_when_they_come() {
        let (sender, receiver) = channel::<usize>();
        let receiver = Arc::new(Mutex::new(receiver));
        let opening: Opening = Arc::new(move |_, _| {
            let sizes = Arc::clone(&receiver);
            Box::pin(poll_fn(move |context| {
                context.waker().wake_by_ref();
                match sizes.lock().unwrap().try_recv() {
                    Ok(size) => Poll::Ready(Ok(file(size))),
                    Err(TryRecvError::Empty) => Poll::Pending,
                    Err(gone) => Poll::Ready(Err(SourceError::new("m", gone.to_string()))),
                }
            }))
        });
        let pool = Arc::new(Pool::default());
        pool.open(0..3, &opening);
        done(pool.wait(Duration::ZERO)); // they are not waited for
        pool.settle(Some(&*file(5)));
        sender.send(5).unwrap();
        sender.send(6).unwrap();
        drop(sender);
        done(pool.wait(Duration::MAX));
        assert_eq!(pool.connections().len(), 1);
    }
}
