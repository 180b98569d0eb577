//! What a file's sources share with its reader and its threads: hands what happens to the state, and does what it decides.
//! Answers come by the sources' own threads; one more looks for late ones while any are due.

use crate::replicas::agreement::{self, Gathered, Look};
use crate::replicas::limits::{LEAST_LOOK, LINGER, LOSS_LOOK, MOST_REPLICAS};
use crate::replicas::members::{Number, Standing};
use crate::replicas::opening::{Finder, Opener};
use crate::replicas::state::{AskId, Decision, PartId, State};
use crate::whole::{RangePart, range_parts};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use treemill_source::{
    Bytes, Checksums, Info, Promise, Source, SourceError, SourceErrorKind, Ticket,
};

mod sampling;

/// Gets a message about a replica that is left out because it has another file. It is called from any thread.
pub type Warn = Box<dyn Fn(&str) + Send + Sync>;

/// What the source shares with its threads and with the requests in flight.
pub(crate) struct Core {
    pub(crate) name: String,
    warn: Warn,
    /// Finds replicas that were not named. Then the file is the one that was opened first: its identity is that one's.
    finder: Option<Finder>,
    pub(crate) size: u64,
    /// The source that was opened first, with its number.
    first: (Number, Arc<dyn Source>),
    /// Its sample, once there is another one to compare it with, or none to find.
    sample: OnceLock<Vec<Ticket>>,
    began: Instant,
    inner: Mutex<Inner>,
    bell: Condvar,
}

struct Inner {
    openers: Vec<Arc<Opener>>,
    state: State,
    sources: Vec<Option<Arc<dyn Source>>>,
    parts: HashMap<PartId, RangePart>,
    /// Why sources failed last, for the errors of ranges that cannot be had.
    reasons: Vec<Option<String>>,
    reference: Option<Look>,
    /// The checksums of the source that was opened first, once they were asked for.
    checksums: Checksums,
    /// What is to be done, and whether a thread is doing it.
    decided: VecDeque<Decision>,
    performs: bool,
    /// What of the sample the reader has asked for itself, while others may be found and there is no reference.
    gathered: Option<Gathered>,
    watches: bool,
    has_ended: bool,
}

impl Core {
    /// The core of a file of which one source is open; others could not be opened, for these reasons.
    pub(crate) fn start(
        name: String,
        openers: Vec<Arc<Opener>>,
        (warn, finder): (Warn, Option<Finder>),
        (number, source): (Number, Arc<dyn Source>),
        errors: Vec<(Number, SourceError)>,
    ) -> Arc<Self> {
        let began = Instant::now();
        let count = openers.len();
        let mut state = State::new(count, agreement::seed(&name));
        let mut reasons = vec![None; count];
        for (failed, error) in errors {
            state.members.failed(failed, Duration::ZERO);
            if let Some(reason) = reasons.get_mut(failed) {
                *reason = Some(why(&error));
            }
        }
        let round_trip = source.costs().round_trip;
        state.members.opened(number, round_trip);
        let mut sources = vec![None; count];
        if finder.is_some() {
            state.may_search(round_trip);
        }
        let size = source.size();
        let gathered = finder.is_some().then(|| Gathered::new(size));
        if let Some(place) = sources.get_mut(number) {
            *place = Some(Arc::clone(&source));
        }
        let core = Arc::new(Core {
            name,
            warn,
            finder,
            size,
            first: (number, source),
            sample: OnceLock::new(),
            began,
            inner: Mutex::new(Inner {
                openers,
                state,
                sources,
                parts: HashMap::new(),
                reasons,
                reference: None,
                checksums: Checksums::default(),
                decided: VecDeque::new(),
                performs: false,
                gathered,
                watches: false,
                has_ended: false,
            }),
            bell: Condvar::new(),
        });
        if core.finder.is_none() {
            core.sample();
        }
        core.act(|state, now| state.tick(now));
        core
    }

    /// Asks for ranges that lie within the file and are not empty, and keeps the promises when they are here.
    pub(crate) fn want(self: &Arc<Self>, wanted: Vec<Range<u64>>, promises: Vec<Promise>) {
        let mut inner = self.inner();
        let is_open = inner.reference.is_none();
        let gathered = inner.gathered.as_mut();
        let wants_sample = gathered.is_some_and(|gathered| gathered.asked(&wanted)) && is_open;
        let (parts, decisions) = inner.state.wanted(&wanted, self.now());
        for ((range, parts), promise) in wanted.into_iter().zip(parts).zip(promises) {
            // Also of parts that are given up at once: their promises say why.
            let (numbers, cut): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
            let places = range_parts(range, cut, promise);
            inner.parts.extend(numbers.into_iter().zip(places));
        }
        drop(inner);
        if wants_sample {
            self.sample();
        }
        self.perform(decisions);
    }

