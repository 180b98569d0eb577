//! A compiled query: steps and bookings over batches of columns.

mod batch_size;
mod cuts;
mod nested;
mod shared_cells;
mod survivors;
#[cfg(test)]
mod tests;
mod visits;

pub use survivors::Rows;

use crate::bins::is_large;
use crate::booking::CompiledBooking;
use crate::cells::Cells;
use crate::columns::Columns;
use crate::compile::{Compiler, Cuts, NodeId, Plan};
use crate::error::{ProcessError, QueryError};
use crate::eval::{Batch, SelectionId};
use crate::explain::Explanation;
use crate::function::Functions;
use crate::limits::{HISTOGRAM_BYTES, SCRATCH_BYTES};
use crate::partial::{Partial, foreign};
use crate::pool::Pool;
use crate::schema::Schema;
use crate::spec::{Action, Spec};
use batch_size::{kept_values, most_events};
use cuts::Cut;
use nested::nested;
use shared_cells::share_cells;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};
use visits::{Visit, visits};

/// Buffers that are reused from batch to batch; one per thread.
#[derive(Default)]
pub struct Scratch {
    pool: Pool,
}

/// Scratch memory of queries that are done: fresh memory costs more than what is done in it.
static LEFT: Mutex<Vec<Scratch>> = Mutex::new(Vec::new());

impl Scratch {
    /// Memory that an earlier query of this process has left, or none.
    #[must_use]
    pub fn again() -> Self {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        left.pop().unwrap_or_default()
    }

    /// Leaves the memory to the next query, if it is not too much.
    pub fn leave(self) {
        let mut left = LEFT.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: usize = left.iter().map(|scratch| scratch.pool.bytes()).sum();
        if bytes.saturating_add(self.pool.bytes()) <= SCRATCH_BYTES {
            left.push(self);
        }
    }
}

