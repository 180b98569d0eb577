//! A query bound to one table: compiled against its columns, run over packets of its entries.

mod ahead;

use crate::catalog::Catalog;
use crate::control::Control;
use crate::error::EngineError;
use crate::limits::ROW_BYTES;
use crate::origin::{Offer, Origins};
use crate::packet::{Blocks, PacketColumns};
use crate::provided::{Foreign, Provider};
use crate::specification::Specification;
use crate::stages::Stages;
use ahead::Asked;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;
use treemill_query::{Partial, Query, Scratch};
use treemill_read::{Counters, Kind, Options, ReadError, Reader, Step, Table};

/// A query bound to one table. Any number of threads may run packets of it.
///
/// ```
/// use std::sync::Arc;
/// use treemill_engine::{Bound, Catalog, Control, Specification};
/// use treemill_format::tree::Tree;
/// use treemill_query::Outcome;
/// use treemill_read::{Table, TreeFile};
/// use treemill_source::{Costs, Memory};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A tree without branches. Those of files are given by `treemill_read::File`.
/// let tree = Tree {
///     name: "Events".to_owned(),
///     title: String::new(),
///     entries: 1000,
///     clusters: vec![0],
///     aliases: Vec::new(),
///     index: None,
///     friends: Vec::new(),
///     weight: 1.0,
///     is_reshuffled: false,
///     branches: Vec::new(),
/// };
/// let source = Arc::new(Memory::new("memory", Vec::new(), Costs::NEAR));
/// let catalog = Catalog::new(Table::from(Arc::new(TreeFile::new(source, tree))));
/// let specification = Specification::parse(
///     r#"{"version": 1, "steps": [], "bookings": [{"at": null, "result": {"kind": "count"}}]}"#,
/// )?;
/// let bound = Bound::new(&specification, &catalog, None, None)?;
/// let mut partial = bound.query().partial();
/// bound.run(0..catalog.table().entries(), &mut partial, &Control::default())?;
/// assert!(matches!(partial.results()[..], [Outcome::Count(1000)]));
/// # Ok(())
/// # }
/// ```
pub struct Bound {
    query: Arc<Query>,
    table: Table,
    foreign: Option<Foreign>,
    rescue: Option<Box<dyn Provider>>,
    origins: Origins,
    stages: Stages,
    rest: Mutex<Rest>,
    /// Rings when a thread has looked at a promised packet's filters.
    bell: Condvar,
    /// Whether caches had all that the query may need of the file when that was asked first.
    is_kept: OnceLock<bool>,
}

/// What packets leave to one another.
#[derive(Default)]
struct Rest {
    /// Readers and buffers that no packet uses at the moment.
    idle: Vec<State>,
    /// Packets of a distant file whose bytes were asked for, and that do not run yet.
    promised: Vec<Asked>,
    /// The entries of those promised packets whose filters a thread looks at.
    looking: Vec<Range<u64>>,
    /// Packets that run.
    running: usize,
    /// Whether the file's last packet is done.
    is_read: bool,
}

impl Rest {
    /// What the worker with these counters has left. What earlier passes have left is dropped.
    fn take(&mut self, counters: &Arc<Counters>) -> Option<State> {
        let is_mine = |state: &State| Arc::ptr_eq(&state.counters, counters);
        if let Some(place) = self.idle.iter().rposition(is_mine) {
            return Some(self.idle.swap_remove(place));
        }
        self.idle
            .retain(|state| state.counters.is_of_the_pass_of(counters));
        None
    }

    /// Packets whose bytes are on their way, or here.
    fn busy(&self) -> usize {
        let promised = self.promised.len().saturating_add(self.looking.len());
        promised.saturating_add(self.running)
    }
}

/// A packet that runs, for as long as it does.
struct Running<'a>(&'a Bound);

/// What one running packet needs; kept for the next.
struct State {
    reader: Reader,
    scratch: Scratch,
    counters: Arc<Counters>,
}

impl Bound {
    /// Compiles the query against the columns of a table, and those that `foreign` adds to them: a
    /// foreign column takes the place of one of the same name. `rescue` is asked for values of a tree's
    /// branches, by their paths, that turn out to be unsupported when they are read.
    ///
    /// # Errors
    /// What is wrong with the query there; a column that it needs and that cannot be read.
    pub fn new(
        specification: &Specification,
        catalog: &Catalog,
        foreign: Option<Foreign>,
        rescue: Option<Box<dyn Provider>>,
    ) -> Result<Self, EngineError> {
        let offer = Offer::new(catalog.columns(), foreign.as_ref());
        let query = specification.query(&offer.schema)?;
        let origins = offer.origins(query.places());
        let table = catalog.table();
        for &branch in &origins.branches {
            table.arrow_field(branch)?;
        }
        let share = Arc::clone(&specification.share);
        let stages = Stages::new(&origins, query.filters_before(), share);
        Ok(Self {
            query,
            stages,
            table: table.clone(),
            foreign,
            rescue,
            origins,
            rest: Mutex::default(),
            bell: Condvar::new(),
            is_kept: OnceLock::new(),
        })
    }

