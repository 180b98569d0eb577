//! Reads from data servers (pNFS): asks once where a file lies, and brings ranges from there in parallel. What fails there
//! is left to the metadata server, for this file from then on. Where bytes lie, `stripes.rs` says.

use crate::address::Server;
use crate::client::{Client, client};
use crate::held::{Held, Laid, Layout};
use crate::limits::{DATA_PATIENCE, READ_PATIENCE};
use crate::stripes::{Piece, Place, Stripes, devices};
use crate::wire::compound::{Operations, Results, StateId};
use crate::wire::layout::{Device, DeviceId, LayoutType, Segment};
use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesOrdered;
use std::ops::Range;
use std::sync::{Arc, PoisonError};

/// The layout of one open file.
#[derive(Default)]
pub(crate) struct Layouts {
    /// It is asked for once.
    asking: tokio::sync::Mutex<()>,
}

impl Layouts {
    /// The bytes of a range from data servers; `None` if they are to be had from the metadata server.
    pub(crate) async fn read(
        &self,
        client: &Arc<Client>,
        held: &Held,
        range: Range<u64>,
    ) -> Option<Bytes> {
        let laid = self.laid(client, held).await?;
        let (handle, state, _) = held.now();
        let state = state?.newest();
        let pieces = laid
            .parts
            .iter()
            .find_map(|part| Some((part, part.pieces(range.clone())?)));
        let (part, pieces) = pieces?;
        let found = gather(client.server.minor, part, pieces, &handle, state).await;
        if found.is_none() && matches!(held.layout(), Layout::There(_)) {
            held.set_layout(Layout::None);
            client.give_back(held, &laid).await;
        }
        found
    }

    async fn laid(&self, client: &Arc<Client>, held: &Held) -> Option<Arc<Laid>> {
        let kind = LayoutType::of(held.known.layout?)?;
        let _one = self.asking.lock().await;
        match held.layout() {
            Layout::There(laid) => Some(laid),
            Layout::None => None,
            Layout::Unknown => {
                let found = asked(client, held, kind).await.map(Arc::new);
                held.set_layout(match &found {
                    Some(laid) => Layout::There(Arc::clone(laid)),
                    None => Layout::None,
                });
                found
            }
        }
    }
}

/// Asks for the layout and for its servers; `None` if there is none that can be read.
async fn asked(client: &Arc<Client>, held: &Held, kind: LayoutType) -> Option<Laid> {
    let (handle, state, _) = held.now();
    let state = state?.newest();
    let ask = |_: &_| {
        Operations::default()
            .handle(&handle)
            .get_layout(kind, state)
    };
    let read = |results: &mut Results| {
        results.handle()?;
        results.layout(kind)
    };
    let layout = client.settled(READ_PATIENCE, ask, read).await.ok()?.ok()?;
    let mut parts = Vec::new();
    for segment in &layout.segments {
        parts.extend(striped(client, segment, kind).await);
    }
    let laid = Laid {
        kind,
        state: layout.state,
        parts,
    };
    if laid.parts.is_empty() {
        client.give_back(held, &laid).await;
        return None;
    }
    Some(laid)
}

async fn striped(client: &Arc<Client>, segment: &Segment, kind: LayoutType) -> Option<Stripes> {
    let mut found = Vec::new();
    for id in devices(segment) {
        found.push(device(client, id, kind).await?);
    }
    Stripes::new(segment, &found)
}

async fn device(client: &Arc<Client>, id: DeviceId, kind: LayoutType) -> Option<Device> {
    let known = {
        let devices = client
            .devices
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        devices.get(&id).cloned()
    };
    if known.is_some() {
        return known;
    }
    let ask = |_: &_| Operations::default().get_device(&id, kind);
    let read = |results: &mut Results| results.device(kind);
    let found = client.settled(READ_PATIENCE, ask, read).await.ok()?.ok()?;
    let mut devices = client
        .devices
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    devices.insert(id, found.clone());
    Some(found)
}

/// All pieces together, each from its server.
async fn gather(
    minor: u32,
    part: &Stripes,
    pieces: Vec<Piece>,
    handle: &Bytes,
    state: StateId,
) -> Option<Bytes> {
    let one = |piece: Piece| async move {
        let place = part.places().get(piece.server)?;
        brought(minor, place, &piece, handle, state).await
    };
    let mut all: FuturesOrdered<_> = pieces.into_iter().map(one).collect();
    let first = all.next().await??;
    if all.is_empty() {
        return Some(first); // without a copy
    }
    let mut whole = first.to_vec();
    while let Some(next) = all.next().await {
        whole.extend_from_slice(&next?);
    }
    Some(Bytes::from(whole))
}

async fn brought(
    minor: u32,
    place: &Place,
    piece: &Piece,
    handle: &Bytes,
    state: StateId,
) -> Option<Bytes> {
    let address = place.addresses.first()?;
    let server = client(&Server {
        host: address.ip().to_string(),
        port: address.port(),
        minor: place.minor.unwrap_or(minor),
        is_data: true,
    });
    let handle = place.handle.as_ref().unwrap_or(handle);
    let state = place.state.unwrap_or(state);
    let length = piece.range.end.saturating_sub(piece.range.start);
    let mut whole = Vec::new();
    while (whole.len() as u64) < length {
        let offset = piece.offset.saturating_add(whole.len() as u64);
        let left = u32::try_from(length.saturating_sub(whole.len() as u64)).ok()?;
        let count = left.min(server.session().await.ok()?.read);
        let ask = |_: &_| {
            Operations::default()
                .handle(handle)
                .read(state, offset, count)
        };
        let read = |results: &mut Results| {
            results.handle()?;
            Ok(results.read(count)?.1)
        };
        let settled = server.settled(DATA_PATIENCE, ask, read);
        let bytes = server.unless_silent(DATA_PATIENCE, settled).await?;
        let bytes = bytes.ok()?.ok()?;
        match (bytes.len() as u64, whole.is_empty()) {
            (0, _) => return None,
            (all, true) if all == length => return Some(bytes),
            _ => whole.extend_from_slice(&bytes),
        }
    }
    Some(Bytes::from(whole))
}
