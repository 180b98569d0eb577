//! Finds members of records by name: stored members, later definitions, records in records. What is
//! said if there is none is in `unknown`. Members that are computed from others are in `vectors`.

use crate::compile::names::spelling::{PAIR, alike, below, rest};
use crate::compile::nodes::objects::{Move, RecordSource};
use crate::compile::{Binding, EVENT, Op, Resolver, Result};
use crate::error::QueryError;
use crate::spec::Span;
use std::collections::HashSet;

impl Resolver<'_> {
    /// A member of a record: a column, or an attribute of scikit-hep's vector.
    pub(in crate::compile) fn member(
        &mut self,
        bound: &Binding,
        name: &str,
        at: Span,
    ) -> Result<Binding> {
        let level = self.nodes.level_of(bound);
        if let Some(found) = self.stored(bound, name, at)? {
            return Ok(match found {
                Binding::Value(id) => Binding::Value(self.nodes.at_each_of(id, level)),
                other => other,
            });
        }
        // The items of maps are pairs, whose members have numbers.
        if let Some((_, place)) = PAIR.iter().find(|(word, _)| *word == name)
            && let Ok(Some(_)) = self.stored(bound, place, at)
        {
            return self.member(bound, place, at);
        }
        match bound {
            Binding::Value(id) => {
                let title = match self.nodes.graph.node(*id).op {
                    Op::Column(_) => format!(", and this is {}", self.nodes.title(bound)),
                    _ => String::new(),
                };
                let message =
                    format!("numbers have no attributes; .{name} goes with collections{title}");
                Err(QueryError::at(at, message))
            }
            Binding::Provided(named) => self.nodes.part_of(named, name, at),
            Binding::Tuple { items, .. } => Err(QueryError::at(
                at,
                format!(
                    "this is a tuple of {}, which has no {name}: pick one of its elements, t[0].{name}",
                    items.len()
                ),
            )),
            Binding::Choice {
                condition, sides, ..
            } => {
                let (condition, sides) = (*condition, sides.clone());
                let a = self.member(&sides.0, name, at)?;
                let b = self.member(&sides.1, name, at)?;
                self.nodes.choice(condition, (a, b), at)
            }
            Binding::Object(_) | Binding::Sum { .. } | Binding::Scaled { .. } => {
                if let Some(found) = self.referred(bound, name, at)? {
                    return Ok(found);
                }
                let derived = self.derived(bound, name, at);
                if let Ok(Some(node)) = derived {
                    return Ok(Binding::Value(self.nodes.at_each_of(node, level)));
                }
                match self.group(bound, name) {
                    Some(group) => Ok(group),
                    None => Err(derived
                        .err()
                        .unwrap_or_else(|| self.no_member(bound, name, at))),
                }
            }
        }
    }

    /// A member that is stored, where the record stands.
    pub(in crate::compile) fn stored(
        &mut self,
        bound: &Binding,
        name: &str,
        at: Span,
    ) -> Result<Option<Binding>> {
        let Binding::Object(object) = bound else {
            return Ok(None);
        };
        let found = match &*object.source {
            RecordSource::Columns { prefix, scope } => self.column_of(prefix, name, *scope, at)?,
            RecordSource::Amended {
                name: whole,
                of,
                members,
            } => {
                let whole = format!("{whole}.{name}");
                let mut places = members.iter().enumerate();
                match places.find(|(_, (member, _))| alike(member, name)) {
                    Some((newer, (_, value))) => {
                        let inner = below(members.get(..newer).unwrap_or_default(), name);
                        Some(self.amended(&whole, value.clone(), inner))
                    }
                    None => {
                        let found = self.stored(of, name, at)?;
                        found.map(|found| self.amended(&whole, found, below(members, name)))
                    }
                }
            }
            RecordSource::Made(fields) => fields
                .iter()
                .find(|(field, _)| field == name)
                .map(|(_, node)| Binding::Value(*node)),
            RecordSource::Joined(parts) => {
                let mut members = Vec::with_capacity(parts.len());
                for part in parts {
                    match self.stored(part, name, at)? {
                        Some(Binding::Value(node)) => members.push(node),
                        _ => return Ok(None),
                    }
                }
                let node = self.nodes.joined_values(&members, object.base, at)?;
                Some(Binding::Value(node))
            }
        };
        let Some(mut found) = found else {
            return Ok(None);
        };
        let own = self.nodes.level_of(&found);
        if own != object.base {
            let lists = self.nodes.graph.parent(own);
            if lists == object.base
                || (lists != EVENT && self.nodes.may_be_equal(lists, object.base))
            {
                return Ok(Some(self.nodes.list_member(&found, own, object)));
            }
        }
        if own != object.base {
            let constant =
                matches!(found, Binding::Value(id) if self.nodes.graph.as_const(id).is_some());
            let way = self.nodes.way(self.nodes.level_of(&found), object.base, at);
            match way {
                _ if constant => (),
                Ok(way) if way.iter().all(|how| matches!(how, Move::Align(_))) => {
                    for how in way {
                        found = self.nodes.carried(&found, how);
                    }
                }
                _ => {
                    let prefix = self.nodes.title(bound);
                    let message = format!(
                        "{prefix}.{name} is no list beside the rest of {prefix}: it is {}, and these are {}",
                        self.nodes.describe(self.nodes.level_of(&found)),
                        self.nodes.describe(object.base)
                    );
                    return Err(QueryError::at(at, message));
                }
            }
        }
        let mut level = object.base;
        for how in &object.moves {
            found = self.nodes.before_taking(found, level, *how);
            found = self.nodes.carried(&found, *how);
            level = self.nodes.landing(level, *how);
        }
        Ok(Some(found))
    }

    /// The record of what is called `prefix.name.…`, as `j.momentum` of `Jet.momentum.x`.
    pub(in crate::compile) fn group(&mut self, bound: &Binding, name: &str) -> Option<Binding> {
        let Binding::Object(object) = bound else {
            return None;
        };
        let found = match &*object.source {
            RecordSource::Columns { prefix, scope } => {
                let here = std::mem::replace(&mut self.scope, *scope);
                let found = ['.', '_']
                    .into_iter()
                    .find_map(|sign| self.collection(&format!("{prefix}{sign}{name}")));
                self.scope = here;
                Binding::Object(found?)
            }
            RecordSource::Amended {
                name: whole,
                of,
                members,
            } => {
                let found = self.group(of, name)?;
                self.amended(&format!("{whole}.{name}"), found, below(members, name))
            }
            RecordSource::Made(_) | RecordSource::Joined(_) => return None,
        };
        // As a name for what stands elsewhere it needs no way.
        if object.moves.is_empty() {
            return Some(found);
        }
        let own = self.nodes.level_of(&found);
        if own != object.base && !self.nodes.may_be_equal(own, object.base) {
            return None;
        }
        let align = (own != object.base).then_some(Move::Align(object.base));
        let way = align.iter().chain(&object.moves);
        Some(way.fold(found, |found, how| self.nodes.carried(&found, *how)))
    }

    /// Names of what is stored.
    pub(in crate::compile) fn members(&self, bound: &Binding) -> Vec<String> {
        let Binding::Object(object) = bound else {
            return Vec::new();
        };
        match &*object.source {
            RecordSource::Made(fields) => fields.iter().map(|(name, _)| name.clone()).collect(),
            RecordSource::Joined(parts) => {
                let mut parts = parts.iter().map(|part| self.members(part));
                let first = parts.next().unwrap_or_default();
                let rest: Vec<Vec<String>> = parts.collect();
                let shared = |name: &String| rest.iter().all(|names| names.contains(name));
                first.into_iter().filter(shared).collect()
            }
            RecordSource::Amended { of, members, .. } => {
                let mut found: Vec<String> = members.iter().map(|(name, _)| name.clone()).collect();
                found.extend(self.members(of));
                let mut known = HashSet::new();
                found.retain(|name| known.insert(name.clone()));
                found
            }
            RecordSource::Columns { prefix, scope } => {
                let defined = self.definitions(*scope);
                let names = defined.map(|(_, define)| define.name.as_str());
                let stored = self.nodes.schema.names().map(|(name, _)| name);
                let containers = self.containers(prefix);
                // Of a link, `trackLinks.m_persIndex`, the name that users know is enough.
                let of_container = |name| {
                    let mut stems = containers.iter();
                    let name = stems.find_map(|stem| str::strip_prefix(name, stem.as_str()))?;
                    name.split('.').next()
                };
                let mut known = HashSet::new();
                stored
                    .chain(names)
                    .filter_map(|name| rest(name, prefix).or_else(|| of_container(name)))
                    // Called by its dimensions, `covMatrix[10]`, it is named without them.
                    .map(|name| name.split_once('[').map_or(name, |(name, _)| name))
                    .filter(|name| known.insert(*name))
                    .map(str::to_owned)
                    .collect()
            }
        }
    }
}
