//! The port through which a query reads data: the columns of a batch, each when it is needed. The crate's one port;
//! implementations know files, the crate does not.

use arrow_array::ArrayRef;
use std::error::Error;

/// One batch of entries, whose columns are made when they are asked for.
pub trait Columns {
    /// Entries of the batch.
    fn rows(&self) -> usize;
    /// Number of the first entry in its file, for messages.
    fn first(&self) -> u64 {
        0
    }
    /// The column `Query::columns()[index]`, `rows()` long, of the type that the schema said; bools may
    /// also come as bytes, 0 or 1.
    fn column(&mut self, index: usize) -> Result<ArrayRef, Box<dyn Error + Send + Sync>>;
    /// Whether `column_at` can be asked for this column, in all batches alike.
    fn can_select(&self, _index: usize) -> bool {
        false
    }
    /// The column's entries at `rows` only, which ascend.
    fn column_at(
        &mut self,
        index: usize,
        _rows: &[u32],
    ) -> Result<ArrayRef, Box<dyn Error + Send + Sync>> {
        Err(format!("column {index} comes for whole batches").into())
    }
}
