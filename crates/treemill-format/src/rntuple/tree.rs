//! The tree of fields: from flat records to shapes, and to the names by which users know fields.
//! Pure: knows records, no pages.
//!
//! Source: RNTuple binary format specification 1.0, section "Mapping of C++ Types to Fields and
//! Columns".

use super::element::{Element, Encoding};
use super::names::{Member, is_base_class, is_number_name, unique_names};
use super::schema::{Field, Role, Schema};
use super::shape::{Columns, Native, Shape};
use crate::error::{FormatError, Result, malformed, unsupported};
use crate::limits::FIELD_DEPTH;

/// A field and the fields and columns below it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Node {
    children: Vec<usize>,
    /// Physical columns; through alias columns, if the field is projected.
    columns: Vec<usize>,
}

/// The fields directly below a field at a place, if they are not all of its fields.
type Below<'a> = &'a dyn Fn(Nesting) -> Option<Result<Shape>>;

/// The tree of fields.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    top: Vec<usize>,
    nodes: Vec<Node>,
}

/// Elements for one entry, and how deep the field is.
#[derive(Debug, Clone, Copy)]
struct Nesting {
    per_entry: Option<u64>,
    depth: usize,
}

impl Nesting {
    fn below(self, per_entry: Option<u64>) -> Result<Nesting> {
        if self.depth >= FIELD_DEPTH {
            return Err(unsupported(format!(
                "RNTuple fields that are nested more than {FIELD_DEPTH} deep"
            )));
        }
        Ok(Nesting {
            per_entry,
            depth: self.depth.saturating_add(1),
        })
    }
}

impl Tree {
    /// Connects the schema's records.
    ///
    /// # Errors
    /// `Malformed` if they refer to records that are not there.
    pub fn new(schema: &Schema) -> Result<Tree> {
        let mut top = Vec::new();
        let mut nodes = vec![Node::default(); schema.fields.len()];
        let missing = |what: &str, id: usize| malformed(format!("{what} {id} does not exist"), 0);
        for (id, field) in schema.fields.iter().enumerate() {
            if field.parent == id {
                top.push(id);
                continue;
            }
            let parent = nodes.get_mut(field.parent);
            let parent = parent.ok_or_else(|| missing("field", field.parent))?;
            parent.children.push(id);
        }
        for (id, column) in schema.columns.iter().enumerate() {
            let node = nodes.get_mut(column.field);
            let node = node.ok_or_else(|| missing("field", column.field))?;
            node.columns.push(id);
        }
        for alias in &schema.aliases {
            if alias.column >= schema.columns.len() {
                return Err(missing("column", alias.column));
            }
            let node = nodes.get_mut(alias.field);
            let node = node.ok_or_else(|| missing("field", alias.field))?;
            node.columns.push(alias.column);
        }
        Ok(Tree { top, nodes })
    }

    /// The fields at the top, in the file's order.
    #[must_use]
    pub fn top(&self) -> &[usize] {
        &self.top
    }

    /// The fields right below a field.
    #[must_use]
    pub fn children(&self, field: usize) -> &[usize] {
        self.nodes.get(field).map_or(&[], |node| &node.children)
    }

    /// The shape of the last field of `path`, which begins at the top and where each field is a
    /// child of the one before. Collections on the way make it a list; records are left out.
    ///
    /// # Errors
    /// `Unsupported` by name where a field, or one below it, cannot be read.
    pub fn shape(&self, schema: &Schema, path: &[usize]) -> Result<Shape> {
        let place = Nesting {
            per_entry: Some(1),
            depth: 0,
        };
        self.along(schema, path, place)
    }

    fn along(&self, schema: &Schema, path: &[usize], place: Nesting) -> Result<Shape> {
        let [id, rest @ ..] = path else {
            return Err(malformed("a path has no fields", 0));
        };
        let field = self.field(schema, *id)?;
        match (rest.is_empty(), field.role) {
            (false, Role::Record) => self.along(schema, rest, place.below(place.per_entry)?),
            (false, Role::Variant) => Err(unsupported(
                "a variant's alternatives by themselves".to_owned(),
            )),
            _ => self.build(schema, *id, place, &|place| {
                (!rest.is_empty()).then(|| self.along(schema, rest, place))
            }),
        }
    }