    /// Nothing within these ranges is wanted any more.
    pub(crate) fn abandon(self: &Arc<Self>, ranges: &[Range<u64>]) {
        let mut inner = self.inner();
        let parts = inner.state.abandoned(ranges, self.now());
        let places: Vec<_> = parts
            .iter()
            .filter_map(|part| inner.parts.remove(part))
            .collect();
        let sources = inner.sources.clone();
        drop(inner);
        drop(places); // with their promises: when nothing is locked
        for source in sources.into_iter().flatten() {
            source.abandon(ranges);
        }
        self.act(|state, now| state.tick(now));
    }

    /// Which file it is, when the sample is here: replicas that are named have one identity.
    pub(crate) fn info(self: &Arc<Self>) -> Info {
        for ticket in self.sample() {
            let _ = ticket.wait(); // one that does not come leaves the file without an identity
        }
        self.settle_first();
        let inner = self.inner();
        let look = inner.reference.as_ref();
        Info {
            identity: look.map(|look| agreement::identity(&self.name, look)),
            ..Info::new(&self.name, self.size)
        }
    }

    /// The reader has gone: the thread that looks for late answers ends.
    pub(crate) fn end(&self) {
        self.inner().has_ended = true;
        self.bell.notify_all();
    }

    /// The names of the sources that are read from.
    pub(crate) fn active_names(&self) -> Vec<String> {
        let inner = self.inner();
        let active = inner.state.members.with(Standing::Active).into_iter();
        active
            .filter_map(|number| Some(inner.openers.get(number)?.name.clone()))
            .collect()
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    /// Tells the state of an event and does what it decides.
    fn act(self: &Arc<Self>, event: impl FnOnce(&mut State, Duration) -> Vec<Decision>) {
        let decisions = event(&mut self.inner().state, self.now());
        self.perform(decisions);
    }

    /// The sources that are read from.
    pub(crate) fn active(&self) -> Vec<Arc<dyn Source>> {
        let inner = self.inner();
        let active = inner.state.members.with(Standing::Active).into_iter();
        active
            .filter_map(|number| inner.sources.get(number)?.clone())
            .collect()
    }

    /// Does what was decided, one thing after the other: a near source answers while it is asked, which decides more.
    fn perform(self: &Arc<Self>, decisions: Vec<Decision>) {
        let mut inner = self.inner();
        inner.decided.extend(decisions);
        if inner.performs {
            return; // the thread that does it will do these, too
        }
        inner.performs = true;
        while let Some(decision) = inner.decided.pop_front() {
            drop(inner);
            match decision {
                Decision::Ask(number, asks) => self.ask(number, asks),
                Decision::Open(number) => self.start_opening(number),
                Decision::Search => self.start_search(),
                Decision::GiveUp(part) => self.give_up(part),
            }
            inner = self.inner();
        }
        inner.performs = false;
        drop(inner);
        self.watch();
    }

    fn ask(self: &Arc<Self>, number: Number, asks: Vec<(AskId, Range<u64>)>) {
        let source = self.inner().sources.get(number).cloned().flatten();
        let (ids, ranges): (Vec<AskId>, Vec<_>) = asks.into_iter().unzip();
        let Some(source) = source else {
            let error = SourceError::new(&self.name, "the replica is not open");
            ids.into_iter()
                .for_each(|id| self.answered(number, id, Err(error.clone())));
            return;
        };
        let tickets = source.submit(ranges.clone());
        let inner = self.inner();
        for (id, ticket) in ids.iter().zip(&tickets) {
            let place = inner.state.part(*id).and_then(|id| inner.parts.get(&id));
            place.into_iter().for_each(|place| place.count_with(ticket));
        }
        drop(inner);
        for ((id, range), ticket) in ids.into_iter().zip(ranges).zip(tickets) {
            let core = Arc::clone(self);
            ticket.on_ready(move |answer| {
                if let Ok(bytes) = &answer {
                    core.came(number, &range, bytes);
                }
                core.answered(number, id, answer);
            });
        }
    }

    /// Runs on the source's thread, or on the caller's: it waits for nothing.
    fn answered(self: &Arc<Self>, number: Number, id: AskId, answer: Result<Bytes, SourceError>) {
        let mut inner = self.inner();
        let now = self.now();
        let (filled, decisions) = match answer {
            Ok(bytes) => {
                let (part, decisions) = inner.state.answered(id, now);
                let place = part.and_then(|part| inner.parts.remove(&part));
                (place.map(|place| (place, bytes)), decisions)
            }
            Err(error) => {
                inner.reason(number, &error);
                (None, inner.state.failed(id, now))
            }
        };
        drop(inner);
        if let Some((place, bytes)) = filled {
            place.keep(Ok(bytes));
        }
        self.perform(decisions);
    }

    fn give_up(&self, part: PartId) {
        let mut inner = self.inner();
        let place = inner.parts.remove(&part);
        let reasons: Vec<&str> = inner.reasons.iter().flatten().map(String::as_str).collect();
        let what = format!("all replicas have failed: {}", reasons.join("; "));
        drop(inner);
        if let Some(place) = place {
            let error = SourceError::of(SourceErrorKind::Transient, &self.name, what);
            place.keep(Err::<Bytes, _>(error));
        }
    }

    /// Opens on a thread that ends with that: to open may take as long as a server is silent, and late answers are
    /// looked for meanwhile.
    fn start_opening(self: &Arc<Self>, number: Number) {
        let core = Arc::clone(self);
        let thread = std::thread::Builder::new().name("replica-open".to_owned());
        let started = thread.spawn(move || {
            let missing = || Err(SourceError::new(&core.name, "there is no such replica"));
            let opener = core.inner().openers.get(number).cloned();
            let opened = opener.map_or_else(missing, |opener| core.open_to_compare(&opener));
            core.opened(number, opened);
        });
        if let Err(error) = started {
            let what = format!("treemill cannot start a thread: {error}");
            self.opened(number, Err(SourceError::new(&self.name, what)));
        }
    }

    /// Looks for replicas on a thread of its own: servers may think for long.
    fn start_search(self: &Arc<Self>) {
        let core = Arc::clone(self);
        let thread = std::thread::Builder::new().name("replica-search".to_owned());
        let search = move || {
            let found = core
                .finder
                .as_ref()
                .map_or_else(Vec::new, |finder| finder());
            core.found(found);
        };
        if thread.spawn(search).is_err() {
            self.found(Vec::new());
        }
    }

    /// A search has ended: takes in what was not known.
    fn found(self: &Arc<Self>, found: Vec<Opener>) {
        let mut inner = self.inner();
        let known = inner.openers.len();
        for opener in found {
            let is_new = inner.openers.iter().all(|other| other.name != opener.name);
            if is_new && inner.openers.len() < MOST_REPLICAS {
                inner.openers.push(Arc::new(opener));
                inner.sources.push(None);
                inner.reasons.push(None);
            }
        }
        let count = inner.openers.len().saturating_sub(known);
        let decisions = inner.state.found(count, self.now());
        drop(inner);
        self.perform(decisions);
    }

    /// A source is open and was looked at, or could not be opened.
    fn opened(
        self: &Arc<Self>,
        number: Number,
        opened: Result<(Arc<dyn Source>, Look), SourceError>,
    ) {
        let (source, look) = match self.comparable(number, opened) {
            Ok(opened) => opened,
            Err(error) => {
                self.inner().reason(number, &error);
                return self.act(|state, now| state.refused(number, now));
            }
        };
        if let Some(why) = self.settle(look) {
            return self.leave_out(number, &why);
        }
        let round_trip = source.costs().round_trip;
        let mut inner = self.inner();
        let place = inner.sources.get_mut(number);
        let older = place.and_then(|place| place.replace(source));
        drop(inner);
        drop(older); // when nothing is locked: it may wait for its server
        self.act(|state, now| state.opened(number, round_trip, now));
    }

    /// Starts the thread that looks for late answers, unless it is there or nothing is due.
    fn watch(self: &Arc<Self>) {
        let mut inner = self.inner();
        let is_single = inner.openers.len() < 2 && self.finder.is_none();
        if inner.watches || inner.state.is_idle() || is_single {
            return;
        }
        inner.watches = true;
        drop(inner);
        let core = Arc::clone(self);
        let thread = std::thread::Builder::new().name("replicas".to_owned());
        if thread.spawn(move || core.look()).is_err() {
            self.inner().watches = false; // late answers are waited for then
        }
    }

    fn look(self: Arc<Self>) {
        loop {
            let mut inner = self.inner();
            let idle = inner.state.is_idle();
            let due = inner.state.due();
            let wait = due.map_or(LINGER, |due| due.saturating_sub(self.now()).min(LOSS_LOOK));
            let woken = self
                .bell
                .wait_timeout(inner, wait.max(LEAST_LOOK))
                .unwrap_or_else(PoisonError::into_inner);
            inner = woken.0;
            if inner.state.is_idle() && (idle || inner.has_ended) {
                inner.watches = false;
                return;
            }
            drop(inner);
            let lost = self.lost();
            self.act(|state, now| {
                for number in lost {
                    state.lost(number, now);
                }
                state.tick(now)
            });
        }
    }

    /// The sources that have lost their connections. They are asked when nothing is locked.
    fn lost(&self) -> Vec<Number> {
        let sources = self.inner().sources.clone();
        let numbered = sources.into_iter().enumerate();
        numbered
            .filter(|(_, source)| source.as_ref().is_some_and(|source| source.costs().is_lost))
            .map(|(number, _)| number)
            .collect()
    }
}

impl Inner {
    fn reason(&mut self, number: Number, error: &SourceError) {
        if let Some(reason) = self.reasons.get_mut(number) {
            *reason = Some(why(error));
        }
    }
}

/// Which source failed, and how, without the bytes: the error of the range that cannot be had names its own.
fn why(error: &SourceError) -> String {
    format!("{}: {}", error.name, error.what)
}
