//! An open file: what is asked of it, the connection that answers, and a new one when that is lost. Whether there is hope is
//! decided by `Retry`; what requests carry, by `pieces`.

use crate::door::{Door, door};
use crate::limits::MOST_TRIES;
use crate::mover::Outcome;
use crate::pieces::{Asked, Piece, cut, pack, wanted};
use crate::session::{Listener, Session};
use crate::socket::at;
use crate::url::Url;
use crate::words::{Pool, Status};
use bytes::Bytes;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant, SystemTime};
use tokio::time::sleep;
use treemill_source::{Costs, Identity, Info, Promise, Ticket, tickets};
use treemill_transfer::patience::RETRY;
use treemill_transfer::{Health, Kind, MOST_UNWANTED, Retry, Trouble, Wants, insist, runtime};

/// An open file.
pub(crate) struct Core {
    url: Url,
    pub(crate) info: Info,
    begun: Instant,
    state: Mutex<State>,
}

struct State {
    /// The process that threads and connections belong to.
    process: u32,
    link: Link,
    wants: Wants<Promise>,
    /// What is asked for when there is a connection again.
    waiting: Vec<Piece>,
    has_vectors: bool,
    /// The attempts since the last progress.
    retry: Retry,
    health: Health,
    costs: Costs,
}

enum Link {
    Open(Arc<Session>),
    /// A task is about to open it.
    Opening,
    /// It is opened when something is asked for.
    Closed,
}

impl Core {
    /// Opens a file.
    pub(crate) async fn open(url: Url) -> Result<Arc<Self>, Trouble> {
        insist(&url.door, || Core::open_once(url.clone())).await
    }

