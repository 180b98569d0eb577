//! Evaluation of one batch: values of nodes, offsets and positions of levels, each made when first
//! wanted and kept until the batch ends, per selection (the events that passed a chain of filters).
//!
//! Nothing here recurses: what cannot be made yet names what it needs first (`Halt::Need`), and a
//! stack of such tasks is worked off (`tasks.rs`). So the depth of a query costs no stack.

mod at;
mod calls;
mod carried;
mod compute;
mod folded;
mod items;
mod kept;
mod kept_sums;
mod level;
mod lookups;
mod missing;
mod offsets;
mod passed;
mod pieces;
mod reduce;
mod references;
mod returned;
mod selection_vectors;
mod tasks;

use crate::columns::Columns;
use crate::compile::{EVENT, LevelId, NodeId, Plan};
use crate::error::{ProcessError, QueryError};
use crate::kernel::pieces::Pieces;
use crate::pool::Pool;
use crate::value::{Buf, Value};
pub(crate) use passed::Condition;
use passed::Passed;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use tasks::{Halt, Made, Task};

/// Number of a selection; 0 is the whole batch.
pub(crate) type SelectionId = usize;

/// Events that passed, and what is known of them.
pub(crate) struct Selection {
    parent: Option<SelectionId>,
    /// Number of events.
    pub events: usize,
    /// Whether other selections take over its values: then it has copies of what it takes over itself.
    is_shared: bool,
    values: HashMap<NodeId, Value>,
    offsets: HashMap<LevelId, Buf<i32>>,
    /// Positions of what levels are made of, by the vector's number.
    selection_vectors: HashMap<(LevelId, u8), Buf<u32>>,
    /// Combinations in pieces.
    pieces: HashMap<LevelId, Arc<Pieces>>,
    /// Positions of single items of lists, and whether there is one.
    places: HashMap<NodeId, (Buf<u32>, Buf<u8>)>,
    /// Positions of the items of one combination of each list, by the level and where the list of
    /// combinations lies; with that list, so that nothing else comes to lie there.
    chosen: HashMap<(LevelId, usize), Chosen>,
    parents: HashMap<LevelId, Buf<u32>>,
    /// Positions of what filters keep of lists, among the lists' items in an outer selection.
    kept: HashMap<LevelId, (SelectionId, Buf<u32>)>,
    /// Positions of a level's items among those of an outer selection.
    items: HashMap<(LevelId, SelectionId), Buf<u32>>,
}

/// A list of combinations, and the positions of each of their items.
type Chosen = (Buf<u32>, Vec<Buf<u32>>);

/// One batch in the course of evaluation.
pub(crate) struct Batch<'a> {
    plan: &'a Plan,
    columns: &'a mut dyn Columns,
    pool: &'a mut Pool,
    pub selections: Vec<Selection>,
    /// Lists of positions seen through lists of positions, by where both lie; with both, so that
    /// nothing else comes to lie there.
    composed: HashMap<(usize, usize), [Buf<u32>; 3]>,
    rows: usize,
    passed: Passed,
}

impl<'a> Batch<'a> {
    pub fn new(plan: &'a Plan, columns: &'a mut dyn Columns, pool: &'a mut Pool) -> Self {
        let rows = columns.rows();
        let mut batch = Self {
            plan,
            columns,
            pool,
            selections: Vec::new(),
            composed: HashMap::new(),
            rows,
            passed: Passed::default(),
        };
        batch.passed.has_whole_lists = batch.has_whole_lists();
        batch.selections.push(Selection::new(None, rows));
        batch
    }

    /// The value of a node for the events of a selection.
    pub fn value(&mut self, selection: SelectionId, node: NodeId) -> Result<Value, ProcessError> {
        self.run(selection, Task::Node(node))?;
        match self.selections[selection].values.get(&node) {
            Some(value) => Ok(value.clone()),
            None => Err(QueryError::mistake("a value was not computed").into()),
        }
    }

