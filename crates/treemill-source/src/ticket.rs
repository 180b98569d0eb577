//! Bytes that were asked for and may not be here yet. Knows no source and no server.

use crate::SourceError;
use crate::servers::Waits;
use bytes::Bytes;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

/// What became of a request.
type Answer = Result<Bytes, SourceError>;

/// What is to be done with an answer when it comes.
type Then = Box<dyn FnOnce(Answer) + Send>;

/// What notes an answer before a caller has it.
type Note = Box<dyn FnOnce(&Answer) + Send>;

#[derive(Default)]
struct Slot {
    answer: Mutex<Option<Answer>>,
    bell: Condvar,
    then: Mutex<Vec<Then>>,
    notes: Mutex<Vec<Note>>,
    /// What is called when a thread begins to wait.
    needed: OnceLock<Box<dyn Fn() + Send + Sync>>,
    /// Where it is counted that threads wait.
    waits: OnceLock<Arc<Waits>>,
}

impl Slot {
    fn answer(&self) -> MutexGuard<'_, Option<Answer>> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn then(&self) -> MutexGuard<'_, Vec<Then>> {
        self.then.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notes(&self) -> MutexGuard<'_, Vec<Note>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A thread begins to wait, if the answer is not here. Nothing is locked.
    fn needed(&self) {
        if let Some(needed) = self.needed.get() {
            needed();
        }
    }
}

/// A range that was asked for. Clones share its bytes.
///
/// ```
/// use std::time::Duration;
/// use treemill_source::{Bytes, Ticket};
///
/// let (ticket, promise) = Ticket::new("a file", 0..3);
/// assert!(ticket.wait_for(Duration::ZERO).is_none());
/// std::thread::spawn(move || promise.keep(Ok(Bytes::from_static(b"abc"))));
/// assert_eq!(ticket.wait()?, "abc");
///
/// let (ticket, promise) = Ticket::new("a file", 0..3);
/// drop(promise); // a thread that ends early breaks no other one
/// assert!(ticket.wait().is_err());
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
#[derive(Clone)]
pub struct Ticket(Arc<Slot>);

/// Looks whether the answer of a ticket came, and keeps none of its bytes.
#[derive(Debug, Clone)]
pub struct Watch(Weak<Slot>);

impl Watch {
    /// Whether the answer came, or no caller wants it any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        let slot = self.0.upgrade();
        slot.is_none_or(|slot| slot.answer().is_some())
    }
}

/// The other side of a ticket: its holder says what became of the request. Dropped, it is an error.
pub struct Promise {
    slot: Option<Arc<Slot>>,
    broken: SourceError,
}

impl Ticket {
    /// A ticket for bytes that will come, and the promise of them. `name` and `range` are for the error if the
    /// promise is dropped.
    #[must_use]
    pub fn new(name: &str, range: std::ops::Range<u64>) -> (Self, Promise) {
        let slot = Arc::new(Slot::default());
        let broken = SourceError {
            range: Some(range),
            ..SourceError::new(name, "treemill has given up the request")
        };
        let promise = Promise {
            slot: Some(Arc::clone(&slot)),
            broken,
        };
        (Ticket(slot), promise)
    }

    /// A ticket whose answer is here.
    #[must_use]
    pub fn ready(answer: Answer) -> Self {
        Ticket(Arc::new(Slot {
            answer: Mutex::new(Some(answer)),
            ..Slot::default()
        }))
    }

