//! The layout of an open file: asked for when the file is opened or read, given back when it has failed, is recalled or the file
//! is closed. What is read by it, `data.rs` brings.

use crate::client::Client;
use crate::data::{Gathered, Reading};
use crate::held::{Held, Layout};
use crate::laid::{Laid, Part, is_exclusive};
use crate::limits::{LAYOUTS_EACH, MOST_LAYOUTS, READ_PATIENCE, SOONER};
use crate::stripes::{Place, Stripes, devices};
use crate::wire::compound::{Failure, Operations, Results};
use crate::wire::layout::{self, Device, DeviceId, LayoutType, Segment};
use crate::wire::status::{Meaning, meaning};
use futures_util::future::join_all;
use std::ops::Range;
use std::sync::{Arc, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// The layout of one open file.
#[derive(Default)]
pub(crate) struct Layouts {
    /// It is asked for once.
    asking: Arc<tokio::sync::Mutex<()>>,
}

/// What the request that opened a file has told of its layout.
pub(crate) type Told = Option<(LayoutType, Result<layout::Layout, Failure>)>;

/// Whether the metadata server gives bytes, too, as far as it has told.
pub(crate) fn gives_itself(told: &Told, kind: Option<LayoutType>) -> bool {
    match told {
        Some((_, Ok(layout))) => !is_exclusive(&layout.segments),
        _ => kind == Some(LayoutType::Files),
    }
}

impl Layouts {
    /// Whether a range need not wait for the data servers, which are still being connected to: a few bytes are sooner here
    /// from the metadata server, if it gives them.
    pub(crate) fn is_sooner(&self, client: &Arc<Client>, held: &Held, length: u64) -> bool {
        if !held.is_beginning() || length > SOONER {
            return false;
        }
        let minor = client.server.minor;
        let is_connected = |place: &Place| {
            let server = place.client(minor);
            server.is_some_and(|server| server.is_connected())
        };
        match held.layout() {
            Layout::Unknown => true,
            Layout::There(laid) if !laid.best().all(is_connected) => true,
            _ => {
                held.set_beginning(false);
                false
            }
        }
    }

    /// Keeps reads waiting until it is clear what opening the file has told.
    pub(crate) async fn hold(&self) -> OwnedMutexGuard<()> {
        Arc::clone(&self.asking).lock_owned().await
    }

    /// Begins with what opening the file has told: the data servers are connected to at once.
    pub(crate) async fn begin(
        &self,
        client: &Arc<Client>,
        held: &Held,
        told: Told,
        _one: OwnedMutexGuard<()>,
    ) {
        let Some(kind) = held.known.layout.and_then(LayoutType::of) else {
            return;
        };
        client.gives(kind);
        match told {
            Some((given, Ok(layout))) => {
                self.set(client, held, laid(client, given, layout).await)
                    .await;
            }
            // It is the answer to what would be asked again.
            Some((asked, Err(failure))) if asked == kind && is_final(&failure) => {
                held.set_layout(Layout::None);
            }
            _ => {
                self.ask(client, held, kind).await;
            }
        }
    }

    /// The parts of a range, with the bytes that data servers have given; `None` if there is no layout for it.
    pub(crate) async fn read(
        &self,
        client: &Arc<Client>,
        held: &Held,
        range: &Range<u64>,
    ) -> Option<Gathered> {
        for _ in 0..LAYOUTS_EACH {
            let laid = self.laid(client, held).await?;
            let using = laid.using.read().await;
            let (handle, state, _) = held.now();
            let reading = Reading {
                client,
                laid: &laid,
                handle,
                state: state?.newest(),
            };
            let (part, pieces) = laid.part(range)?;
            let gathered = reading.gather(part, pieces).await;
            drop(using);
            if let Some(counts) = laid.due() {
                client.tell_counts(&reading.handle, &laid, counts);
            }
            if gathered.is_worn || gathered.is_void {
                self.renew(client, held, &laid).await;
            }
            let is_whole = gathered.parts.iter().all(|part| part.bytes.is_some());
            if is_whole || !gathered.is_void {
                return Some(gathered);
            }
        }
        None
    }

    /// The layout is given back, and asked for again by the next read.
    async fn renew(&self, client: &Arc<Client>, held: &Held, old: &Arc<Laid>) {
        let _one = self.asking.lock().await;
        if held.replace(old) {
            client.give_back(held, old, None).await;
        }
    }

    async fn laid(&self, client: &Arc<Client>, held: &Held) -> Option<Arc<Laid>> {
        let kind = LayoutType::of(held.known.layout?)?;
        if let Layout::There(laid) = held.layout() {
            return Some(laid);
        }
        let _one = self.asking.lock().await;
        match held.layout() {
            Layout::There(laid) => Some(laid),
            Layout::None => None,
            Layout::Unknown => self.ask(client, held, kind).await,
        }
    }

    /// Asks for the layout and for its servers; `None` if there is none that can be read.
    async fn ask(&self, client: &Arc<Client>, held: &Held, kind: LayoutType) -> Option<Arc<Laid>> {
        let (handle, state, _) = held.now();
        let state = state?.newest();
        if held.count_layout() > MOST_LAYOUTS {
            held.set_layout(Layout::None);
            return None;
        }
        let ask = |_: &_| {
            let operations = Operations::default().handle(&handle);
            operations.get_layout(kind, state)
        };
        let read = |results: &mut Results| {
            results.handle()?;
            results.layout(kind)
        };
        let found = match client.settled(READ_PATIENCE, ask, read).await {
            Ok(Ok(layout)) => laid(client, kind, layout).await,
            // The next read asks again.
            Ok(Err(failure)) if failure.status().map(meaning) == Some(Meaning::State) => {
                return None;
            }
            Err(_) => return None,
            Ok(Err(_)) => None,
        };
        self.set(client, held, found).await
    }

    async fn set(
        &self,
        client: &Arc<Client>,
        held: &Held,
        found: Option<Laid>,
    ) -> Option<Arc<Laid>> {
        let found = found.map(Arc::new);
        held.set_layout(match &found {
            Some(laid) if laid.best().next().is_some() => Layout::There(Arc::clone(laid)),
            _ => Layout::None,
        });
        match found {
            Some(laid) if laid.best().next().is_none() => {
                client.give_back(held, &laid, None).await;
                None
            }
            found => found,
        }
    }
}

fn is_final(failure: &Failure) -> bool {
    failure.status().map(meaning) == Some(Meaning::Final)
}

/// A layout with its servers, which are connected to meanwhile.
async fn laid(client: &Arc<Client>, kind: LayoutType, layout: layout::Layout) -> Option<Laid> {
    let parts = layout.segments.iter();
    let parts = join_all(parts.map(|segment| striped(client, segment, kind))).await;
    let laid = Laid::new(kind, layout.state, &layout.segments, parts);
    for place in laid.best() {
        if let Some(server) = place.client(client.server.minor) {
            // The first reader waits for the same session.
            tokio::spawn(async move { server.session().await.is_ok() });
        }
    }
    Some(laid)
}

/// A part of a layout with its servers; mirrors that cannot be read are left out.
async fn striped(client: &Arc<Client>, segment: &Segment, kind: LayoutType) -> Part {
    let mirrors = devices(segment).into_iter().enumerate();
    let one = |(mirror, ids): (usize, Vec<DeviceId>)| async move {
        let found = join_all(ids.iter().map(|id| device(client, *id, kind))).await;
        let found: Option<Vec<Device>> = found.into_iter().collect();
        Stripes::new(segment, mirror, &found?)
    };
    Part(
        join_all(mirrors.map(one))
            .await
            .into_iter()
            .flatten()
            .collect(),
    )
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
