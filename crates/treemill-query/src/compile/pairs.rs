//! Finds in a program's steps functions of one argument that cost little more together than one of them:
//! its sine and its cosine. Nothing depends on it but speed.

use super::program::{Argument, Program, Work};
use crate::kernel::{Map, Real1, trig};

/// Has sine and cosine of one argument made by one step. `maps` are the steps' operations, and arguments
/// name steps by their numbers: registers have not been given yet.
pub(super) fn pair(program: &mut Program, maps: &[Map]) {
    let turned = |map: &Map| matches!(map, Map::Real1(Real1::Sin | Real1::Cos));
    for first in 0..maps.len() {
        if !turned(&maps[first]) {
            continue;
        }
        let argument: Vec<Argument> = program.steps[first].arguments.clone();
        let second = (first + 1..maps.len()).find(|second| {
            turned(&maps[*second])
                && maps[*second] != maps[first]
                && program.steps[*second].arguments == argument
        });
        let Some(second) = second else { continue };
        program.steps[first].work = Work::Pair(match maps[first] {
            Map::Real1(Real1::Sin) => trig::sin_cos,
            _ => |a, cos, sin| trig::sin_cos(a, sin, cos),
        });
        program.steps[first].twins = vec![second];
        program.steps[second].work = Work::Twin;
        program.steps[second].arguments.clear();
    }
}
