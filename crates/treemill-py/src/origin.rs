//! Where the columns of a query come from: branches of the tree, members of their records, foreign
//! columns. Pure: only looks up names.

use crate::foreign::Foreign;
use crate::schema::{Known, Place};
use std::borrow::Cow;
use treemill_query::{QueryError, Schema};

/// Where one column of the query comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Column of the tree's reader, and the way to a member of its record.
    Own(usize, Vec<usize>),
    /// Column of the foreign ones.
    Foreign(usize),
}

/// What the tree and the foreign columns together offer to a query.
pub struct Offer<'a> {
    pub schema: Cow<'a, Schema>,
    /// Of the schema's fields but for the foreign ones, which come last.
    places: &'a [Place],
}

/// The origins of a query's columns, and the branches that the tree's reader is to read for them.
#[derive(Debug, Default)]
pub struct Origins {
    pub branches: Vec<usize>,
    pub columns: Vec<Origin>,
}

impl Origins {
    /// How many blocks of foreign columns a packet needs, by the columns' numbers: none where no
    /// column is foreign.
    pub fn blocks(&self) -> usize {
        let is_foreign = |origin: &Origin| matches!(origin, Origin::Foreign(_));
        self.columns
            .iter()
            .rposition(is_foreign)
            .map_or(0, |last| last + 1)
    }
}

impl<'a> Offer<'a> {
    /// A foreign column takes the place of a branch of the same name.
    pub fn new(tree: &'a Known, foreign: Option<&Foreign>) -> Self {
        let mut schema = Cow::Borrowed(&tree.schema);
        for field in foreign.into_iter().flat_map(Foreign::fields) {
            let fields = &mut schema.to_mut().fields;
            // The name is free now, without moving the fields behind it.
            for hidden in fields.iter_mut().filter(|known| known.name == field.name) {
                hidden.name.clear();
            }
            fields.push(field);
        }
        Self {
            schema,
            places: &tree.places,
        }
    }

    /// Finds the query's columns.
    pub fn origins(&self, columns: &[String]) -> Result<Origins, QueryError> {
        let mut found = Origins::default();
        for name in columns {
            let fields = &self.schema.fields;
            let index = fields.iter().position(|field| field.name == *name);
            let Some(index) = index else {
                return Err(QueryError::new(format!("no column {name}")));
            };
            let origin = match self.places.get(index) {
                None => Origin::Foreign(index - self.places.len()),
                Some(Place { branch, member }) => {
                    let known = found.branches.iter().position(|b| b == branch);
                    let index = known.unwrap_or_else(|| {
                        found.branches.push(*branch);
                        found.branches.len() - 1
                    });
                    Origin::Own(index, member.clone())
                }
            };
            found.columns.push(origin);
        }
        Ok(found)
    }
}
