//! A slow evaluator, and random expressions for it and the engine.

pub mod evaluate;
pub mod expressions;
mod lists;
mod numbers;
