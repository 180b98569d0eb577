//! Makes a session, and claims back what was open when the server restarted. What is said next, `recovery.rs` decides.

use crate::client::{Client, Now};
use crate::connection::{Answer, Connection, Obey, Sending};
use crate::held::Held;
use crate::limits::WIDTH;
use crate::placement::Layout;
use crate::recovery::{Recovery, Step, Then};
use crate::session::{Known, Lost, Session, trouble};
use crate::wire::callback::Said;
use crate::wire::compound::{Failure, Operations, Results};
use crate::wire::open::Claim;
use crate::wire::session::{AS_DATA_SERVER, Created, GIVES_LAYOUTS};
use crate::wire::status::{Meaning, meaning};
use futures_util::future::join_all;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinError, JoinHandle};
use tokio::time::{sleep, timeout};
use treemill_transfer::{CROWDED, FAR, Kind, SILENCE, Trouble};

/// How far the way to a session has come.
enum Reached {
    /// A connection is open, and no session has it.
    Connected(Connection),
    /// The session is made, and has the connection.
    Made(Arc<Session>),
}

impl Reached {
    fn session(&self) -> Result<&Arc<Session>, Trouble> {
        match self {
            Reached::Made(session) => Ok(session),
            Reached::Connected(_) => Err(Trouble::new(
                Kind::Permanent,
                "no session with the server was made",
            )),
        }
    }
}

impl Client {
    async fn connected(self: &Arc<Self>) -> Result<Connection, Trouble> {
        let client = Arc::downgrade(self);
        let obey: Obey = Arc::new(move |order| match client.upgrade() {
            Some(client) => client.obey(order),
            None => Said::NoLayout,
        });
        Connection::open(&self.server.host, self.server.port, obey).await
    }

    /// A session.
    pub(crate) async fn establish(
        self: &Arc<Self>,
        now: &mut Now,
    ) -> Result<Arc<Session>, Trouble> {
        let connection = self.connected().await?;
        let others = self.others(&connection);
        let mut reached = Reached::Connected(connection);
        let mut recovery = Recovery::new(now.known.is_some(), now.is_new);
        loop {
            let done = match recovery.step() {
                Step::Ready => {
                    let session = Arc::clone(reached.session()?);
                    widen(&session, others).await;
                    return Ok(session);
                }
                Step::Exchange { anew } => {
                    if anew {
                        now.life = now.life.wrapping_add(1);
                        self.files().values().for_each(|held| held.lose());
                    }
                    let connection = self.fresh(reached).await?;
                    let done = self.exchange(&connection, now).await?;
                    reached = Reached::Connected(connection);
                    done
                }
                Step::Create => {
                    let connection = self.fresh(reached).await?;
                    match self.create(&connection, now).await? {
                        Err(failure) => {
                            reached = Reached::Connected(connection);
                            Err(failure)
                        }
                        Ok((client, created)) => {
                            let made = Session::new(connection, self.known(), client, &created)?;
                            reached = Reached::Made(Arc::new(made));
                            Ok(())
                        }
                    }
                }
                Step::Reclaim => self.reclaim(reached.session()?, now).await?,
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

    fn known(&self) -> Known {
        Known {
            credential: self.credential.clone(),
            minor: self.server.minor,
            is_data: self.server.is_data,
            claims: Arc::clone(&self.claims),
        }
    }

    /// Further connections to a server that is far away, which are opened while the session is made.
    fn others(self: &Arc<Self>, first: &Connection) -> Vec<Opening> {
        let count = match first.distance >= FAR && !self.is_narrow() {
            true => WIDTH.saturating_sub(1),
            false => 0,
        };
        let open = || {
            let client = Arc::clone(self);
            tokio::spawn(async move { client.connected().await })
        };
        (0..count).map(|_| open()).collect()
    }

    /// The connection that no session has yet: the one at hand, or another.
    async fn fresh(self: &Arc<Self>, reached: Reached) -> Result<Connection, Trouble> {
        match reached {
            Reached::Connected(connection) => Ok(connection),
            Reached::Made(_) => self.connected().await,
        }
    }

    /// Asks outside of a session.
    async fn bare(
        &self,
        connection: &Connection,
        operations: &Operations,
    ) -> Result<Result<Results, Failure>, Trouble> {
        let arguments = operations.arguments(self.server.minor, &Operations::default());
        let asked = connection.compound(Sending {
            credential: &self.credential,
            arguments: &arguments,
            most: 0,
            room: None,
            hold: Box::new(()),
        });
        let reader = match timeout(SILENCE, asked).await {
            Ok(answer) => answer.map_err(|trouble| unless_answered(connection, trouble))?,
            Err(_) => return Err(Trouble::new(Kind::Silent, "the server does not answer")),
        };
        Ok(Results::new(reader))
    }

    async fn exchange(
        &self,
        connection: &Connection,
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
            self.claims.begin();
            // To a server that was started anew they may name others (RFC 8881, section 12.2.10).
            self.stores.forget_all();
            if found.flags & GIVES_LAYOUTS != 0 {
                self.gives_layouts();
            }
        }))
    }

