//! What a server calls back for: layouts that it wants back, slots that are not to be used, data servers that have changed. What
//! it is said is decided at once; what it wants is done behind that.

use crate::client::Client;
use crate::laid::Laid;
use crate::limits::LAST_READS;
use crate::placement::{Going, Layout, Placement};
use crate::wire::callback::{Order, Recall, Recalled, Said};
use crate::wire::compound::{Operations, StateId};
use crate::wire::layout::FOR_WRITING;
use bytes::Bytes;
use std::sync::Arc;
use tokio::time::timeout;

impl Client {
    /// Does what the server wants, or says why not.
    pub(crate) fn obey(self: &Arc<Self>, order: &Order) -> Said {
        match order {
            Order::Layouts(recall) => self.recalled(recall),
            Order::Slots(highest) => {
                if let Some(session) = self.current() {
                    session.limit_slots(*highest);
                    // The server learns by the next request which slots are used.
                    self.tell(Operations::default());
                }
                Said::Done
            }
            Order::Devices => {
                self.stores.forget_all();
                Said::Done
            }
        }
    }

    /// The server wants layouts back. They are given back behind the answer, when reads by them are done; the next read asks for
    /// another one.
    fn recalled(self: &Arc<Self>, recall: &Recall) -> Said {
        if recall.mode == FOR_WRITING {
            return Said::NoLayout;
        }
        match &recall.of {
            Recalled::File { handle, state } => self.one_recalled(recall, handle, *state),
            Recalled::FileSystem(number) => {
                self.all_recalled(recall, |placement| placement.file_system == Some(*number))
            }
            Recalled::All => self.all_recalled(recall, |_| true),
        }
    }

    fn one_recalled(self: &Arc<Self>, recall: &Recall, handle: &Bytes, state: StateId) -> Said {
        // The answer to a request that asks for it may be behind this call (RFC 8881, section 12.5.5.2.1).
        let none = match self.is_opening() {
            true => Said::Later,
            false => Said::NoLayout,
        };
        let Some(placement) = self.placements.of(handle) else {
            return none;
        };
        if placement.is_coming() {
            return Said::Later;
        }
        let Some(laid) = there(&placement, recall) else {
            return none;
        };
        let Some(going) = self.going_now() else {
            return Said::Later;
        };
        if placement.replace(&laid) {
            let client = Arc::clone(self);
            tokio::spawn(async move {
                client
                    .give_back(&placement, &laid, Some(state), going)
                    .await;
            });
        }
        Said::Done
    }

    /// Layouts of several files are given back by one request, which frees their states; until it is answered no layout is asked
    /// for or given back by itself.
    fn all_recalled(self: &Arc<Self>, recall: &Recall, is_of: impl Fn(&Placement) -> bool) -> Said {
        let Ok(alone) = Arc::clone(&self.going).try_write_owned() else {
            return Said::Later;
        };
        let mut all = Vec::new();
        for placement in self.placements.all() {
            if is_of(&placement)
                && let Some(laid) = there(&placement, recall)
                && placement.replace(&laid)
            {
                all.push((placement, laid));
            }
        }
        let Some((first, _)) = all.first() else {
            return Said::NoLayout;
        };
        // It says which file system is meant.
        let ask = Operations::default().handle(&first.handle);
        let ask = ask.return_layouts(recall);
        let client = Arc::clone(self);
        tokio::spawn(async move {
            let reads = async {
                for (_, laid) in &all {
                    let _last = laid.using.write().await;
                }
            };
            let _ = timeout(LAST_READS, reads).await;
            if let Some(session) = client.current() {
                let _ = session.call(&ask).await;
            }
            drop(alone);
        });
        Said::Done
    }

    /// Gives a layout back, with the state that the server has recalled, when reads by it are done. If the server does not hear
    /// it, its lease tells.
    pub(crate) async fn give_back(
        &self,
        placement: &Placement,
        laid: &Laid,
        state: Option<StateId>,
        going: Going,
    ) {
        let _last = timeout(LAST_READS, laid.using.write()).await;
        if let Some(session) = self.current() {
            let known = laid.state();
            let state = state
                .filter(|state| state.other == known.other)
                .unwrap_or(known);
            let ask = Operations::default().handle(&placement.handle);
            let _ = session
                .call(&ask.return_layout(laid.kind, state, &laid.report()))
                .await;
        }
        drop(going);
    }
}

/// The layout of a file, if it is one of those that are recalled.
fn there(placement: &Placement, recall: &Recall) -> Option<Arc<Laid>> {
    match placement.layout() {
        Layout::There(laid) if laid.kind.number() == recall.kind => Some(laid),
        _ => None,
    }
}
