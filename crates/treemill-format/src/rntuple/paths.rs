//! The fields that users can name: the top ones, and the members of records below them, with dots between
//! names. Fields that the format makes up (a vector's item, a base class) have no name here.

use super::names::{is_number_name, unique_names};
use super::schema::{Role, Schema};
use super::tree::Tree;
use crate::error::Result;
use crate::limits::FIELD_DEPTH;

/// A field that has a name for users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedField {
    /// `muons`, or `muons.pt` for a member of a record.
    pub name: String,
    /// The fields from the top down to it, each a child of the one before.
    pub path: Vec<usize>,
}

impl NamedField {
    /// Index of the field itself.
    #[must_use]
    pub fn field(&self) -> Option<usize> {
        self.path.last().copied()
    }

    /// Whether the field is at the top.
    #[must_use]
    pub fn is_top(&self) -> bool {
        self.path.len() == 1
    }
}

impl Tree {
    /// All fields that have names, parents before their members, in the file's order.
    ///
    /// # Errors
    /// `Malformed` if the schema refers to fields that are not there.
    pub fn named(&self, schema: &Schema) -> Result<Vec<NamedField>> {
        let mut named = Vec::new();
        for &id in self.top() {
            let name = self.field(schema, id)?.name.clone();
            let path = vec![id];
            named.push(NamedField {
                name: name.clone(),
                path: path.clone(),
            });
            self.name_below(schema, name, path, &mut named)?;
        }
        Ok(named)
    }

    fn name_below(
        &self,
        schema: &Schema,
        name: String,
        mut path: Vec<usize>,
        named: &mut Vec<NamedField>,
    ) -> Result<()> {
        // Down through vectors, arrays and the like to a record.
        loop {
            let Some(&id) = path.last() else {
                return Ok(());
            };
            if path.len() > FIELD_DEPTH {
                return Ok(());
            }
            match (self.field(schema, id)?.role, self.children(id)) {
                (Role::Record, _) => break,
                (Role::Leaf | Role::Collection, &[child]) => path.push(child),
                _ => return Ok(()),
            }
        }
        let Some(&id) = path.last() else {
            return Ok(());
        };
        let members = self.members(schema, id)?;
        let is_tuple = members.iter().all(|member| is_number_name(&member.name));
        for (member, last) in members.iter().zip(unique_names(&members)) {
            let last = match is_tuple {
                true => last.trim_start_matches('_'),
                false => &last,
            };
            let name = format!("{name}.{last}");
            let path = [path.as_slice(), &member.path].concat();
            named.push(NamedField {
                name: name.clone(),
                path: path.clone(),
            });
            self.name_below(schema, name, path, named)?;
        }
        Ok(())
    }
}
