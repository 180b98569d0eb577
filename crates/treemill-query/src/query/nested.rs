//! Filters beside each other, of which one passes all events that another one passes, as those of variations do: jets
//! that are scaled by 1.02 pass all that jets scaled by 1.01 pass. The narrower filter is computed among the events of
//! the wider one, and shares with others what is made of these events. Only speed depends on this. Knows no data.

use super::cuts::Cut;
use crate::compile::{Bounds, Form, Graph};
use crate::limits::{NESTED_FILTERS, WIDEST_FILTERS};
use std::collections::HashMap;

/// A cut, and those below it that only the events of the last one are wanted of: filters one after another.
struct Chain {
    cuts: Vec<usize>,
    forms: Vec<(Form, Bounds)>,
}

impl Chain {
    /// How many of the chain's first cuts pass all events that as many first cuts of another one pass.
    fn passes_all_of(&self, other: &Self) -> usize {
        let pairs = self.forms.iter().zip(&other.forms);
        let implied = pairs.take_while(|((form, bounds), (other_form, other_bounds))| {
            form == other_form && bounds.are_implied_by(other_bounds)
        });
        implied.count()
    }
}

/// Moves cuts below others that pass all of their events, and numbers all again, so that parents come first. `booked`: the
/// cuts at which something is booked. Gives the new number of each cut.
pub(super) fn nested(cuts: &mut Vec<Cut>, booked: &[bool], graph: &Graph) -> Vec<usize> {
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); cuts.len() + 1];
    for (number, cut) in (1..).zip(cuts.iter()).filter(|(_, cut)| cut.wanted) {
        below[cut.parent].push(number);
    }
    for beside in below.iter().filter(|beside| beside.len() > NESTED_FILTERS) {
        let mut groups: HashMap<Form, Vec<Chain>> = HashMap::new();
        for first in beside {
            let chain = chain(*first, cuts, &below, booked, graph);
            if let Some((form, _)) = chain.forms.first() {
                groups.entry(form.clone()).or_default().push(chain);
            }
        }
        for group in groups.into_values() {
            nest(group, cuts);
        }
    }
    renumber(cuts)
}

fn chain(
    first: usize,
    cuts: &[Cut],
    below: &[Vec<usize>],
    booked: &[bool],
    graph: &Graph,
) -> Chain {
    let (mut numbers, mut forms) = (vec![first], vec![graph.form(cuts[first - 1].mask)]);
    let mut last = first;
    while let (false, [next]) = (booked[last], below[last].as_slice()) {
        numbers.push(*next);
        forms.push(graph.form(cuts[next - 1].mask));
        last = *next;
    }
    Chain {
        cuts: numbers,
        forms,
    }
}

/// Moves the cuts of a group below those that pass all of their events.
fn nest(group: Vec<Chain>, cuts: &mut [Cut]) {
    let mut left = group;
    for _ in 0..WIDEST_FILTERS {
        if left.len() <= NESTED_FILTERS {
            return;
        }
        let wider = |wide: usize, other: usize| match left[other].passes_all_of(&left[wide]) {
            0 => wide,
            _ => other,
        };
        let Some(widest) = (0..left.len()).reduce(wider) else {
            return;
        };
        let widest = left.swap_remove(widest);
        let (narrower, others): (Vec<Chain>, Vec<Chain>) = left
            .into_iter()
            .partition(|chain| widest.passes_all_of(chain) > 0);
        if narrower.len() >= NESTED_FILTERS {
            for chain in &narrower {
                let last = widest.cuts[widest.passes_all_of(chain) - 1];
                cuts[chain.cuts[0] - 1].parent = last;
                cuts[last - 1].is_end = true;
                cuts[last - 1].narrower += 1;
            }
        }
        left = others;
    }
}

/// Puts the cuts in an order in which parents come first. Gives the new number of each.
fn renumber(cuts: &mut Vec<Cut>) -> Vec<usize> {
    let mut numbers = vec![0; cuts.len() + 1];
    let mut count = 0;
    for cut in 1..=cuts.len() {
        // The way up to what has a number, the next one last.
        let mut way = Vec::new();
        let mut walk = cut;
        while walk > 0 && numbers[walk] == 0 {
            way.push(walk);
            walk = cuts[walk - 1].parent;
        }
        for cut in way.into_iter().rev() {
            count += 1;
            numbers[cut] = count;
        }
    }
    for cut in cuts.iter_mut() {
        cut.parent = numbers[cut.parent];
    }
    let mut numbered: Vec<(usize, Cut)> =
        numbers[1..].iter().copied().zip(cuts.drain(..)).collect();
    numbered.sort_by_key(|(number, _)| *number);
    cuts.extend(numbered.into_iter().map(|(_, cut)| cut));
    numbers
}
