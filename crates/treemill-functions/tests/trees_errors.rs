//! Errors say their kind, and what they come from.
#![allow(clippy::unwrap_used)]

use std::error::Error;
use treemill_functions::trees::{Model, Output};
use treemill_functions::{EvaluationErrorKind, LoadErrorKind};

const MODEL: &[u8] = b"tree
version=v4
num_class=1
num_tree_per_iteration=1
max_feature_idx=0
objective=regression
feature_names=x

Tree=0
num_leaves=2
num_cat=0
split_feature=0
threshold=30
decision_type=2
left_child=-1
right_child=-2
leaf_value=-0.5 0.5

end of trees";

const UNTRAINED: &[u8] = br#"{"learner": {
    "feature_names": ["x"], "feature_types": ["float"],
    "gradient_booster": {"name": "gbtree", "model": {"tree_info": [], "trees": []}},
    "learner_model_param": {"base_score": "5E-1", "num_class": "0", "num_feature": "1", "num_target": "1"},
    "objective": {"name": "binary:logistic"}
}, "version": [2, 1, 0]}"#;

#[test]
fn files_are_broken_or_of_kinds_that_are_not_supported() {
    let broken = Model::from_xgboost(b"{").unwrap_err();
    assert_eq!(broken.kind, LoadErrorKind::Malformed);
    assert!(broken.source().is_some_and(|e| e.is::<serde_json::Error>()));
    let unknown = Model::from_lightgbm(b"tree\nversion=v9\n").unwrap_err();
    assert_eq!(unknown.kind, LoadErrorKind::Unsupported);
    assert!(unknown.source().is_none());
    let untrained = Model::from_xgboost(UNTRAINED).unwrap_err();
    assert_eq!(untrained.kind, LoadErrorKind::Unsupported, "{untrained}");
    let no_text = Model::from_lightgbm(b"\xff").unwrap_err();
    assert!(
        no_text
            .source()
            .is_some_and(|e| e.is::<std::str::Utf8Error>())
    );
}

#[test]
fn arguments_or_the_output_do_not_fit() {
    let model = Model::from_lightgbm(MODEL).unwrap();
    let refused = |arguments: &[&[f64]], number| {
        let output = Output { number, raw: true };
        model
            .evaluate(arguments, output, &mut [0.0])
            .unwrap_err()
            .kind
    };
    assert_eq!(refused(&[], 0), EvaluationErrorKind::Arguments);
    assert_eq!(refused(&[&[1.0]], 1), EvaluationErrorKind::Output);
}
