//! An open file as a source: ranges are asked for without waiting, many in flight, and asked again elsewhere when a
//! server is lost. Does what `recovery` decides; knows no file format.

use crate::client::Client;
use crate::error::trouble;
use crate::file::{File, changed};
use crate::pieces::{Asked, Manner, Piece, cut, furnished, pack, unpack, unpaged, wanted};
use crate::recovery::{Loss, Recovery, Step};
use crate::refusal;
use crate::route::Route;
use crate::stream::Outcome;
use crate::ticket::{Answer, Sink};
use crate::url::{Server, Url, shown};
use crate::wire::bodies::Status;
use crate::wire::codes;
use bytes::BytesMut;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, SystemTime};
use treemill_source::{
    Bytes, Checksums, Costs, Identity, Info, Promise, Request, Source, SourceError, Ticket,
    WantedChecksums, read_by_tickets, tickets,
};
use treemill_transfer::{Chunk, FileHealth, Kind, Trouble, Wants};
use treemill_transfer::{runtime, wait_for};

mod checksums;

/// A file of an XRootD server as a source. When its server is lost, it is opened again: at another one if a manager
/// knows one, else at the same.
pub struct XrootdSource {
    core: Arc<Core>,
    wanted: WantedChecksums,
}

/// What the source shares with the tasks of its connections, and with the one that opens the file again.
struct Core {
    client: Arc<Client>,
    url: Url,
    info: Info,
    status: Status,
    /// The checksums, once they were asked for.
    checksums: OnceLock<Checksums>,
    /// Also of the file's other connections: a file that one of them has given up is not waited for by the next.
    health: Arc<FileHealth>,
    state: Mutex<State>,
}

/// Where a request was sent: the opening of the file, and its server.
type Place = (u64, Server);

struct State {
    wants: Wants<Promise>,
    recovery: Recovery,
    file: Arc<File>,
    /// Why requests failed last.
    why: Option<Trouble>,
}

impl XrootdSource {
    /// Opens the file at `url`, such as `root://host:port//path`.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    /// use treemill_source::Source;
    /// use treemill_xrootd::{Client, Options, XrootdSource};
    ///
    /// let client = Arc::new(Client::new(Options::default()));
    /// let source = XrootdSource::open(&client, "root://eospublic.cern.ch//eos/opendata/file.root")?;
    /// let tickets = source.submit(vec![0..100, 5000..6000]); // one request, one round trip
    /// assert_eq!(tickets[0].wait()?.len(), 100);
    /// # Ok::<(), treemill_source::SourceError>(())
    /// ```
    ///
    /// # Errors
    /// If there is no such file, or if it cannot be opened; it names server and file.
    pub fn open(client: &Arc<Client>, url: &str) -> Result<Self, SourceError> {
        let opening = XrootdSource::opened(client, url, Duration::ZERO);
        wait_for(&shown(url), opening)
    }

    /// Opens like [`XrootdSource::open`], as a task of the runtime, but not at a server that takes less than this to connect
    /// to: nothing is asked of it.
    ///
    /// # Errors
    /// As [`XrootdSource::open`]; if a new connection shows that the server is nearer.
    pub async fn opened(
        client: &Arc<Client>,
        url: &str,
        distance: Duration,
    ) -> Result<Self, SourceError> {
        XrootdSource::opened_by(client, url, distance, Arc::default()).await
    }

    /// Opens like [`XrootdSource::opened`], on one of several connections, which share what is known of the file's health.
    ///
    /// # Errors
    /// As [`XrootdSource::opened`].
    pub async fn opened_by(
        client: &Arc<Client>,
        url: &str,
        distance: Duration,
        health: Arc<FileHealth>,
    ) -> Result<Self, SourceError> {
        let parsed = Url::parse(url).map_err(|error| in_words(&shown(url), &error, None))?;
        let name = parsed.to_string();
        let failed = |error: Trouble| in_words(&name, &error, None);
        let route = Route::new(&parsed).beyond(distance);
        let file = client.open_newest(&parsed, &route).await.map_err(failed)?;
        let status = file.checked().map_err(failed)?;
        health.known().speaks(health.now());
        let core = Core {
            client: Arc::clone(client),
            info: Info {
                identity: settled(&name, status, SystemTime::now()),
                may_move: file.server() != parsed.server.to_string(),
                ..Info::new(name, status.size)
            },
            url: parsed,
            status,
            checksums: OnceLock::new(),
            health,
            state: Mutex::new(State {
                wants: Wants::default(),
                recovery: Recovery::new(),
                file,
                why: None,
            }),
        };
        Ok(XrootdSource {
            core: Arc::new(core),
            wanted: WantedChecksums::default(),
        })
    }

