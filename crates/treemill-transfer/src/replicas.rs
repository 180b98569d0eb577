//! Several sources of one file as one source: two are read from at once, each as much as it is good for; the others stand
//! in when one fails, is late or gets worse. `state.rs` decides, on scripted time; `core.rs` does. Knows no protocol
//! and no file format.
//!
//! Pure, beside `state.rs`: `quality.rs` (how good each is), `members.rs` (which are read from), `search.rs` (when more are
//! looked for), `queue.rs`, `pace.rs` and `share.rs` (which takes how much of what waits), `agreement.rs` (whether they have
//! the same file). `source.rs` (a `Source`), `opening.rs` and `whole.rs` drive, with `core.rs`.

mod agreement;
mod core;
mod limits;
mod members;
mod opening;
mod pace;
mod quality;
mod queue;
mod random;
mod search;
mod share;
mod source;
mod state;

pub use crate::replicas::core::Warn;
pub use crate::replicas::opening::{Finder, Opener};
pub use crate::replicas::source::Replicas;