    /// The shape of field `id` with all that is below it.
    fn whole(&self, schema: &Schema, id: usize, place: Nesting) -> Result<Shape> {
        self.build(schema, id, place, &|_| None)
    }

    /// The shape of field `id`. What is below it comes from `below`, if that has something, and
    /// else from its children.
    fn build(&self, schema: &Schema, id: usize, place: Nesting, below: Below<'_>) -> Result<Shape> {
        let field = self.field(schema, id)?;
        let children = self.children(id);
        let item = |child: usize, per_entry: Option<u64>| -> Result<Box<Shape>> {
            let place = place.below(per_entry)?;
            let shape = below(place).unwrap_or_else(|| self.whole(schema, child, place));
            Ok(Box::new(shape?))
        };
        match (field.role, children) {
            (Role::Leaf, _) if field.repetition.is_some() => {
                let len = field.repetition.unwrap_or(0);
                if i32::try_from(len).is_err() {
                    return Err(unsupported(format!("an array of {len} items")));
                }
                let per_entry = place.per_entry.and_then(|n| n.checked_mul(len));
                let item = match children {
                    [child] => item(*child, per_entry)?,
                    // A bitset: one column, whose elements repeat.
                    [] => Box::new(self.number(schema, id, per_entry)?),
                    _ => return Err(odd(field)),
                };
                Ok(Shape::Array { len, item })
            }
            // An enum or a `std::atomic` is what it wraps.
            (Role::Leaf, [child]) if self.columns(id).is_empty() => {
                item(*child, place.per_entry).map(|shape| *shape)
            }
            (Role::Leaf, []) => self.leaf(schema, id, place.per_entry),
            (Role::Collection, [child]) => {
                let columns = self.group(schema, id, 1, place.per_entry)?;
                self.expect_index(schema, field, &columns)?;
                let item = item(*child, None)?;
                Ok(match field.type_name.starts_with("std::optional<") {
                    true => Shape::Optional { columns, item },
                    false => Shape::List { columns, item },
                })
            }
            (Role::Record, _) => self.record(schema, id, place),
            (Role::Variant, alternatives) if alternatives.len() <= 125 => {
                let columns = self.group(schema, id, 1, place.per_entry)?;
                if self
                    .elements(schema, &columns)?
                    .any(|e| e != Element::Switch)
                {
                    return Err(odd(field));
                }
                let alternatives = alternatives
                    .iter()
                    .map(|child| item(*child, None).map(|shape| *shape))
                    .collect::<Result<_>>()?;
                Ok(Shape::Variant {
                    columns,
                    alternatives,
                })
            }
            (Role::Streamer, _) => Err(unsupported(format!(
                "an RNTuple field of {}, serialised by ROOT's streamer",
                field.type_name
            ))),
            (Role::Unknown(role), _) => Err(unsupported(format!(
                "an RNTuple field of structural role {role:#04x}"
            ))),
            _ => Err(odd(field)),
        }
    }

    /// A number, a string or a collection's cardinality.
    fn leaf(&self, schema: &Schema, id: usize, per_entry: Option<u64>) -> Result<Shape> {
        let field = self.field(schema, id)?;
        if field.type_name == "std::string" {
            let columns = self.group(schema, id, 2, per_entry)?;
            let elements = self.elements(schema, &columns)?.collect::<Vec<_>>();
            let ends = |e: Option<&Element>| matches!(e, Some(Element::Index32 | Element::Index64));
            let is_text =
                |pair: &[Element]| ends(pair.first()) && pair.get(1) == Some(&Element::U8);
            return match elements.chunks(2).all(is_text) {
                true => Ok(Shape::String { columns }),
                false => Err(odd(field)),
            };
        }
        if field.type_name.starts_with("ROOT::RNTupleCardinality<") {
            let columns = self.group(schema, id, 1, per_entry)?;
            self.expect_index(schema, field, &columns)?;
            let is_wide = self
                .elements(schema, &columns)?
                .any(|e| e == Element::Index64);
            return Ok(Shape::Cardinality { columns, is_wide });
        }
        self.number(schema, id, per_entry)
    }

    fn number(&self, schema: &Schema, id: usize, per_entry: Option<u64>) -> Result<Shape> {
        let field = self.field(schema, id)?;
        let columns = self.group(schema, id, 1, per_entry)?;
        let mut native = None;
        for element in self.elements(schema, &columns)? {
            let this = Native::of(element, &field.type_name).ok_or_else(|| odd(field))?;
            native = match native {
                None => Some(this),
                Some(before) => Some(Native::and(before, this).ok_or_else(|| odd(field))?),
            };
        }
        let native = native.ok_or_else(|| odd(field))?;
        Ok(Shape::Number { columns, native })
    }

