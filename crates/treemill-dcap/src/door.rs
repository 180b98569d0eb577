//! Control lines: one for each door and process, which all of its open files share. A pool ends a file's data connection
//! when the control line is gone. What lines mean is decided by `words`.

use crate::limits::{MOST_LINE, OPENING_GRACE, OPENING_SECONDS};
use crate::socket::{at, connect, read, write};
use crate::words::{Failure, Pool, Reply, Status, hello, open, reply, stat};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;
use treemill_transfer::{Kind, PerProcess, SILENCE, Trouble, runtime};

/// Where a line to one door is kept. The task that connects holds the lock, so that others wait for it.
type Place = Arc<tokio::sync::Mutex<Option<Arc<Door>>>>;

static DOORS: PerProcess<Mutex<HashMap<String, Place>>> = PerProcess::new();

/// A control line.
pub(crate) struct Door {
    name: String,
    outbox: mpsc::UnboundedSender<String>,
    state: Mutex<State>,
    /// The next session's number; the greeting's is zero.
    next: AtomicU32,
}

#[derive(Default)]
struct State {
    waiting: HashMap<u32, oneshot::Sender<Result<Reply, Trouble>>>,
    broken: Option<Trouble>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The line to a door: the one that there is, or a new one.
pub(crate) async fn door(name: &str) -> Result<Arc<Door>, Trouble> {
    let doors = DOORS.get(|| Ok::<_, Trouble>(Mutex::default()))?;
    let place = Arc::clone(locked(doors).entry(name.to_owned()).or_default());
    let mut place = place.lock().await;
    if let Some(door) = &*place
        && locked(&door.state).broken.is_none()
    {
        return Ok(Arc::clone(door));
    }
    let door = Door::connect(name).await?;
    *place = Some(Arc::clone(&door));
    Ok(door)
}

impl Door {
    async fn connect(name: &str) -> Result<Arc<Self>, Trouble> {
        let socket = Arc::new(connect(name).await?);
        let (outbox, inbox) = mpsc::unbounded_channel();
        let door = Arc::new(Door {
            name: name.to_owned(),
            outbox,
            state: Mutex::default(),
            next: AtomicU32::new(1),
        });
        let runtime = runtime()?;
        runtime.spawn(say(Arc::clone(&socket), inbox));
        runtime.spawn(hear(Arc::clone(&door), socket));
        match door.ask(0, hello(std::process::id()), SILENCE).await? {
            Reply::Welcome => Ok(door),
            other => Err(door.unexpected(&other)),
        }
    }

    /// Says a line, and waits for the answer to its session.
    async fn ask(&self, session: u32, line: String, limit: Duration) -> Result<Reply, Trouble> {
        let (sender, receiver) = oneshot::channel();
        {
            let mut state = locked(&self.state);
            if let Some(trouble) = &state.broken {
                return Err(trouble.clone());
            }
            state.waiting.insert(session, sender);
        }
        let _ = self.outbox.send(line); // closed: then the receiver hears why
        match timeout(limit, receiver).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_)) => Err(self.trouble("the control line was given up")),
            Err(_) => {
                let what = format!("the door has said nothing for {} s", limit.as_secs());
                let trouble = at(&self.name, &Trouble::new(Kind::Silent, what));
                self.end(&trouble);
                Err(trouble)
            }
        }
    }

    fn session(&self) -> u32 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// The state of a file.
    pub(crate) async fn stat(&self, url: &str) -> Result<Status, Trouble> {
        let session = self.session();
        match self.ask(session, stat(session, url), SILENCE).await? {
            Reply::Stat(status) => Ok(status),
            other => Err(self.unexpected(&other)),
        }
    }

    /// Opens a file for reading: its session, and the pool that waits for it.
    pub(crate) async fn open(&self, url: &str) -> Result<(u32, Pool), Trouble> {
        let session = self.session();
        let limit = Duration::from_secs(OPENING_SECONDS).saturating_add(OPENING_GRACE);
        match self.ask(session, open(session, url), limit).await? {
            Reply::Connect(pool) => Ok((session, pool)),
            other => Err(self.unexpected(&other)),
        }
    }

    fn trouble(&self, what: &str) -> Trouble {
        at(&self.name, &Trouble::new(Kind::Transient, what))
    }

    fn unexpected(&self, reply: &Reply) -> Trouble {
        let trouble = match reply {
            Reply::Failed(failure) => refusal(failure),
            Reply::Ended(why) => Trouble::new(
                Kind::Permanent,
                format!("the door ends the conversation: {why}"),
            ),
            _ => Trouble::new(
                Kind::Permanent,
                "the door has sent an answer that treemill did not ask for",
            ),
        };
        at(&self.name, &trouble)
    }

    /// The line is given up, and with it what waits for answers.
    fn end(&self, trouble: &Trouble) {
        let mut state = locked(&self.state);
        let trouble = state.broken.get_or_insert_with(|| trouble.clone()).clone();
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        for sender in waiting.into_values() {
            let _ = sender.send(Err(trouble.clone()));
        }
    }

    fn heard(&self, line: &str) {
        let Some((session, said)) = reply(line) else {
            return self.end(&self.trouble("the door has sent a line that is not dCap"));
        };
        let waiting = locked(&self.state).waiting.remove(&session);
        let is_end = matches!(said, Reply::Ended(_));
        let trouble = is_end.then(|| self.unexpected(&said));
        // Without a waiter it is news of a data connection, which shows there too.
        if let Some(sender) = waiting {
            let _ = sender.send(Ok(said));
        }
        if let Some(trouble) = trouble {
            self.end(&trouble);
        }
    }
}

