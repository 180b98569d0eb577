//! This process at one server: it has a session, or makes one, and claims back what was open when the server was started
//! anew. What is said next while a session is made, `recovery.rs` decides.

use crate::address::Server;
use crate::connection::{Connection, Recalls};
use crate::held::{Held, Laid, Layout};
use crate::limits::{DELAY, MOST_DELAY, MOST_SESSIONS, USUAL_LEASE};
use crate::recovery::{Recovery, Step, Then};
use crate::session::{Lost, Session, trouble};
use crate::wire::attributes::OF_SERVER;
use crate::wire::callback::Recall;
use crate::wire::compound::{Failure, Operations, Results};
use crate::wire::layout::{Device, DeviceId};
use crate::wire::open::Claim;
use crate::wire::rpc::Credential;
use crate::wire::session::{AS_DATA_SERVER, owner};
use crate::wire::status::{COMPLETE_ALREADY, Meaning, OK, meaning};
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use tokio::time::{sleep, timeout};
use treemill_transfer::{Kind, PerProcess, SILENCE, Trouble};

type Clients = Mutex<HashMap<Server, Arc<Client>>>;

static CLIENTS: PerProcess<Clients> = PerProcess::new();

/// This process at one server.
pub(crate) struct Client {
    pub(crate) server: Server,
    process: u32,
    credential: Credential,
    owner: Vec<u8>,
    now: tokio::sync::Mutex<Now>,
    files: Mutex<HashMap<u64, Arc<Held>>>,
    numbers: AtomicU64,
    /// Groups of data servers.
    pub(crate) devices: Mutex<HashMap<DeviceId, Device>>,
}

/// What the server knows of us.
#[derive(Default)]
struct Now {
    session: Option<Arc<Session>>,
    /// The client's number, and the number of its next session.
    known: Option<(u64, u32)>,
    /// The number is new, and it was not said yet that all former state is claimed.
    is_new: bool,
    /// How often we have begun anew.
    life: u32,
}

