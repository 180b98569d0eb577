//! What names mean: of columns, definitions, collections, members of records, coordinates of vectors, references.
//! Knows neither expressions nor variables.

pub(super) mod columns;
pub(super) mod definitions;
pub(super) mod identities;
pub(super) mod lookup;
pub(super) mod members;
pub(super) mod references;
pub(super) mod spelling;
pub(super) mod unknown;

use crate::compile::Binding;
use crate::compile::graph::ids::LevelId;
use crate::compile::names::definitions::Definitions;
use crate::compile::nodes::Builder;
use crate::schema;
use crate::schema::Schema;
use crate::spec::Relations;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

/// Finds what names mean where the definitions up to a scope are visible.
pub(crate) struct Resolver<'a> {
    pub nodes: Builder<'a>,
    pub(in crate::compile) by_name: HashMap<&'a str, usize>,
    /// Whether columns are named as PHYSLITE's; made when first wanted.
    pub(in crate::compile) is_physlite: OnceCell<bool>,
    pub(in crate::compile) defines: Definitions,
    /// Last definition that is visible.
    pub(in crate::compile) scope: Option<usize>,
    /// The levels of the stored collections that were asked for, by their names.
    pub(in crate::compile) collections: HashMap<String, Option<LevelId>>,
    /// What collections may be called that each counter counts, by the counters that were asked for.
    pub(in crate::compile) lists_of: HashMap<String, Rc<[String]>>,
    /// What `joined_name` has found, by the scope and both parts of the name.
    pub(in crate::compile) joined: HashMap<(Option<usize>, String), Option<Binding>>,
    /// Whether names that definitions have made ambiguous mean what was defined.
    pub(in crate::compile) renews: bool,
    /// How members that refer to others are known.
    pub(in crate::compile) relations: &'a Relations,
}

impl<'a> Resolver<'a> {
    pub(in crate::compile) fn new(schema: &'a Schema, relations: &'a Relations) -> Self {
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::panic)]

    use super::*;
    use crate::compile::{EVENT, Type};
    use crate::schema::{ColumnType, DType, Field};

    const AT: (u32, u32) = (0, 0);

    fn schema() -> Schema {
        let list = || ColumnType::List {
            item: DType::F32,
            counter: Some("nJet".to_owned()),
        };
        Schema::new(vec![
            Field::new("nJet", ColumnType::Scalar(DType::U32)),
            Field::new("Jet_pt", list()),
            Field::new("Jet_eta", list()),
            Field::new("MET_pt", ColumnType::Scalar(DType::F32)),
        ])
    }

    fn value(found: Option<Binding>) -> u32 {
        match found {
            Some(Binding::Value(id)) => id,
            other => panic!("{other:?} is no value"),
        }
    }

    #[test]
    fn a_member_is_the_column_of_its_joined_name() {
        let (schema, relations) = (schema(), Relations::default());
        let mut names = Resolver::new(&schema, &relations);
        let column = value(names.look_up("Jet_pt", AT).unwrap());
        let jet = names.look_up("Jet", AT).unwrap().unwrap();
        assert!(matches!(jet, Binding::Object(_)));
        let member = names.member(&jet, "pt", AT).unwrap();
        assert_eq!(value(Some(member)), column);
        assert!(names.look_up("Tau", AT).unwrap().is_none());
    }

    #[test]
    fn the_newest_definition_in_scope_is_meant() {
        let (schema, relations) = (schema(), Relations::default());
        let mut names = Resolver::new(&schema, &relations);
        let stored = value(names.look_up("MET_pt", AT).unwrap());
        let other = names.nodes.number(1.0);
        let scope = names.defines.add(None, "MET_pt", Binding::Value(other));
        assert_eq!(value(names.look_up("MET_pt", AT).unwrap()), stored);
        names.scope = Some(scope);
        assert_eq!(value(names.look_up("MET_pt", AT).unwrap()), other);
    }

    #[test]
    fn a_column_of_a_collection_that_was_defined_anew_is_ambiguous() {
        let (schema, relations) = (schema(), Relations::default());
        let mut names = Resolver::new(&schema, &relations);
        let jet = names.look_up("Jet", AT).unwrap().unwrap();
        let pt = value(names.look_up("Jet_pt", AT).unwrap());
        let thirty = names.nodes.number(30.0);
        let hard = crate::kernel::Map::CompareReal(crate::kernel::Compare::Gt);
        let both = names.nodes.together(&[pt, thirty], AT).unwrap();
        let mask = names.nodes.map(hard, &both, Type::Bool);
        let level = names.nodes.level_of(&jet);
        let hard_jets = names.nodes.masked(jet, level, mask, AT).unwrap();
        names.scope = Some(names.defines.add(None, "Jet", hard_jets));
        assert!(names.look_up("Jet_pt", AT).is_err());
        assert!(names.look_up("nJet", AT).is_err());
        // A glob means the new ones.
        names.renews = true;
        let renewed = value(names.look_up("Jet_pt", AT).unwrap());
        let count = value(names.look_up("nJet", AT).unwrap());
        assert_ne!(renewed, pt);
        assert_eq!(names.nodes.graph.node(count).level, EVENT);
    }
}
