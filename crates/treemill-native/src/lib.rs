//! All `unsafe` of what users run but for one call (`own_functions.rs` of treemill-py), in functions that are safe to call: each
//! checks what it relies on, or its caller vouches for it ([`kernels::Compiled::at`]). One crate, so that one page tells an
//! auditor what to read; the crates that parse forbid `unsafe`. Knows nothing of what its modules are used for, and they do not know
//! one another.

pub mod allocator;
pub mod cmath;
pub mod kernels;
pub mod offsets;
