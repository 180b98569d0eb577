//! Files whose state is asked for, one or many together: tasks of the process's runtime, which take no threads. A file that will
//! be opened soon is opened by that. Knows no protocol.

use crate::limits::{self, MOST_LOOKS, MOST_ROUNDS, SILENT};
use crate::replicas::shown;
use crate::{Description, Later, Opened, Stat};
use crate::{metalink, open_now, protocol, ready, transport, waited};
use std::collections::HashSet;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use tokio::sync::{Semaphore, oneshot};
use treemill_source::{Arrived, Source, SourceError, Ticket, server_of};
use treemill_transfer::{Threads, runtime};

type Answer = Result<Stat, SourceError>;

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
    let lost = |_| SourceError::new(shown(url), "treemill cannot start a thread");
    receiver.await.map_err(lost)
}

/// The state that [`stat`] gives, of a file that will be opened soon: it is opened now, which tells its state too,
/// and what it says of itself is on its way when it is wanted. A file that is open, or
/// that another thread opens, is only asked for its state.
///
/// # Errors
/// As [`crate::open`].
pub fn look(url: &str) -> Result<Stat, SourceError> {
    waited(url, async { looked(url).await.map(|(stat, _)| stat) })
}

/// Looks like [`look`] without waiting, and gives the answer to `then`, which must not wait either, when the file is open and
/// [`described`](crate::described), if it can be. `describe` makes the description of what it reads of the file. It is called
/// again as often as it has read what was not here, which is an error of that read, and then when that has arrived. So no
/// thread waits. An error of another kind is left to the caller, who reads the file next.
pub fn look_soon(
    url: &str,
    describe: impl FnMut(Arc<dyn Source>) -> Option<Description> + Send + 'static,
    then: impl FnOnce(Result<Stat, SourceError>) + Send + 'static,
) {
    let url = url.to_owned();
    match runtime() {
        Ok(runtime) => {
            runtime.spawn(async move {
                let answer = looked(&url).await;
                then(match answer {
                    Ok((stat, opened)) => {
                        if let Some(opened) = opened {
                            described(&url, opened, describe).await;
                        }
                        Ok(stat)
                    }
                    Err(error) => Err(error),
                });
            });
        }
        Err(trouble) => then(Err(trouble.error(&crate::shown(&url), None))),
    }
}

/// Asks for the state of a file or folder.
///
/// # Errors
/// As [`crate::open`].
pub fn stat(url: &str) -> Result<Stat, SourceError> {
    waited(url, stated(url))
}

/// What [`look`], if the files may be opened next (`soon`), or [`stat`] gives of each file, in their order. When a server has
/// let a question wait for seconds, its other files are not asked for any more, and have no answer.
#[must_use]
pub fn stats(urls: &[String], soon: bool) -> Vec<Option<Result<Stat, SourceError>>> {
    side_by_side(urls, move |url| {
        Box::pin(async move {
            match soon {
                true => looked(&url).await.map(|(stat, _)| stat),
                false => stated(&url).await,
            }
        })
    })
}

/// Closes those of these files that [`look`] has opened and the caller has not. Does not wait for servers.
pub fn release(urls: &[String]) {
    ready::release(urls);
}

/// The state of a file, and the file if it was opened now.
async fn looked(url: &str) -> Result<(Stat, Option<Opened>), SourceError> {
    if !ready::begin(url) {
        return Ok((stated(url).await?, None));
    }
    let opened = open_now(url).await;
    let source = opened.as_ref().ok().map(|(source, _)| Arc::clone(source));
    ready::keep(url, source);
    let opened = opened?;
    Ok((state_of(&*opened.0), Some(opened)))
}

/// Has a file described whose first bytes are on their way, and waits for what that lacks, round by round.
async fn described(
    url: &str,
    (source, edges): Opened,
    mut describe: impl FnMut(Arc<dyn Source>) -> Option<Description> + Send + 'static,
) {
    here(edges).await;
    let arrived = Arc::new(Arrived::of(Arc::clone(&source)));
    for _ in 0..MOST_ROUNDS {
        let file = Arc::clone(&arrived);
        // Parsing takes a while, and what is kept of the file lies on a disk: the runtime's threads bring bytes meanwhile.
        let round = move || (describe(file), describe);
        let Ok((made, again)) = beside(&KEPT, url, round).await else {
            return;
        };
        let lacking = arrived.lacking();
        if lacking.is_empty() {
            arrived.waits();
            if let Some(made) = made {
                ready::describe(url, &source, made);
            }
            return;
        }
        describe = again;
        here(lacking).await;
    }
}