    /// The compiled query.
    #[must_use]
    pub fn query(&self) -> &Query {
        &self.query
    }

    /// Whether most of what the columns' baskets or pages hold is remembered: then packets that share
    /// one do not decompress it twice.
    #[must_use]
    pub fn is_remembered(&self) -> bool {
        self.table.is_remembered(&self.origins.branches)
    }

    /// The number of baskets or pages of the file's column that has the fewest; 1 without columns.
    #[must_use]
    pub fn fewest_baskets(&self) -> usize {
        let columns = self.origins.branches.iter();
        let fewest = columns.map(|&column| self.table.baskets(column)).min();
        fewest.unwrap_or(1).max(1)
    }

    /// Adds these entries to the partial. Gives the entry before which it ended: the range's end, or an
    /// earlier one after `control.stop()`, or when rows have filled their room and are to be taken out
    /// before it goes on, or when the partial is full and is to be merged. Then what was asked for the others stays promised, until they are run or forgotten.
    ///
    /// # Errors
    /// What went wrong. Then the partial holds an unknown part of the range and must be thrown away.
    pub fn run(
        &self,
        entries: Range<u64>,
        partial: &mut Partial,
        control: &Control,
    ) -> Result<u64, EngineError> {
        let _running = Running::new(self);
        let Asked {
            lease, filtered, ..
        } = self.asked(entries.clone(), control)?;
        let mut filtered = filtered.into_iter();
        let mut state = self.state(control)?;
        state.reader.take_over(lease);
        let mut blocks = Blocks::new(self.origins.blocks());
        let mut batches = state.reader.batches(entries.clone(), self.options())?;
        let mut reached = entries.start;
        let record = control.counters.record();
        while !control.stopped() {
            let Some(mut batch) = batches.next_batch() else {
                break;
            };
            if let Some(columns) = filtered.next() {
                batch.put(columns);
            }
            let end = batch.entries().end;
            let mut columns = PacketColumns {
                batch,
                table: &self.table,
                foreign: self.foreign.as_ref(),
                rescue: self.rescue.as_deref(),
                origins: &self.origins,
                blocks: &mut blocks,
                stop: entries.end,
                early: None,
            };
            let begun = record.map(|record| (record, Instant::now(), columns.batch.entries()));
            self.query
                .process(&mut columns, partial, &mut state.scratch)?;
            if let Some((record, began, entries)) = begun {
                record.add(evaluated(began, entries));
            }
            reached = end;
            if partial.row_bytes() > ROW_BYTES || partial.is_full() {
                break;
            }
        }
        let lease = state.reader.take_over(None);
        if reached < entries.end && !control.stopped() {
            self.keep(state, reached);
            self.promise(reached..entries.end, lease, filtered.collect());
        } else {
            self.keep(state, entries.end);
        }
        Ok(reached)
    }

    /// Readers that wait for the next packet.
    #[must_use]
    pub fn idle_readers(&self) -> usize {
        self.rest().idle.len()
    }

    /// Whether the file's last packet is done, no other one runs, and nothing was asked for that is not used.
    #[must_use]
    pub fn is_spent(&self) -> bool {
        let rest = self.rest();
        rest.is_read && rest.busy() == 0
    }

    /// Keeps what a packet needed for the file's next packet.
    fn keep(&self, state: State, stop: u64) {
        let mut rest = self.rest();
        rest.idle.push(state);
        rest.is_read |= stop >= self.table.entries();
    }

    fn state(&self, control: &Control) -> Result<State, ReadError> {
        let idle = self.rest().take(&control.counters);
        match idle {
            Some(state) => Ok(state),
            None => Ok(State {
                reader: Reader::new(self.table.clone(), &self.origins.branches)?
                    .with_counters(Arc::clone(&control.counters))
                    .with_bytes_for_booleans(),
                scratch: Scratch::again(),
                counters: Arc::clone(&control.counters),
            }),
        }
    }

    /// How packets are cut into batches, also when their filters are looked at ahead.
    fn options(&self) -> Options {
        let usual = Options::default();
        Options {
            batch_entries: usual.batch_entries.min(self.query.most_events()),
            ..usual
        }
    }

    fn rest(&self) -> MutexGuard<'_, Rest> {
        self.rest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The step of a batch that a query went over.
fn evaluated(began: Instant, entries: Range<u64>) -> Step {
    let rows = entries.end.saturating_sub(entries.start);
    Step {
        ranges: vec![entries],
        ..Step::done(Kind::Evaluate, began, began.elapsed(), rows)
    }
}

impl<'a> Running<'a> {
    fn new(bound: &'a Bound) -> Self {
        let mut rest = bound.rest();
        rest.running = rest.running.saturating_add(1);
        Self(bound)
    }
}

impl Drop for Running<'_> {
    /// When the file's last packet is done and no other runs, the memory goes to the readers of other
    /// files: sessions remember queries for longer than that. Until then stragglers take it over.
    fn drop(&mut self) {
        let mut rest = self.0.rest();
        rest.running = rest.running.saturating_sub(1);
        if rest.is_read && rest.running == 0 {
            for state in rest.idle.drain(..) {
                state.scratch.leave();
            }
        }
    }
}
