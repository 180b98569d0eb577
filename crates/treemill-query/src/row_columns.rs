//! Columns of rows: expressions, and the values of a batch that are kept.

use crate::compile::{Compiler, EVENT, LevelId, LevelKind, NodeId};
use crate::error::{ProcessError, QueryError};
use crate::eval::{Batch, SelectionId};
use crate::partial::foreign;
use crate::rows::{Column, Rows};
use crate::schema::DType;
use crate::spec::NamedExpression;

/// A column of rows.
pub(crate) struct RowColumn {
    name: String,
    pub node: NodeId,
    /// The levels of its lists, outermost first.
    pub levels: Vec<LevelId>,
    /// How long lists of these levels always are, where they are.
    fixed: Vec<Option<u32>>,
    /// Type of its numbers; `None`: strings.
    stored: Option<DType>,
    missing: bool,
}

impl RowColumn {
    /// Error: what is wrong with the expression.
    pub fn compile(
        column: &NamedExpression,
        compiler: &mut Compiler,
        scope: Option<usize>,
    ) -> Result<Self, QueryError> {
        let node = match column.found {
            true => compiler.found(&column.expr, scope)?,
            false => compiler.expression(&column.expr, scope)?,
        };
        let stored = compiler.names.nodes.stored_type(node);
        let graph = &compiler.names.nodes.graph;
        let mut levels = Vec::new();
        let mut walk = graph.node(node).level;
        while walk != EVENT {
            levels.push(walk);
            walk = graph.parent(walk);
        }
        levels.reverse();
        let fixed = levels.iter().map(|level| match graph.level(*level).kind {
            LevelKind::Fixed(len) => Some(len),
            _ => None,
        });
        Ok(Self {
            name: column.name.clone(),
            node,
            fixed: fixed.collect(),
            levels,
            stored,
            missing: graph.node(node).missing,
        })
    }

    /// A column of the same kind, without rows.
    pub fn empty(&self) -> Column {
        let lists = (self.fixed.clone(), self.levels.first().copied());
        Column::new(&self.name, self.stored, lists, self.missing)
    }
}

/// Adds the rows of a selection's events.
pub(crate) fn add_rows(
    columns: &[RowColumn],
    batch: &mut Batch,
    selection: SelectionId,
    rows: &mut Rows,
) -> Result<(), ProcessError> {
    if columns.len() != rows.columns.len() {
        return Err(foreign().into());
    }
    let events = batch.selections[selection].events;
    for (column, to) in columns.iter().zip(&mut rows.columns) {
        let value = batch.value(selection, column.node)?;
        let mut lists = Vec::with_capacity(column.levels.len());
        for level in &column.levels {
            lists.push(batch.lists(selection, *level)?);
        }
        let mut n = events;
        for offsets in &lists {
            if offsets.len() != n + 1 {
                return Err(QueryError::data("lists of different lengths met").into());
            }
            n = offsets.last().map_or(0, |last| *last as usize);
        }
        if !value.is_scalar() && value.len() != n {
            return Err(QueryError::data("values of different lengths met").into());
        }
        let lists: Vec<&[i32]> = lists.iter().map(|offsets| &offsets[..]).collect();
        to.add(&value, &lists, n);
    }
    rows.rows += events as u64;
    Ok(())
}
