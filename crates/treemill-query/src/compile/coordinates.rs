//! Finds in a program's steps the four coordinates px, py, pz and energy of a vector that is stored as
//! pt, eta, phi and mass, as `vectors` writes them, and has them made by one step. Nothing depends on it
//! but speed.

use super::Graph;
use super::program::{Argument, Program, Work};
use crate::kernel::{Arithmetic, Map, Real1, Real2};

const SQUARE: Map = Map::Real1(Real1::Square);
const ADD: Map = Map::Real(Arithmetic::Add);
const MUL: Map = Map::Real(Arithmetic::Mul);

/// Steps and what they do, before registers are given.
struct Steps<'a> {
    program: &'a Program,
    maps: &'a [Map],
    graph: &'a Graph,
}

/// The coordinates of one vector.
struct Found {
    /// pt, eta, phi, mass.
    from: [Argument; 4],
    /// The steps that give px, py, pz and the energy.
    to: [usize; 4],
    /// The steps between.
    inner: Vec<usize>,
}

/// Puts one step in the place of all that the coordinates take; says whether there were some. `maps` are
/// the steps' operations, and arguments name steps by their numbers: registers have not been given yet.
pub(super) fn fuse(program: &mut Program, maps: &[Map], graph: &Graph) -> bool {
    let steps = Steps {
        program,
        maps,
        graph,
    };
    let Some(found) = (0..maps.len()).find_map(|energy| steps.coordinates(energy)) else {
        return false;
    };
    // The first of the four makes all, and gives px: what was known by its number is so by px's.
    let [x, y, z, energy] = found.to;
    let first = x.min(y).min(z).min(energy);
    let renamed = |step: usize| match step {
        step if step == first => x,
        step if step == x => first,
        step => step,
    };
    for argument in program
        .steps
        .iter_mut()
        .flat_map(|step| &mut step.arguments)
    {
        if let Argument::Register(step) = argument {
            *step = renamed(*step);
        }
    }
    for result in &mut program.results {
        *result = renamed(*result);
    }
    for step in found.to {
        program.steps[step].work = Work::Twin;
        program.steps[step].arguments.clear();
    }
    program.steps[first].work = Work::Cartesian;
    program.steps[first].arguments = found.from.to_vec();
    program.steps[first].twins = [y, z, energy].map(renamed).to_vec();
    let gone: Vec<bool> = (0..maps.len()).map(|i| found.inner.contains(&i)).collect();
    program.keep(&gone);
    true
}

impl Steps<'_> {
    /// The step that gives an argument, and what it is given, where it does `map`.
    fn made_by(&self, argument: Argument, map: Map) -> Option<(usize, &[Argument])> {
        match argument {
            Argument::Register(step) if self.maps[step] == map => {
                Some((step, &self.program.steps[step].arguments))
            }
            _ => None,
        }
    }

    fn is_zero(&self, argument: Argument) -> bool {
        match argument {
            Argument::Leaf(leaf) => {
                let constant = self.graph.as_const(self.program.leaves[leaf].node);
                constant.is_some_and(|x| x.as_f64().to_bits() == 0)
            }
            Argument::Register(_) => false,
        }
    }

    /// The coordinates of which this step gives the energy.
    fn coordinates(&self, energy: usize) -> Option<Found> {
        let last = Argument::Register(energy);
        let (_, &[most]) = self.made_by(last, Map::Real1(Real1::Sqrt))? else {
            return None;
        };
        let (most, &[sum, zero]) = self.made_by(most, Map::Real2(Real2::Max))? else {
            return None;
        };
        let (sum, &[signed, both]) = self.made_by(sum, ADD)? else {
            return None;
        };
        let (signed, &[square, mass]) = self.made_by(signed, Map::Real2(Real2::CopySign))? else {
            return None;
        };
        let (mass_square, of_mass) = self.made_by(square, SQUARE)?;
        let (both, &[pt_square, z_square]) = self.made_by(both, ADD)? else {
            return None;
        };
        let (pt_square, &[pt]) = self.made_by(pt_square, SQUARE)? else {
            return None;
        };
        let (z_square, &[z]) = self.made_by(z_square, SQUARE)? else {
            return None;
        };
        let (z, &[of_z, sinh]) = self.made_by(z, MUL)? else {
            return None;
        };
        let (sinh, &[eta]) = self.made_by(sinh, Map::Real1(Real1::Sinh))? else {
            return None;
        };
        if !self.is_zero(zero) || of_mass != [mass] || of_z != pt {
            return None;
        }
        let turned = |map| {
            (0..self.maps.len()).filter_map(move |step| {
                let (_, &[size, part]) = self.made_by(Argument::Register(step), MUL)? else {
                    return None;
                };
                let (part, &[angle]) = self.made_by(part, map)? else {
                    return None;
                };
                (size == pt).then_some((step, part, angle))
            })
        };
        let (x, cos, phi) = turned(Map::Real1(Real1::Cos)).next()?;
        let (y, sin, _) = turned(Map::Real1(Real1::Sin)).find(|(_, _, angle)| *angle == phi)?;
        let found = Found {
            from: [pt, eta, phi, mass],
            to: [x, y, z, energy],
            inner: vec![
                most,
                sum,
                signed,
                mass_square,
                both,
                pt_square,
                z_square,
                sinh,
                cos,
                sin,
            ],
        };
        self.is_apart(&found).then_some(found)
    }

    /// Whether nobody else wants what lies between, and what goes in is there before the first comes out.
    fn is_apart(&self, found: &Found) -> bool {
        let first = found.to.iter().min().copied().unwrap_or(0);
        let is_ready = |argument: &Argument| match argument {
            Argument::Register(step) => *step < first,
            Argument::Leaf(_) => true,
        };
        let steps = self.program.steps.iter().enumerate();
        let mut others = steps.filter(|(i, _)| !found.inner.contains(i) && !found.to.contains(i));
        let is_inner = |argument: &Argument| match argument {
            Argument::Register(step) => found.inner.contains(step),
            Argument::Leaf(_) => false,
        };
        let is_result = |step: &usize| found.inner.contains(step);
        found.from.iter().all(is_ready)
            && !others.any(|(_, step)| step.arguments.iter().any(is_inner))
            && !self.program.results.iter().any(is_result)
            && !is_result(&(self.maps.len() - 1))
    }
}
