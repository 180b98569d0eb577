//! What becomes of an outcome: a function that takes it, or a ticket by which a task or a thread waits for it. Knows no
//! protocol.

use crate::error::trouble;
use crate::stream::Outcome;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::timeout;
use treemill_transfer::wait;
use treemill_transfer::{Kind, Trouble};

/// How a request ended: its outcome, or why it got none.
pub(crate) type Answer = Result<Outcome, Trouble>;

/// Takes the answer to one request. It is called once, mostly on the reading task of the connection, so it must not
/// wait for anything: the runtime has two threads for all connections.
pub(crate) type Sink = Box<dyn FnOnce(Answer) + Send>;

/// The place of one answer.
pub(crate) struct Ticket(oneshot::Receiver<Answer>);

impl Ticket {
    /// A ticket, and the sink that fills it.
    pub(crate) fn pair() -> (Self, Sink) {
        let (sender, receiver) = oneshot::channel();
        // A receiver that is gone has no use for the answer.
        let sink = Box::new(move |answer| drop(sender.send(answer)));
        (Ticket(receiver), sink)
    }

    /// The answer. It always comes: the connection's task obeys the deadlines.
    pub(crate) async fn answer(self) -> Answer {
        let gone = |_| {
            let what = "treemill has given up the request";
            Err(trouble(Kind::Lost, what))
        };
        self.0.await.unwrap_or_else(gone)
    }

    /// The answer, if it comes within this time. What comes later is dropped.
    pub(crate) async fn answer_within(self, patience: Duration) -> Option<Answer> {
        timeout(patience, self.answer()).await.ok()
    }

    /// Waits for the answer. Not for callers that are of the runtime.
    pub(crate) fn wait(self) -> Answer {
        wait(self.answer())
    }
}
