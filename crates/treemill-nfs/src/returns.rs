//! What a server is told: files that are closed, failures of data servers and counts of what was read. None of it is waited for by
//! a read, and a server that does not hear it finds out by the lease.

use crate::client::Client;
use crate::held::Held;
use crate::laid::Laid;
use crate::placement::Layout;
use crate::wire::compound::Operations;
use crate::wire::layout::LayoutType;
use crate::wire::report::{Counted, Fault};
use bytes::Bytes;
use std::sync::Arc;

impl Client {
    /// Tells the metadata server that a data server has failed (LAYOUTERROR, of 4.2), behind the caller's back.
    pub(crate) fn tell_error(self: &Arc<Self>, handle: &Bytes, laid: &Laid, fault: &Fault) {
        if self.server.minor >= 2 && laid.kind == LayoutType::Flex {
            let ask = Operations::default().handle(handle);
            self.tell(ask.layout_error(laid.state(), fault));
        }
    }

    /// Tells the metadata server what was read (LAYOUTSTATS, of 4.2), behind the caller's back.
    pub(crate) fn tell_counts(self: &Arc<Self>, handle: &Bytes, laid: &Laid, counts: Vec<Counted>) {
        if self.server.minor >= 2 && laid.kind == LayoutType::Flex {
            for counted in counts {
                let ask = Operations::default().handle(handle);
                self.tell(ask.layout_stats(laid.state(), &counted));
            }
        }
    }

    /// A server that does not want to know it does no harm.
    pub(crate) fn tell(self: &Arc<Self>, ask: Operations) {
        let client = Arc::clone(self);
        tokio::spawn(async move {
            if let Some(session) = client.current() {
                let _ = session.call(&ask).await;
            }
        });
    }

    /// Closes a file, and gives its layout back if it is open nowhere else. A server that does not know the file is not told.
    pub(crate) async fn close(&self, held: Arc<Held>) {
        let placement = &held.placement;
        if self.placements.leave(placement) {
            let _one = placement.asking.lock().await;
            if self.placements.is_left(placement)
                && let Layout::There(laid) = placement.set(Layout::Unknown)
            {
                self.give_back(placement, &laid, None, self.going().await)
                    .await;
            }
            self.placements.forget(placement);
        }
        self.close_state(held).await;
    }

    /// Closes a file, and nothing else.
    pub(crate) async fn close_state(&self, held: Arc<Held>) {
        if let (handle, Some(state), _) = held.now()
            && let Some(session) = self.current()
        {
            let ask = Operations::default().handle(&handle).close(state.newest());
            let _ = session.call(&ask).await;
        }
    }
}
