//! What names mean: of columns, definitions, collections, members of records, coordinates of vectors, references.
//! Knows neither expressions nor variables.

use super::Binding;
use super::builder::Builder;
use super::ids::LevelId;
use super::scopes::Definitions;
use crate::schema::{self, Schema};
use crate::spec::Relations;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Finds what names mean where the definitions up to a scope are visible.
pub(crate) struct Resolver<'a> {
    pub nodes: Builder<'a>,
    pub(super) by_name: HashMap<&'a str, usize>,
    /// Whether columns are named as PHYSLITE's; made when first wanted.
    pub(super) is_physlite: OnceCell<bool>,
    pub(super) defines: Definitions,
    /// Last definition that is visible.
    pub(super) scope: Option<usize>,
    /// The levels of the stored collections that were asked for, by their names.
    pub(super) collections: HashMap<String, Option<LevelId>>,
    /// What collections may be called that each counter counts, by the counters that were asked for.
    pub(super) lists_of: HashMap<String, Rc<[String]>>,
    /// What `joined_name` has found, by the scope and both parts of the name.
    pub(super) joined: HashMap<(Option<usize>, String), Option<Binding>>,
    /// Whether names that definitions have made ambiguous mean what was defined.
    pub(super) renews: bool,
    /// How members that refer to others are known.
    pub(super) relations: &'a Relations,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(schema: &'a Schema, relations: &'a Relations) -> Self {
        Self {
            nodes: Builder::new(schema),
            by_name: schema::index(schema),
            is_physlite: OnceCell::new(),
            defines: Definitions::default(),
            scope: None,
            collections: HashMap::new(),
            lists_of: HashMap::new(),
            joined: HashMap::new(),
            renews: false,
            relations,
        }
    }
}