    async fn create(
        &self,
        connection: &Connection,
        now: &mut Now,
    ) -> Result<Result<(u64, Created), Failure>, Trouble> {
        let unknown = || {
            Trouble::new(
                Kind::Transient,
                "the server has given this client no number",
            )
        };
        let (client, sequence) = now.known.ok_or_else(unknown)?;
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

    /// Claims what was open before the server restarted. What is not given back is opened again when it is read.
    async fn reclaim(
        &self,
        session: &Session,
        now: &mut Now,
    ) -> Result<Result<(), Failure>, Trouble> {
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
            let mut results = match session.claim(&ask).await {
                Ok(results) => results,
                Err(Lost::Session(trouble) | Lost::Trouble(trouble)) => return Err(trouble),
            };
            match results.handle().and_then(|()| results.opened()) {
                Ok(state) => {
                    held.renew(handle, state);
                    held.placement.set(Layout::Unknown); // the server has forgotten it
                }
                Err(failure) => match failure.status().map(meaning) {
                    Some(Meaning::Session | Meaning::Client | Meaning::Later) => {
                        return Ok(Err(failure));
                    }
                    _ => held.lose(),
                },
            }
        }
        now.is_new = false;
        Ok(Ok(()))
    }
}

/// What it means that a connection broke: before the server has answered anything over it, there is none.
fn unless_answered(connection: &Connection, trouble: Trouble) -> Trouble {
    match trouble.kind {
        Kind::Transient if !connection.has_answered_within(Duration::MAX) => Trouble {
            kind: Kind::Unreachable,
            what: format!("{}{CROWDED}", trouble.what),
            ..trouble
        },
        _ => trouble,
    }
}

type Opening = JoinHandle<Result<Connection, Trouble>>;

/// The session takes further connections: those that are open at once, so that its first requests are shared out over them, and
/// the others when they are open.
async fn widen(session: &Arc<Session>, others: Vec<Opening>) {
    let (mut answers, mut coming) = (Vec::new(), Vec::new());
    for other in others {
        match other.is_finished() {
            true => answers.extend(taken(session, other.await)),
            false => coming.push(other),
        }
    }
    let widening = match coming.is_empty() {
        true => None,
        false => session.widening(),
    };
    let session = Arc::downgrade(session);
    tokio::spawn(async move {
        let one = |other: Opening| async {
            let opened = other.await;
            taken(&*session.upgrade()?, opened)
        };
        let later = join_all(coming.into_iter().map(one)).await;
        drop(widening);
        for answer in answers.into_iter().chain(later.into_iter().flatten()) {
            if let Some(session) = session.upgrade() {
                session.widened(answer).await;
            }
        }
    });
}

/// A connection that was opened becomes one of the session's.
fn taken(
    session: &Session,
    opened: Result<Result<Connection, Trouble>, JoinError>,
) -> Option<Answer> {
    session.widen(opened.ok()?.ok()?)
}
