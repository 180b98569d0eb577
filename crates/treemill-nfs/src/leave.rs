//! Taking leave of servers, which else keep what this process had until its lease ends, and make others wait for it.

use crate::client::{Client, clients};
use crate::limits::LEAVE_PATIENCE;
use crate::placement::Layout;
use futures_util::future::join_all;
use std::sync::Arc;
use tokio::time::timeout;
use treemill_transfer::{Trouble, wait};

/// This process ends: its servers are told, all at once, and are waited for as long as an exit may take. What is read later is
/// opened again.
pub fn leave() {
    let all = clients();
    if all.is_empty() {
        return;
    }
    let _ = wait(async move {
        let last = all.iter().map(|client| client.leave());
        let _ = timeout(LEAVE_PATIENCE, join_all(last)).await;
        Ok::<_, Trouble>(())
    });
}

impl Client {
    /// Gives everything back, and is forgotten.
    async fn leave(self: &Arc<Self>) {
        if self.current().is_none() {
            return;
        }
        let files: Vec<_> = {
            let mut files = self.files();
            std::mem::take(&mut *files).into_values().collect()
        };
        let returns = self
            .placements
            .all()
            .into_iter()
            .map(|placement| async move {
                if let Layout::There(laid) = placement.set(Layout::Unknown) {
                    let going = self.going().await;
                    self.give_back(&placement, &laid, None, going).await;
                }
            });
        join_all(returns).await;
        join_all(files.into_iter().map(|held| self.close_state(held))).await;
        self.retire().await;
    }

    /// Ends the session, and the client at the server with it, if nothing is open.
    pub(crate) async fn retire(&self) {
        let mut now = self.now.lock().await;
        if !self.files().is_empty() {
            return; // a file was opened meanwhile
        }
        let Some(session) = self.take_session() else {
            return;
        };
        session.destroy().await;
        if let Some((client, _)) = now.known.take() {
            session.forget(client).await;
        }
    }
}
