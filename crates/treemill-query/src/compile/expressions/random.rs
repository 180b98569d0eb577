//! `random(seed=…)`, `normal(seed=…)`: one number for each entry, or each item of the loops around. What
//! counts is the entry's number and the places of the items in the lists that the loops go through, so
//! that conditions change nothing.

use crate::compile::{Binding, Compiler, Constant, EVENT, Result, Type, span};
use crate::error::QueryError;
use crate::kernel::{Map, random};
use crate::spec::{Expr, Span};

/// The column that numbers the entries of the whole dataset, whatever a column `entry_number` is; no
/// expression can name it.
const ENTRY: &str = "number of the entry";

impl Compiler<'_> {
    pub(in crate::compile) fn random(
        &mut self,
        name: &str,
        distribution: Map,
        seed: Option<&Expr>,
        at: Span,
    ) -> Result<Binding> {
        let Some(seed) = seed else {
            let message = format!(
                "{name}(seed=1) takes a seed, an integer: equal seeds give equal numbers, different \
                 ones independent numbers"
            );
            return Err(QueryError::at(at, message));
        };
        let number = self.value(seed)?;
        let seed = match self.names.nodes.graph.as_const(number) {
            Some(Constant::Int(x)) => *x as u64,
            Some(Constant::UInt(x)) => *x,
            _ => {
                let message = "a seed is a constant integer";
                return Err(QueryError::at(span(seed), message));
            }
        };
        let first = random::counted(0, seed) as i64;
        let state = self.names.nodes.graph.constant(Constant::Int(first));
        let Binding::Value(entry) = self.name(ENTRY, at)? else {
            return Err(QueryError::at(at, "the number of an entry is a number"));
        };
        let mut state = self.names.nodes.map(Map::Count, &[state, entry], Type::Int);
        let mut levels = Vec::new();
        let mut level = self.names.nodes.here;
        while level != EVENT {
            levels.push(level);
            level = self.names.nodes.graph.parent(level);
        }
        for level in levels.into_iter().rev() {
            let place = self.names.nodes.place_in_loop(level);
            let both = self.names.nodes.together(&[state, place], at)?;
            state = self.names.nodes.map(Map::Count, &both, Type::Int);
        }
        Ok(Binding::Value(self.names.nodes.map(
            distribution,
            &[state],
            Type::Float,
        )))
    }
}
