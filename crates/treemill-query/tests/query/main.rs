//! What queries compute, in one program: a program for each file would be linked for each. `folded` counts memory
//! and is one by itself.
#![allow(clippy::restriction)]

mod axes;
mod combinations;
mod common;
mod deep_lists;
mod engine;
mod expressions;
mod forms;
mod functions;
mod fusions;
mod hoisted;
mod kept;
mod language;
mod nested;
mod queries;
mod random;
mod reference;
mod references;
mod refused;
mod returned;
mod shared;
mod spans;
mod steps;
mod together;
mod vectors;
