//! Resolves names after definitions: definitions from the newest to the oldest, then columns of the data. A name
//! has one meaning, however it is written. If `X` was defined, `X.y` is a member of its value, or what was defined
//! as `X_y` or `X.y` after it. An older column `X_y` is then ambiguous, and so is the column that counts the
//! collection `X`.

use crate::compile::names::definitions::{Define, joined, owners};
use crate::compile::names::spelling::{Members, alike, rest};
use crate::compile::nodes::objects::{Object, RecordSource};
use crate::compile::nodes::provided::Named;
use crate::compile::{Binding, LevelId, LevelKind, Resolver, Result};
use crate::error::QueryError;
use crate::references;
use crate::schema::ColumnType;
use crate::spec::Span;
use std::collections::{BTreeSet, HashSet};
use std::rc::Rc;

impl Resolver<'_> {
    /// The definitions that are visible at `scope`, newest first.
    pub(in crate::compile) fn definitions(
        &self,
        scope: Option<usize>,
    ) -> impl Iterator<Item = (usize, &Define)> {
        self.defines.all(scope)
    }

    /// Whether there is a column of this name, defined or stored.
    pub(in crate::compile) fn is_column(&self, name: &str) -> bool {
        self.by_name.contains_key(name) || self.defines.named(name, self.scope).is_some()
    }

    /// The newest definition that the first names of a path spell, and how many of them.
    pub(in crate::compile) fn newest(&self, path: &[&str]) -> Option<(usize, usize)> {
        let newest = (1..=path.len()).filter_map(|used| {
            let name = path.get(..used)?.join("_");
            let (index, _) = self.defines.called(&name, self.scope).next()?;
            Some((index, used))
        });
        newest.max()
    }

    /// A definition, with its members that were defined later.
    pub(in crate::compile) fn defined(&self, index: usize) -> Option<Binding> {
        let define = self.defines.get(index)?;
        let newer = self.defines.below(&define.name, self.scope);
        let mut members: Members = Vec::new();
        for (_, newer) in newer.take_while(|(newer, _)| *newer > index) {
            if let Some(member) = rest(&newer.name, &define.name)
                && !members.iter().any(|(known, _)| alike(known, member))
            {
                members.push((member.to_owned(), newer.value.clone()));
            }
        }
        Some(self.amended(&define.name, define.value.clone(), members))
    }

    /// A record of this name with members that were defined after it.
    pub(in crate::compile) fn amended(&self, name: &str, of: Binding, members: Members) -> Binding {
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
                let level = self.nodes.level_of(&of);
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
    pub(in crate::compile) fn column_of(
        &mut self,
        prefix: &str,
        name: &str,
        scope: Option<usize>,
        at: Span,
    ) -> Result<Option<Binding>> {
        let here = std::mem::replace(&mut self.scope, scope);
        let whole = format!("{prefix}_{name}");
        let defined = self.defines.called(&whole, scope).next();
        let defined = defined.map(|(index, _)| index);
        let found = match defined {
            Some(index) => Ok(self.defined(index)),
            None => self.joined_name(prefix, name, at),
        };
        self.scope = here;
        found
    }

    /// The column `path_name` or `path.name` of the data. The same ones are asked for all the time: bookings and
    /// variations have much in common, and a vector is asked for each name that its coordinates may have.
    pub(in crate::compile) fn joined_name(
        &mut self,
        path: &str,
        name: &str,
        at: Span,
    ) -> Result<Option<Binding>> {
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

    pub(in crate::compile) fn find_joined_name(
        &mut self,
        path: &str,
        name: &str,
        at: Span,
    ) -> Result<Option<Binding>> {
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
    pub(in crate::compile) fn look_up(&mut self, name: &str, at: Span) -> Result<Option<Binding>> {
        self.named(name, true, at)
    }

    /// What has this name. With `or_collection`, columns `name_…` alone are enough.
    pub(in crate::compile) fn named(
        &mut self,
        name: &str,
        or_collection: bool,
        at: Span,
    ) -> Result<Option<Binding>> {
        let defined = self.defines.named(name, self.scope);
        let defined = defined.map(|(index, _)| index);
        let owners = self.newer_owners(name, defined);
        let found = match defined {
            Some(index) => self.defined(index),
            None => match self.stored_column(name, at)? {
                None if self.nodes.schema.shared.contains_key(name) => {
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
            && let Some((list, level)) = self.counted_anew(name)
        {
            let message = format!(
                "{name} is ambiguous, because it counts the items of {list} as they are stored, and \
                 {list} was defined anew: write len({list}) for that one, or define a copy of \
                 {name} under another name before {list}"
            );
            let length = Binding::Value(self.nodes.length(level));
            return self.renewed(Ok(length), at, message).map(Some);
        }
        Ok(Some(found))
    }

    /// The newest definitions of what this name can be of a member of, that are newer than its own; newest first.
    pub(in crate::compile) fn newer_owners(&self, name: &str, than: Option<usize>) -> Vec<usize> {
        let mut found = Vec::new();
        for owner in owners(&joined(name)) {
            // `a.b` and `a_b` are two names.
            let mut known: Vec<&str> = Vec::new();
            let visible = self.defines.called(owner, self.scope);
            for (index, define) in visible.take_while(|(index, _)| Some(*index) > than) {
                if !known.contains(&define.name.as_str()) {
                    known.push(&define.name);
                    found.push(index);
                }
            }
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found
    }

    /// The newer meaning if a glob has found the name. Otherwise the name is ambiguous.
    pub(in crate::compile) fn renewed(
        &self,
        new: Result<Binding>,
        at: Span,
        message: String,
    ) -> Result<Binding> {
        match self.renews {
            true => new,
            false => Err(QueryError::at(at, message)),
        }
    }

    /// A member of the record that a definition gives, with both of its names.
    pub(in crate::compile) fn defined_member(
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

    /// The collection that a column counts, and its level, if it was defined anew as another list.
    pub(in crate::compile) fn counted_anew(&mut self, name: &str) -> Option<(String, LevelId)> {
        self.scope?;
        self.nodes.counted_by(name).first()?;
        let lists = self.lists_counted_by(name);
        let anew = lists.iter().filter_map(|list| {
            let (index, define) = self.defines.named(list, self.scope)?;
            let level = self.nodes.level_of(&define.value);
            let stored = self.collection(list)?.base;
            let kind = &self.nodes.graph.level(stored).kind;
            let is_counter =
                matches!(kind, LevelKind::Items { counter: Some(found), .. } if found == name);
            (is_counter && level != stored && !self.nodes.is_single(level))
                .then_some((index, list, level))
        });
        anew.max().map(|(_, list, level)| (list.clone(), level))
    }

    /// What collections may be called whose columns are counted by this one.
    pub(in crate::compile) fn lists_counted_by(&mut self, counter: &str) -> Rc<[String]> {
        if let Some(known) = self.lists_of.get(counter) {
            return Rc::clone(known);
        }
        let fields = self.nodes.counted_by(counter).iter();
        let fields = fields.filter_map(|place| self.nodes.schema.fields.get(*place));
        let names = fields.flat_map(|field| std::iter::once(&field.name).chain(&field.also));
        let lists: BTreeSet<String> = names
            .flat_map(|name| {
                let own = owners(name).map(str::to_owned);
                own.chain(references::called(name))
            })
            .collect();
        let lists: Rc<[String]> = lists.into_iter().collect();
        self.lists_of.insert(counter.to_owned(), Rc::clone(&lists));
        lists
    }

    /// The functions, not of this query, that the newest definition of a name gives.
    pub(in crate::compile) fn given_function(&self, name: &str) -> Option<Named> {
        match &self.defines.named(name, self.scope)?.1.value {
            Binding::Provided(named) => Some(named.clone()),
            _ => None,
        }
    }

    /// Whether it is a record, or a collection whose members have one length. A friend `f` with the columns
    /// `f.Jet_pt` and `f.Muon_pt` is not.
    pub(in crate::compile) fn is_one_collection(&self, whole: &Binding) -> bool {
        let Binding::Object(object) = whole else {
            return !matches!(
                whole,
                Binding::Value(_) | Binding::Tuple { .. } | Binding::Provided(_)
            );
        };
        let RecordSource::Columns { prefix, .. } = &*object.source else {
            return true;
        };
        let members = self.nodes.schema.names();
        let members = members.filter(|(name, _)| rest(name, prefix).is_some());
        let counters: HashSet<Option<&str>> = members
            .filter_map(
                |(_, place)| match &self.nodes.schema.fields.get(place)?.column_type {
                    ColumnType::List { counter, .. } | ColumnType::Lists { counter, .. } => {
                        Some(counter.as_deref())
                    }
                    _ => None,
                },
            )
            .collect();
        counters.len() == 1
    }
}

/// Whether both are the same values.
fn is_same(a: &Binding, b: &Binding) -> bool {
    matches!((a, b), (Binding::Value(a), Binding::Value(b)) if a == b)
}