    /// Members, with those of base classes among them as C++ sees it.
    fn record(&self, schema: &Schema, id: usize, place: Nesting) -> Result<Shape> {
        let place = place.below(place.per_entry)?;
        let found = self.members(schema, id)?;
        // At most all fields can be on the way, so this ends.
        let names = unique_names(&found);
        let is_tuple = found.iter().all(|member| is_number_name(&member.name));
        let members = found
            .iter()
            .zip(names)
            .map(|(member, name)| {
                let name = match is_tuple {
                    true => name.trim_start_matches('_').to_owned(),
                    false => name,
                };
                Ok((name, self.whole(schema, member.field, place)?))
            })
            .collect::<Result<_>>()?;
        Ok(Shape::Record { members, is_tuple })
    }

    /// The members of a record, with members of base classes after its own, and where they come from.
    pub(super) fn members(&self, schema: &Schema, id: usize) -> Result<Vec<Member>> {
        let mut members = Vec::new();
        let mut unseen = vec![(id, Vec::new(), Vec::new())];
        while let Some((id, classes, path)) = unseen.pop() {
            if path.len() > FIELD_DEPTH {
                return Err(unsupported("base classes that are nested too deeply"));
            }
            for &child in self.children(id) {
                let field = self.field(schema, child)?;
                let mut path: Vec<usize> = path.clone();
                path.push(child);
                if is_base_class(&field.name) {
                    let mut classes: Vec<String> = classes.clone();
                    classes.push(field.type_name.clone());
                    unseen.push((child, classes, path));
                } else {
                    members.push(Member {
                        field: child,
                        name: field.name.clone(),
                        classes: classes.clone(),
                        path,
                    });
                }
            }
        }
        Ok(members)
    }

    pub(super) fn field<'a>(&self, schema: &'a Schema, id: usize) -> Result<&'a Field> {
        schema
            .fields
            .get(id)
            .ok_or_else(|| malformed(format!("field {id} does not exist"), 0))
    }

    pub(super) fn columns(&self, id: usize) -> &[usize] {
        self.nodes.get(id).map_or(&[], |node| &node.columns)
    }

    /// The columns of a field by representation, `width` in each.
    fn group(
        &self,
        schema: &Schema,
        id: usize,
        width: usize,
        per_entry: Option<u64>,
    ) -> Result<Columns> {
        let field = self.field(schema, id)?;
        let mut representations: Vec<Vec<usize>> = Vec::new();
        let mut last = None;
        for &column in self.columns(id) {
            let record = schema.columns.get(column).ok_or_else(|| odd(field))?;
            match representations.last_mut() {
                Some(group) if last == Some(record.representation) => group.push(column),
                _ => representations.push(vec![column]),
            }
            last = Some(record.representation);
        }
        if representations.is_empty() || representations.iter().any(|group| group.len() != width) {
            return Err(odd(field));
        }
        Ok(Columns {
            representations,
            per_entry,
        })
    }

    fn elements<'a>(
        &self,
        schema: &'a Schema,
        columns: &'a Columns,
    ) -> Result<impl Iterator<Item = Element> + use<'a>> {
        let ids = || columns.representations.iter().flatten();
        let encoding = |id: &usize| schema.columns.get(*id).map(|c| c.encoding.clone());
        for id in ids() {
            encoding(id).transpose()?;
        }
        Ok(ids().filter_map(move |id| {
            let known: Option<Encoding> = encoding(id)?.ok();
            known.map(|encoding| encoding.element)
        }))
    }

    fn expect_index(&self, schema: &Schema, field: &Field, columns: &Columns) -> Result<()> {
        let is_index = |e| matches!(e, Element::Index32 | Element::Index64);
        match self.elements(schema, columns)?.all(is_index) {
            true => Ok(()),
            false => Err(odd(field)),
        }
    }
}

/// A field whose type, columns and subfields are none of the known combinations.
fn odd(field: &Field) -> FormatError {
    unsupported(format!(
        "an RNTuple field of type '{}' with columns or subfields that are not known to make it",
        field.type_name
    ))
}
