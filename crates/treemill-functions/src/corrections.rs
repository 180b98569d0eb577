//! Corrections of correctionlib's schema, version 2: JSON text → trees of nodes → values, row by row over
//! columns. Knows no file, no expression and no thread.
//!
//! `json.rs` and `number.rs` read texts (to the bit), `reading/` makes nodes of JSON; `node.rs` gives a row's value and
//! `batch.rs` many rows'; `specialise.rs` works out what constants decide; `formula/`, `random.rs` and `compound.rs` are kinds
//! of corrections.
//!
//! ```
//! use treemill_functions::corrections::{Argument, CorrectionSet};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let set = CorrectionSet::parse(br#"{"schema_version": 2, "corrections": [{
//!     "name": "sf", "version": 1,
//!     "inputs": [{"name": "pt", "type": "real"}, {"name": "syst", "type": "string"}],
//!     "output": {"name": "weight", "type": "real"},
//!     "data": {"nodetype": "category", "input": "syst", "content": [
//!         {"key": "nominal", "value": {"nodetype": "binning", "input": "pt",
//!          "edges": [0.0, 20.0, 40.0], "content": [0.9, 1.1], "flow": "clamp"}}]}
//! }]}"#)?;
//! let sf = &set.corrections()["sf"];
//! let mut weights = [0.0; 3];
//! sf.evaluate(&[Argument::Real(&[10.0, 30.0, 99.0]), Argument::Text(&[b"nominal"])], &mut weights)?;
//! assert_eq!(weights, [0.9, 1.1, 1.1]);
//! # Ok(())
//! # }
//! ```

mod batch;
mod bins;
mod compound;
mod correction;
mod formula;
mod json;
mod node;
mod number;
mod random;
mod reading;
mod set;
mod specialise;
mod variable;

pub use correction::Correction;
pub use set::CorrectionSet;
pub use variable::{Argument, Constant, Kind, Variable};
