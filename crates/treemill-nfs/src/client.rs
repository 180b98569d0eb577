//! This process at one server: its session, the files that it has open there, and requests that go on in a new session when
//! one has ended. How a session is made, `establish.rs` knows.

use crate::address::Server;
use crate::claims::Claims;
use crate::held::Held;
use crate::limits::{FIRST_RENEWAL, MOST_SESSIONS, USUAL_LEASE};
use crate::placement::{Going, Placements};
use crate::session::{Lost, Session, trouble};
use crate::stores::Stores;
use crate::wire::attributes::OF_SERVER;
use crate::wire::compound::{Failure, Operations, Results};
use crate::wire::layout::LayoutType;
use crate::wire::rpc::Credential;
use crate::wire::session::owner;
use crate::wire::status::{Meaning, meaning};
use std::collections::HashMap;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::RwLock;
use tokio::time::{sleep, timeout};
use treemill_transfer::{Kind, Owed, PerProcess, Trouble, pause};

type Clients = Mutex<HashMap<Server, Arc<Client>>>;

static CLIENTS: PerProcess<Clients> = PerProcess::new();

/// This process at one server.
pub(crate) struct Client {
    pub(crate) server: Server,
    process: u32,
    pub(crate) credential: Credential,
    pub(crate) owner: Vec<u8>,
    /// The session there is. Looked at without waiting, also while the next one is made.
    session: Mutex<Option<Arc<Session>>>,
    pub(crate) now: tokio::sync::Mutex<Now>,
    files: Mutex<HashMap<u64, Arc<Held>>>,
    numbers: AtomicU64,
    pub(crate) claims: Arc<Claims>,
    /// The kind of layouts that is asked for when a file is opened; zero: none.
    layouts: AtomicU32,
    /// Whether a session has lost its further connections, so that the next ones have one.
    narrow: AtomicBool,
    /// Where the bytes of open files lie.
    pub(crate) placements: Placements,
    /// Layouts are asked for and given back; held alone, several are given back by one request.
    pub(crate) going: Arc<RwLock<()>>,
    /// How many files are being opened with their layouts.
    opening: Arc<AtomicU64>,
    /// Its data servers.
    pub(crate) stores: Stores,
}

/// What the server knows of this client. It stays locked while a session is made.
#[derive(Default)]
pub(crate) struct Now {
    /// The client's number, and the number of its next session.
    pub(crate) known: Option<(u64, u32)>,
    /// The number is new, and what was open was not claimed since.
    pub(crate) is_new: bool,
    /// How often we have begun anew.
    pub(crate) life: u32,
}

/// The client of this process at a server.
pub(crate) fn client(server: &Server) -> Arc<Client> {
    let Ok(clients) = CLIENTS.get(|| Ok::<Clients, std::convert::Infallible>(Mutex::default()));
    let mut clients = clients.lock().unwrap_or_else(PoisonError::into_inner);
    let found = clients.entry(server.clone());
    Arc::clone(found.or_insert_with(|| Arc::new(Client::new(server.clone()))))
}

/// All clients of this process.
pub(crate) fn clients() -> Vec<Arc<Client>> {
    let Some(clients) = CLIENTS.there() else {
        return Vec::new();
    };
    let clients = clients.lock().unwrap_or_else(PoisonError::into_inner);
    clients.values().cloned().collect()
}

impl Client {
    fn new(server: Server) -> Self {
        let process = std::process::id();
        let machine = machine();
        let born = since_1970().as_nanos();
        Client {
            owner: owner(&format!(
                "treemill {machine} {process} {born} {server} {} {}",
                server.minor, server.is_data
            )),
            credential: Credential::System {
                machine,
                uid: rustix::process::geteuid().as_raw(),
                gid: rustix::process::getegid().as_raw(),
                gids: groups(),
            },
            claims: Arc::new(Claims::new(server.is_data)),
            layouts: AtomicU32::new(0),
            narrow: AtomicBool::new(false),
            server,
            process,
            session: Mutex::default(),
            now: tokio::sync::Mutex::default(),
            files: Mutex::default(),
            numbers: AtomicU64::new(1),
            placements: Placements::default(),
            going: Arc::default(),
            opening: Arc::default(),
            stores: Stores::new(),
        }
    }

