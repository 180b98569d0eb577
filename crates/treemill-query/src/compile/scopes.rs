//! Resolves names after definitions: definitions from the newest to the oldest, then columns of the data. A name
//! has one meaning, however it is written. If `X` was defined, `X.y` is a member of its value, or what was defined
//! as `X_y` or `X.y` after it. An older column `X_y` is then ambiguous, and so is the column that counts the
//! collection `X`.

use super::objects::{Object, RecordSource};
use super::provided::Named;
use super::spelling::{Members, alike, rest, spelled};
use super::{Binding, Compiler, LevelKind, Result};
use crate::error::QueryError;
use crate::schema::ColumnType;
use crate::spec::{Expr, Span};
use std::collections::HashSet;
use std::rc::Rc;

/// A column, collection or record defined at a step, and the one before it.
pub(super) struct Define {
    pub before: Option<usize>,
    pub name: String,
    pub value: Binding,
}

impl Compiler<'_> {
    /// The definitions that are visible at `scope`, newest first.
    pub(super) fn definitions(
        &self,
        scope: Option<usize>,
    ) -> impl Iterator<Item = (usize, &Define)> {
        let before = |index: &usize| self.defines.get(*index)?.before;
        let all = std::iter::successors(scope, before);
        all.filter_map(|index| Some((index, self.defines.get(index)?)))
    }

    /// Whether there is a column of this name, defined or stored.
    pub(super) fn is_column(&self, name: &str) -> bool {
        self.by_name.contains_key(name)
            || self
                .definitions(self.scope)
                .any(|(_, define)| define.name == name)
    }

    /// The newest definition that the first names of a path spell, and how many of them.
    pub(super) fn newest(&self, path: &[&str]) -> Option<(usize, usize)> {
        let mut visible = self.definitions(self.scope);
        visible.find_map(|(index, define)| Some((index, spelled(&define.name, path)?)))
    }

    /// A definition, with its members that were defined later.
    fn defined(&self, index: usize) -> Option<Binding> {
        let define = self.defines.get(index)?;
        let newer = self.definitions(self.scope);
        let mut members: Members = Vec::new();
        for (_, newer) in newer.take_while(|(newer, _)| *newer != index) {
            if let Some(member) = rest(&newer.name, &define.name)
                && !members.iter().any(|(known, _)| alike(known, member))
            {
                members.push((member.to_owned(), newer.value.clone()));
            }
        }
        Some(self.amended(&define.name, define.value.clone(), members))
    }

    /// A record of this name with members that were defined after it.
    pub(super) fn amended(&self, name: &str, of: Binding, members: Members) -> Binding {
        if members.is_empty() {
            return of;
        }
        match of {
            Binding::Value(_) | Binding::Tuple { .. } | Binding::Provided(_) => of,
            Binding::Choice {
                condition,
                sides,
                level,
            } => {
                let (a, b) = (sides.0.clone(), sides.1.clone());
                let a = self.amended(name, a, members.clone());
                Binding::Choice {
                    condition,
                    sides: Rc::new((a, self.amended(name, b, members))),
                    level,
                }
            }
            Binding::Object(_) | Binding::Sum { .. } | Binding::Scaled { .. } => {
                let level = self.level_of(&of);
                Binding::Object(Object {
                    source: Rc::new(RecordSource::Amended {
                        name: name.to_owned(),
                        of,
                        members,
                    }),
                    base: level,
                    moves: Vec::new(),
                    level,
                })
            }
        }
    }

    /// A member of the columns `prefix_…` or `prefix.…` as they were at `scope`.
    pub(super) fn column_of(
        &mut self,
        prefix: &str,
        name: &str,
        scope: Option<usize>,
        at: Span,
    ) -> Result<Option<Binding>> {
        let here = std::mem::replace(&mut self.scope, scope);
        let path = [prefix, name];
        let defined = self
            .definitions(scope)
            .find(|(_, define)| spelled(&define.name, &path) == Some(path.len()))
            .map(|(index, _)| index);
        let found = match defined {
            Some(index) => Ok(self.defined(index)),
            None => self.joined_name(prefix, name, at),
        };
        self.scope = here;
        found
    }

    /// The column `path_name` or `path.name` of the data. The same ones are asked for all the time: bookings and
    /// variations have much in common, and a vector is asked for each name that its coordinates may have.
    fn joined_name(&mut self, path: &str, name: &str, at: Span) -> Result<Option<Binding>> {
        if self.renews {
            return self.find_joined_name(path, name, at);
        }
        let key = (self.scope, format!("{path}\0{name}"));
        if let Some(known) = self.joined.get(&key) {
            return Ok(known.clone());
        }
        let found = self.find_joined_name(path, name, at)?;
        self.joined.insert(key, found.clone());
        Ok(found)
    }

    fn find_joined_name(&mut self, path: &str, name: &str, at: Span) -> Result<Option<Binding>> {
        for sign in ['_', '.'] {
            if let Some(found) = self.named(&format!("{path}{sign}{name}"), false, at)? {
                let is_meant = !matches!(found, Binding::Object(_)) || !self.identifies(path, name);
                return Ok(is_meant.then_some(found));
            }
        }
        for container in self.containers(path) {
            if let Some(found) = self.named(&format!("{container}{name}"), false, at)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A defined column, or a column or collection of the data.
    pub(super) fn look_up(&mut self, name: &str, at: Span) -> Result<Option<Binding>> {
        self.named(name, true, at)
    }

    /// What has this name. With `or_collection`, columns `name_…` alone are enough.
    fn named(&mut self, name: &str, or_collection: bool, at: Span) -> Result<Option<Binding>> {
        let mut owners = Vec::new();
        let mut hidden = HashSet::new();
        let mut defined = None;
        for (index, define) in self.definitions(self.scope) {
            if define.name == name {
                defined = Some(index);
                break;
            }
            if rest(name, &define.name).is_some() && hidden.insert(define.name.as_str()) {
                owners.push(index);
            }
        }
        let found = match defined {
            Some(index) => self.defined(index),
            None => match self.stored_column(name, at)? {
                None if self.schema.shared.contains_key(name) => {
                    return Err(self.ambiguous(name, at));
                }
                None if or_collection => self.collection(name).map(Binding::Object),
                found => found,
            },
        };
        let Some(found) = found else {
            return Ok(None);
        };
        for owner in owners {
            if let Some((whole, part, member)) = self.defined_member(owner, name, at)
                && !is_same(&found, &member)
            {
                let message = format!(
                    "{name} is ambiguous, because {whole} was defined anew after it and has a {part} \
                     of its own: write {whole}.{part} for that one, or define a copy of {name} \
                     under another name before {whole}"
                );
                return self.renewed(Ok(member), at, message).map(Some);
            }
        }
        if defined.is_none()
            && let Some(list) = self.counted_anew(name)
        {
            let message = format!(
                "{name} is ambiguous, because it counts the items of {list} as they are stored, and \
                 {list} was defined anew: write len({list}) for that one, or define a copy of \
                 {name} under another name before {list}"
            );
            let id = list;
            let length = self.len(&Expr::Name { id, at }).map(Binding::Value);
            return self.renewed(length, at, message).map(Some);
        }
        Ok(Some(found))
    }

    /// The newer meaning if a glob has found the name. Otherwise the name is ambiguous.
    fn renewed(&self, new: Result<Binding>, at: Span, message: String) -> Result<Binding> {
        match self.renews {
            true => new,
            false => Err(QueryError::at(at, message)),
        }
    }

    /// A member of the record that a definition gives, with both of its names.
    pub(super) fn defined_member(
        &mut self,
        owner: usize,
        name: &str,
        at: Span,
    ) -> Option<(String, String, Binding)> {
        let whole = self.defines.get(owner)?.name.clone();
        let part = rest(name, &whole)?.to_owned();
        let bound = self.defined(owner)?;
        if matches!(
            bound,
            Binding::Value(_) | Binding::Tuple { .. } | Binding::Provided(_)
        ) {
            return None;
        }
        let member = self.member(&bound, &part, at).ok()?;
        Some((whole, part, member))
    }

    /// The collection that a column counts, if it was defined anew as another list.
    fn counted_anew(&mut self, name: &str) -> Option<String> {
        self.scope?;
        self.counted_by(name).first()?;
        let mut known = HashSet::new();
        let newest: Vec<(String, usize)> = self
            .definitions(self.scope)
            .filter(|(_, define)| known.insert(define.name.as_str()))
            .map(|(index, define)| (define.name.clone(), index))
            .collect();
        for (list, index) in newest {
            let Some(stored) = self.collection(&list) else {
                continue;
            };
            let kind = &self.graph.level(stored.base).kind;
            let is_counter =
                matches!(kind, LevelKind::Items { counter: Some(found), .. } if found == name);
            let level = self.level_of(&self.defines.get(index)?.value);
            if is_counter && level != stored.base && !self.is_single(level) {
                return Some(list);
            }
        }
        None
    }

    /// The functions, not of this query, that the newest definition of a name gives.
    pub(super) fn given_function(&self, name: &str) -> Option<Named> {
        let mut visible = self.definitions(self.scope);
        match &visible.find(|(_, define)| define.name == name)?.1.value {
            Binding::Provided(named) => Some(named.clone()),
            _ => None,
        }
    }

    pub(super) fn attribute(&mut self, value: &Expr, name: &str, at: Span) -> Result<Binding> {
        let path = self.dotted(value);
        if let Some(path) = &path {
            let mut whole = path.clone();
            whole.push(name);
            if let Some((define, used)) = self.newest(&whole) {
                let found = self.of_definition(define, used, &whole, value, at)?;
                return Ok(self.for_each_of(found, value));
            }
            // Columns may have dots in their names, so names are tried from the longest on.
            if let Some(found) = self.joined_name(&path.join("."), name, at)? {
                return Ok(found);
            }
        }
        let bound = match self.bind(value) {
            Ok(bound) => bound,
            // `a.b.c`, where `a.b` is not a column but has members.
            Err(error) => match path.filter(|path| !self.refers(path)).and_then(|path| {
                let mut joined = ["_", "."].into_iter().map(|sign| path.join(sign));
                joined.find_map(|joined| self.collection(&joined))
            }) {
                Some(object) => Binding::Object(object),
                None => return Err(error),
            },
        };
        self.member(&bound, name, at)
    }

    /// A constant that was defined as a member of a collection: each item has it.
    fn for_each_of(&mut self, found: Binding, value: &Expr) -> Binding {
        match found {
            Binding::Value(id) if self.graph.as_const(id).is_some() => match self.bind(value) {
                Ok(Binding::Object(object)) => Binding::Value(self.at_each_of(id, object.level)),
                _ => Binding::Value(id),
            },
            other => other,
        }
    }

    /// A path whose first `used` names spell a definition; `value` is all of it but its last name.
    fn of_definition(
        &mut self,
        define: usize,
        used: usize,
        path: &[&str],
        value: &Expr,
        at: Span,
    ) -> Result<Binding> {
        let Some(mut bound) = self.defined(define) else {
            return Err(QueryError::at(at, "no such definition"));
        };
        if let Some(names) = path.get(used..)
            && !names.is_empty()
        {
            for name in names {
                bound = self.member(&bound, name, at)?;
            }
            return Ok(bound);
        }
        // A list beside a collection is its member if both have the same lengths.
        if matches!(bound, Binding::Value(_))
            && !self.is_single(self.level_of(&bound))
            && let Ok(whole) = self.bind(value)
            && self.is_one_collection(&whole)
            && let Some(name) = path.last()
        {
            return self.member(&whole, name, at);
        }
        Ok(bound)
    }

    /// Whether it is a record, or a collection whose members have one length. A friend `f` with the columns
    /// `f.Jet_pt` and `f.Muon_pt` is not.
    fn is_one_collection(&self, whole: &Binding) -> bool {
        let Binding::Object(object) = whole else {
            return !matches!(
                whole,
                Binding::Value(_) | Binding::Tuple { .. } | Binding::Provided(_)
            );
        };
        let RecordSource::Columns { prefix, .. } = &*object.source else {
            return true;
        };
        let members = self.schema.names();
        let members = members.filter(|(name, _)| rest(name, prefix).is_some());
        let counters: HashSet<Option<&str>> = members
            .filter_map(
                |(_, place)| match &self.schema.fields.get(place)?.column_type {
                    ColumnType::List { counter, .. } | ColumnType::Lists { counter, .. } => {
                        Some(counter.as_deref())
                    }
                    _ => None,
                },
            )
            .collect();
        counters.len() == 1
    }

    /// The names of an expression that is only `a.b.c`, if `a` is not a variable.
    fn dotted<'e>(&self, expr: &'e Expr) -> Option<Vec<&'e str>> {
        let mut names = Vec::new();
        let mut walk = expr;
        loop {
            match walk {
                Expr::Name { id, .. } => {
                    if self.locals.iter().any(|(name, _)| name == id) {
                        return None;
                    }
                    names.push(id.as_str());
                    names.reverse();
                    return Some(names);
                }
                Expr::Attribute { value, name, .. } => {
                    names.push(name);
                    walk = value;
                }
                _ => return None,
            }
        }
    }
}

/// Whether both are the same values.
fn is_same(a: &Binding, b: &Binding) -> bool {
    matches!((a, b), (Binding::Value(a), Binding::Value(b)) if a == b)
}
