//! What tests share: expressions from text, columns in memory, queries with few words.
#![allow(dead_code)] // each test file uses its part

pub mod events;
pub mod known;
pub mod parse;
pub mod table;
mod tokens;

use parse::parse;
use table::Table;
use treemill_query::spec::{Action, Axis, AxisFill, Booking, Spec, Step, Wanted};
use treemill_query::{Outcome, Query, QueryError, Scratch};

/// A specification in the making: steps one after another, bookings at the last.
#[derive(Clone, Default)]
pub struct Steps {
    pub spec: Option<Spec>,
    at: Option<usize>,
}

impl Steps {
    pub fn new() -> Self {
        Self {
            spec: Some(Spec {
                version: 1,
                steps: Vec::new(),
                bookings: Vec::new(),
                relations: Default::default(),
            }),
            at: None,
        }
    }

    fn spec_mut(&mut self) -> &mut Spec {
        self.spec.as_mut().expect("a spec")
    }

    fn step(mut self, action: Action) -> Self {
        let parent = self.at;
        let spec = self.spec_mut();
        spec.steps.push(Step {
            parent,
            action,
            variation: None,
        });
        self.at = Some(spec.steps.len() - 1);
        self
    }

    pub fn filter(self, text: &str) -> Self {
        self.step(Action::Filter {
            expr: parse(text),
            name: None,
        })
    }

    pub fn define(self, name: &str, text: &str) -> Self {
        self.step(Action::Define {
            name: name.to_owned(),
            expr: parse(text),
        })
    }

    /// Goes back to a step.
    pub fn at(mut self, step: Option<usize>) -> Self {
        self.at = step;
        self
    }

    pub fn book(mut self, result: Wanted) -> Self {
        let at = self.at;
        self.spec_mut().bookings.push(Booking {
            at,
            result,
            variation: None,
        });
        self
    }

    pub fn count(self) -> Self {
        self.book(Wanted::Count)
    }

    pub fn sum(self, text: &str) -> Self {
        self.book(Wanted::Sum { expr: parse(text) })
    }

    pub fn mean(self, text: &str) -> Self {
        self.book(Wanted::Mean { expr: parse(text) })
    }

    pub fn min(self, text: &str) -> Self {
        self.book(Wanted::Min { expr: parse(text) })
    }

    pub fn max(self, text: &str) -> Self {
        self.book(Wanted::Max { expr: parse(text) })
    }

    pub fn extent(self, text: &str) -> Self {
        self.book(Wanted::Extent { expr: parse(text) })
    }

    pub fn hist(self, fills: &[(&str, Axis)], weight: Option<&str>) -> Self {
        self.book(Wanted::Hist {
            axes: fills
                .iter()
                .map(|(text, axis)| AxisFill {
                    axis: axis.clone(),
                    expr: parse(text),
                })
                .collect(),
            weight: weight.map(parse),
            squares: true,
        })
    }

    pub fn compile(&self, table: &Table) -> Result<Query, QueryError> {
        Query::compile(self.spec.as_ref().expect("a spec"), &table.schema())
    }

    /// Results over the table in batches of `size` entries, which are the same whether columns come
    /// for whole batches only or not.
    pub fn run_in(&self, table: &Table, size: usize) -> Vec<Outcome> {
        let [whole, selected] =
            [false, true].map(|can_select| self.run_so(table, size, can_select));
        assert_eq!(format!("{whole:?}"), format!("{selected:?}"));
        selected
    }

    fn run_so(&self, table: &Table, size: usize, can_select: bool) -> Vec<Outcome> {
        let query = self.compile(table).unwrap_or_else(|e| panic!("{e:?}"));
        let mut partial = query.partial();
        let mut scratch = Scratch::default();
        let mut start = 0;
        while start < table.rows() {
            let stop = table.rows().min(start + size);
            let mut batch = table.batch(&query, start, stop);
            batch.can_select = can_select;
            query
                .process(&mut batch, &mut partial, &mut scratch)
                .unwrap_or_else(|e| panic!("{e:?}"));
            start = stop;
        }
        partial.results()
    }

    pub fn run(&self, table: &Table) -> Vec<Outcome> {
        self.run_in(table, usize::MAX)
    }
}

/// Equal bins with both flow bins.
pub fn regular(bins: u32, start: f64, stop: f64) -> Axis {
    Axis::Regular {
        bins,
        start,
        stop,
        underflow: true,
        overflow: true,
        circular: false,
        transform: None,
    }
}

/// Contents of a histogram.
pub fn values(outcome: &Outcome) -> Vec<f64> {
    match outcome {
        Outcome::Hist { values, .. } => values.clone(),
        other => panic!("{other:?} is no histogram"),
    }
}

/// All choices of `size` items of a list, in the language's order.
pub fn combinations<T: Copy>(list: &[T], size: usize) -> Vec<Vec<T>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (i, first) in list.iter().enumerate() {
        for mut rest in combinations(&list[i + 1..], size - 1) {
            rest.insert(0, *first);
            all.push(rest);
        }
    }
    all
}

/// A query's results of each event alone, by way of one batch per event.
pub fn results_of_each(query: &Query, table: &Table) -> Vec<Vec<Outcome>> {
    let of = |event| {
        let mut partial = query.partial();
        let mut batch = table.batch(query, event, event + 1);
        query
            .process(&mut batch, &mut partial, &mut Scratch::default())
            .unwrap();
        partial.results()
    };
    (0..table.rows()).map(of).collect()
}