    async fn open_once(url: Url) -> Result<Arc<Self>, Trouble> {
        let door = door(&url.door).await?;
        let name = url.to_string();
        let (asked, place) = (Arc::clone(&door), name.clone());
        // Both lines are sent at once: it takes one round trip to know state and pool.
        let opening = runtime()?.spawn(async move { asked.open(&place).await });
        let status = door.stat(&name).await?;
        if status.is_folder {
            return Err(Trouble::new(Kind::Permanent, "it is a folder, not a file"));
        }
        let lost = |_| Trouble::new(Kind::Transient, "treemill has given up the request");
        let (session, pool) = opening.await.map_err(lost)??;
        let state = State {
            process: std::process::id(),
            link: Link::Opening,
            wants: Wants::default(),
            waiting: Vec::new(),
            has_vectors: true,
            retry: Retry::of_file(RETRY, Duration::ZERO),
            health: Health::default(),
            costs: Costs::NEAR,
        };
        let core = Arc::new(Core {
            url,
            info: Info {
                identity: settled(&name, &status),
                ..Info::new(name, status.size)
            },
            begun: Instant::now(),
            state: Mutex::new(state),
        });
        core.connect(door, session, &pool).await?;
        Ok(core)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The pool that serves the file, as `host:port`; `None` while there is none.
    pub(crate) fn pool(&self) -> Option<String> {
        match &self.state().link {
            Link::Open(session) => Some(session.pool.clone()),
            _ => None,
        }
    }

    pub(crate) fn costs(&self) -> Costs {
        let mut state = self.state();
        match &state.link {
            Link::Open(session) => state.costs = session.costs(),
            Link::Opening | Link::Closed => state.costs.is_lost = true,
        }
        state.costs
    }

    /// Connects to a pool, and asks it for all that waits: first of all for the size of its copy. A pool whose copy is
    /// shorter than the door says would answer from elsewhere in it.
    async fn connect(
        self: &Arc<Self>,
        door: Arc<Door>,
        session: u32,
        pool: &Pool,
    ) -> Result<(), Trouble> {
        let session = Session::open(door, session, pool, Arc::downgrade(self)).await?;
        session
            .send(vec![Asked::Size])
            .map_err(|refused| refused.1)?;
        let mut state = self.state();
        state.link = Link::Open(session);
        let waiting = std::mem::take(&mut state.waiting);
        drop(state);
        self.ask(waiting);
        Ok(())
    }

    /// Asks for ranges.
    pub(crate) fn submit(self: &Arc<Self>, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let mut state = self.state();
        let process = std::process::id();
        if state.process != process {
            // A forked child has its parent's connections, and not their tasks: it makes its own.
            std::mem::forget(std::mem::replace(&mut state.link, Link::Closed));
            std::mem::forget(std::mem::take(&mut state.wants));
            state.waiting.clear();
            state.process = process;
        }
        if state.wants.is_empty() {
            state.begin(self.now());
        }
        let mut pieces = Vec::new();
        let tickets = tickets(&self.info, ranges, |range, ticket, promise| {
            // The file stays open for what was asked for, though its source may be gone by then.
            let file = Arc::clone(self);
            ticket.on_ready(move |_| drop(file));
            pieces.extend(cut(&mut state.wants, &range, promise));
        });
        let is_doubtful = state.retry.is_doubtful();
        drop(state);
        self.ask(pieces);
        if is_doubtful {
            self.watch();
        }
        tickets
    }

    /// Sends pieces, or keeps them until there is a connection.
    fn ask(self: &Arc<Self>, pieces: Vec<Piece>) {
        let mut state = self.state();
        let pieces = wanted(&state.wants, pieces);
        if pieces.is_empty() {
            return;
        }
        let session = match &state.link {
            Link::Open(session) => Arc::clone(session),
            Link::Opening => return state.waiting.extend(pieces),
            Link::Closed => {
                state.waiting.extend(pieces);
                return self.reopen(state, Duration::ZERO);
            }
        };
        let asked = pack(pieces, state.has_vectors);
        drop(state);
        if let Err(refused) = session.send(asked) {
            let (asked, trouble) = *refused;
            self.lost(&session, asked, false, trouble);
        }
    }

    fn reopen(self: &Arc<Self>, mut state: MutexGuard<'_, State>, after: Duration) {
        state.link = Link::Opening;
        drop(state);
        self.watch();
        let core = Arc::clone(self);
        match runtime() {
            Ok(runtime) => drop(runtime.spawn(async move { core.open_again(after).await })),
            Err(trouble) => self.give_up_all(&trouble),
        }
    }

    /// Opens the file again, until it is open or there is no hope.
    async fn open_again(self: Arc<Self>, mut after: Duration) {
        loop {
            sleep(after).await;
            let done = async {
                let door = door(&self.url.door).await?;
                let (session, pool) = door.open(&self.info.name).await?;
                self.connect(door, session, &pool).await
            };
            let Err(trouble) = done.await else { return };
            let hope = self.state().retry.failed(&trouble, self.now()); // no longer locked
            match hope {
                Some(wait) => after = wait,
                None => return self.give_up_all(&trouble),
            }
        }
    }

    fn give_up_all(&self, why: &Trouble) {
        let mut state = self.state();
        state.link = Link::Closed;
        self.end_all(state, why);
    }

    /// Nothing that is wanted will come.
    fn end_all(&self, mut state: MutexGuard<'_, State>, why: &Trouble) {
        let now = self.now();
        if why.kind.may_pass() {
            let waited = state.retry.waited(now);
            state.health.doubted(waited, now);
        }
        state.begin(now);
        state.waiting.clear();
        let broken = state.wants.give_up_all();
        drop(state);
        for (promise, range) in broken {
            promise.keep(Err(why.error(&self.info.name, Some(range))));
        }
    }

    /// Sees to it that nothing waits for longer than users are promised while there is no connection, or while the file is
    /// doubted.
    fn watch(self: &Arc<Self>) {
        let (Ok(runtime), Some(mut wait)) = (runtime(), self.state().due(self.now())) else {
            return;
        };
        let core = Arc::downgrade(self);
        runtime.spawn(async move {
            loop {
                sleep(wait).await;
                let Some(core) = core.upgrade() else { return };
                match core.tick() {
                    Some(left) => wait = left,
                    None => return,
                }
            }
        });
    }

    /// What the time alone brings: when there is more, if nothing else happens.
    fn tick(&self) -> Option<Duration> {
        let mut state = self.state();
        let due = state.due(self.now())?;
        if !due.is_zero() {
            return Some(due);
        }
        let what = "the server has brought nothing of the file for too long";
        let why = Trouble::new(Kind::Silent, what);
        let session = match &state.link {
            Link::Open(session) => Some(Arc::clone(session)),
            Link::Opening | Link::Closed => None,
        };
        if session.is_some() {
            state.link = Link::Closed;
        }
        let why = match &session {
            Some(session) => at(&session.pool, &why),
            None => at(&self.url.door, &why),
        };
        self.end_all(state, &why);
        if let Some(session) = session {
            drop(session.give_up(&why));
        }
        None
    }

    fn give_up(&self, pieces: &[Piece], why: &Trouble) {
        let mut state = self.state();
        let broken: Vec<_> = pieces
            .iter()
            .filter_map(|piece| Some((state.wants.give_up(piece.want)?, piece.range.clone())))
            .collect();
        drop(state);
        for (promise, range) in broken {
            promise.keep(Err(why.error(&self.info.name, Some(range))));
        }
    }

    /// Nothing within these ranges is wanted any more. The pool sends all that it was asked for, so that the connection is closed
    /// if that is much.
    pub(crate) fn abandon(self: &Arc<Self>, ranges: &[Range<u64>]) {
        let mut state = self.state();
        let gone = state.wants.abandon(ranges);
        let session = match &state.link {
            Link::Open(session) => Some(Arc::clone(session)),
            Link::Opening | Link::Closed => None,
        };
        drop(state);
        let bytes = gone.iter().map(|(_, bytes)| bytes);
        let bytes = bytes.fold(0, |all: u64, bytes| all.saturating_add(*bytes));
        drop(gone); // with their promises: when nothing is locked
        let Some(session) = session.filter(|_| bytes > MOST_UNWANTED) else {
            return;
        };
        let what = "treemill closed the connection, because nothing needs its bytes any more";
        let (asked, _) = session.give_up(&Trouble::new(Kind::Transient, what));
        let mut state = self.state();
        if state.is_open(&session) {
            state.link = Link::Closed;
        }
        drop(state);
        self.ask(asked.into_iter().flat_map(|one| one.again(false)).collect());
    }

    fn fill(&self, asked: &Asked, parts: Vec<Bytes>) {
        let now = self.now();
        let mut state = self.state();
        state.retry.progressed(now);
        state.health.heard(now);
        let pairs = asked.pieces().iter().zip(parts);
        let whole: Vec<_> = pairs
            .filter_map(|(piece, bytes)| {
                let start = piece.range.start;
                state.wants.fill(piece.want, start, bytes.into())
            })
            .collect();
        drop(state);
        for (promise, bytes) in whole {
            promise.keep(Ok(bytes));
        }
    }

    /// The session is of no use: this request of it has failed, and those that are in flight are lost with it.
    fn failed(self: &Arc<Self>, session: &Arc<Session>, asked: Asked, why: &Trouble) {
        let (others, why) = session.give_up(why);
        let all = std::iter::once(asked).chain(others).collect();
        self.lost(session, all, true, why);
    }
}

impl State {
    /// Whether the file is open over this connection.
    fn is_open(&self, session: &Arc<Session>) -> bool {
        matches!(&self.link, Link::Open(open) if Arc::ptr_eq(open, session))
    }

