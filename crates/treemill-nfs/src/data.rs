//! Reads from data servers: each piece from its server, or from the next mirror's. Which bytes lie where, `stripes.rs` says; what
//! a failure means for the layout, `layouts.rs` decides.

use crate::address::Server;
use crate::client::{Client, client};
use crate::laid::{Cut, Laid, Part};
use crate::limits::{DATA_PATIENCE, MOST_SESSIONS};
use crate::room::{Room, cut};
use crate::stripes::{Piece, Place};
use crate::wire::compound::{Operations, Results, StateId};
use crate::wire::report::Fault;
use crate::wire::status::{Meaning, NXIO, meaning};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt;
use futures_util::future::{Either, ready};
use futures_util::stream::FuturesOrdered;
use std::net::SocketAddr;
use std::ops::Range;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;
use treemill_transfer::Kind;

/// A read of one file by its layout.
pub(crate) struct Reading<'a> {
    /// The metadata server.
    pub(crate) client: &'a Arc<Client>,
    pub(crate) laid: &'a Laid,
    /// The file at the metadata server, which is its handle and state at data servers that have none of their own.
    pub(crate) handle: Bytes,
    pub(crate) state: StateId,
}

/// A part of a range, and its bytes if a data server has given them; the room for them if not.
pub(crate) struct Brought {
    pub(crate) range: Range<u64>,
    pub(crate) bytes: Result<BytesMut, BytesMut>,
}

/// Why a data server has not given its piece.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Why {
    /// It has failed a moment ago, and was not asked.
    Avoided,
    /// It does not know the layout's state any more.
    Void,
    /// It failed, with this status.
    Failed(u32),
    /// It does not answer at this address.
    Unreached,
}

/// What a range has come to.
#[derive(Default)]
pub(crate) struct Gathered {
    pub(crate) parts: Vec<Brought>,
    /// A server does not take the layout's state any more.
    pub(crate) is_void: bool,
    /// A server has failed for the first time, and no mirror has what it has.
    pub(crate) is_worn: bool,
    /// What is missing may not be asked for at the metadata server.
    pub(crate) is_exclusive: bool,
}

impl Gathered {
    fn of(range: Range<u64>, bytes: Result<BytesMut, BytesMut>) -> Self {
        Gathered {
            parts: vec![Brought { range, bytes }],
            ..Gathered::default()
        }
    }

    fn append(&mut self, other: Gathered) {
        self.parts.extend(other.parts);
        self.is_void |= other.is_void;
        self.is_worn |= other.is_worn;
    }
}

impl Place {
    /// The data server, at one of its addresses.
    pub(crate) fn client(&self, address: &SocketAddr, minor: u32) -> Arc<Client> {
        client(&Server {
            host: address.ip().to_string(),
            port: address.port(),
            minor: self.minor.unwrap_or(minor),
            is_data: true,
        })
    }

    /// Its addresses in the order in which they are tried: first those where it is connected to, last those where it has failed a
    /// moment ago.
    fn in_turn(&self, lead: &Client) -> Vec<SocketAddr> {
        let mut all = self.addresses.clone();
        if all.len() > 1 {
            all.sort_by_key(|address| {
                let server = self.client(address, lead.server.minor);
                (lead.stores.avoids(address), !server.is_connected())
            });
        }
        all
    }

    /// Whether it has failed a moment ago, at all of its addresses.
    fn is_avoided(&self, lead: &Client) -> bool {
        self.addresses
            .iter()
            .all(|address| lead.stores.avoids(address))
    }

    /// Connects to it, at the first address where it answers.
    pub(crate) async fn connect(&self, lead: &Client) {
        for address in self.in_turn(lead) {
            // The first reader waits for the same session.
            match self.client(&address, lead.server.minor).session().await {
                Ok(_) => return,
                Err(_) if self.addresses.len() > 1 => _ = lead.stores.has_failed(address),
                Err(_) => {} // its first reader finds out, and tells
            }
        }
    }
}

