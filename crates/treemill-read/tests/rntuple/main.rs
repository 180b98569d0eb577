//! Tests of reading RNTuples: small ones written here from the specification, damaged ones, and those of the
//! corpus.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod corpus;
mod damage;
mod samples;
mod synthetic;
mod values;
mod writer;

#[global_allocator]
static ALLOCATOR: treemill_testing::Counting = treemill_testing::Counting;
