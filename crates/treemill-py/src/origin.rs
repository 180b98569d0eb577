//! Where the columns of a query come from: branches of the tree, members of their records, foreign
//! columns. Pure: only looks up names.

use crate::foreign::Foreign;
use crate::schema::{Place, schema};
use treemill_query::{QueryError, Schema};
use treemill_read::Table;

/// Where one column of the query comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// Column of the tree's reader, and the way to a member of its record.
    Own(usize, Vec<usize>),
    /// Column of the foreign ones.
    Foreign(usize),
}

/// What the tree and the foreign columns together offer to a query.
pub struct Offer {
    pub schema: Schema,
    /// Of the schema's fields, `None` for the foreign ones, which come last.
    places: Vec<Option<Place>>,
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

impl Offer {
    /// A foreign column takes the place of a branch of the same name.
    pub fn new(tree: &Table, foreign: Option<&Foreign>) -> Self {
        let (own, places) = schema(tree);
        let mut places: Vec<Option<Place>> = places.into_iter().map(Some).collect();
        let Some(foreign) = foreign else {
            return Self {
                schema: own,
                places,
            };
        };
        let mut fields = own.fields;
        for field in foreign.fields() {
            // The name is free now, without moving the fields behind it.
            for hidden in fields.iter_mut().filter(|known| known.name == field.name) {
                hidden.name.clear();
            }
            fields.push(field);
            places.push(None);
        }
        Self {
            schema: Schema { fields },
            places,
        }
    }

    /// Finds the query's columns.
    pub fn origins(&self, columns: &[String]) -> Result<Origins, QueryError> {
        let mut found = Origins::default();
        let own = self.places.iter().filter(|place| place.is_some()).count();
        for name in columns {
            let fields = &self.schema.fields;
            let index = fields.iter().position(|field| field.name == *name);
            let place = index.and_then(|i| Some((i, self.places.get(i)?)));
            let origin = match place {
                None => return Err(QueryError::new(format!("no column {name}"))),
                Some((i, None)) => Origin::Foreign(i - own),
                Some((_, Some(Place { branch, member }))) => {
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