    /// Nothing is waited for: how what is wanted next is to be tried for.
    fn begin(&mut self, now: Duration) {
        self.health.speaks(now);
        self.retry = self.health.tries(Retry::of_file(RETRY, now), now);
    }

    /// How long what is wanted is still waited for, whatever becomes of the connection; `None` if that is the connection's to say.
    fn due(&self, now: Duration) -> Option<Duration> {
        let is_open = matches!(self.link, Link::Open(_));
        let is_bounded = !self.wants.is_empty() && (!is_open || self.retry.is_doubtful());
        is_bounded.then(|| self.retry.time_left(self.retry.waited(now)))
    }
}

/// What a file is known by, if it is none that was changed just now, and no folder.
pub(crate) fn settled(name: &str, status: &Status) -> Option<Identity> {
    let now = SystemTime::now();
    let known = Identity::of_changed(name, status.size, status.changed, now);
    known.filter(|_| !status.is_folder)
}

impl Listener for Core {
    fn answered(self: &Arc<Self>, session: &Arc<Session>, asked: Asked, outcome: Outcome) {
        let transient = |what: String| Trouble::new(Kind::Transient, what);
        match outcome {
            Outcome::Data(parts) => self.fill(&asked, parts),
            Outcome::Size(size) if size == self.info.size => {}
            Outcome::Size(size) => {
                let told = self.info.size;
                let what =
                    format!("the pool's copy has {size} bytes, and the file should have {told}");
                self.failed(session, asked, &Trouble::new(Kind::Elsewhere, what));
            }
            Outcome::Refused(_) if matches!(asked, Asked::Vector(_)) => {
                self.state().has_vectors = false;
                self.ask(asked.again(true));
            }
            Outcome::Refused(why) | Outcome::Failed(why) => {
                self.failed(session, asked, &transient(format!("the pool says: {why}")));
            }
            Outcome::Short => {
                let what = "the file is shorter than when treemill opened it";
                self.give_up(asked.pieces(), &Trouble::new(Kind::Permanent, what));
            }
        }
    }

    fn lost(
        self: &Arc<Self>,
        session: &Arc<Session>,
        asked: Vec<Asked>,
        is_theirs: bool,
        why: Trouble,
    ) {
        let again = |(n, asked): (usize, Asked)| asked.again(is_theirs && n == 0);
        let pieces: Vec<Piece> = asked.into_iter().enumerate().flat_map(again).collect();
        let is_hopeless = pieces.iter().any(|piece| piece.tries >= MOST_TRIES);
        let mut state = self.state();
        let pieces = wanted(&state.wants, pieces);
        if !state.is_open(session) {
            drop(state);
            return self.ask(pieces);
        }
        state.link = Link::Closed;
        state.waiting.extend(pieces);
        if state.waiting.is_empty() {
            return; // opened again when it is wanted
        }
        // A file with a range that cannot be read is broken: the rest is not waited for.
        let hope = match is_hopeless {
            true => None,
            false => state.retry.failed(&why, self.now()),
        };
        if let Some(wait) = hope {
            return self.reopen(state, wait);
        }
        drop(state);
        let kind = if is_hopeless {
            Kind::Permanent
        } else {
            why.kind
        };
        self.give_up_all(&Trouble { kind, ..why });
    }
}
