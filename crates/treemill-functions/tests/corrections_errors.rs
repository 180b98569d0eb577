//! Errors say their kind, and what they come from.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::error::Error;
use treemill_functions::corrections::{Argument, CorrectionSet};
use treemill_functions::{EvaluationErrorKind, LoadErrorKind};

fn document(content: &str) -> String {
    format!(
        r#"{{"schema_version": 2, "corrections": [{{"name": "a", "version": 1,
        "inputs": [{{"name": "x", "type": "real"}}], "output": {{"name": "y", "type": "real"}},
        "data": {content}}}]}}"#
    )
}

#[test]
fn documents_are_broken_or_of_kinds_that_are_not_supported() {
    let broken = CorrectionSet::parse(b"{\"\xff\": 1}").unwrap_err();
    assert_eq!(broken.kind, LoadErrorKind::Malformed);
    let source = broken.source().unwrap();
    assert!(source.is::<std::string::FromUtf8Error>(), "{source}");
    let network = document(r#"{"nodetype": "lwtnn"}"#);
    let unknown = CorrectionSet::parse(network.as_bytes()).unwrap_err();
    assert_eq!(unknown.kind, LoadErrorKind::Unsupported);
}

#[test]
fn arguments_or_values_do_not_fit() {
    let bins = document(
        r#"{"nodetype": "binning", "input": "x", "edges": [0.0, 1.0], "content": [2.0], "flow": "error"}"#,
    );
    let set = CorrectionSet::parse(bins.as_bytes()).unwrap();
    let refused = |arguments: &[Argument<'_>]| {
        set.corrections()["a"]
            .evaluate(arguments, &mut [0.0])
            .unwrap_err()
            .kind
    };
    assert_eq!(refused(&[]), EvaluationErrorKind::Arguments);
    assert_eq!(
        refused(&[Argument::Integer(&[1])]),
        EvaluationErrorKind::Arguments
    );
    assert_eq!(
        refused(&[Argument::Real(&[7.0])]),
        EvaluationErrorKind::Values
    );
}
