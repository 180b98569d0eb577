//! The process's runtime, which starts with the first request. Knows no request.

use crate::limits::{LOOK_UPS, THREADS};
use crate::process::PerProcess;
use crate::trouble::{Kind, Trouble};
use std::sync::mpsc;
use tokio::runtime::{Builder, Runtime};

static RUNTIME: PerProcess<Runtime> = PerProcess::new();

/// The runtime of this process.
///
/// # Errors
/// If the process can start no thread.
pub fn runtime() -> Result<&'static Runtime, Trouble> {
    RUNTIME.get(|| {
        Builder::new_multi_thread()
            .worker_threads(THREADS)
            .max_blocking_threads(LOOK_UPS)
            .thread_name("treemill-remote")
            .enable_all()
            .build()
            .map_err(|e| Trouble::new(Kind::Final, format!("no thread can be started: {e}")))
    })
}

/// Runs `future` on the runtime, and waits for it. For callers that are not of the runtime.
///
/// # Errors
/// If there is no runtime, or if the future has panicked.
pub fn wait<T: Send + 'static>(
    future: impl Future<Output = Result<T, Trouble>> + Send + 'static,
) -> Result<T, Trouble> {
    let (sender, receiver) = mpsc::sync_channel(1);
    runtime()?.spawn(async move {
        let _ = sender.send(future.await);
    });
    let gone = |_| Trouble::new(Kind::Final, "the request was given up");
    receiver.recv().map_err(gone)?
}
