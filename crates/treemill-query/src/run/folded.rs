//! Programs over combinations whose results only one reduction wants: each block is reduced while it lies
//! in the first-level cache, and the values of the combinations are never written to memory.

use super::parts::{Chunk, Input, LeafReader, Part};
use super::{Registers, checks};
use crate::compile::{Program, Reducer};
use crate::error::QueryError;
use crate::kernel::folds::{Kept, best, sums};
use crate::kernel::interleaved::Interleaved;
use crate::kernel::pieces::WIDTH;
use crate::limits::PROGRAM_POSITIONS;
use crate::pool::Pool;

/// One value of each list; of lists without combinations it is as it was.
pub(crate) enum Folded<'a> {
    Floats(&'a mut [f64]),
    Ints(&'a mut [i64]),
}

/// The results of a program over combinations, put together for each list. `offsets` are the items'.
pub(crate) fn run_folded(
    program: &Program,
    inputs: &[Input],
    lists: (&Interleaved, &[i32]),
    reducer: Reducer,
    to: Folded,
    pool: &mut Pool,
) -> Result<(), QueryError> {
    checks::check(program, inputs, PROGRAM_POSITIONS)?;
    let (lists, offsets) = lists;
    let items = lists.items();
    let leaves = program.leaves.iter().zip(inputs);
    let mut registers = Registers {
        leaves: leaves
            .map(|(leaf, input)| LeafReader::new(input, leaf, pool).beside(items, pool))
            .collect(),
        registers: program
            .registers
            .iter()
            .map(|lane| Chunk::take(*lane, PROGRAM_POSITIONS + WIDTH, pool))
            .collect(),
        is_whole: vec![false; program.registers.len()],
    };
    let result = program.results.first().copied().unwrap_or_default();
    let (mut floats, mut counts) = (Kept::default(), Kept::default());
    let mut to = to;
    lists.blocks(PROGRAM_POSITIONS, |block| {
        let size = block.positions();
        registers.do_steps(program, 0, size, &Part::Block(block, offsets));
        let number = |number: u64| number as i64;
        match (reducer, &registers.registers[result], &mut to) {
            (Reducer::ArgMin, Chunk::F(x), Folded::Ints(to)) => {
                let found = |list: u32, at, _| to[list as usize] = number(at);
                best(block, &x[..size], |a, b| a >= b, &mut floats, found);
            }
            (Reducer::ArgMax, Chunk::F(x), Folded::Ints(to)) => {
                let found = |list: u32, at, _| to[list as usize] = number(at);
                best(block, &x[..size], |a, b| a <= b, &mut floats, found);
            }
            (Reducer::Min, Chunk::F(x), Folded::Floats(to)) => {
                let found = |list: u32, _, x| to[list as usize] = x;
                best(block, &x[..size], |a, b| a >= b, &mut floats, found);
            }
            (Reducer::Max, Chunk::F(x), Folded::Floats(to)) => {
                let found = |list: u32, _, x| to[list as usize] = x;
                best(block, &x[..size], |a, b| a <= b, &mut floats, found);
            }
            (Reducer::Sum, Chunk::F(x), Folded::Floats(to)) => {
                let found = |list: u32, x| to[list as usize] = x;
                sums(block, &x[..size], |sum, x| sum + x, &mut floats, found);
            }
            (Reducer::Sum, Chunk::B(x), Folded::Ints(to)) => {
                let found = |list: u32, count| to[list as usize] = count;
                let plus = |count, x| count + i64::from(x);
                sums(block, &x[..size], plus, &mut counts, found);
            }
            _ => (),
        }
    });
    for leaf in registers.leaves {
        leaf.give(pool);
    }
    for chunk in registers.registers {
        chunk.give(pool);
    }
    Ok(())
}
