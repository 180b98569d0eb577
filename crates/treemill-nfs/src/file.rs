//! A file that is open: reads of it, in as large parts as the server allows, and its opening again when the server has lost
//! it.

use crate::client::Client;
use crate::held::Held;
use crate::layouts::Layouts;
use crate::limits::{MOST_SESSIONS, READ_PATIENCE};
use crate::session::trouble;
use crate::walk::walk;
use crate::wire::attributes::{Attributes, OF_FILE, OF_STATE};
use crate::wire::compound::{Failure, Results, StateId};
use crate::wire::open::Claim;
use crate::wire::status::{Meaning, meaning};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use treemill_transfer::{Body, Carrier, Kind, Part, Trouble, parts, runtime};

/// A file that is open. The last clone closes it.
#[derive(Clone)]
pub(crate) struct File(Arc<Open>);

struct Open {
    client: Arc<Client>,
    held: Arc<Held>,
    number: u64,
    server: String,
    /// One thread of work opens it again.
    again: tokio::sync::Mutex<()>,
    layouts: Layouts,
}

/// What opening a file has brought.
struct Found {
    handle: Bytes,
    state: StateId,
    attributes: Attributes,
    head: Bytes,
}

impl File {
    /// Opens a file: the first bytes come along, if the server gives them.
    pub(crate) async fn open(
        client: Arc<Client>,
        path: &[String],
        head: u32,
    ) -> Result<(Self, Attributes, Bytes), Trouble> {
        let number = client.number();
        let found = found(&client, path, number, head).await?;
        let held = Held::new(path.to_vec(), found.attributes, found.handle, found.state);
        let held = Arc::new(held);
        client.hold(number, Arc::clone(&held));
        let file = Open {
            server: client.server.to_string(),
            client,
            held,
            number,
            again: tokio::sync::Mutex::default(),
            layouts: Layouts::default(),
        };
        Ok((File(Arc::new(file)), found.attributes, found.head))
    }
}

async fn found(
    client: &Arc<Client>,
    path: &[String],
    number: u64,
    head: u32,
) -> Result<Found, Trouble> {
    walk(
        client,
        path,
        |session, operations| {
            let open = operations.get_handle().attributes(OF_FILE);
            let open = open.open(Claim::Here, session.client, &number.to_be_bytes());
            match head {
                0 => open,
                _ => open.read(StateId::CURRENT, 0, head),
            }
        },
        |results| {
            let handle = results.got_handle()?;
            let attributes = results.attributes()?;
            let state = results.opened()?;
            // What is not given here is asked for when it is wanted.
            let head = match (head, results.read(head)) {
                (1.., Ok((_, head))) => head,
                _ => Bytes::new(),
            };
            Ok(Found {
                handle,
                state,
                attributes,
                head,
            })
        },
    )
    .await
}

impl Open {
    /// Bytes from a place on: all that were asked for, or as many as the server gives at once.
    async fn some(&self, offset: u64, count: u32) -> Result<Bytes, Trouble> {
        for _ in 0..MOST_SESSIONS {
            let (handle, state, turn) = self.held.now();
            let Some(state) = state else {
                self.open_again().await?;
                continue;
            };
            let ask = |_: &_| {
                let operations = crate::wire::compound::Operations::default().handle(&handle);
                operations
                    .read(state.newest(), offset, count)
                    .attributes(OF_STATE)
            };
            let read = |results: &mut Results| {
                results.handle()?;
                let (_, bytes) = results.read(count)?;
                Ok((bytes, results.attributes()?))
            };
            let failure = match self.client.settled(READ_PATIENCE, ask, read).await? {
                Ok((bytes, now)) if self.held.is_same(&now) => return Ok(bytes),
                Ok(_) => return Err(changed()),
                Err(failure) => failure,
            };
            match is_of_state(&failure) {
                true => self.held.lose_since(turn),
                false => return Err(trouble(&failure)),
            }
        }
        Err(Trouble::new(
            Kind::Transient,
            "the server forgets that the file is open, again and again",
        ))
    }

    async fn open_again(&self) -> Result<(), Trouble> {
        let _one = self.again.lock().await;
        if self.held.now().1.is_some() {
            return Ok(()); // another one was here before
        }
        let found = found(&self.client, &self.held.names, self.number, 0).await?;
        if !self.held.is_same(&found.attributes) {
            return Err(changed());
        }
        self.held.renew(found.handle, found.state);
        Ok(())
    }

    /// All bytes of a range that one READ may bring: from data servers, if the file has a layout and they give them.
    async fn all(self: Arc<Self>, range: Range<u64>) -> Result<Bytes, Trouble> {
        if let Some(bytes) = self
            .layouts
            .read(&self.client, &self.held, range.clone())
            .await
        {
            return Ok(bytes);
        }
        let mut whole = Vec::new();
        let mut at = range.start;
        while at < range.end {
            let left = u32::try_from(range.end.saturating_sub(at)).unwrap_or(u32::MAX);
            let bytes = self.some(at, left).await?;
            if bytes.is_empty() {
                return Err(Trouble::new(
                    Kind::Transient,
                    format!("the server gives no bytes at {at}, within the file"),
                ));
            }
            at = at.saturating_add(bytes.len() as u64);
            if at >= range.end && whole.is_empty() {
                return Ok(bytes); // without a copy, as a rule
            }
            whole.extend_from_slice(&bytes);
        }
        Ok(Bytes::from(whole))
    }
}

fn is_of_state(failure: &Failure) -> bool {
    failure.status().map(meaning) == Some(Meaning::State)
}

fn changed() -> Trouble {
    Trouble::new(Kind::Final, "the file changed while it was read")
}

impl Drop for Open {
    fn drop(&mut self) {
        if !self.client.is_ours() {
            return; // the parent closes it
        }
        self.client.drop_file(self.number);
        let (client, held) = (Arc::clone(&self.client), Arc::clone(&self.held));
        if let Ok(runtime) = runtime() {
            runtime.spawn(async move { client.close(held).await });
        }
    }
}

type Reading = Pin<Box<dyn Future<Output = Result<Bytes, Trouble>> + Send>>;

/// The bytes of several READs, which are in flight together, in their order.
pub(crate) struct Reads {
    first: Option<Bytes>,
    left: FuturesOrdered<Reading>,
}

impl Body for Reads {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Trouble> {
        match self.first.take() {
            Some(first) => Ok(Some(first)),
            None => self.left.next().await.transpose(),
        }
    }
}

impl Carrier for File {
    type Body = Reads;

    fn server(&self) -> &str {
        &self.0.server
    }

    async fn ask(&self, range: Range<u64>) -> Result<Part<Reads>, Trouble> {
        let most = u64::from(self.0.client.session().await?.read);
        let one = |part: Range<u64>| -> Reading { Box::pin(Arc::clone(&self.0).all(part)) };
        let start = range.start;
        let mut left: FuturesOrdered<Reading> = parts(range, most).into_iter().map(one).collect();
        let first = left.next().await.transpose()?;
        Ok(Part {
            start,
            body: Reads { first, left },
        })
    }
}