    pub(crate) fn files(&self) -> MutexGuard<'_, HashMap<u64, Arc<Held>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A layout is going to be asked for or given back.
    pub(crate) async fn going(&self) -> Going {
        Arc::clone(&self.going).read_owned().await
    }

    /// Does what `going` does without waiting; `None` if several layouts are being given back.
    pub(crate) fn going_now(&self) -> Option<Going> {
        Arc::clone(&self.going).try_read_owned().ok()
    }

    /// A file is being opened with its layout, until this is dropped.
    pub(crate) fn opening(&self) -> Owed {
        Owed::new(&self.opening, 1)
    }

    /// Whether a file is being opened with its layout.
    pub(crate) fn is_opening(&self) -> bool {
        self.opening.load(Ordering::Relaxed) > 0
    }

    /// A number for a file that is going to be opened.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The server gives layouts, of a kind that it does not say before it shows a file: flex_files are asked for first.
    pub(crate) fn gives_layouts(&self) {
        let flex = LayoutType::Flex.number();
        let _ = self
            .layouts
            .compare_exchange(0, flex, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// The server gives layouts of this kind.
    pub(crate) fn gives(&self, kind: LayoutType) {
        self.layouts.store(kind.number(), Ordering::Relaxed);
    }

    /// The kind of layouts that is asked for when a file is opened.
    pub(crate) fn layout_kind(&self) -> Option<LayoutType> {
        LayoutType::of(self.layouts.load(Ordering::Relaxed))
    }

    /// Whether its sessions have one connection.
    pub(crate) fn is_narrow(&self) -> bool {
        self.narrow.load(Ordering::Relaxed)
    }

    /// A file is open from now on.
    pub(crate) fn hold(&self, number: u64, held: Arc<Held>) {
        self.files().insert(number, held);
    }

    /// Whether it is this process that has made it: a child has its parent's memory, and none of its threads.
    pub(crate) fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }

    /// A file is not open any more.
    pub(crate) fn drop_file(&self, number: u64) {
        self.files().remove(&number);
    }

    /// Does operations, in a new session if the one there is has ended. `ask` makes them for a session.
    pub(crate) async fn call(
        self: &Arc<Self>,
        ask: impl Fn(&Session) -> Operations,
    ) -> Result<Results, Trouble> {
        let mut tries = 0_u32;
        loop {
            let session = self.session().await?;
            match session.call(&ask(&session)).await {
                Ok(results) => return Ok(results),
                Err(Lost::Trouble(trouble)) => return Err(trouble),
                Err(Lost::Session(trouble)) => {
                    session.end();
                    tries = tries.saturating_add(1);
                    // A server that is silent is not asked again here: the caller has deadlines.
                    if tries >= MOST_SESSIONS || trouble.kind == Kind::Silent {
                        return Err(trouble);
                    }
                }
            }
        }
    }

    /// Does operations and reads their results. Repeats them, for `patience`, while the server wants to be asked later.
    pub(crate) async fn settled<T>(
        self: &Arc<Self>,
        patience: Duration,
        ask: impl Fn(&Session) -> Operations,
        read: impl Fn(&mut Results) -> Result<T, Failure>,
    ) -> Result<Result<T, Failure>, Trouble> {
        let begun = Instant::now();
        let mut refusals = 0_u32;
        loop {
            let failure = match read(&mut self.call(&ask).await?) {
                Ok(done) => return Ok(Ok(done)),
                Err(failure) => failure,
            };
            match failure.status().map(meaning) {
                Some(Meaning::Later) if begun.elapsed() < patience => {
                    refusals = refusals.saturating_add(1);
                    sleep(pause(refusals)).await;
                }
                // The next request makes a new session.
                Some(Meaning::Session | Meaning::Client) => {
                    self.lose_session();
                    return Err(trouble(&failure));
                }
                _ => return Ok(Err(failure)),
            }
        }
    }

    /// What `asked` brings, unless the server answers nothing at all for `patience`: one that answers others has a long queue,
    /// and is not asked for less by asking another server.
    pub(crate) async fn unless_silent<T>(
        &self,
        patience: Duration,
        asked: impl Future<Output = T>,
    ) -> Option<T> {
        let mut asked = pin!(asked);
        loop {
            if let Ok(found) = timeout(patience, &mut asked).await {
                return Some(found);
            }
            // While a session is being made there is no answer yet.
            if !self.current()?.has_answered_within(patience) {
                return None;
            }
        }
    }

    fn place(&self) -> MutexGuard<'_, Option<Arc<Session>>> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session there is, if it can be used.
    pub(crate) fn current(&self) -> Option<Arc<Session>> {
        self.place().clone().filter(|session| session.is_good())
    }

    /// Whether there is a session.
    pub(crate) fn is_connected(&self) -> bool {
        self.current().is_some()
    }

    /// Whether the server has answered something within this time.
    pub(crate) fn has_answered_within(&self, time: Duration) -> bool {
        self.current()
            .is_some_and(|session| session.has_answered_within(time))
    }

    fn lose_session(&self) {
        let _ = self.take_session();
    }

    /// The session there is, which is not used any more.
    pub(crate) fn take_session(&self) -> Option<Arc<Session>> {
        let session = self.place().take()?;
        session.end();
        Some(session)
    }

    /// The session there is, or a new one.
    pub(crate) async fn session(self: &Arc<Self>) -> Result<Arc<Session>, Trouble> {
        if let Some(session) = self.current() {
            return Ok(session);
        }
        let mut now = self.now.lock().await;
        if let Some(session) = self.current() {
            return Ok(session); // another one has made it meanwhile
        }
        let last = self.place().take();
        if let Some(last) = last {
            if last.is_stale() {
                now.known = None;
            }
            if last.is_too_wide() {
                self.narrow.store(true, Ordering::Relaxed);
            }
        }
        let session = self.establish(&mut now).await?;
        *self.place() = Some(Arc::clone(&session));
        tokio::spawn(Arc::clone(self).renewing(Arc::downgrade(&session)));
        Ok(session)
    }

    /// `renew`, in a box: it may make the next session, which is renewed, too.
    fn renewing(
        self: Arc<Self>,
        session: Weak<Session>,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(self.renew(session))
    }

    /// How long the server keeps what a silent client has.
    async fn lease(&self, session: &Session) -> Duration {
        let ask = Operations::default().root().attributes(OF_SERVER);
        let told = session.call(&ask).await.ok().and_then(|mut results| {
            results.root().ok()?; // a server may keep even its root from this user
            results.attributes().ok()?.lease
        });
        told.map_or(USUAL_LEASE, |seconds| {
            Duration::from_secs(u64::from(seconds.max(1)))
        })
    }

    /// Keeps the lease while files are open and nothing is asked; ends a session that nothing needs. The connections of a session
    /// that is not used any more are not kept for it.
    async fn renew(self: Arc<Self>, session: Weak<Session>) {
        let good = || session.upgrade().filter(|session| session.is_good());
        // A user waits for what is asked first.
        sleep(FIRST_RENEWAL).await;
        let lease = match good() {
            Some(session) => self.lease(&session).await,
            None => USUAL_LEASE,
        };
        let pause = lease.checked_div(3).unwrap_or(lease);
        loop {
            sleep(pause).await;
            let Some(session) = good() else {
                if !self.files().is_empty() {
                    // The lease goes on in another session.
                    let _ = self.session().await;
                }
                return;
            };
            if session.idle() < pause {
                continue;
            }
            if self.files().is_empty() {
                return self.retire().await;
            }
            if let Err(Lost::Session(_)) = session.call(&Operations::default()).await {
                session.end();
            }
        }
    }
}

fn since_1970() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

fn machine() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

fn groups() -> Vec<u32> {
    let found = rustix::process::getgroups().unwrap_or_default();
    found.into_iter().map(|group| group.as_raw()).collect()
}
