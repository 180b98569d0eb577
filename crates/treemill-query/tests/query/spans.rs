//! Spans of the work that tracing shows: batches that are evaluated, partials that are merged.

use crate::common::Steps;
use crate::common::events::events;
use treemill_testing::spans_of;

#[test]
fn batches_and_merges_have_spans() {
    let query = Steps::new().count().compile(&events()).unwrap();
    let ((), seen) = spans_of(|| {
        Steps::new().count().run_in(&events(), 3);
        query.partial().merge(&query.partial()).unwrap();
    });
    // `run_in` goes through the batches twice.
    let batches = 2 * events().rows().div_ceil(3);
    let mut expected = vec!["evaluate"; batches];
    expected.push("commit");
    assert_eq!(seen, expected);
}