    /// The offsets of a level's lists for the events of a selection.
    pub fn lists(
        &mut self,
        selection: SelectionId,
        level: LevelId,
    ) -> Result<Buf<i32>, ProcessError> {
        self.run(selection, Task::Offsets(level))?;
        match self.selections[selection].offsets.get(&level) {
            Some(offsets) => Ok(offsets.clone()),
            None => Err(QueryError::mistake("a list's length was not computed").into()),
        }
    }

    /// A selection of some events of the batch, in a row.
    pub fn range(&mut self, start: usize, stop: usize) -> SelectionId {
        let mut selection = Selection::new(Some(0), stop - start);
        let positions: Vec<u32> = (start as u32..stop as u32).collect();
        selection.items.insert((EVENT, 0), positions.into());
        self.selections.push(selection);
        self.selections.len() - 1
    }

    /// Number of the batch's first entry, for messages.
    pub fn first_entry(&self) -> u64 {
        self.columns.first()
    }

    /// Forgets of the whole batch what lies below levels that multiply items: it is large.
    pub fn forget_multiplied(&mut self) {
        let graph = &self.plan.graph;
        let large = |level: LevelId| {
            let mut walk = vec![level];
            while let Some(level) = walk.pop() {
                let found = graph.level(level);
                if found.kind.expands() {
                    return true;
                }
                walk.extend(found.kind.sources());
                walk.extend((found.parent != level).then_some(found.parent));
            }
            false
        };
        let all = &mut self.selections[0];
        all.values.retain(|id, _| !large(graph.node(*id).level));
        all.offsets.retain(|level, _| !large(*level));
        all.selection_vectors.retain(|(level, _), _| !large(*level));
        all.pieces.retain(|level, _| !large(*level));
        all.parents.retain(|level, _| !large(*level));
    }

    /// Forgets what is known of all selections from one on.
    pub fn forget(&mut self, from: SelectionId) {
        let forgotten = self.selections.split_off(from);
        self.give_back(forgotten);
        self.give_composed();
    }

    /// Gives back what is known of the events of a cut, if these are others than those of the cut `above`. What is asked
    /// for again would be made again. `kept`: nodes whose values stay, if any are asked for later.
    pub fn leave(&mut self, cut: usize, above: usize, kept: &HashSet<NodeId>) {
        let Some(s) = self
            .reached(cut)
            .filter(|s| self.reached(above) != Some(*s))
        else {
            return;
        };
        let Some(selection) = self.selections.get_mut(s) else {
            return;
        };
        let mut stays = Selection::new(selection.parent, selection.events);
        stays.is_shared = selection.is_shared;
        std::mem::swap(selection, &mut stays);
        let mut left = stays;
        for node in kept {
            if let Some(value) = left.values.remove(node) {
                selection.values.insert(*node, value);
            }
        }
        if !kept.is_empty() {
            let events = left.items.extract_if(|(level, _), _| *level == EVENT);
            selection.items.extend(events);
        }
        self.give_back(vec![left]);
        // Lists that nothing else holds are asked for no more.
        let gone = self.composed.extract_if(|_, [first, selection_vector, _]| {
            first.is_last() || selection_vector.is_last()
        });
        for list in gone.flat_map(|(_, lists)| lists) {
            self.pool.give(list);
        }
    }

    /// Gives all buffers back.
    pub fn finish(mut self) {
        let selections = std::mem::take(&mut self.selections);
        self.give_back(selections);
        self.give_composed();
    }

    /// Gives back composed selection vectors: some were looked through once, by no value that is kept.
    fn give_composed(&mut self) {
        for list in std::mem::take(&mut self.composed).into_values().flatten() {
            self.pool.give(list);
        }
    }

