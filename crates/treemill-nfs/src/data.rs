//! Reads from data servers: each piece from its server, or from the next mirror's. Which bytes lie where, `stripes.rs` says; what
//! a failure means for the layout, `layouts.rs` decides.

use crate::address::Server;
use crate::client::{Client, client};
use crate::laid::{Laid, Part};
use crate::limits::{DATA_PATIENCE, MOST_SESSIONS};
use crate::stripes::{Piece, Place};
use crate::wire::compound::{Operations, Results, StateId};
use crate::wire::report::Fault;
use crate::wire::status::{Meaning, NXIO, meaning};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
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

/// A part of a range, and its bytes if a data server has given them.
pub(crate) struct Brought {
    pub(crate) range: Range<u64>,
    pub(crate) bytes: Option<Bytes>,
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
    fn append(&mut self, other: Gathered) {
        self.parts.extend(other.parts);
        self.is_void |= other.is_void;
        self.is_worn |= other.is_worn;
    }
}

impl Place {
    /// The data server.
    pub(crate) fn client(&self, minor: u32) -> Option<Arc<Client>> {
        let address = self.addresses.first()?;
        Some(client(&Server {
            host: address.ip().to_string(),
            port: address.port(),
            minor: self.minor.unwrap_or(minor),
            is_data: true,
        }))
    }
}

impl Reading<'_> {
    /// All pieces together, each from its server.
    pub(crate) async fn gather(&self, part: &Part, pieces: Vec<Piece>) -> Gathered {
        let one = |piece: Piece| self.piece(part, 0, piece);
        let mut all: FuturesOrdered<_> = pieces.into_iter().map(one).collect();
        let mut gathered = Gathered {
            is_exclusive: self.laid.is_exclusive,
            ..Gathered::default()
        };
        while let Some(next) = all.next().await {
            gathered.append(next);
        }
        gathered
    }

    /// A piece of a mirror; from the next mirror what this one does not give.
    fn piece<'b>(
        &'b self,
        part: &'b Part,
        mirror: usize,
        piece: Piece,
    ) -> Pin<Box<dyn Future<Output = Gathered> + Send + 'b>> {
        Box::pin(async move {
            let mut gathered = Gathered::default();
            let found = part.0.get(mirror);
            let place = found.and_then(|stripes| stripes.places().get(piece.server));
            let next = mirror.saturating_add(1);
            let others = part
                .0
                .get(next)
                .and_then(|stripes| stripes.pieces(piece.range.clone()));
            let has_others = others.is_some() || !self.laid.is_exclusive;
            if let Some(place) = place {
                match self.brought(place, &piece, has_others).await {
                    Ok(bytes) => {
                        if let Some(address) = place.addresses.first() {
                            self.client.forgives(address);
                        }
                        gathered.parts.push(Brought {
                            range: piece.range,
                            bytes: Some(bytes),
                        });
                        return gathered;
                    }
                    Err(Why::Avoided) => {}
                    Err(Why::Void) => gathered.is_void = true,
                    Err(Why::Failed(status)) => {
                        let is_first = self.note(place, &piece, status).await;
                        gathered.is_worn = is_first && others.is_none();
                    }
                }
            }
            match others {
                Some(pieces) if !gathered.is_void => {
                    for piece in pieces {
                        gathered.append(self.piece(part, next, piece).await);
                    }
                }
                _ => gathered.parts.push(Brought {
                    range: piece.range,
                    bytes: None,
                }),
            }
            gathered
        })
    }

    /// A data server has failed: whether it is the first time. The metadata server is told of it.
    async fn note(&self, place: &Place, piece: &Piece, status: u32) -> bool {
        let address = place.addresses.first();
        let is_first = address.is_some_and(|address| self.client.has_failed(*address));
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

    async fn brought(&self, place: &Place, piece: &Piece, has_others: bool) -> Result<Bytes, Why> {
        let address = place.addresses.first().ok_or(Why::Avoided)?;
        if has_others && self.client.avoids(address) {
            return Err(Why::Avoided);
        }
        let server = place.client(self.client.server.minor).ok_or(Why::Avoided)?;
        let length = piece.range.end.saturating_sub(piece.range.start);
        let mut whole = Vec::new();
        while (whole.len() as u64) < length {
            let offset = piece.offset.saturating_add(whole.len() as u64);
            let left = length.saturating_sub(whole.len() as u64);
            let bytes = self.some(&server, place, offset, left).await?;
            match (bytes.len() as u64, whole.is_empty()) {
                (0, _) => return Err(Why::Failed(NXIO)),
                (all, true) if all == length => return Ok(bytes),
                _ => whole.extend_from_slice(&bytes),
            }
        }
        Ok(Bytes::from(whole))
    }

    /// As many bytes as the server gives at once.
    async fn some(
        &self,
        server: &Arc<Client>,
        place: &Place,
        offset: u64,
        left: u64,
    ) -> Result<Bytes, Why> {
        let handle = place.handle.as_ref().unwrap_or(&self.handle);
        let state = place.state.unwrap_or(self.state);
        for turn in 1..=MOST_SESSIONS {
            let begun = Instant::now();
            let done = server
                .unless_silent(DATA_PATIENCE, read(server, handle, state, offset, left))
                .await;
            let brought = match &done {
                Some(Ok(Ok(bytes))) => Some(bytes.len() as u64),
                _ => None,
            };
            self.laid
                .count(place, handle, left, brought, begun.elapsed());
            match done {
                Some(Ok(Ok(bytes))) => return Ok(bytes),
                Some(Ok(Err(status))) => {
                    return Err(match meaning(status) {
                        Meaning::State => Why::Void,
                        _ => Why::Failed(status),
                    });
                }
                // Its session or this client's number was lost: that is made anew.
                Some(Err(Kind::Transient)) if turn < MOST_SESSIONS => {}
                Some(Err(_)) | None => return Err(Why::Failed(NXIO)),
            }
        }
        Err(Why::Failed(NXIO))
    }
}

/// One READ: its bytes, or its status.
async fn read(
    server: &Arc<Client>,
    handle: &Bytes,
    state: StateId,
    offset: u64,
    left: u64,
) -> Result<Result<Bytes, u32>, Kind> {
    let session = server.session().await.map_err(|trouble| trouble.kind)?;
    let count = session.read.min(u32::try_from(left).unwrap_or(u32::MAX));
    let ask = |_: &_| {
        let operations = Operations::default().handle(handle);
        operations.read(state, offset, count)
    };
    let take = |results: &mut Results| {
        results.handle()?;
        Ok(results.read(count)?.1)
    };
    let settled = server.settled(DATA_PATIENCE, ask, take).await;
    match settled.map_err(|trouble| trouble.kind)? {
        Ok(bytes) => Ok(Ok(bytes)),
        Err(failure) => failure.status().map(Err).ok_or(Kind::Final),
    }
}
