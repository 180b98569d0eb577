//! What a server is given back and told: layouts that it recalls, files that are closed, failures of data servers and counts of
//! what was read. None of it is waited for by a read, and a server that does not hear it finds out by the lease.

use crate::client::Client;
use crate::held::{Held, Layout};
use crate::laid::Laid;
use crate::limits::LAST_READS;
use crate::wire::callback::Recall;
use crate::wire::compound::{Operations, StateId};
use crate::wire::layout::LayoutType;
use crate::wire::report::{Counted, Fault};
use bytes::Bytes;
use std::sync::Arc;
use tokio::time::timeout;

impl Client {
    /// The server wants layouts back: whether we have one of them. It is given back behind the answer, when reads by it are
    /// done; the next read asks for another one.
    pub(crate) fn recalled(self: &Arc<Self>, recall: &Recall) -> bool {
        let all: Vec<Arc<Held>> = self.files().values().cloned().collect();
        let (named, state) = match recall {
            Recall::All => (None, None),
            Recall::File { handle, state } => (Some(handle), Some(*state)),
        };
        let is_named = |held: &Arc<Held>| named.is_none_or(|handle| held.now().0 == handle);
        let mut has_one = false;
        for held in all.into_iter().filter(is_named) {
            let Layout::There(laid) = held.layout() else {
                continue;
            };
            if held.replace(&laid) {
                has_one = true;
                let client = Arc::clone(self);
                tokio::spawn(async move { client.give_back(&held, &laid, state).await });
            }
        }
        has_one
    }

    /// Gives a layout back, with the state that the server has recalled, when reads by it are done. If the server does not hear
    /// it, its lease tells.
    pub(crate) async fn give_back(&self, held: &Held, laid: &Laid, state: Option<StateId>) {
        let _last = timeout(LAST_READS, laid.using.write()).await;
        if let Some(session) = self.current() {
            let (handle, ..) = held.now();
            let state = state
                .filter(|state| state.other == laid.state.other)
                .unwrap_or(laid.state);
            let ask = Operations::default().handle(&handle);
            let _ = session
                .call(&ask.return_layout(laid.kind, state, &laid.report()))
                .await;
        }
    }

    /// Tells the metadata server that a data server has failed (LAYOUTERROR, of 4.2), behind the caller's back.
    pub(crate) fn tell_error(self: &Arc<Self>, handle: &Bytes, laid: &Laid, fault: &Fault) {
        if self.server.minor >= 2 && laid.kind == LayoutType::Flex {
            let ask = Operations::default().handle(handle);
            self.tell(ask.layout_error(laid.state, fault));
        }
    }

    /// Tells the metadata server what was read (LAYOUTSTATS, of 4.2), behind the caller's back.
    pub(crate) fn tell_counts(self: &Arc<Self>, handle: &Bytes, laid: &Laid, counts: Vec<Counted>) {
        if self.server.minor >= 2 && laid.kind == LayoutType::Flex {
            for counted in counts {
                let ask = Operations::default().handle(handle);
                self.tell(ask.layout_stats(laid.state, &counted));
            }
        }
    }

    /// A server that does not want to know it does no harm.
    fn tell(self: &Arc<Self>, ask: Operations) {
        let client = Arc::clone(self);
        tokio::spawn(async move {
            if let Some(session) = client.current() {
                let _ = session.call(&ask).await;
            }
        });
    }

    /// Closes a file; a server that knows nothing of it needs no word.
    pub(crate) async fn close(&self, held: Arc<Held>) {
        if let Layout::There(laid) = held.set_layout(Layout::None) {
            self.give_back(&held, &laid, None).await;
        }
        if let (handle, Some(state), _) = held.now()
            && let Some(session) = self.current()
        {
            let ask = Operations::default().handle(&handle).close(state.newest());
            let _ = session.call(&ask).await;
        }
    }
}
