//! A file that is open: reads of it, in as large parts as the server allows, and its opening again when the server has lost
//! it.

use crate::client::Client;
use crate::held::Held;
use crate::layouts::{Told, gives_itself};
use crate::limits::{LEAST_READ, MOST_SESSIONS, READ_PATIENCE, WITH_LAYOUT};
use crate::placement::Going;
use crate::room::{Room, cut};
use crate::session::trouble;
use crate::shares::share;
use crate::walk::walk;
use crate::wire::attributes::{Attributes, OF_FILE, OF_STATE};
use crate::wire::compound::{Failure, Operations, Results, StateId};
use crate::wire::layout::LayoutType;
use crate::wire::open::Claim;
use crate::wire::status::{Meaning, is_revoked, meaning};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use treemill_transfer::{Body, Carrier, Chunk, Kind, Part, Trouble, parts, runtime};

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
}

/// What opening a file has brought.
struct Found {
    handle: Bytes,
    state: StateId,
    attributes: Attributes,
    head: Bytes,
    told: Told,
    going: Option<Going>,
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
        let placement = client.placements.join(&found.handle, found.attributes.fsid);
        let held = Held::new(path.to_vec(), found.attributes, found.state, placement);
        let held = Arc::new(held);
        client.hold(number, Arc::clone(&held));
        let file = Arc::new(Open {
            server: client.server.to_string(),
            client,
            held,
            number,
            again: tokio::sync::Mutex::default(),
        });
        // What has all of its bytes at hand needs no other server.
        if found.attributes.size > Some(found.head.len() as u64) {
            let placement = &file.held.placement;
            let kind = found.attributes.layout.and_then(LayoutType::of);
            let is_far = file.client.session().await?.is_far();
            let is_sooner = is_far && gives_itself(&found.told, kind);
            placement.set_beginning(is_sooner);
            let one = placement.hold().await;
            let (file, told, going) = (Arc::clone(&file), found.told, found.going);
            tokio::spawn(async move {
                let (client, held) = (&file.client, &file.held);
                held.placement.begin(client, held, told, going, one).await;
            });
        }
        Ok((File(file), found.attributes, found.head))
    }
}

async fn found(
    client: &Arc<Client>,
    path: &[String],
    number: u64,
    head: u32,
) -> Result<Found, Trouble> {
    // Which server says that it gives layouts, a session has told.
    client.session().await?;
    let going = match head {
        0 => None,
        _ => client.going_now(),
    };
    let layout = going.as_ref().and_then(|_| client.layout_kind());
    let _opening = layout.map(|_| client.opening());
    let mut found = walk(
        client,
        path,
        |session, operations| {
            let open = operations.get_handle().attributes(OF_FILE);
            let open = open.open(Claim::Here, session.client, &number.to_be_bytes());
            let open = match head {
                0 => open,
                _ => open.read(StateId::CURRENT, 0, head),
            };
            // The last one: the others are done whatever comes of it.
            match layout.filter(|_| session.operations >= WITH_LAYOUT) {
                Some(kind) => open.get_layout(kind, StateId::CURRENT),
                None => open,
            }
        },
        |results| {
            let handle = results.got_handle()?;
            let attributes = results.attributes()?;
            let state = results.opened()?;
            // What is not given here is asked for when it is wanted.
            let head = match head {
                0 => None,
                _ => results.read(head).ok(),
            };
            let told = match (&head, layout) {
                (Some(_), Some(kind)) if results.has_more() => Some((kind, results.layout(kind))),
                _ => None,
            };
            Ok(Found {
                handle,
                state,
                attributes,
                head: head.map(|(_, head)| head).unwrap_or_default(),
                told,
                going: None,
            })
        },
    )
    .await?;
    found.going = going;
    Ok(found)
}

impl Open {
    /// Appends to `into` the bytes from a place on: all that were asked for, or as many as the server gives at once.
    async fn some(&self, offset: u64, count: u32, into: &mut BytesMut) -> Result<(), Trouble> {
        let room = Room::new(into.split_off(into.len()));
        let found = self.some_in(offset, count, &room).await;
        if let Some(back) = room.take() {
            into.unsplit(back); // with the bytes in it, or as it was
        }
        if let Some(bytes) = found? {
            into.extend_from_slice(&bytes);
        }
        Ok(())
    }