async fn stated(url: &str) -> Answer {
    let owned = url.to_owned();
    let stat = match transport(url) {
        Some(_) if metalink::is_document(url) => {
            let described = move || Ok(state_of(&*metalink::open(&owned)?));
            return beside(&ASKING, url, described).await?;
        }
        Some(transport) => (transport.stat)(url).await,
        None => beside(&ASKING, url, move || protocol(&owned)?.stat(&owned)).await?,
    }?;
    ready::forget_other(url, &stat);
    Ok(stat)
}

/// The state of an open file.
fn state_of(source: &dyn Source) -> Stat {
    Stat {
        size: source.size(),
        is_folder: false,
        identity: source.identity(),
    }
}

/// Waits until these have come, or cannot come.
async fn here(tickets: Vec<Ticket>) {
    for ticket in tickets {
        let (sender, receiver) = oneshot::channel();
        ticket.on_ready(move |_| {
            let _ = sender.send(()); // nobody may wait any more
        });
        let _ = receiver.await; // the answer, or its end
    }
}

/// Servers that have let a question wait for long.
#[derive(Default)]
struct Silent(Mutex<HashSet<String>>);

impl Silent {
    fn has(&self, url: &str) -> bool {
        let silent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        silent.contains(server_of(url))
    }

    fn note(&self, url: &str) {
        let mut silent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        silent.insert(server_of(url).to_owned());
    }
}

/// Asks for all files, each in its turn, of which many are asked for at once. A question that has no answer was not asked.
fn side_by_side<A>(urls: &[String], ask: A) -> Vec<Option<Answer>>
where
    A: Fn(String) -> Later<Stat> + Send + Sync + 'static,
{
    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(trouble) => {
            let error = |url: &String| Some(Err(trouble.error(&crate::shown(url), None)));
            return urls.iter().map(error).collect();
        }
    };
    let (ask, silent) = (Arc::new(ask), Arc::<Silent>::default());
    let places = Arc::new(Semaphore::new(MOST_LOOKS));
    let (sender, receiver) = channel();
    for (number, url) in urls.iter().cloned().enumerate() {
        let (ask, silent, places) = (Arc::clone(&ask), Arc::clone(&silent), Arc::clone(&places));
        let sender = sender.clone();
        runtime.spawn(async move {
            let _place = places.acquire().await;
            if silent.has(&url) {
                return;
            }
            let begun = Instant::now();
            let answer = ask(url.clone()).await;
            if answer.is_err() && begun.elapsed() > SILENT {
                silent.note(&url);
            }
            let _ = sender.send((number, answer)); // nobody may wait for it any more
        });
    }
    drop(sender);
    let mut answers: Vec<Option<Answer>> = urls.iter().map(|_| None).collect();
    for (number, answer) in receiver {
        if let Some(to) = answers.get_mut(number) {
            *to = Some(answer);
        }
    }
    answers
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use tokio::sync::Barrier;

    fn sized(size: u64) -> Stat {
        Stat {
            size,
            is_folder: false,
            identity: None,
        }
    }

    #[test]
    fn answers_are_in_order_and_questions_side_by_side() {
        let urls: Vec<String> = (0..20).map(|i| format!("root://host//{i}")).collect();
        let all = Arc::new(Barrier::new(urls.len()));
        let answers = side_by_side(&urls, move |url| {
            let all = Arc::clone(&all);
            Box::pin(async move {
                all.wait().await; // ends only if all are asked at once
                match url.ends_with("//7") {
                    true => Err(SourceError::new(url, "gone")),
                    false => Ok(sized(url.len() as u64)),
                }
            })
        });
        for (url, answer) in urls.iter().zip(answers) {
            match answer.unwrap() {
                Ok(told) => assert_eq!(told.size, url.len() as u64),
                Err(error) => assert_eq!(
                    (error.name.as_str(), url.ends_with("//7")),
                    (url.as_str(), true)
                ),
            }
        }
        assert!(side_by_side(&[], |_| Box::pin(async { Ok(sized(1)) })).is_empty());
    }
}
