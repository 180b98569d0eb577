//! A compiled query: steps and bookings over batches of columns.

use crate::error::{ProcessError, QueryError};
use crate::partial::Partial;
use crate::schema::Schema;
use crate::spec::Spec;
use arrow_array::ArrayRef;
use std::error::Error;

/// One batch of entries, whose columns are made when they are asked for.
pub trait Columns {
    /// Entries of the batch.
    fn rows(&self) -> usize;
    /// The column `Query::columns()[index]`, `rows()` long, of the type that the schema said.
    fn column(&mut self, index: usize) -> Result<ArrayRef, Box<dyn Error + Send + Sync>>;
}

/// Buffers that are reused from batch to batch; one per thread.
#[derive(Default)]
pub struct Scratch {}

/// A query compiled against a schema; shared by threads.
pub struct Query {
    columns: Vec<String>,
}

impl Query {
    /// Resolves names and types, merges equal subexpressions. Error: what is wrong, and where.
    pub fn compile(spec: &Spec, schema: &Schema) -> Result<Self, QueryError> {
        let _ = (spec, schema);
        Ok(Self {
            columns: Vec::new(),
        })
    }

    /// The columns that are needed, in the order in which they are first needed (filters first).
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// An empty partial.
    pub fn partial(&self) -> Partial {
        Partial {}
    }

    /// Adds one batch.
    pub fn process(
        &self,
        batch: &mut dyn Columns,
        partial: &mut Partial,
        scratch: &mut Scratch,
    ) -> Result<(), ProcessError> {
        let _ = (batch, partial, scratch);
        Ok(())
    }
}
