//! Makes a session, and claims back what was open when the server was started anew. What is said next, `recovery.rs` decides.

use crate::client::{Client, Now};
use crate::connection::{Connection, Recalls};
use crate::held::Held;
use crate::limits::USUAL_LEASE;
use crate::recovery::{Recovery, Step, Then};
use crate::session::{Lost, Session, trouble};
use crate::wire::attributes::OF_SERVER;
use crate::wire::compound::{Failure, Operations, Results};
use crate::wire::open::Claim;
use crate::wire::session::{AS_DATA_SERVER, Created};
use crate::wire::status::{COMPLETE_ALREADY, Meaning, OK, meaning};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};
use treemill_transfer::{Kind, SILENCE, Trouble};

impl Client {
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
    pub(crate) async fn establish(
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
    ) -> Result<Result<(u64, Created), Failure>, Trouble> {
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
}

fn gone() -> Trouble {
    Trouble::new(Kind::Transient, "the connection was given up")
}