/// Why a door refuses: what it means for further attempts.
fn refusal(failure: &Failure) -> Trouble {
    const DENIED: [&str; 2] = ["EACCES", "EPERM"];
    const INVALID: [&str; 4] = ["EISDIR", "EINVAL", "ENOTDIR", "EROFS"];
    let is_missing = failure.errno == "ENOENT"
        || failure.code == 10001
        || failure.message.contains("No such file");
    let (kind, hint) = match failure.code {
        _ if is_missing => (Kind::Missing, ""),
        _ if DENIED.contains(&failure.errno.as_str()) => (Kind::Denied, ""),
        _ if INVALID.contains(&failure.errno.as_str()) => (Kind::Invalid, ""),
        33 => (Kind::Transient, ""), // no pool is free, or awake
        112 => (
            Kind::Elsewhere,
            ": no pool has the file; it may have to be brought from tape",
        ),
        _ => (Kind::Elsewhere, ""),
    };
    let Failure { code, message, .. } = failure;
    Trouble::new(
        kind,
        format!("the door says: {message} (error {code}){hint}"),
    )
}

/// Writes lines. Ends when the door is dropped, or with the connection.
async fn say(socket: Arc<TcpStream>, mut inbox: mpsc::UnboundedReceiver<String>) {
    while let Some(line) = inbox.recv().await {
        if write(&socket, line.as_bytes()).await.is_err() {
            return; // the reader hears the same
        }
    }
}

/// Reads lines. Ends with the connection.
async fn hear(door: Arc<Door>, socket: Arc<TcpStream>) {
    let (mut buffer, mut line) = (vec![0; 4096], Vec::new());
    loop {
        let count = match read(&socket, &mut buffer).await {
            Ok(0) => return door.end(&door.trouble("the door has closed the control line")),
            Ok(count) => count,
            Err(trouble) => return door.end(&at(&door.name, &trouble)),
        };
        for &byte in buffer.get(..count).unwrap_or_default() {
            match byte {
                b'\n' => door.heard(&String::from_utf8_lossy(&std::mem::take(&mut line))),
                byte => line.push(byte),
            }
        }
        if line.len() > MOST_LINE {
            return door.end(&door.trouble("the door has sent a line that is too long"));
        }
        if locked(&door.state).broken.is_some() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doors_refusals_are_told_apart() {
        for (code, message, errno, kind) in [
            (10001, "gone", "", Kind::Missing),
            (2, "No such file or directory", "", Kind::Missing),
            (5, "x", "ENOENT", Kind::Missing),
            (33, "Permission denied.", "EPERM", Kind::Denied),
            (33, "No pools available", "", Kind::Transient),
            (112, "User timeout canceled session", "", Kind::Elsewhere),
            (9999, "something else", "", Kind::Elsewhere),
        ] {
            let failure = Failure {
                code,
                message: message.to_owned(),
                errno: errno.to_owned(),
            };
            let trouble = refusal(&failure);
            assert_eq!(trouble.kind, kind, "{message}");
            assert!(trouble.what.contains(message), "{}", trouble.what);
        }
    }
}
