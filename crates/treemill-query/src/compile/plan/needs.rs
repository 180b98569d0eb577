//! What a query's nodes and levels need: other nodes, offsets of levels, columns. Knows no cuts and no programs' steps.

use crate::compile::graph::Want;
use crate::compile::graph::fast_maps::FastSet;
use crate::compile::plan::program::Program;
use crate::compile::{LevelId, LevelKind, NodeId, Op, Resolver};
use crate::schema::ColumnType;
use std::collections::HashMap;

/// Columns that tell a level's offsets, as indices into `fields`.
#[derive(Debug, Clone, Default)]
pub(crate) struct OffsetColumns {
    /// The counter.
    pub counter: Option<usize>,
    /// List columns.
    pub members: Vec<usize>,
}

/// Finds the columns that are needed, in the order in which evaluation first asks for them.
pub(in crate::compile) struct Needs<'a, 'b> {
    pub names: &'a Resolver<'b>,
    pub columns: Vec<usize>,
    pub column_of: HashMap<usize, usize>,
    pub sources: HashMap<LevelId, OffsetColumns>,
    pub seen: FastSet<Want>,
}

impl<'a, 'b> Needs<'a, 'b> {
    /// Nothing is needed yet.
    pub fn new(names: &'a Resolver<'b>) -> Self {
        Self {
            names,
            columns: Vec::new(),
            column_of: HashMap::new(),
            sources: HashMap::new(),
            seen: FastSet::default(),
        }
    }

    pub fn is_live(&self, id: NodeId) -> bool {
        self.seen.contains(&Want::Node(id))
    }

    /// Notes what is needed for it, and the columns in order. Depth first, without recursion: a query's depth is not bounded by its expressions' alone.
    pub fn want(&mut self, want: Want) {
        let mut stack = vec![(want, false)];
        while let Some((want, inputs_done)) = stack.pop() {
            if inputs_done {
                self.note(want);
                continue;
            }
            if !self.seen.insert(want) {
                continue;
            }
            stack.push((want, true));
            let mut before = self.before(want);
            before.reverse();
            stack.extend(before.into_iter().map(|want| (want, false)));
        }
    }

    /// The nodes that get values of their own: others are steps of these.
    pub fn evaluated(
        &self,
        programs: &HashMap<NodeId, Program>,
        wanted: &[(usize, Want)],
    ) -> FastSet<NodeId> {
        let mut seen: FastSet<Want> = FastSet::default();
        let mut stack: Vec<Want> = wanted.iter().map(|(_, want)| *want).collect();
        while let Some(want) = stack.pop() {
            if !seen.insert(want) {
                continue;
            }
            match want {
                Want::Node(id) if programs.contains_key(&id) => {
                    let program = &programs[&id];
                    stack.extend(program.leaves.iter().map(|leaf| Want::Node(leaf.node)));
                    stack.extend(program.tuples.map(Want::Offsets));
                    stack.push(Want::Offsets(self.names.nodes.graph.node(id).level));
                }
                _ => stack.extend(self.before(want)),
            }
        }
        let nodes = seen.into_iter().filter_map(|want| match want {
            Want::Node(id) => Some(id),
            Want::Offsets(_) => None,
        });
        nodes.collect()
    }

    /// What is needed before.
    pub fn before(&self, want: Want) -> Vec<Want> {
        let graph = &self.names.nodes.graph;
        match want {
            Want::Node(id) => {
                let node = graph.node(id);
                // Repeated values come last: by then a column of the level has told its offsets.
                let is_spread = |id: &NodeId| matches!(graph.node(*id).op, Op::Spread);
                let inputs = |spread: bool| {
                    let all = node.inputs.iter().filter(move |id| is_spread(id) == spread);
                    all.copied().map(Want::Node)
                };
                let mut wants = Vec::with_capacity(node.inputs.len() + 2);
                wants.extend(inputs(false).chain(inputs(true)));
                match &node.op {
                    Op::Len(level) => wants.push(Want::Offsets(*level)),
                    Op::Spread | Op::Take(_) | Op::Position | Op::Row | Op::Cycle(_) => {
                        wants.extend(graph.level(node.level).kind.node().map(Want::Node));
                        wants.push(Want::Offsets(node.level));
                    }
                    Op::Align | Op::Reduce(_) | Op::At { .. } | Op::Identified => {
                        if let Some(input) = node.inputs.first() {
                            wants.push(Want::Offsets(graph.node(*input).level));
                        }
                        if node.op == Op::Align {
                            wants.push(Want::Offsets(node.level));
                        }
                    }
                    // Lists that are given whole are known by their offsets, too.
                    Op::Returned { .. } => {
                        let levels = node.inputs.iter().map(|input| graph.node(*input).level);
                        wants.extend(levels.map(Want::Offsets));
                    }
                    Op::Concat | Op::Ancestor | Op::RunningSum => {
                        wants.push(Want::Offsets(node.level))
                    }
                    _ => (),
                }
                wants
            }
            Want::Offsets(level) => {
                let found = graph.level(level);
                let mut wants: Vec<Want> = found.kind.node().map(Want::Node).into_iter().collect();
                wants.extend(found.kind.sources().iter().copied().map(Want::Offsets));
                // Items of columns need nothing else.
                if !matches!(found.kind, LevelKind::Event | LevelKind::Items { .. }) {
                    wants.push(Want::Offsets(found.parent));
                }
                wants
            }
        }
    }

    /// Notes its own column, once all that it needs is noted.
    fn note(&mut self, want: Want) {
        match want {
            Want::Node(id) => {
                let node = self.names.nodes.graph.node(id);
                if let Op::Column(column) = node.op {
                    let index = self.add(column);
                    let graph = &self.names.nodes.graph;
                    let level = graph.root(node.level);
                    if matches!(graph.level(level).kind, LevelKind::Items { .. }) {
                        let source = self.sources.entry(level).or_default();
                        if !source.members.contains(&index) {
                            source.members.push(index);
                        }
                    }
                }
            }
            Want::Offsets(level) => self.source(level),
        }
    }

    fn source(&mut self, level: LevelId) {
        let (counter, column) = match &self.names.nodes.graph.level(level).kind {
            LevelKind::Items { counter, column } => (counter, column),
            LevelKind::Inner { column } => {
                self.add(*column);
                return;
            }
            _ => return,
        };
        if self
            .sources
            .get(&level)
            .is_some_and(|source| !source.members.is_empty())
        {
            return;
        }
        // Counters are small; where there is none, the items must be read.
        let counter = counter.as_ref().and_then(|name| {
            let index = self.names.by_name.get(name.as_str()).copied()?;
            let field = self.names.nodes.schema.fields.get(index)?;
            let is_count =
                matches!(&field.column_type, ColumnType::Scalar(item) if item.is_integer());
            is_count.then_some(index)
        });
        match counter {
            Some(counter) => {
                let index = self.add(counter);
                self.sources.entry(level).or_default().counter = Some(index);
            }
            None => {
                let index = self.add(*column);
                self.sources.entry(level).or_default().members.push(index);
            }
        }
    }

    /// The column's number among those needed.
    fn add(&mut self, column: usize) -> usize {
        *self.column_of.entry(column).or_insert_with(|| {
            self.columns.push(column);
            self.columns.len() - 1
        })
    }
}
