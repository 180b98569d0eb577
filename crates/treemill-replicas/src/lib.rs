//! Several sources of one file as one source: two are read from at once, each as much as it is good for; the others stand
//! in when one fails, is late or gets worse. `state.rs` decides, on scripted time; `core.rs` does. Knows no protocol
//! and no file format.
#![forbid(unsafe_code)]

mod agreement;
mod core;
mod limits;
mod members;
mod opening;
mod pace;
mod quality;
mod queue;
mod random;
mod replicas;
mod search;
mod share;
mod state;
mod whole;

pub use crate::core::Warn;
pub use crate::opening::{Finder, Opener};
pub use crate::replicas::Replicas;
