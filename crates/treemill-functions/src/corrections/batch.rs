//! Many rows at once: rows are sorted into bins, a formula is done operator by operator, and random numbers are drawn
//! together. What it gives up is done row by row, with the same results.

use crate::corrections::bins::Place;
use crate::corrections::formula::Term;
use crate::corrections::node::{Binning, Contents, Node};
use crate::corrections::random::drawn_of_rows;
use crate::corrections::variable::{Argument, Rows, Slot};
use crate::limits::{BATCH_ROWS, SORTED_ROWS};

/// Writes the values of all rows. `None`: a row has none, or the tree gains nothing from it; then `out` holds
/// nothing of use.
pub(crate) fn evaluate(node: &Node, arguments: &[Argument<'_>], out: &mut [f64]) -> Option<()> {
    if let Node::Random {
        inputs,
        distribution,
    } = node
    {
        let columns: Option<Vec<Argument<'_>>> = inputs
            .iter()
            .map(|input| arguments.get(*input).copied())
            .collect();
        return drawn_of_rows(*distribution, &columns?, 0..out.len(), out);
    }
    if out.len() < SORTED_ROWS || !gains(node) {
        return None;
    }
    let rows = Rows::new(arguments);
    let mut batch = Batch {
        arguments,
        slots: rows.first(),
        rows,
    };
    let all = u32::try_from(out.len()).ok()?;
    let mut start = 0_u32;
    while start < all {
        let stop = start.saturating_add(BATCH_ROWS).min(all);
        let some: Vec<u32> = (start..stop).collect();
        batch.node(node, &some, out)?;
        start = stop;
    }
    Some(())
}

/// Whether there are formulas, which cost more than to sort the rows. The bins of a document are alike as a rule: the
/// first one is looked at.
fn gains(node: &Node) -> bool {
    match node {
        Node::Formula(_) => true,
        Node::Binning(binning) => match &binning.contents {
            Contents::Nodes(nodes) => nodes.first().is_some_and(gains),
            Contents::Values(_) => false,
        },
        _ => false,
    }
}

struct Batch<'a, 'b> {
    arguments: &'b [Argument<'a>],
    rows: Rows<'a, 'b>,
    slots: Vec<Slot<'a>>,
}

fn put(out: &mut [f64], row: u32, value: f64) {
    if let Some(to) = out.get_mut(row as usize) {
        *to = value;
    }
}

impl Batch<'_, '_> {
    fn node(&mut self, node: &Node, rows: &[u32], out: &mut [f64]) -> Option<()> {
        match node {
            Node::Value(x) => rows.iter().for_each(|row| put(out, *row, *x)),
            Node::Binning(binning) if rows.len() >= SORTED_ROWS => {
                return self.binning(binning, rows, out);
            }
            Node::Formula(formula) if rows.len() >= SORTED_ROWS => {
                let mut values = Vec::new();
                self.term(&formula.term, &formula.parameters, rows, &mut values);
                for (row, value) in rows.iter().zip(&values) {
                    put(out, *row, *value);
                }
            }
            other => {
                for row in rows {
                    self.rows.fill(*row as usize, &mut self.slots);
                    put(out, *row, other.evaluate(&mut self.slots).ok()?);
                }
            }
        }
        Some(())
    }

    fn slot(&self, input: usize, row: u32) -> Slot<'_> {
        let argument = self.arguments.get(input);
        let found = argument.and_then(|argument| match argument.len() {
            1 => argument.get(0),
            _ => argument.get(row as usize),
        });
        found.unwrap_or(Slot::Real(f64::NAN))
    }

    fn binning(&mut self, binning: &Binning, rows: &[u32], out: &mut [f64]) -> Option<()> {
        let bins = binning.bins.len();
        let mut places = Vec::with_capacity(rows.len());
        for row in rows {
            places.push(match binning.place(&self.slot(binning.input, *row)).ok()? {
                Place::Bin(bin) => bin,
                Place::Outside => bins,
            });
        }
        if let (Contents::Values(values), Node::Value(outside)) =
            (&binning.contents, &binning.outside)
        {
            for (row, place) in rows.iter().zip(places) {
                put(out, *row, values.get(place).copied().unwrap_or(*outside));
            }
            return Some(());
        }
        // Where the rows of each bin begin, and then end, in `sorted`.
        let mut ends = vec![0_usize; bins.saturating_add(2)];
        for place in &places {
            if let Some(count) = ends.get_mut(place.saturating_add(1)) {
                *count = count.saturating_add(1);
            }
        }
        let mut sum = 0_usize;
        for end in &mut ends {
            sum = sum.saturating_add(*end);
            *end = sum;
        }
        let mut sorted = vec![0_u32; rows.len()];
        for (row, place) in rows.iter().zip(&places) {
            let end = ends.get_mut(*place)?;
            *sorted.get_mut(*end)? = *row;
            *end = end.saturating_add(1);
        }
        let mut start = 0_usize;
        for (bin, end) in ends.iter().enumerate().take(bins.saturating_add(1)) {
            let some = sorted.get(start..*end)?;
            start = *end;
            if some.is_empty() {
                continue;
            }
            match &binning.contents {
                _ if bin == bins => self.node(&binning.outside, some, out)?,
                Contents::Values(values) => {
                    let value = values.get(bin)?;
                    some.iter().for_each(|row| put(out, *row, *value));
                }
                Contents::Nodes(nodes) => self.node(nodes.get(bin)?, some, out)?,
            }
        }
        Some(())
    }

    /// The values of a part of a formula, one for each row.
    fn term(&self, term: &Term, parameters: &[f64], rows: &[u32], out: &mut Vec<f64>) {
        out.clear();
        match term {
            Term::Literal(x) => out.resize(rows.len(), *x),
            Term::Parameter(i) => {
                let value = parameters.get(*i).copied().unwrap_or(f64::NAN);
                out.resize(rows.len(), value);
            }
            Term::Input(input) => {
                out.extend(rows.iter().map(|row| self.slot(*input, *row).number()));
            }
            Term::Unary(op, operand) => {
                self.term(operand, parameters, rows, out);
                out.iter_mut().for_each(|x| *x = op.of(*x));
            }
            Term::Binary(op, sides) => {
                self.term(&sides.0, parameters, rows, out);
                let mut right = Vec::with_capacity(rows.len());
                self.term(&sides.1, parameters, rows, &mut right);
                for (left, right) in out.iter_mut().zip(&right) {
                    *left = op.of(*left, *right);
                }
            }
        }
    }
}
