//! Columns of a batch, and the offsets of their lists.

use super::tasks::{Halt, Made};
use super::{Batch, SelectionId};
use crate::compile::{EVENT, LevelId, NodeId};
use crate::error::{ProcessError, QueryError};
use crate::load::load;
use crate::value::{Buf, Value};

impl Batch<'_> {
    /// A column of the selection for which it is read.
    pub(super) fn load_column(&mut self, s: SelectionId, column: usize) -> Made<Value> {
        let plan = self.plan;
        let field = &plan.fields[column];
        let array = if s == 0 {
            self.columns.column(column)
        } else {
            let rows = self.items(s, EVENT, 0)?;
            self.columns.column_at(column, &rows)
        };
        let array = array.map_err(|error| Halt::Error(ProcessError::Column(error)))?;
        let loaded = load(&array, field, self.selections[s].events)
            .map_err(|what| QueryError::data(format!("the column {}: {what}", field.name)))?;
        if let Some(node) = plan.node_of(column) {
            let levels = plan.graph.inner(plan.graph.node(node).level);
            for (level, inner) in levels.zip(loaded.inner.into_iter().rev()) {
                self.selections[s].offsets.insert(level, inner);
            }
        }
        if let Some(offsets) = loaded.offsets {
            let level = plan.level_of(column);
            let known = level.and_then(|level| self.selections[s].offsets.get(&level));
            match (level, known) {
                (Some(_), Some(known)) if !same(known, &offsets) => {
                    let message = format!(
                        "the column {} has lists of other lengths than the columns beside it",
                        field.name
                    );
                    return Err(QueryError::data(message).into());
                }
                (Some(level), None) => {
                    self.selections[s].offsets.insert(level, offsets);
                }
                _ => (),
            }
        }
        Ok(loaded.value)
    }

    /// Number of positions of a level.
    pub(super) fn positions(&mut self, s: SelectionId, level: LevelId) -> Made<usize> {
        if level == EVENT {
            return Ok(self.selections[s].events);
        }
        let offsets = self.offsets(s, level)?;
        Ok(offsets.last().map_or(0, |last| *last as usize))
    }
}

impl super::Plan {
    /// The level of a list column, if the query has one for it.
    fn level_of(&self, column: usize) -> Option<LevelId> {
        self.sources
            .iter()
            .find(|(_, source)| source.members.contains(&column))
            .map(|(level, _)| *level)
    }

    /// A level in words.
    pub(super) fn describe(&self, level: LevelId) -> &str {
        let name = self.level_names.get(level as usize);
        name.map_or("some lists", String::as_str)
    }

    /// The node that stands for a column, if expressions use it.
    pub(super) fn node_of(&self, column: usize) -> Option<NodeId> {
        self.column_nodes.get(&column).copied()
    }
}

pub(super) fn same(a: &Buf<i32>, b: &Buf<i32>) -> bool {
    if let (Buf::Column(a), Buf::Column(b)) = (a, b)
        && a.inner().as_ptr() == b.inner().as_ptr()
        && a.len() == b.len()
    {
        return true;
    }
    a[..] == b[..]
}