    /// The bytes from a place on, as many as the server gives at once; `None` if they are in the room.
    async fn some_in(
        &self,
        offset: u64,
        count: u32,
        room: &Room,
    ) -> Result<Option<Bytes>, Trouble> {
        for _ in 0..MOST_SESSIONS {
            let (handle, state, turn) = self.held.now();
            let Some(state) = state else {
                self.open_again().await?;
                continue;
            };
            let ask = |_: &_| {
                let operations = Operations::default().handle(&handle);
                operations
                    .read(state.newest(), offset, count)
                    .into_room(room)
                    .attributes(OF_STATE)
            };
            let read = |results: &mut Results| {
                results.handle()?;
                let bytes = results.read_apart(count)?;
                Ok((bytes, results.attributes()?))
            };
            let failure = match self.client.settled(READ_PATIENCE, ask, read).await? {
                Ok((bytes, now)) if self.held.is_same(&now) => return Ok(bytes),
                Ok(_) => return Err(changed()),
                Err(failure) => failure,
            };
            if !is_of_state(&failure) {
                return Err(trouble(&failure));
            }
            if failure.status().is_some_and(is_revoked) {
                self.client.tell(Operations::default().free(state));
            }
            self.held.lose_since(turn);
        }
        Err(Trouble::new(
            Kind::Transient,
            "the server forgets again and again that the file is open",
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

    /// All bytes of a range that one READ may bring, written to `into`: from data servers, if the file has a layout and they
    /// give them.
    async fn all(
        self: Arc<Self>,
        range: Range<u64>,
        mut into: BytesMut,
    ) -> Result<BytesMut, Trouble> {
        let placement = &self.held.placement;
        let read = placement.read(&self.client, &self.held, &range, &mut into);
        let Some(gathered) = read.await else {
            let into = cut(&mut into, &range);
            return self.served(range, into).await;
        };
        let mut whole = BytesMut::new();
        for part in gathered.parts {
            // What lies side by side is not copied.
            whole.unsplit(match part.bytes {
                Ok(bytes) => bytes,
                Err(_) if gathered.is_exclusive => return Err(kept_away()),
                Err(room) => self.served(part.range, room).await?,
            });
        }
        Ok(whole)
    }

    /// All bytes of a range, behind those of `into`, from the metadata server.
    async fn served(&self, range: Range<u64>, mut into: BytesMut) -> Result<BytesMut, Trouble> {
        let mut at = range.start;
        while at < range.end {
            let left = u32::try_from(range.end.saturating_sub(at)).unwrap_or(u32::MAX);
            let before = into.len();
            self.some(at, left, &mut into).await?;
            let gained = into.len().saturating_sub(before);
            if gained == 0 {
                return Err(Trouble::new(
                    Kind::Transient,
                    format!("the server sends no bytes at {at}, although the file is longer"),
                ));
            }
            at = at.saturating_add(gained as u64);
        }
        Ok(into)
    }
}

fn kept_away() -> Trouble {
    Trouble::new(
        Kind::Transient,
        "no data server sends the bytes, and the server does not allow treemill to read them through itself",
    )
}

fn is_of_state(failure: &Failure) -> bool {
    failure.status().map(meaning) == Some(Meaning::State)
}

fn changed() -> Trouble {
    Trouble::new(Kind::Changed, "the file changed while treemill read it")
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

type Reading = Pin<Box<dyn Future<Output = Result<BytesMut, Trouble>> + Send>>;

/// The bytes of several READs, which are in flight together, in their order.
pub(crate) struct Reads {
    first: Option<BytesMut>,
    left: FuturesOrdered<Reading>,
}

impl Body for Reads {
    async fn chunk(&mut self) -> Result<Option<Bytes>, Trouble> {
        let next = self.next().await?;
        Ok(next.map(|chunk| match chunk {
            Chunk::Bytes(bytes) => bytes,
            Chunk::Placed(placed) => placed.freeze(),
        }))
    }

    async fn next(&mut self) -> Result<Option<Chunk>, Trouble> {
        let next = match self.first.take() {
            Some(first) => Some(first),
            None => self.left.next().await.transpose()?,
        };
        Ok(next.map(Chunk::Placed))
    }
}

impl Carrier for File {
    type Body = Reads;

    fn server(&self) -> &str {
        &self.0.server
    }

    fn is_busy(&self, within: Duration) -> bool {
        let (client, placement) = (&self.0.client, &self.0.held.placement);
        client.has_answered_within(within) || placement.has_answered_within(client, within)
    }

    async fn ask(&self, range: Range<u64>) -> Result<Part<Reads>, Trouble> {
        self.ask_into(range, &mut BytesMut::new()).await
    }

    async fn ask_into(
        &self,
        range: Range<u64>,
        room: &mut BytesMut,
    ) -> Result<Part<Reads>, Trouble> {
        let session = self.0.client.session().await?;
        let length = range.end.saturating_sub(range.start);
        if length > LEAST_READ {
            session.widest().await;
        }
        let most = share(length, session.load());
        let is_sooner = (self.0.held.placement).is_sooner(&self.0.client, length);
        let one = |part: Range<u64>| -> Reading {
            let (open, into) = (Arc::clone(&self.0), cut(room, &part));
            let due = session.due(part.end.saturating_sub(part.start));
            Box::pin(async move {
                let _until_it_is_here = due;
                match is_sooner {
                    true => open.served(part, into).await,
                    false => open.all(part, into).await,
                }
            })
        };
        let start = range.start;
        let mut left: FuturesOrdered<Reading> = parts(range, most).into_iter().map(one).collect();
        drop(session);
        let first = left.next().await.transpose()?;
        Ok(Part {
            start,
            body: Reads { first, left },
        })
    }
}
