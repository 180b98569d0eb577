//! The layout of an open file: asked for when the file is opened or read, given back when it has failed. What is read by it,
//! `data.rs` brings.

use crate::client::Client;
use crate::data::{Gathered, Reading};
use crate::held::Held;
use crate::laid::{Laid, Part, is_exclusive};
use crate::limits::{LAYOUTS_EACH, MOST_LAYOUTS, READ_PATIENCE, SOONER};
use crate::placement::{Going, Layout, Placement};
use crate::stripes::{Place, Stripes, devices};
use crate::wire::compound::{Failure, Operations, Results};
use crate::wire::layout::{self, Device, DeviceId, LayoutType, Segment};
use crate::wire::status::{Meaning, meaning};
use bytes::BytesMut;
use futures_util::future::join_all;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OwnedMutexGuard;
use tokio::time::sleep;
use treemill_transfer::{Trouble, pause};

/// What the request that opened a file has told of its layout.
pub(crate) type Told = Option<(LayoutType, Result<layout::Layout, Failure>)>;

/// Whether the metadata server gives bytes, too, as far as it has told.
pub(crate) fn gives_itself(told: &Told, kind: Option<LayoutType>) -> bool {
    match told {
        Some((_, Ok(layout))) => !is_exclusive(&layout.segments),
        _ => kind == Some(LayoutType::Files),
    }
}

impl Placement {
    /// Whether a range need not wait for the data servers, which are still being connected to: a few bytes are sooner here
    /// from the metadata server, if it gives them.
    pub(crate) fn is_sooner(&self, client: &Client, length: u64) -> bool {
        if !self.is_beginning() || length > SOONER {
            return false;
        }
        let minor = client.server.minor;
        let is_connected = |place: &Place| {
            let mut all = place.addresses.iter();
            all.any(|address| place.client(address, minor).is_connected())
        };
        match self.layout() {
            Layout::Unknown => true,
            Layout::There(laid) if !laid.best().iter().all(is_connected) => true,
            _ => {
                self.set_beginning(false);
                false
            }
        }
    }

    /// Whether one of the data servers has answered something within this time.
    pub(crate) fn has_answered_within(&self, client: &Client, time: Duration) -> bool {
        let Layout::There(laid) = self.layout() else {
            return false;
        };
        let minor = client.server.minor;
        laid.best().iter().any(|place| {
            let mut all = place.addresses.iter();
            all.any(|address| place.client(address, minor).has_answered_within(time))
        })
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
        going: Option<Going>,
        _one: OwnedMutexGuard<()>,
    ) {
        let Some(kind) = held.known.layout.and_then(LayoutType::of) else {
            return;
        };
        client.gives(kind);
        match told {
            Some((given, Ok(layout))) => {
                if let Layout::There(laid) = self.layout()
                    && laid.is_given_again(layout.state)
                {
                    return;
                }
                self.set_found(client, Some(laid(client, given, layout).await))
                    .await;
            }
            // It is the answer to what would be asked again.
            Some((asked, Err(failure))) if asked == kind && is_final(&failure) => {
                self.set(Layout::None);
            }
            _ if matches!(self.layout(), Layout::Unknown) => {
                drop(going);
                self.ask(client, held, kind).await;
            }
            _ => {}
        }
    }

    /// The parts of a range, with the bytes that data servers have given, written where `room` has their places; `None` if there
    /// is no layout.
    pub(crate) async fn read(
        &self,
        client: &Arc<Client>,
        held: &Held,
        range: &Range<u64>,
        room: &mut BytesMut,
    ) -> Option<Gathered> {
        for _ in 0..LAYOUTS_EACH {
            let laid = self.laid(client, held).await?;
            self.complete(client, &laid, range).await;
            let using = laid.using.read().await;
            let (handle, state, _) = held.now();
            let reading = Reading {
                client,
                laid: &laid,
                handle,
                state: state?.newest(),
            };
            let gathered = reading.gather(laid.cuts(range), room).await;
            drop(using);
            if let Some(counts) = laid.due() {
                client.tell_counts(&reading.handle, &laid, counts);
            }
            if gathered.is_worn || gathered.is_void {
                self.renew(client, &laid).await;
            }
            let is_whole = gathered.parts.iter().all(|part| part.bytes.is_ok());
            if is_whole || !gathered.is_void {
                return Some(gathered);
            }
        }
        None
    }

    /// The layout is given back, and asked for again by the next read; its servers, too, which may be others now.
    async fn renew(&self, client: &Arc<Client>, old: &Arc<Laid>) {
        let _one = self.asking.lock().await;
        if self.replace(old) {
            client.stores.forget(&old.best());
            client
                .give_back(self, old, None, client.going().await)
                .await;
        }
    }

    async fn laid(&self, client: &Arc<Client>, held: &Held) -> Option<Arc<Laid>> {
        let kind = LayoutType::of(held.known.layout?)?;
        if let Layout::There(laid) = self.layout() {
            return Some(laid);
        }
        let _one = self.asking.lock().await;
        match self.layout() {
            Layout::There(laid) => Some(laid),
            Layout::None => None,
            Layout::Unknown => self.ask(client, held, kind).await,
        }
    }