    /// Whether the answer is here.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.0.answer().is_some()
    }

    /// What looks whether the answer is here, and keeps no bytes.
    ///
    /// ```
    /// use treemill_source::{Bytes, Ticket};
    ///
    /// let (ticket, promise) = Ticket::new("a file", 0..3);
    /// let watch = ticket.watch();
    /// assert!(!watch.is_over());
    /// promise.keep(Ok(Bytes::from_static(b"abc")));
    /// assert!(watch.is_over());
    /// ```
    #[must_use]
    pub fn watch(&self) -> Watch {
        Watch(Arc::downgrade(&self.0))
    }

    /// Calls `then` with the answer: at once if it is here, else on the thread that it comes by, which must not wait.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use treemill_source::{Bytes, Ticket};
    ///
    /// let (ticket, promise) = Ticket::new("a file", 0..3);
    /// let (sender, receiver) = channel();
    /// ticket.on_ready(move |answer| sender.send(answer).unwrap());
    /// promise.keep(Ok(Bytes::from_static(b"abc")));
    /// assert_eq!(receiver.recv().unwrap()?, "abc");
    /// # Ok::<(), treemill_source::SourceError>(())
    /// ```
    pub fn on_ready(&self, then: impl FnOnce(Result<Bytes, SourceError>) + Send + 'static) {
        // The answer stays locked meanwhile, so that it cannot come between the look and the note.
        let answer = self.0.answer();
        match &*answer {
            None => self.0.then().push(Box::new(then)),
            Some(here) => {
                let here = here.clone();
                drop(answer);
                then(here);
            }
        }
    }

    /// Notes the answer before a caller has it: this one is counted when a thread that waits for it goes on.
    /// `note` must not touch the ticket.
    pub(crate) fn on_answer(
        &self,
        note: impl FnOnce(&Result<Bytes, SourceError>) + Send + 'static,
    ) {
        let answer = self.0.answer();
        match &*answer {
            None => self.0.notes().push(Box::new(note)),
            Some(here) => note(here),
        }
    }

    /// Calls `needed` each time that a thread begins to wait for the ticket, on that thread: for sources that bring bytes when
    /// a thread needs them. Only the first call of this counts.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use treemill_source::{Bytes, Ticket};
    ///
    /// let (ticket, promise) = Ticket::new("a file", 0..3);
    /// let promise = Mutex::new(Some(promise));
    /// ticket.on_need(move || {
    ///     let promise = promise.lock().unwrap().take();
    ///     promise.unwrap().keep(Ok(Bytes::from_static(b"abc")));
    /// });
    /// assert!(!ticket.is_ready());
    /// assert_eq!(ticket.wait()?, "abc");
    /// # Ok::<(), treemill_source::SourceError>(())
    /// ```
    pub fn on_need(&self, needed: impl Fn() + Send + Sync + 'static) {
        let _ = self.0.needed.set(Box::new(needed));
    }

    /// The bytes, when they are here. Sources see to it that an answer comes: their deadlines look at progress.
    ///
    /// # Errors
    /// Why they could not be had.
    pub fn wait(&self) -> Result<Bytes, SourceError> {
        if !self.is_ready() {
            self.0.needed();
        }
        let mut answer = self.0.answer();
        if let Some(answer) = &*answer {
            return answer.clone();
        }
        let began = Instant::now();
        loop {
            answer = self
                .0
                .bell
                .wait(answer)
                .unwrap_or_else(PoisonError::into_inner);
            if let Some(answer) = &*answer {
                if let Some(waits) = self.0.waits.get() {
                    waits.add(began.elapsed());
                }
                return answer.clone();
            }
        }
    }

    /// Waits like [`Ticket::wait`], as long as `goes_on` says so, which is asked each time that `look` has passed:
    /// `None` if it has said no.
    ///
    /// ```
    /// use std::time::Duration;
    /// use treemill_source::Ticket;
    ///
    /// let (ticket, _promise) = Ticket::new("a file", 0..3);
    /// let mut looks = 0;
    /// let mut twice = || {
    ///     looks += 1;
    ///     looks < 2
    /// };
    /// assert!(ticket.wait_while(Duration::from_millis(1), &mut twice).is_none());
    /// assert_eq!(looks, 2);
    /// ```
    ///
    /// # Errors
    /// As [`Ticket::wait`], inside the option.
    #[must_use]
    pub fn wait_while(
        &self,
        look: Duration,
        mut goes_on: impl FnMut() -> bool,
    ) -> Option<Result<Bytes, SourceError>> {
        if self.is_ready() {
            return self.wait_for(Duration::ZERO);
        }
        self.0.needed();
        let began = Instant::now();
        let answer = loop {
            let answer = self.wait_for(look);
            if answer.is_some() || !goes_on() {
                break answer;
            }
        };
        if let Some(waits) = self.0.waits.get() {
            waits.add(began.elapsed());
        }
        answer
    }

    /// Counts the threads that wait for this ticket ([`Ticket::wait`]).
    pub(crate) fn count_waits(&self, waits: &Arc<Waits>) {
        let _ = self.0.waits.set(Arc::clone(waits));
    }

    /// Waits like [`Ticket::wait`], but not for longer than `limit`: then `None`.
    ///
    /// # Errors
    /// As [`Ticket::wait`], inside the option.
    #[must_use]
    pub fn wait_for(&self, limit: Duration) -> Option<Result<Bytes, SourceError>> {
        let answer = self.0.answer();
        let waited = self
            .0
            .bell
            .wait_timeout_while(answer, limit, |answer| answer.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.clone()
    }
}

impl std::fmt::Debug for Ticket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ticket")
            .field("is_ready", &self.is_ready())
            .finish()
    }
}

impl Promise {
    /// Says what became of the request.
    pub fn keep(mut self, answer: Answer) {
        self.give(answer);
    }

    /// Threads that wait for this promise's ticket count where those count that wait for `ticket`: with the server that
    /// was asked first, if there are several.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use treemill_source::{Bytes, Costs, Memory, Observed, Source, Ticket, servers};
    ///
    /// let far = Costs::far(Duration::from_millis(1));
    /// let source = Observed::of(Arc::new(Memory::new("root://one//f", vec![0; 9], far)));
    /// let inner = source.submit(std::iter::once(0..9).collect());
    /// let (outer, promise) = Ticket::new("a file of several servers", 0..9);
    /// promise.count_with(&inner[0]);
    /// let waiting = std::thread::spawn(move || outer.wait());
    /// promise.keep(inner[0].wait());
    /// assert!(waiting.join().unwrap().is_ok());
    /// assert!(servers()["root://one"].waits <= 1); // none if the bytes came before
    /// ```
    pub fn count_with(&self, ticket: &Ticket) {
        if let (Some(slot), Some(waits)) = (&self.slot, ticket.0.waits.get()) {
            let _ = slot.waits.set(Arc::clone(waits));
        }
    }

    fn give(&mut self, answer: Answer) {
        if let Some(slot) = self.slot.take() {
            let mut place = slot.answer();
            let notes = std::mem::take(&mut *slot.notes());
            notes.into_iter().for_each(|note| note(&answer));
            *place = Some(answer.clone());
            drop(place);
            slot.bell.notify_all();
            // Nothing is locked when the callers are called.
            let all = std::mem::take(&mut *slot.then());
            all.into_iter().for_each(|then| then(answer.clone()));
        }
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        let broken = self.broken.clone();
        self.give(Err(broken));
    }
}

impl std::fmt::Debug for Promise {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Promise")
            .field("range", &self.broken.range)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