    fn give_back(&mut self, selections: Vec<Selection>) {
        for selection in selections {
            for (_, (_, lists)) in selection.chosen {
                for list in lists {
                    self.pool.give(list);
                }
            }
            for (_, (selection_vector, valid)) in selection.places {
                self.pool.give(selection_vector);
                self.pool.give(valid);
            }
            for (_, value) in selection.values {
                self.pool.give_value(value);
            }
            for (_, offsets) in selection.offsets {
                self.pool.give(offsets);
            }
            for (_, list) in selection.parents {
                self.pool.give(list);
            }
            for (_, list) in selection.selection_vectors {
                self.pool.give(list);
            }
            for (_, (_, list)) in selection.kept {
                self.pool.give(list);
            }
            for (_, pieces) in selection.pieces {
                pieces::give(pieces, self.pool);
            }
            for (_, list) in selection.items {
                self.pool.give(list);
            }
        }
    }

    /// Makes something, and before it all that it needs.
    fn run(&mut self, selection: SelectionId, task: Task) -> Result<(), ProcessError> {
        tasks::work_off(selection, task, |s, task| self.attempt(s, task))
    }

    fn attempt(&mut self, s: SelectionId, task: Task) -> Made<()> {
        match task {
            Task::Node(node) => {
                if self.selections[s].values.contains_key(&node) {
                    return Ok(());
                }
                let value = self.compute(s, node)?;
                self.selections[s].values.insert(node, value);
            }
            Task::Offsets(level) => {
                if self.selections[s].offsets.contains_key(&level) {
                    return Ok(());
                }
                let offsets = self.make_offsets(s, level)?;
                self.selections[s].offsets.insert(level, offsets);
            }
            Task::SelectionVector(level, which) => {
                if !self.selections[s]
                    .selection_vectors
                    .contains_key(&(level, which))
                {
                    self.make_selection_vector(s, level, which)?;
                }
            }
            Task::Parents(level) => {
                if self.selections[s].parents.contains_key(&level) {
                    return Ok(());
                }
                let parents = self.make_parents(s, level)?;
                self.selections[s].parents.insert(level, parents);
            }
            Task::Items(level, from) => {
                if self.selections[s].items.contains_key(&(level, from)) {
                    return Ok(());
                }
                let items = self.make_items(s, level, from)?;
                self.selections[s].items.insert((level, from), items);
            }
        }
        Ok(())
    }

    // What is there already, or the need for it.

    fn node(&self, s: SelectionId, node: NodeId) -> Made<Value> {
        match self.selections[s].values.get(&node) {
            Some(value) => Ok(value.clone()),
            None => Err(Halt::Need(s, Task::Node(node))),
        }
    }

    fn offsets(&self, s: SelectionId, level: LevelId) -> Made<Buf<i32>> {
        match self.selections[s].offsets.get(&level) {
            Some(offsets) => Ok(offsets.clone()),
            None => Err(Halt::Need(s, Task::Offsets(level))),
        }
    }

    fn selection_vector(&self, s: SelectionId, level: LevelId, which: u8) -> Made<Buf<u32>> {
        match self.selections[s].selection_vectors.get(&(level, which)) {
            Some(selection_vector) => Ok(selection_vector.clone()),
            None => Err(Halt::Need(s, Task::SelectionVector(level, which))),
        }
    }

    fn parents(&self, s: SelectionId, level: LevelId) -> Made<Buf<u32>> {
        match self.selections[s].parents.get(&level) {
            Some(parents) => Ok(parents.clone()),
            None => Err(Halt::Need(s, Task::Parents(level))),
        }
    }

    fn items(&self, s: SelectionId, level: LevelId, from: SelectionId) -> Made<Buf<u32>> {
        match self.selections[s].items.get(&(level, from)) {
            Some(items) => Ok(items.clone()),
            None => Err(Halt::Need(s, Task::Items(level, from))),
        }
    }
}

impl Selection {
    fn new(parent: Option<SelectionId>, events: usize) -> Self {
        Self {
            parent,
            events,
            is_shared: false,
            values: HashMap::new(),
            offsets: HashMap::new(),
            selection_vectors: HashMap::new(),
            pieces: HashMap::new(),
            places: HashMap::new(),
            chosen: HashMap::new(),
            parents: HashMap::new(),
            kept: HashMap::new(),
            items: HashMap::new(),
        }
    }
}