    /// Asks for what the layout does not say of a range, part by part.
    async fn complete(&self, client: &Arc<Client>, laid: &Laid, range: &Range<u64>) {
        while laid.missing(range).is_some() {
            let _one = self.asking.lock().await;
            let Some(from) = laid.missing(range) else {
                return; // another one has asked meanwhile
            };
            let ask = Operations::default().handle(&self.handle);
            let ask = ask.more_layout(laid.kind, laid.state(), from);
            let Some((more, going)) = self.asked(client, &ask, laid.kind).await else {
                laid.extend(Vec::new());
                return;
            };
            let parts = striped(client, &more.segments, laid.kind).await;
            drop(going);
            if !laid.is_given_again(more.state) || !laid.extend(parts) {
                return;
            }
            connect(client, laid);
        }
    }

    /// Asks for the layout and for its servers; `None` if there is none that can be read.
    async fn ask(&self, client: &Arc<Client>, held: &Held, kind: LayoutType) -> Option<Arc<Laid>> {
        let (handle, state, _) = held.now();
        let state = state?.newest();
        if self.count() > MOST_LAYOUTS {
            self.set(Layout::None);
            return None;
        }
        let ask = Operations::default().handle(&handle);
        let ask = ask.get_layout(kind, state);
        let (found, _going) = match self.tried(client, &ask, kind).await {
            (Ok(Ok(layout)), going) => (Some(laid(client, kind, layout).await), going),
            // The next read asks again.
            (Ok(Err(failure)), _)
                if matches!(
                    failure.status().map(meaning),
                    Some(Meaning::State | Meaning::Later)
                ) =>
            {
                return None;
            }
            (Err(_), _) => return None,
            (Ok(Err(_)), going) => (None, going),
        };
        self.set_found(client, found).await
    }

    /// What the server gives, if it does.
    async fn asked(
        &self,
        client: &Arc<Client>,
        ask: &Operations,
        kind: LayoutType,
    ) -> Option<(layout::Layout, Going)> {
        match self.tried(client, ask, kind).await {
            (Ok(Ok(layout)), going) => Some((layout, going)),
            _ => None,
        }
    }

    /// Asks for a layout, again as long as the server wants to be asked later. Meanwhile it may recall others, which it wants
    /// back first.
    async fn tried(
        &self,
        client: &Arc<Client>,
        ask: &Operations,
        kind: LayoutType,
    ) -> (Result<Result<layout::Layout, Failure>, Trouble>, Going) {
        let (begun, mut refusals) = (Instant::now(), 0_u32);
        loop {
            let going = client.going().await;
            self.set_coming(true);
            let read = |results: &mut Results| {
                results.handle()?;
                results.layout(kind)
            };
            let found = client.settled(Duration::ZERO, |_| ask.clone(), read).await;
            self.set_coming(false);
            match &found {
                Ok(Err(failure))
                    if failure.status().map(meaning) == Some(Meaning::Later)
                        && begun.elapsed() < READ_PATIENCE =>
                {
                    drop(going);
                    refusals = refusals.saturating_add(1);
                    sleep(pause(refusals)).await;
                }
                _ => return (found, going),
            }
        }
    }

    async fn set_found(&self, client: &Arc<Client>, found: Option<Laid>) -> Option<Arc<Laid>> {
        let found = found.map(Arc::new)?;
        if found.best().is_empty() {
            self.set(Layout::None);
            client
                .give_back(self, &found, None, client.going().await)
                .await;
            return None;
        }
        self.set(Layout::There(Arc::clone(&found)));
        Some(found)
    }
}

fn is_final(failure: &Failure) -> bool {
    failure.status().map(meaning) == Some(Meaning::Final)
}

/// A layout with its servers, which are connected to meanwhile.
async fn laid(client: &Arc<Client>, kind: LayoutType, layout: layout::Layout) -> Laid {
    let parts = striped(client, &layout.segments, kind).await;
    let laid = Laid::new(kind, layout.state, &layout.segments, parts);
    connect(client, &laid);
    laid
}

/// The servers of a layout are connected to, behind the caller's back.
fn connect(client: &Arc<Client>, laid: &Laid) {
    for place in laid.best() {
        let client = Arc::clone(client);
        tokio::spawn(async move { place.connect(&client).await });
    }
}

/// Parts of a layout with their servers; mirrors that cannot be read are left out.
async fn striped(client: &Arc<Client>, segments: &[Segment], kind: LayoutType) -> Vec<Part> {
    let one = |segment| async move {
        let mirrors = devices(segment).into_iter().enumerate();
        let mirrors = mirrors.map(|(mirror, ids): (usize, Vec<DeviceId>)| async move {
            let found = join_all(ids.iter().map(|id| device(client, *id, kind))).await;
            let found: Option<Vec<Device>> = found.into_iter().collect();
            Stripes::new(segment, mirror, &found?)
        });
        Part {
            range: segment.start..segment.end,
            mirrors: join_all(mirrors).await.into_iter().flatten().collect(),
        }
    };
    join_all(segments.iter().map(one)).await
}

async fn device(client: &Arc<Client>, id: DeviceId, kind: LayoutType) -> Option<Device> {
    if let Some(known) = client.stores.group(&id) {
        return Some(known);
    }
    let ask = |_: &_| Operations::default().get_device(&id, kind);
    let read = |results: &mut Results| results.device(kind);
    let found = client.settled(READ_PATIENCE, ask, read).await.ok()?.ok()?;
    client.stores.learn(id, found.clone());
    Some(found)
}