    /// The server that serves the file now, as `host:port`.
    #[must_use]
    pub fn host(&self) -> String {
        self.core.state().file.server()
    }
}

impl Source for XrootdSource {
    fn info(&self) -> &Info {
        &self.core.info
    }

    fn costs(&self) -> Costs {
        let state = self.core.state();
        let (file, is_lost) = (Arc::clone(&state.file), state.recovery.is_lost());
        drop(state);
        let costs = file.session().costs();
        Costs {
            // A file of which nothing is in flight is not opened again before something is wanted.
            is_lost: is_lost || costs.is_lost,
            ..costs
        }
    }

    /// A redirector has sent us to a server of its own, and may send us to another one.
    fn server(&self) -> String {
        format!("{}://{}", self.core.url.scheme(), self.host())
    }

    fn checksums(&self) -> Checksums {
        self.asked_checksums()
    }

    fn abandon(&self, ranges: &[Range<u64>]) {
        self.core.abandon(ranges);
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let (mut pieces, now) = (Vec::new(), self.core.now());
        let mut state = self.core.state();
        if state.wants.is_empty() {
            state.recovery.begin(&self.core.health.known(), now);
        }
        let tickets = tickets(self.info(), ranges, |range, _, promise| {
            pieces.extend(cut(&mut state.wants, &range, promise, now));
        });
        if state.file.session().has_rested() {
            state.recovery.rested();
        }
        let steps = state.recovery.wanted(pieces);
        let is_bounded = state.recovery.is_lost() && state.recovery.is_doubtful();
        drop(state);
        self.core.perform(steps, None);
        if is_bounded {
            self.core.watch(); // the one who began to open the file may have given up
        }
        tickets
    }
}

