//! The columns of a query in one batch of a packet, each from its origin: the reader, a member of what
//! the reader gives, a provider. Knows no expressions.

use crate::error::{Cause, EngineError};
use crate::members::member;
use crate::origin::{Origin, Origins};
use crate::provided::{Block, Foreign, Provider};
use arrow_array::{ArrayRef, UInt32Array};
use arrow_select::take::take;
use treemill_query::Columns;
use treemill_read::{Batch, ErrorKind, Table};

/// What providers have given for a packet, for its batches to come.
pub(crate) struct Blocks {
    /// Blocks by the query's columns.
    foreign: Vec<Block>,
    /// Blocks by the reader's columns, as far as one was needed.
    rescued: Vec<Block>,
}

impl Blocks {
    /// A packet of the first `columns` of a query.
    pub(crate) fn new(columns: usize) -> Self {
        let mut foreign = Vec::new();
        foreign.resize_with(columns, Block::default);
        Self {
            foreign,
            rescued: Vec::new(),
        }
    }

    /// The block of a reader's column.
    fn rescued(&mut self, branch: usize) -> Option<&mut Block> {
        if self.rescued.len() <= branch {
            self.rescued
                .resize_with(branch.saturating_add(1), Block::default);
        }
        self.rescued.get_mut(branch)
    }
}

/// A batch of the reader, and the foreign columns beside it, as the query's columns.
pub(crate) struct PacketColumns<'a> {
    pub(crate) batch: Batch<'a>,
    pub(crate) table: &'a Table,
    pub(crate) foreign: Option<&'a Foreign>,
    pub(crate) rescue: Option<&'a dyn Provider>,
    pub(crate) origins: &'a Origins,
    pub(crate) blocks: &'a mut Blocks,
    /// The entry before which the packet ends.
    pub(crate) stop: u64,
    /// Which of the query's columns are given; the others are refused. `None`: all are given.
    pub(crate) early: Option<&'a [bool]>,
}

impl PacketColumns<'_> {
    /// A branch of the tree, all of the batch or some rows; one that turns out to be unsupported comes
    /// from the rescue.
    fn own(&mut self, branch: usize, rows: Option<&[u32]>) -> Result<ArrayRef, EngineError> {
        let found = match rows {
            None => self.batch.column(branch),
            Some(rows) => self.batch.column_at(branch, rows),
        };
        let error = match found {
            Ok(array) => return Ok(array),
            Err(error) => error,
        };
        let index = self.origins.branches.get(branch).copied();
        let (Some(index), Some(rescue), Table::Tree(file), ErrorKind::Unsupported) =
            (index, self.rescue, self.table, error.kind)
        else {
            return Err(error.into());
        };
        let Some(block) = self.blocks.rescued(branch) else {
            return Err(error.into());
        };
        let entries = self.batch.entries();
        let array = block.read(rescue, &file.path(index), entries, self.stop)?;
        let Some(rows) = rows else {
            return Ok(array);
        };
        take(&array, &UInt32Array::from(rows.to_vec()), None)
            .map_err(|e| EngineError::Misfit(e.to_string()))
    }

    fn any(&mut self, index: usize) -> Result<ArrayRef, EngineError> {
        let is_early = |early: &[bool]| early.get(index).copied().unwrap_or(false);
        if !self.early.is_none_or(is_early) {
            return Err(EngineError::Misfit(format!("column {index} comes later")));
        }
        let missing = |what: &str| EngineError::Misfit(format!("column {index} {what}"));
        match self.origins.columns.get(index) {
            Some(Origin::Own(branch, path)) => {
                let array = self.own(*branch, None)?;
                member(&array, path).ok_or_else(|| missing("is no record"))
            }
            Some(&Origin::Foreign(column)) => {
                let (Some(foreign), Some(block)) =
                    (self.foreign, self.blocks.foreign.get_mut(index))
                else {
                    return Err(missing("has no provider"));
                };
                foreign.read(column, block, self.batch.entries(), self.stop)
            }
            None => Err(missing("is none of the query's")),
        }
    }
}

impl Columns for PacketColumns<'_> {
    fn rows(&self) -> usize {
        self.batch.rows()
    }

    fn first(&self) -> u64 {
        self.batch.entries().start
    }

    fn column(&mut self, index: usize) -> Result<ArrayRef, Cause> {
        Ok(self.any(index)?)
    }

    fn can_select(&self, index: usize) -> bool {
        // Members of one record are read together, for all entries. What comes early is read for all entries.
        self.early.is_none()
            && matches!(
                self.origins.columns.get(index),
                Some(Origin::Own(_, path)) if path.is_empty()
            )
    }

    fn column_at(&mut self, index: usize, rows: &[u32]) -> Result<ArrayRef, Cause> {
        match self.origins.columns.get(index) {
            Some(Origin::Own(branch, path)) if path.is_empty() => {
                Ok(self.own(*branch, Some(rows))?)
            }
            _ => Err(format!("column {index} comes for whole batches").into()),
        }
    }
}
