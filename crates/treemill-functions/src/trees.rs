//! Boosted trees of XGBoost (JSON) and LightGBM (text): bytes → trees that were checked → numbers, many rows at once, with
//! the bits of the libraries' own predictions. Knows no file, no expression and no thread.
//!
//! `xgboost.rs` and `lightgbm.rs` read files into `tree.rs`, which no circle gets into; `arguments.rs` has the values of rows,
//! or the few that rows share; `columns.rs` makes ranks among thresholds of them, `forest.rs` takes rows side by side through
//! all trees, and `transform.rs` is the table of objectives.
//!
//! ```
//! use treemill_functions::trees::{Model, Output};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let model = Model::from_lightgbm(b"tree
//! version=v4
//! num_class=1
//! num_tree_per_iteration=1
//! max_feature_idx=0
//! objective=binary sigmoid:1
//! feature_names=MET_pt
//!
//! Tree=0
//! num_leaves=2
//! num_cat=0
//! split_feature=0
//! threshold=30
//! decision_type=2
//! left_child=-1
//! right_child=-2
//! leaf_value=-0.5 0.5
//!
//! end of trees")?;
//! let (met, mut sums) = ([20.0, 30.0, 40.0], [0.0; 3]);
//! model.evaluate(&[&met], Output { number: 0, raw: true }, &mut sums)?;
//! assert_eq!(sums, [-0.5, -0.5, 0.5]);
//! # Ok(())
//! # }
//! ```

mod arguments;
mod columns;
mod forest;
mod leaves;
mod lightgbm;
mod model;
mod rank;
mod real;
mod thresholds;
mod transform;
mod tree;
mod xgboost;

pub use arguments::Argument;
pub use model::{Model, Output};
