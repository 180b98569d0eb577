//! The origins of a query's columns: branches of the tree, members of their records, foreign
//! columns. Pure.

use crate::columns::{Columns, Location};
use crate::provided::Foreign;
use std::borrow::Cow;
use std::collections::HashMap;
use treemill_query::Schema;

/// The origin of one column of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Column of the tree's reader, and the way to a member of its record.
    Own(usize, Vec<usize>),
    /// Column of the foreign ones.
    Foreign(usize),
}

/// What the tree and the foreign columns together offer to a query.
pub(crate) struct Offer<'a> {
    pub(crate) schema: Cow<'a, Schema>,
    /// Locations of the schema's fields, without the foreign ones, which come last.
    locations: &'a [Location],
}

/// The origins of a query's columns, and the branches that the tree's reader is to read for them.
#[derive(Debug, Default)]
pub(crate) struct Origins {
    pub(crate) branches: Vec<usize>,
    pub(crate) columns: Vec<Origin>,
}

impl Origins {
    /// How many blocks of foreign columns a packet needs, by the columns' numbers: none where no
    /// column is foreign.
    pub(crate) fn blocks(&self) -> usize {
        let is_foreign = |origin: &Origin| matches!(origin, Origin::Foreign(_));
        self.columns
            .iter()
            .rposition(is_foreign)
            .map_or(0, |last| last.saturating_add(1))
    }
}

impl<'a> Offer<'a> {
    /// A foreign column takes the place of a branch of the same name.
    pub(crate) fn new(table: &'a Columns, foreign: Option<&Foreign>) -> Self {
        let mut schema = Cow::Borrowed(&table.schema);
        for field in foreign.into_iter().flat_map(Foreign::fields) {
            let schema = schema.to_mut();
            schema.shared.remove(&field.name);
            let fields = &mut schema.fields;
            // The name is free now, and the fields after it keep their places.
            for known in fields.iter_mut() {
                known.also.retain(|name| *name != field.name);
                if known.name == field.name {
                    let mut others = std::mem::take(&mut known.also).into_iter();
                    known.name = others.next().unwrap_or_default();
                    known.also = others.collect();
                }
            }
            fields.push(field);
        }
        Self {
            schema,
            locations: &table.locations,
        }
    }

    /// The origins of the columns at these places of the schema.
    pub(crate) fn origins(&self, places: &[usize]) -> Origins {
        let mut found = Origins::default();
        let mut known: HashMap<usize, usize> = HashMap::new();
        for place in places {
            found.columns.push(match self.locations.get(*place) {
                None => Origin::Foreign(place.saturating_sub(self.locations.len())),
                Some(Location { branch, member }) => {
                    let index = *known.entry(*branch).or_insert_with(|| {
                        found.branches.push(*branch);
                        found.branches.len().saturating_sub(1)
                    });
                    Origin::Own(index, member.clone())
                }
            });
        }
        found
    }
}