impl Reading<'_> {
    /// All pieces together, each from its server, and written where `room` has their places.
    pub(crate) async fn gather(&self, cuts: Vec<Cut>, room: &mut BytesMut) -> Gathered {
        let mut gathered = Gathered {
            is_exclusive: self.laid.is_exclusive,
            ..Gathered::default()
        };
        let mut all = FuturesOrdered::new();
        for Cut { range, found } in cuts {
            let Some((part, pieces)) = found else {
                let bytes = Err(cut(room, &range));
                all.push_back(Either::Left(ready(Gathered::of(range, bytes))));
                continue;
            };
            for piece in pieces {
                let room = cut(room, &piece.range);
                all.push_back(Either::Right(self.piece(Arc::clone(&part), 0, piece, room)));
            }
        }
        while let Some(next) = all.next().await {
            gathered.append(next);
        }
        gathered
    }

    /// A piece of a mirror; from the next mirror what this one does not give.
    fn piece(
        &self,
        part: Arc<Part>,
        mirror: usize,
        piece: Piece,
        room: BytesMut,
    ) -> Pin<Box<dyn Future<Output = Gathered> + Send + '_>> {
        Box::pin(async move {
            let mut gathered = Gathered::default();
            let mut room = room;
            let next = mirror.saturating_add(1);
            let others = part
                .mirrors
                .get(next)
                .and_then(|stripes| stripes.pieces(piece.range.clone()));
            let has_others = others.is_some() || !self.laid.is_exclusive;
            let found = part.mirrors.get(mirror);
            if let Some(place) = found.and_then(|stripes| stripes.places().get(piece.server)) {
                match self.brought(place, &piece, has_others, &mut room).await {
                    Ok(()) => return Gathered::of(piece.range, Ok(room)),
                    Err((Why::Void, _)) => gathered.is_void = true,
                    Err((_, is_first)) => gathered.is_worn = is_first && others.is_none(),
                }
            }
            match others {
                Some(pieces) if !gathered.is_void => {
                    for piece in pieces {
                        let room = cut(&mut room, &piece.range);
                        let part = Arc::clone(&part);
                        gathered.append(self.piece(part, next, piece, room).await);
                    }
                }
                _ => gathered.append(Gathered::of(piece.range, Err(room))),
            }
            gathered
        })
    }

    /// A data server has failed, at these addresses: whether it is the first time. The metadata server is told of it.
    fn note(&self, place: &Place, at: &[SocketAddr], piece: &Piece, status: u32) -> bool {
        let mut is_first = false;
        for address in at {
            is_first |= self.client.stores.has_failed(*address);
        }
        let fault = Fault {
            range: piece.range.clone(),
            device: place.device,
            status,
        };
        if is_first {
            self.client.tell_error(&self.handle, self.laid, &fault);
        }
        self.laid.failed(fault);
        is_first
    }

    /// A piece from its server, at the first of its addresses where it answers, written to the room; or why not, and whether the
    /// server has failed for the first time.
    async fn brought(
        &self,
        place: &Place,
        piece: &Piece,
        has_others: bool,
        room: &mut BytesMut,
    ) -> Result<(), (Why, bool)> {
        if has_others && place.is_avoided(self.client) {
            return Err((Why::Avoided, false));
        }
        let mut silent = Vec::new();
        for address in place.in_turn(self.client) {
            match self.whole(place, address, piece, room).await {
                Ok(()) => {
                    self.client.stores.forgives(&address);
                    silent
                        .iter()
                        .for_each(|other| _ = self.client.stores.has_failed(*other));
                    return Ok(());
                }
                Err(Why::Unreached) => silent.push(address),
                Err(Why::Failed(status)) => {
                    let is_first = self.note(place, &place.addresses, piece, status);
                    return Err((Why::Failed(status), is_first));
                }
                Err(why) => return Err((why, false)),
            }
        }
        Err((Why::Unreached, self.note(place, &silent, piece, NXIO)))
    }

    /// A piece from its server at one address.
    async fn whole(
        &self,
        place: &Place,
        address: SocketAddr,
        piece: &Piece,
        room: &mut BytesMut,
    ) -> Result<(), Why> {
        room.clear();
        let length = piece.range.end.saturating_sub(piece.range.start);
        while (room.len() as u64) < length {
            let here = room.len() as u64;
            let offset = piece.offset.saturating_add(here);
            let left = length.saturating_sub(here);
            self.some(place, address, offset, left, room).await?;
            if room.len() as u64 == here {
                return Err(Why::Failed(NXIO));
            }
        }
        Ok(())
    }

    /// Appends to `into` as many bytes as the server gives at once.
    async fn some(
        &self,
        place: &Place,
        address: SocketAddr,
        offset: u64,
        left: u64,
        into: &mut BytesMut,
    ) -> Result<(), Why> {
        let server = place.client(&address, self.client.server.minor);
        let handle = place.handle.as_ref().unwrap_or(&self.handle);
        let state = place.state.unwrap_or(self.state);
        for turn in 1..=MOST_SESSIONS {
            let begun = Instant::now();
            let before = into.len();
            let room = Room::new(into.split_off(before));
            let done = server
                .unless_silent(
                    DATA_PATIENCE,
                    read(&server, handle, state, offset, left, &room),
                )
                .await;
            if let Some(back) = room.take() {
                into.unsplit(back); // with the bytes in it, or as it was
            }
            if let Some(Ok(Ok(Some(bytes)))) = &done {
                into.extend_from_slice(bytes);
            }
            let brought = match &done {
                Some(Ok(Ok(_))) => Some(into.len().saturating_sub(before) as u64),
                _ => None,
            };
            let at = (place, address);
            self.laid.count(at, handle, left, brought, begun.elapsed());
            match done {
                Some(Ok(Ok(_))) => return Ok(()),
                Some(Ok(Err(status))) => {
                    return Err(match meaning(status) {
                        Meaning::State => Why::Void,
                        _ => Why::Failed(status),
                    });
                }
                // Its session or this client's number was lost: that is made anew.
                Some(Err(Kind::Transient)) if turn < MOST_SESSIONS => {}
                Some(Err(_)) | None => return Err(Why::Unreached),
            }
        }
        Err(Why::Unreached)
    }
}

/// One READ: its bytes, none if they are in the room, or its status.
async fn read(
    server: &Arc<Client>,
    handle: &Bytes,
    state: StateId,
    offset: u64,
    left: u64,
    room: &Room,
) -> Result<Result<Option<Bytes>, u32>, Kind> {
    let session = server.session().await.map_err(|trouble| trouble.kind)?;
    let count = session.read.min(u32::try_from(left).unwrap_or(u32::MAX));
    let ask = |_: &_| {
        let operations = Operations::default().handle(handle);
        operations.read(state, offset, count).into_room(room)
    };
    let take = |results: &mut Results| {
        results.handle()?;
        results.read_apart(count)
    };
    let settled = server.settled(DATA_PATIENCE, ask, take).await;
    match settled.map_err(|trouble| trouble.kind)? {
        Ok(bytes) => Ok(Ok(bytes)),
        Err(failure) => failure.status().map(Err).ok_or(Kind::Permanent),
    }
}