impl Core {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.health.now()
    }

    /// `error`: why pieces that are given up cannot be had.
    fn perform(self: &Arc<Self>, steps: Vec<Step>, error: Option<&Trouble>) {
        for step in steps {
            match step {
                Step::Send(pieces) => self.send(pieces),
                Step::Open { after, avoid } => self.start_opening(after, avoid),
                Step::GiveUp(pieces) => self.give_up(&pieces, error),
            }
        }
    }

    /// Other files of the connection, if it is closed, are asked for again on another one.
    fn abandon(&self, ranges: &[Range<u64>]) {
        let mut state = self.state();
        let gone = state.wants.abandon(ranges);
        let file = Arc::clone(&state.file);
        drop(state);
        let bytes: u64 = gone.iter().map(|(_, bytes)| bytes).sum();
        drop(gone); // with their promises: when nothing is locked
        file.session().abandon(bytes);
    }

    fn send(self: &Arc<Self>, pieces: Vec<Piece>) {
        let mut state = self.state();
        let pieces = wanted(&state.wants, pieces);
        if pieces.is_empty() {
            return;
        }
        let (file, generation) = (Arc::clone(&state.file), state.recovery.generation());
        let caution = state.recovery.openings();
        let requests = pack(pieces, file.session().means(), caution).into_iter();
        let wants = &mut state.wants;
        let requests: Vec<_> = requests.map(|asked| furnished(wants, asked)).collect();
        let is_doubtful = state.recovery.is_doubtful();
        drop(state);
        if is_doubtful {
            self.watch();
        }
        let server = file.session().server().clone();
        let sending = |(asked, room): (Asked, BytesMut)| {
            let (core, kept, place) = (
                Arc::clone(self),
                asked.clone(),
                (generation, server.clone()),
            );
            let sink: Sink = Box::new(move |answer| core.answered(kept, place, answer));
            (asked, room, sink)
        };
        file.send(requests.into_iter().map(sending).collect());
    }

    /// Runs on the connection's reading task: it waits for nothing.
    fn answered(self: &Arc<Self>, asked: Asked, place: Place, answer: Answer) {
        let answer = match (&asked, answer) {
            (Asked::Pages(piece), Ok(Outcome::Pages { data, damaged }))
                if !damaged.is_empty() || data.len() != piece.size() =>
            {
                return self.patch(asked, place, data.freeze(), &damaged);
            }
            (_, answer) => answer,
        };
        let is_refused = matches!(answer, Ok(Outcome::Refused { .. }));
        let has_none =
            matches!(&answer, Ok(Outcome::Refused { code, .. }) if codes::NO_PAGES.contains(code));
        let is_refusal = answer.is_ok();
        let data = answer.and_then(refusal::data);
        let error = match data.and_then(|data| unpack(&asked, data)) {
            Ok(filled) => return self.fill(filled),
            Err(error) => error,
        };
        match asked {
            // A server may refuse vectored reads that are too large for it, or all of them.
            Asked::Vector(pieces) if is_refused => self.again(pieces, Manner::Alone, &error),
            Asked::Pages(piece) if has_none => {
                let state = self.state();
                if state.recovery.generation() == place.0 {
                    state.file.session().without_pages();
                }
                drop(state);
                self.again(vec![piece], Manner::Bare, &error);
            }
            asked if error.kind == Kind::Changed => {
                self.give_up(&asked.into_pieces(), Some(&error));
            }
            asked => self.lost(asked.into_pieces(), place, is_refusal, error),
        }
    }

    /// Asks for pieces in another manner.
    fn again(self: &Arc<Self>, pieces: Vec<Piece>, manner: Manner, error: &Trouble) {
        let pieces = pieces.into_iter().map(|piece| Piece { manner, ..piece });
        let steps = self.state().recovery.wanted(pieces.collect());
        self.perform(steps, Some(error));
    }

    /// Pages came that differ from their checksums, or fewer than were asked for: asks for those once more, and then
    /// elsewhere.
    fn patch(self: &Arc<Self>, asked: Asked, place: Place, data: Bytes, damaged: &[Range<u64>]) {
        let Asked::Pages(piece) = &asked else { return };
        let error = trouble(Kind::Damaged, refusal::differing(damaged.first()));
        match unpaged(piece, &data, damaged) {
            Ok(found) => {
                let right = found.right.iter();
                self.fill(
                    right
                        .map(|(piece, bytes)| (piece, bytes.clone().into()))
                        .collect(),
                );
                let steps = self.state().recovery.wanted(found.again);
                self.perform(steps, Some(&error));
                if !found.damaged.is_empty() {
                    let file = Arc::clone(&self.state().file);
                    let is_its = self.state().recovery.generation() == place.0;
                    self.lost(found.damaged, place, true, error);
                    // What is in flight there is lost, too, and asked for with it.
                    if is_its {
                        file.session().distrust();
                    }
                }
            }
            Err(error) => self.give_up(&asked.into_pieces(), Some(&error)),
        }
    }

    fn fill(&self, filled: Vec<(&Piece, Chunk)>) {
        if filled.is_empty() {
            return;
        }
        let now = self.now();
        let mut state = self.state();
        state.recovery.progressed(&mut self.health.known(), now);
        let whole: Vec<_> = filled
            .into_iter()
            .filter_map(|(piece, bytes)| {
                let (want, start) = (piece.want, piece.offset);
                state.wants.fill(want, start, bytes)
            })
            .collect();
        drop(state);
        for (promise, bytes) in whole {
            promise.keep(Ok(bytes));
        }
    }

    fn lost(self: &Arc<Self>, pieces: Vec<Piece>, place: Place, is_refusal: bool, error: Trouble) {
        let (generation, server) = place;
        let error = error.at(&server).of(&self.url.path);
        let now = self.now();
        let mut state = self.state();
        let pieces = wanted(&state.wants, pieces);
        if pieces.is_empty() {
            return; // what is wanted next opens the file again
        }
        // Of the present opening, if it is that one which is lost.
        let quiet = state.file.session().quiet_for();
        let loss = Loss {
            generation,
            host: server.host,
            is_refusal,
            kind: error.kind,
            heard: quiet.map_or(Duration::ZERO, |quiet| now.saturating_sub(quiet)),
        };
        let is_present = state.recovery.generation() == generation;
        let steps = match is_present && state.file.session().has_rested() {
            // It was sent as the connection was closed, or was on its way there.
            true => {
                state.recovery.rested();
                state.recovery.wanted(pieces)
            }
            false => {
                let health = &mut self.health.known();
                state.recovery.lost(pieces, &loss, health, now)
            }
        };
        state.why = Some(error.clone());
        drop(state);
        self.perform(steps, Some(&error));
    }

    fn give_up(&self, pieces: &[Piece], error: Option<&Trouble>) {
        let mut state = self.state();
        let broken: Vec<_> = pieces
            .iter()
            .filter_map(|piece| Some((state.wants.give_up(piece.want)?, piece.range())))
            .collect();
        let server = state.file.server();
        let last = state.why.clone();
        drop(state);
        let unknown = || {
            trouble(
                Kind::Silent,
                "the server has brought nothing, and was given up a moment ago",
            )
        };
        let error = error.cloned().or(last).unwrap_or_else(unknown);
        let error = error.at(server).of(&self.url.path);
        for (promise, range) in broken {
            promise.keep(Err(in_words(&self.info.name, &error, Some(range))));
        }
    }

    /// Opening waits for the network, so that it has a task of its own: never one of a connection.
    fn start_opening(self: &Arc<Self>, after: Duration, avoid: Vec<String>) {
        self.watch();
        match runtime() {
            Ok(runtime) => drop(runtime.spawn(Arc::clone(self).open_again(after, avoid))),
            Err(error) => self.refuse(false, &error),
        }
    }

    /// Sees to it that nothing waits for longer than users are promised, however long openings take.
    fn watch(self: &Arc<Self>) {
        let due = |core: &Core| core.state().recovery.due(core.now());
        let (Ok(runtime), Some(mut wait)) = (runtime(), due(self)) else {
            return;
        };
        let core = Arc::downgrade(self);
        runtime.spawn(async move {
            loop {
                tokio::time::sleep(wait).await;
                let Some(core) = core.upgrade() else { return };
                let steps = core.tick();
                core.perform(steps, None);
                match due(&core) {
                    Some(left) => wait = left,
                    None => return,
                }
            }
        });
    }

    fn tick(&self) -> Vec<Step> {
        let mut state = self.state();
        let health = &mut self.health.known();
        state.recovery.tick(health, self.now())
    }

    async fn open_again(self: Arc<Self>, after: Duration, avoid: Vec<String>) {
        tokio::time::sleep(after).await;
        let route = Route::new(&self.url).avoiding(&avoid);
        let opened = self.client.open_newest(&self.url, &route).await;
        match opened.and_then(|file| self.same(file)) {
            Ok(file) => {
                let mut state = self.state();
                // The older file may be the last user of its connection: it goes when nothing is locked.
                let older = std::mem::replace(&mut state.file, file);
                let now = self.now();
                let steps = state.recovery.reopened(&mut self.health.known(), now);
                drop(state);
                drop(older);
                self.perform(steps, None);
            }
            Err(error) => self.refuse(error.is_transient(), &error),
        }
    }

    fn refuse(self: &Arc<Self>, may_help: bool, error: &Trouble) {
        let mut state = self.state();
        let (now, kind) = (self.now(), error.kind);
        // The health is locked for this line only: those who are told may ask again at once.
        let recovery = &mut state.recovery;
        let steps = recovery.refused(kind, may_help, &mut self.health.known(), now);
        state.why = Some(error.clone());
        drop(state);
        self.perform(steps, Some(error));
    }

    /// The file, if it is the one that was opened first: of the same size, and on the same server of the same time.
    fn same(&self, file: Arc<File>) -> Result<Arc<File>, Trouble> {
        let (now, first) = (file.checked()?, self.status);
        let is_there = self.state().file.server() == file.server();
        if now.size == first.size && (now.changed == first.changed || !is_there) {
            return Ok(file);
        }
        Err(changed().at(file.server()).of(&self.url.path))
    }
}

/// The file's identity, unless it changed so lately that it may change again within its time's second.
#[must_use]
pub fn settled(name: &str, status: Status, now: SystemTime) -> Option<Identity> {
    Identity::of_changed(name, status.size, status.changed.try_into().ok()?, now)
}

fn in_words(name: &str, error: &Trouble, range: Option<Range<u64>>) -> SourceError {
    error.error(name, range)
}
