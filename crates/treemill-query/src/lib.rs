//! Typed expressions over columns: masks, columns and histogram fills. Knows columns, never files.
#![forbid(unsafe_code)]

pub mod spec;
