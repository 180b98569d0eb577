//! The process's runtime, which starts with the first request. Knows no request.

use crate::limits::{LOOK_UPS, THREADS};
use crate::process::PerProcess;
use crate::{Kind, Trouble};
use std::panic::{AssertUnwindSafe, catch_unwind};
use tokio::runtime::{Builder, Runtime};
use treemill_source::SourceError;

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
            .map_err(|e| {
                Trouble::new(
                    Kind::Permanent,
                    format!("treemill cannot start a thread: {e}"),
                )
            })
    })
}

/// Does on the caller's thread what is done by tasks, and waits for it; the runtime has its sockets and timers. For callers that
/// are not of the runtime.
///
/// ```
/// use treemill_transfer::{Trouble, wait};
///
/// assert_eq!(wait(async { Ok::<_, Trouble>(1) }), Ok(1));
/// ```
///
/// # Errors
/// Those of the work; if there is no runtime, or if the work has panicked.
pub fn wait<T, E: From<Trouble>>(work: impl Future<Output = Result<T, E>>) -> Result<T, E> {
    let runtime = runtime()?;
    // What was being changed by work that has panicked is dropped with it.
    let done = catch_unwind(AssertUnwindSafe(|| runtime.block_on(work)));
    done.unwrap_or_else(|_| {
        Err(Trouble::new(Kind::Permanent, "treemill has given up the request").into())
    })
}

/// Waits like [`wait`] for what is done about a source called `name`.
///
/// # Errors
/// Those of the work; if there is no runtime, or if the work has panicked.
pub fn wait_for<T>(
    name: &str,
    work: impl Future<Output = Result<T, SourceError>>,
) -> Result<T, SourceError> {
    let done = wait(async { Ok::<_, Trouble>(work.await) });
    done.map_err(|trouble| trouble.error(name, None))?
}
