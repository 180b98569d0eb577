//! What becomes of an outcome: a function that takes it, or a ticket on which a thread waits for it. Knows no protocol.

use crate::error::Error;
use crate::stream::Outcome;
use std::sync::mpsc;
use std::time::Duration;

/// How a request ended: its outcome, or why it got none.
pub(crate) type Answer = Result<Outcome, Error>;

/// Takes the answer to one request. It is called once, mostly on the reading task of the connection, so it must not
/// wait for anything: the runtime has two threads for all connections.
pub(crate) type Sink = Box<dyn FnOnce(Answer) + Send>;

/// The place of one answer, for a thread that waits for it.
pub(crate) struct Ticket(mpsc::Receiver<Answer>);

impl Ticket {
    /// A ticket, and the sink that fills it.
    pub(crate) fn pair() -> (Self, Sink) {
        let (sender, receiver) = mpsc::sync_channel(1);
        // A receiver that is gone has no use for the answer.
        let sink = Box::new(move |answer| sender.send(answer).unwrap_or_default());
        (Ticket(receiver), sink)
    }

    /// Waits for the answer. It always comes: the connection's task obeys the deadlines.
    pub(crate) fn wait(self) -> Answer {
        let gone = |_| {
            Err(Error::new(
                crate::ErrorKind::Connection,
                "the request was given up",
            ))
        };
        self.0.recv().unwrap_or_else(gone)
    }

    /// Waits for the answer, but not for longer than this. What comes later is dropped.
    pub(crate) fn wait_for(self, patience: Duration) -> Option<Answer> {
        self.0.recv_timeout(patience).ok()
    }
}