/// A query compiled against a schema; shared by threads.
///
/// ```
/// use arrow_array::{ArrayRef, Float64Array};
/// use std::error::Error;
/// use std::sync::Arc;
/// use treemill_query::spec::Spec;
/// use treemill_query::{ColumnType, Columns, DType, Field, Number, Outcome, Query, Schema, Scratch};
///
/// /// Batches of one column.
/// struct Batch(Vec<f64>);
///
/// impl Columns for Batch {
///     fn rows(&self) -> usize {
///         self.0.len()
///     }
///     fn column(&mut self, _: usize) -> Result<ArrayRef, Box<dyn Error + Send + Sync>> {
///         Ok(Arc::new(Float64Array::from(self.0.clone())))
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn Error>> {
/// // sum(x)
/// let spec: Spec = serde_json::from_value(serde_json::json!({
///     "version": 1,
///     "steps": [],
///     "bookings": [{"at": null, "result": {"kind": "sum", "expr": {
///         "text": "x",
///         "tree": {"kind": "name", "id": "x", "at": [0, 1]},
///     }}}],
/// }))?;
/// let fields = vec![Field::new("x", ColumnType::Scalar(DType::F64))];
/// let query = Query::compile(&spec, &Schema::new(fields))?;
/// assert_eq!(query.columns(), ["x"]);
///
/// let (mut partial, mut scratch) = (query.partial(), Scratch::default());
/// query.process(&mut Batch(vec![1.0, 2.0]), &mut partial, &mut scratch)?;
/// query.process(&mut Batch(vec![4.0]), &mut partial, &mut scratch)?;
/// assert_eq!(partial.results(), [Outcome::Sum(Number::Float(7.0))]);
/// # Ok(())
/// # }
/// ```
pub struct Query {
    plan: Plan,
    columns: Vec<String>,
    /// Cuts from 1 on; parents come first.
    cuts: Vec<Cut>,
    /// The order in which cuts are computed.
    visits: Vec<Visit>,
    /// Quantities, each with the number of the cut after which it is booked.
    bookings: Vec<(usize, CompiledBooking)>,
    /// The numbers of the bookings at each cut.
    booked: Vec<Vec<usize>>,
    /// Values that are kept until all are computed, because fills come after that.
    kept: HashSet<NodeId>,
    /// Sets of cells that several bookings fill.
    shared: usize,
    /// Whether a level can have far more items than the columns.
    multiplies: bool,
    most_events: u64,
    /// Bytes of all histograms.
    bytes: u64,
}

impl Query {
    /// Resolves names and types, merges equal subexpressions. Error: what is wrong, and where.
    pub fn compile(spec: &Spec, schema: &Schema) -> Result<Self, QueryError> {
        Self::with_functions(spec, schema, &Functions::new())
    }

    /// Compiles a query whose expressions call these functions.
    pub fn with_functions(
        spec: &Spec,
        schema: &Schema,
        functions: &Functions,
    ) -> Result<Self, QueryError> {
        if spec.version != 1 {
            let message = format!("version {} of the query format is not known", spec.version);
            return Err(QueryError::new(message));
        }
        let mut compiler = Compiler::new(schema, functions, &spec.relations);
        let mut cuts: Vec<Cut> = Vec::new();
        let mut known: HashMap<(usize, NodeId), usize> = HashMap::new();
        // Cut and visible definitions after each step.
        let mut places: Vec<(usize, Option<usize>)> = Vec::with_capacity(spec.steps.len());
        let place = |places: &[(usize, Option<usize>)], at: Option<usize>| match at {
            None => Ok((0, None)),
            Some(step) => places
                .get(step)
                .copied()
                .ok_or_else(|| QueryError::new(format!("there is no step {step} before this"))),
        };
        for step in &spec.steps {
            let (cut, scope) = place(&places, step.parent)?;
            let varied = |error: QueryError| error.in_variation(step.variation.as_deref());
            places.push(match &step.action {
                Action::Filter { expr, .. } => {
                    let mask = compiler.condition(expr, scope).map_err(varied)?;
                    let mut place = cut;
                    for mask in compiler.names.nodes.conjuncts(mask) {
                        place = *known.entry((place, mask)).or_insert_with(|| {
                            cuts.push(Cut::new(place, mask));
                            cuts.len()
                        });
                    }
                    if let Some(last) = place.checked_sub(1).and_then(|i| cuts.get_mut(i)) {
                        last.is_end = true;
                    }
                    (place, scope)
                }
                Action::Define { name, expr } => {
                    let defined = compiler.define(name, expr, scope).map_err(varied)?;
                    (cut, Some(defined))
                }
            });
        }
        let mut bookings = Vec::with_capacity(spec.bookings.len());
        let mut bytes = 0_u64;
        for booking in &spec.bookings {
            let (cut, scope) = place(&places, booking.at)?;
            let compiled = CompiledBooking::compile(&booking.result, &mut compiler, scope)
                .map_err(|error| error.in_variation(booking.variation.as_deref()))?;
            bytes = bytes.saturating_add(compiled.bytes());
            if bytes > HISTOGRAM_BYTES {
                let most = HISTOGRAM_BYTES >> 20;
                return Err(QueryError::limit(format!(
                    "the histograms take more than {most} MB together: fewer bins or axes, or several \
                     queries, take less"
                )));
            }
            bookings.push((cut, compiled));
            let mut walk = cut;
            while let Some(cut) = walk.checked_sub(1).and_then(|i| cuts.get_mut(i)) {
                if cut.wanted {
                    break;
                }
                cut.wanted = true;
                walk = cut.parent;
            }
        }
        let mut booked = vec![false; cuts.len() + 1];
        for (cut, _) in &bookings {
            booked[*cut] = true;
        }
        let numbers = nested(&mut cuts, &booked, &compiler.names.nodes.graph);
        for (cut, _) in &mut bookings {
            *cut = numbers[*cut];
        }
        let masks = cuts.iter().filter(|cut| cut.wanted);
        let masks = masks.map(|cut| (cut.parent, cut.mask));
        let values = bookings
            .iter()
            .flat_map(|(cut, compiled)| compiled.nodes().into_iter().map(|node| (*cut, node)));
        let lists = bookings
            .iter()
            .flat_map(|(cut, compiled)| compiled.levels().into_iter().map(|level| (*cut, level)));
        let (wanted, lists): (Vec<_>, Vec<_>) = (masks.chain(values).collect(), lists.collect());
        let tree = Cuts::new(cuts.iter().map(|cut| cut.parent));
        let plan = compiler.plan(&wanted, &lists, &tree);
        let shared = share_cells(&mut bookings);
        let multiplies = plan.graph.levels.iter().any(|level| level.kind.expands());
        let columns = plan.fields.iter().map(|field| field.name.clone()).collect();
        let above: Vec<usize> = cuts.iter().map(|cut| cut.parent).collect();
        let mut booked = vec![Vec::new(); cuts.len() + 1];
        for (number, (cut, _)) in bookings.iter().enumerate() {
            if let Some(booked) = booked.get_mut(*cut) {
                booked.push(number);
            }
        }
        let nodes = bookings.iter().filter(|_| multiplies);
        let kept: HashSet<NodeId> = nodes.flat_map(|(_, compiled)| compiled.nodes()).collect();
        let large = bookings.iter();
        let large = large.filter(|(_, compiled)| is_large(compiled.bytes(), bytes));
        let most_events = most_events(kept_values(&cuts, &bookings).max(kept.len()), large.count());
        Ok(Self {
            most_events,
            plan,
            columns,
            visits: visits(&above),
            cuts,
            bookings,
            booked,
            kept,
            shared,
            multiplies,
            bytes,
        })
    }

    /// The columns that are needed, in the order in which they are first needed (filters first).
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The places of `columns` among the fields of the schema that it was compiled against.
    pub fn places(&self) -> &[usize] {
        &self.plan.places
    }

    /// The most events that a batch should have: of thousands of values each takes memory until the batch ends.
    pub fn most_events(&self) -> u64 {
        self.most_events
    }

    /// What it does, in words.
    pub fn explain(&self) -> Explanation {
        let wanted: Vec<&Cut> = self.cuts.iter().filter(|cut| cut.wanted).collect();
        let filters: Vec<NodeId> = wanted.iter().map(|cut| cut.mask).collect();
        let mut explanation = self.plan.explain(&filters);
        for (cut, words) in wanted.iter().zip(&mut explanation.filters) {
            if cut.narrower > 0 {
                *words += &format!(", narrower filters among its events: {}", cut.narrower);
            }
        }
        explanation
    }

    /// An empty partial.
    pub fn partial(&self) -> Partial {
        let accumulators = self
            .bookings
            .iter()
            .map(|(_, compiled)| compiled.accumulator(self.bytes));
        Partial {
            accumulators: accumulators.collect(),
        }
    }

    /// Adds one batch. After an error the partial may hold part of the batch.
    pub fn process(
        &self,
        batch: &mut dyn Columns,
        partial: &mut Partial,
        scratch: &mut Scratch,
    ) -> Result<(), ProcessError> {
        if partial.accumulators.len() != self.bookings.len() {
            return Err(foreign().into());
        }
        let (first, rows) = (batch.first(), batch.rows());
        let _span = tracing::debug_span!("evaluate", first, rows).entered();
        let mut batch = Batch::new(&self.plan, batch, &mut scratch.pool);
        // Ranges of events that are done together, the next one last. Where a range would take too
        // much memory, its halves are done one after the other.
        let mut ranges = vec![(0, rows)];
        while let Some((start, stop)) = ranges.pop() {
            let whole = (start, stop) == (0, rows);
            let known = batch.selections.len();
            let root = if whole { 0 } else { batch.range(start, stop) };
            match self.events(&mut batch, root, partial) {
                Err(ProcessError::TooMany { .. }) if stop - start > 1 => {
                    batch.forget(known);
                    batch.forget_multiplied();
                    let middle = start + (stop - start) / 2;
                    ranges.extend([(middle, stop), (start, middle)]);
                }
                Err(ProcessError::TooMany { message }) => {
                    let message =
                        format!("entry {}: {message}", batch.first_entry() + start as u64);
                    return Err(QueryError::limit(message).into());
                }
                Err(error) => return Err(error),
                Ok(()) => batch.forget(known),
            }
        }
        batch.finish();
        Ok(())
    }

    /// Adds the events of a selection, cut by cut; what is known of a cut's events is given back when all below it is
    /// done. Where values may be too many, all come before all fills, so that what cannot be computed has filled nothing.
    fn events(
        &self,
        batch: &mut Batch,
        root: SelectionId,
        partial: &mut Partial,
    ) -> Result<(), ProcessError> {
        let mut cells = Cells::new(self.shared);
        batch.start(root, self.cuts.len());
        for visit in &self.visits {
            let number = match *visit {
                Visit::Enter(number) => number,
                Visit::Leave(number) => {
                    let above = number.checked_sub(1).and_then(|i| self.cuts.get(i));
                    if let Some(cut) = above {
                        batch.leave(number, cut.parent, &self.kept);
                    }
                    continue;
                }
            };
            let cut = number.checked_sub(1).and_then(|i| self.cuts.get(i));
            if let Some(cut) = cut.filter(|cut| cut.wanted) {
                batch.cut(number, cut.parent, cut.condition())?;
            }
            for booking in self.booked.get(number).into_iter().flatten() {
                match self.multiplies {
                    true => self.values(batch, *booking)?,
                    false => self.fill(batch, *booking, &mut cells, partial)?,
                }
            }
        }
        if self.multiplies {
            for booking in 0..self.bookings.len() {
                self.fill(batch, booking, &mut cells, partial)?;
            }
        }
        Ok(())
    }

    /// Computes what a booking is filled with.
    fn values(&self, batch: &mut Batch, booking: usize) -> Result<(), ProcessError> {
        if let Some((cut, compiled)) = self.bookings.get(booking)
            && let Some(selection) = batch.reached(*cut)
        {
            for node in compiled.nodes() {
                batch.value(selection, node)?;
            }
            for level in compiled.levels() {
                batch.lists(selection, level)?;
            }
        }
        Ok(())
    }

    fn fill(
        &self,
        batch: &mut Batch,
        booking: usize,
        cells: &mut Cells,
        partial: &mut Partial,
    ) -> Result<(), ProcessError> {
        if let Some((cut, compiled)) = self.bookings.get(booking)
            && let Some(to) = partial.accumulators.get_mut(booking)
            && let Some(selection) = batch.reached(*cut)
        {
            compiled.fill(batch, selection, cells, to)?;
        }
        Ok(())
    }
}