/// The client of this process at a server.
pub(crate) fn client(server: &Server) -> Arc<Client> {
    let Ok(clients) = CLIENTS.get(|| Ok::<Clients, std::convert::Infallible>(Mutex::default()));
    let mut clients = clients.lock().unwrap_or_else(PoisonError::into_inner);
    let found = clients.entry(server.clone());
    Arc::clone(found.or_insert_with(|| Arc::new(Client::new(server.clone()))))
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
            server,
            process,
            now: tokio::sync::Mutex::default(),
            files: Mutex::default(),
            numbers: AtomicU64::new(1),
            devices: Mutex::default(),
        }
    }

    fn files(&self) -> MutexGuard<'_, HashMap<u64, Arc<Held>>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A number for a file that is going to be opened.
    pub(crate) fn number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
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

    /// As `call`, and reads the results; again as long as the server wants to be asked later, for `patience`.
    pub(crate) async fn settled<T>(
        self: &Arc<Self>,
        patience: Duration,
        ask: impl Fn(&Session) -> Operations,
        read: impl Fn(&mut Results) -> Result<T, Failure>,
    ) -> Result<Result<T, Failure>, Trouble> {
        let begun = Instant::now();
        let mut wait = DELAY;
        loop {
            let failure = match read(&mut self.call(&ask).await?) {
                Ok(done) => return Ok(Ok(done)),
                Err(failure) => failure,
            };
            match failure.status().map(meaning) {
                Some(Meaning::Later) if begun.elapsed() < patience => {
                    sleep(wait).await;
                    wait = wait.saturating_mul(2).min(MOST_DELAY);
                }
                // The next request makes a new session.
                Some(Meaning::Session | Meaning::Client) => {
                    self.lose_session().await;
                    return Err(trouble(&failure));
                }
                _ => return Ok(Err(failure)),
            }
        }
    }

    /// The session there is, if it can be used.
    async fn current(&self) -> Option<Arc<Session>> {
        let now = self.now.lock().await;
        now.session.clone().filter(|session| session.is_good())
    }

    /// The server wants layouts back: whether we have one of them. It is given back behind the answer.
    fn recalled(self: &Arc<Self>, recall: &Recall) -> bool {
        let all: Vec<Arc<Held>> = self.files().values().cloned().collect();
        let wanted = all.into_iter().filter(|held| match recall {
            Recall::All => true,
            Recall::File { handle, .. } => held.now().0 == handle,
        });
        let mut has_one = false;
        for held in wanted {
            if let Layout::There(laid) = held.set_layout(Layout::None) {
                has_one = true;
                let client = Arc::clone(self);
                tokio::spawn(async move { client.give_back(&held, &laid).await });
            }
        }
        has_one
    }

    /// Gives a layout back. If the server does not hear it, its lease tells.
    pub(crate) async fn give_back(&self, held: &Held, laid: &Laid) {
        if let Some(session) = self.current().await {
            let (handle, ..) = held.now();
            let ask = Operations::default().handle(&handle);
            let _ = session
                .call(&ask.return_layout(laid.kind, laid.state))
                .await;
        }
    }

    /// Closes a file; a server that knows nothing of it needs no word.
    pub(crate) async fn close(&self, held: Arc<Held>) {
        if let Layout::There(laid) = held.set_layout(Layout::None) {
            self.give_back(&held, &laid).await;
        }
        if let (handle, Some(state), _) = held.now()
            && let Some(session) = self.current().await
        {
            let ask = Operations::default().handle(&handle).close(state.newest());
            let _ = session.call(&ask).await;
        }
    }

    async fn lose_session(&self) {
        if let Some(session) = self.now.lock().await.session.take() {
            session.end();
        }
    }

    /// The session there is, or a new one.
    pub(crate) async fn session(self: &Arc<Self>) -> Result<Arc<Session>, Trouble> {
        let mut now = self.now.lock().await;
        if let Some(session) = now.session.as_ref().filter(|session| session.is_good()) {
            return Ok(Arc::clone(session));
        }
        if let Some(last) = now.session.take()
            && last.is_stale()
        {
            now.known = None;
        }
        let (session, lease) = self.establish(&mut now).await?;
        now.session = Some(Arc::clone(&session));
        tokio::spawn(Arc::clone(self).renewing(Arc::clone(&session), lease));
        Ok(session)
    }

    async fn connected(self: &Arc<Self>) -> Result<Connection, Trouble> {
        let client = Arc::downgrade(self);
        let recalls: Recalls = Arc::new(move |recall| {
            client
                .upgrade()
                .is_some_and(|client| client.recalled(recall))
        });
        Connection::open(&self.server.host, self.server.port, recalls).await
    }

    /// A session, and the seconds of the server's lease.
    async fn establish(
        self: &Arc<Self>,
        now: &mut Now,
    ) -> Result<(Arc<Session>, Duration), Trouble> {
        let mut connection = Some(self.connected().await?);
        let mut session: Option<Arc<Session>> = None;
        let mut recovery = Recovery::new(now.known.is_some(), now.is_new);
        let mut lease = USUAL_LEASE;
        loop {
            let done = match recovery.step() {
                Step::Ready => match session {
                    Some(session) => return Ok((session, lease)),
                    None => return Err(Trouble::new(Kind::Final, "no session was made")),
                },
                Step::Exchange { anew } => {
                    if anew {
                        now.life = now.life.wrapping_add(1);
                        self.files().values().for_each(|held| held.lose());
                    }
                    let connection = self.fresh(&mut connection).await?;
                    self.exchange(connection, now).await?
                }
                Step::Create => {
                    let connection = self.fresh(&mut connection).await?;
                    match self.create(connection, now).await? {
                        Err(failure) => Err(failure),
                        Ok((client, created)) => {
                            let connection = connection.take().ok_or_else(gone)?;
                            let minor = self.server.minor;
                            let credential = self.credential.clone();
                            let made =
                                Session::new(connection, credential, minor, client, &created)?;
                            session = Some(Arc::new(made));
                            Ok(())
                        }
                    }
                }
                Step::Reclaim => self.reclaim(session.as_ref().ok_or_else(gone)?).await?,
                Step::Complete => match self.complete(session.as_ref().ok_or_else(gone)?).await? {
                    Err(failure) => Err(failure),
                    Ok(seconds) => {
                        now.is_new = false;
                        lease = seconds.unwrap_or(lease);
                        Ok(())
                    }
                },
            };
            match done {
                Ok(()) => recovery.done(),
                Err(failure) => match failure.status().map(|status| recovery.failed(status)) {
                    Some(Then::Wait(wait)) => sleep(wait).await,
                    Some(Then::GiveUp) | None => return Err(trouble(&failure)),
                },
            }
        }
    }

    /// The connection that no session has yet.
    async fn fresh<'a>(
        self: &Arc<Self>,
        connection: &'a mut Option<Connection>,
    ) -> Result<&'a mut Option<Connection>, Trouble> {
        if connection.is_none() {
            *connection = Some(self.connected().await?);
        }
        Ok(connection)
    }

    /// Asks outside of a session.
    async fn bare(
        &self,
        connection: &Option<Connection>,
        operations: &Operations,
    ) -> Result<Result<Results, Failure>, Trouble> {
        let arguments = operations.arguments(self.server.minor, &Operations::default());
        let connection = connection.as_ref().ok_or_else(gone)?;
        let asked = connection.compound(&self.credential, &arguments, Box::new(()));
        let reader = match timeout(SILENCE, asked).await {
            Ok(answer) => answer?,
            Err(_) => return Err(Trouble::new(Kind::Silent, "the server does not answer")),
        };
        Ok(Results::new(reader))
    }

    async fn exchange(
        &self,
        connection: &Option<Connection>,
        now: &mut Now,
    ) -> Result<Result<(), Failure>, Trouble> {
        let mut verifier = [0; 8];
        for (place, byte) in verifier.iter_mut().zip(now.life.to_be_bytes()) {
            *place = byte;
        }
        let flags = if self.server.is_data {
            AS_DATA_SERVER
        } else {
            0
        };
        let ask = Operations::default().exchange_id(&self.owner, verifier, flags);
        let found = self
            .bare(connection, &ask)
            .await?
            .and_then(|mut results| results.exchanged());
        Ok(found.map(|found| {
            now.known = Some((found.client, found.sequence));
            now.is_new = true;
        }))
    }

    async fn create(
        &self,
        connection: &Option<Connection>,
        now: &mut Now,
    ) -> Result<Result<(u64, crate::wire::session::Created), Failure>, Trouble> {
        let (client, sequence) = now.known.ok_or_else(gone)?;
        let ask = Operations::default().create_session(client, sequence);
        let found = self
            .bare(connection, &ask)
            .await?
            .and_then(|mut results| results.created());
        Ok(found.map(|created| {
            now.known = Some((client, sequence.wrapping_add(1)));
            (client, created)
        }))
    }

    /// Claims what was open before the server was started anew. What is not given back is opened again when it is read.
    async fn reclaim(&self, session: &Session) -> Result<Result<(), Failure>, Trouble> {
        let all: Vec<(u64, Arc<Held>)> = {
            let files = self.files();
            let all = files.iter();
            all.map(|(number, held)| (*number, Arc::clone(held)))
                .collect()
        };
        for (number, held) in all {
            let (handle, state, _) = held.now();
            if state.is_none() {
                continue;
            }
            let ask = Operations::default().handle(&handle).open(
                Claim::Again,
                session.client,
                &number.to_be_bytes(),
            );
            let mut results = match session.call(&ask).await {
                Ok(results) => results,
                Err(Lost::Session(trouble) | Lost::Trouble(trouble)) => return Err(trouble),
            };
            match results.handle().and_then(|()| results.opened()) {
                Ok(state) => held.renew(handle, state),
                Err(failure) => match failure.status().map(meaning) {
                    Some(Meaning::Session | Meaning::Client | Meaning::Later) => {
                        return Ok(Err(failure));
                    }
                    _ => held.lose(),
                },
            }
        }
        Ok(Ok(()))
    }

    /// Says that nothing else is claimed, and asks for the lease.
    async fn complete(
        &self,
        session: &Session,
    ) -> Result<Result<Option<Duration>, Failure>, Trouble> {
        let ask = Operations::default().reclaim_complete();
        let mut results = match session.call(&ask).await {
            Ok(results) => results,
            Err(Lost::Session(trouble) | Lost::Trouble(trouble)) => return Err(trouble),
        };
        match results.complete() {
            Ok(OK | COMPLETE_ALREADY) => {}
            Ok(status) => return Ok(Err(Failure::Status { place: 1, status })),
            Err(malformed) => return Ok(Err(malformed.into())),
        }
        let ask = Operations::default().root().attributes(OF_SERVER);
        let Ok(mut results) = session.call(&ask).await else {
            return Ok(Ok(None));
        };
        // A server may keep even its root from this user.
        let told = results.root().and_then(|()| results.attributes());
        let lease = told.ok().and_then(|told| told.lease);
        Ok(Ok(lease.map(|seconds| {
            Duration::from_secs(u64::from(seconds.max(1)))
        })))
    }

    /// `renew`, in a box: it may make the next session, which is renewed, too.
    fn renewing(
        self: Arc<Self>,
        session: Arc<Session>,
        lease: Duration,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(self.renew(session, lease))
    }

    /// Keeps the lease while files are open and nothing is asked; ends a session that nothing needs.
    async fn renew(self: Arc<Self>, session: Arc<Session>, lease: Duration) {
        let pause = lease.checked_div(3).unwrap_or(lease);
        loop {
            sleep(pause).await;
            if !session.is_good() {
                if !self.files().is_empty() {
                    // The lease goes on in another session.
                    let _ = self.session().await;
                }
                return;
            }
            if session.idle() < pause {
                continue;
            }
            if self.files().is_empty() {
                session.end();
                session.destroy().await;
                return;
            }
            if let Err(Lost::Session(_)) = session.call(&Operations::default()).await {
                session.end();
            }
        }
    }
}

fn gone() -> Trouble {
    Trouble::new(Kind::Transient, "the connection was given up")
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
