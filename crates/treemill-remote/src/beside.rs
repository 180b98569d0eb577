//! What keeps a thread while it waits, done beside tasks of the process's runtime. Knows no file.

use crate::limits;
use crate::replicas::shown;
use tokio::sync::oneshot;
use treemill_source::SourceError;
use treemill_transfer::Threads;

/// Asks by a bridge, or reads documents.
pub(crate) static ASKING: Threads = Threads::new("treemill-look", limits::ASKING);

/// Looks for what is kept on this disk.
pub(crate) static KEPT: Threads = Threads::new("treemill-kept", limits::KEPT);

/// Does work about a file on another thread.
///
/// # Errors
/// If there is no thread, or if the work has panicked.
pub(crate) async fn beside<T: Send + 'static>(
    threads: &'static Threads,
    url: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, SourceError> {
    let (sender, receiver) = oneshot::channel();
    threads.perform(Box::new(move || drop(sender.send(work()))), Vec::new());
    let lost = |_| SourceError::new(shown(url), "no more threads can be started");
    receiver.await.map_err(lost)
}
