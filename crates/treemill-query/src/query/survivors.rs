//! Which entries of a batch pass a query's filters, computed before all columns are there: a distant file is then asked
//! only for what those entries need. Only what is asked for depends on this, never a result.

use super::Query;
use crate::columns::Columns;
use crate::eval::{Batch, Condition};
use crate::pool::Pool;

/// The entries of a batch that a column is read for: all of them, or those at these places, which ascend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// All rows, or it is not known which.
    All,
    /// Some rows, or none.
    Some(Vec<u32>),
}

impl Query {
    /// The number of the filter after which each of [`Query::columns`] is read; 0: it is read for all entries.
    #[must_use]
    pub fn filters_before(&self) -> &[usize] {
        &self.plan.placement.columns
    }

    /// The entries that pass each filter, by its number. `batch` may refuse columns with any error: then the
    /// filters that need them pass as many entries as those before them.
    #[must_use]
    pub fn survivors(&self, batch: &mut dyn Columns) -> Vec<Rows> {
        let mut pool = Pool::default();
        let mut batch = Batch::new(&self.plan, batch, &mut pool);
        batch.start(0, self.cuts.len());
        let mut found = vec![Rows::All];
        for (number, cut) in (1..).zip(&self.cuts) {
            let condition = Condition {
                is_end: true,
                ..cut.condition()
            };
            let is_known = cut.wanted && batch.cut(number, cut.parent, condition).is_ok();
            if !is_known {
                // Filters below this one are computed from those above it.
                batch.as_above(number, cut.parent);
            }
            let rows = match (is_known, batch.reached(number)) {
                (false, _) => found.get(cut.parent).cloned().unwrap_or(Rows::All),
                (true, None) => Rows::Some(Vec::new()),
                (true, Some(selection)) => {
                    batch.few_places(selection).map_or(Rows::All, Rows::Some)
                }
            };
            found.push(rows);
        }
        found
    }
}
