//! Resolves names after definitions: definitions from the newest to the oldest, then columns of the data. A name
//! has one meaning, however it is written. If `X` was defined, `X.y` is a member of its value, or what was defined
//! as `X_y` or `X.y` after it. An older column `X_y` is then ambiguous, and so is the column that counts the
//! collection `X`.

use super::objects::{Object, RecordSource};
use super::provided::Named;
use super::spelling::{Members, alike, rest};
use super::{Binding, Compiler, LevelId, LevelKind, Resolver, Result, too_deep};
use crate::error::QueryError;
use crate::limits::EXPRESSION_DEPTH;
use crate::references;
use crate::schema::ColumnType;
#[cfg(test)]
use crate::schema::walked;
use crate::spec::{Expr, Span};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// A column, collection or record defined at a step.
pub(super) struct Define {
    pub name: String,
    pub value: Binding,
    /// The one before it.
    before: Option<usize>,
    /// One that is far before it, or the one before it: by these any that is visible is a few steps away.
    far: Option<usize>,
    /// The number of those that are visible at it.
    depth: usize,
}

/// All definitions of a query. A chain may have thousands, and each name may mean any of them: those that it can
/// mean are found by their names.
#[derive(Default)]
pub(super) struct Definitions {
    all: Vec<Define>,
    /// Those of each name, in which `.` is `_`; ascending.
    called: HashMap<String, Vec<usize>>,
    /// Those whose names are of members of each name, in which `.` is `_`; ascending.
    below: HashMap<String, Vec<usize>>,
}

impl Definitions {
    /// Adds one after `before`.
    pub(super) fn add(&mut self, before: Option<usize>, name: &str, value: Binding) -> usize {
        let index = self.all.len();
        let far = self.far(before);
        let spans = |from, to| self.depth(from).saturating_sub(self.depth(to));
        let further = self.far(far);
        let far = if spans(before, far) == spans(far, further) {
            further
        } else {
            before
        };
        let depth = self.depth(before).saturating_add(1);
        let plain = joined(name);
        for owner in owners(&plain) {
            let members = self.below.entry(owner.to_owned()).or_default();
            members.push(index);
        }
        self.called
            .entry(plain.into_owned())
            .or_default()
            .push(index);
        self.all.push(Define {
            name: name.to_owned(),
            value,
            before,
            far,
            depth,
        });
        index
    }

    pub(super) fn get(&self, index: usize) -> Option<&Define> {
        self.all.get(index)
    }

    fn far(&self, of: Option<usize>) -> Option<usize> {
        self.all.get(of?)?.far
    }

    fn depth(&self, of: Option<usize>) -> usize {
        of.and_then(|index| self.all.get(index))
            .map_or(0, |define| define.depth)
    }

    /// The newest that is visible at `scope` and not newer than this one.
    fn newest_until(&self, scope: Option<usize>, index: usize) -> Option<usize> {
        let mut at = scope?;
        while at > index {
            #[cfg(test)]
            walked::one_more();
            let define = self.all.get(at)?;
            let far = define.far.filter(|far| *far >= index);
            at = far.or(define.before)?;
        }
        Some(at)
    }

    /// Those of ascending ones that are visible at `scope`, newest first.
    fn visible<'a>(
        &'a self,
        mut of: &'a [usize],
        mut scope: Option<usize>,
    ) -> impl Iterator<Item = (usize, &'a Define)> {
        std::iter::from_fn(move || {
            loop {
                #[cfg(test)]
                walked::one_more();
                let newest = scope?;
                of = of.get(..of.partition_point(|index| *index <= newest))?;
                let (last, older) = of.split_last()?;
                scope = self.newest_until(scope, *last);
                if scope == Some(*last) {
                    let define = self.all.get(*last)?;
                    (of, scope) = (older, define.before);
                    return Some((*last, define));
                }
            }
        })
    }

    /// Those of this name that are visible, newest first; `.` and `_` are the same.
    fn called(&self, name: &str, scope: Option<usize>) -> impl Iterator<Item = (usize, &Define)> {
        let called = self.called.get(&*joined(name));
        self.visible(called.map_or(&[], Vec::as_slice), scope)
    }

    /// Those that are visible whose names are of members of this name, newest first.
    fn below(&self, name: &str, scope: Option<usize>) -> impl Iterator<Item = (usize, &Define)> {
        let below = self.below.get(&*joined(name));
        self.visible(below.map_or(&[], Vec::as_slice), scope)
    }

    /// The newest that is visible and has exactly this name.
    pub(super) fn named(&self, name: &str, scope: Option<usize>) -> Option<(usize, &Define)> {
        self.called(name, scope)
            .find(|(_, define)| define.name == name)
    }

    /// All that are visible, newest first.
    fn all(&self, scope: Option<usize>) -> impl Iterator<Item = (usize, &Define)> {
        let all = std::iter::successors(scope, |index| self.all.get(*index)?.before);
        #[cfg(test)]
        let all = all.inspect(|_| walked::one_more());
        all.filter_map(|index| Some((index, self.all.get(index)?)))
    }
}

/// A name with `_` for `.`.
fn joined(name: &str) -> Cow<'_, str> {
    match name.contains('.') {
        true => Cow::Owned(name.replace('.', "_")),
        false => Cow::Borrowed(name),
    }
}

/// What a name can be the name of a member of.
fn owners(name: &str) -> impl Iterator<Item = &str> {
    let signs = name.match_indices(['_', '.']).map(|(at, _)| at);
    let signs = signs.filter(|at| at.saturating_add(1) < name.len());
    signs.filter_map(|at| name.get(..at))
}

impl Compiler<'_> {
    pub(super) fn attribute(&mut self, value: &Expr, name: &str, at: Span) -> Result<Binding> {
        let path = self.dotted(value);
        if let Some(path) = &path {
            // Before its beginnings are looked up: that takes the square of its length at each level.
            if path.len() >= EXPRESSION_DEPTH {
                return Err(too_deep(at));
            }
            let mut whole = path.clone();
            whole.push(name);
            if let Some((define, used)) = self.names.newest(&whole) {
                let found = self.of_definition(define, used, &whole, value, at)?;
                return Ok(self.for_each_of(found, value));
            }
            // Columns may have dots in their names, so names are tried from the longest on.
            if let Some(found) = self.names.joined_name(&path.join("."), name, at)? {
                return Ok(found);
            }
        }
        let bound = match self.bind(value) {
            Ok(bound) => bound,
            // `a.b.c`, where `a.b` is not a column but has members.
            Err(error) => match path
                .filter(|path| !self.names.refers(path))
                .and_then(|path| {
                    let mut joined = ["_", "."].into_iter().map(|sign| path.join(sign));
                    joined.find_map(|joined| self.names.collection(&joined))
                }) {
                Some(object) => Binding::Object(object),
                None => return Err(error),
            },
        };
        self.names.member(&bound, name, at)
    }

    /// A constant that was defined as a member of a collection: each item has it.
    fn for_each_of(&mut self, found: Binding, value: &Expr) -> Binding {
        match found {
            Binding::Value(id) if self.names.nodes.graph.as_const(id).is_some() => {
                match self.bind(value) {
                    Ok(Binding::Object(object)) => {
                        Binding::Value(self.names.nodes.at_each_of(id, object.level))
                    }
                    _ => Binding::Value(id),
                }
            }
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
        let Some(mut bound) = self.names.defined(define) else {
            return Err(QueryError::at(at, "there is no such definition"));
        };
        if let Some(names) = path.get(used..)
            && !names.is_empty()
        {
            for name in names {
                bound = self.names.member(&bound, name, at)?;
            }
            return Ok(bound);
        }
        // A list beside a collection is its member if both have the same lengths.
        if matches!(bound, Binding::Value(_))
            && !self
                .names
                .nodes
                .is_single(self.names.nodes.level_of(&bound))
            && let Ok(whole) = self.bind(value)
            && self.names.is_one_collection(&whole)
            && let Some(name) = path.last()
        {
            return self.names.member(&whole, name, at);
        }
        Ok(bound)
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

impl Resolver<'_> {
    /// The definitions that are visible at `scope`, newest first.
    pub(super) fn definitions(
        &self,
        scope: Option<usize>,
    ) -> impl Iterator<Item = (usize, &Define)> {
        self.defines.all(scope)
    }

    /// Whether there is a column of this name, defined or stored.
    pub(super) fn is_column(&self, name: &str) -> bool {
        self.by_name.contains_key(name) || self.defines.named(name, self.scope).is_some()
    }

    /// The newest definition that the first names of a path spell, and how many of them.
    pub(super) fn newest(&self, path: &[&str]) -> Option<(usize, usize)> {
        let newest = (1..=path.len()).filter_map(|used| {
            let name = path.get(..used)?.join("_");
            let (index, _) = self.defines.called(&name, self.scope).next()?;
            Some((index, used))
        });
        newest.max()
    }

    /// A definition, with its members that were defined later.
    pub(super) fn defined(&self, index: usize) -> Option<Binding> {
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
    pub(super) fn column_of(
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
    pub(super) fn joined_name(
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

    pub(super) fn find_joined_name(
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
    pub(super) fn look_up(&mut self, name: &str, at: Span) -> Result<Option<Binding>> {
        self.named(name, true, at)
    }

    /// What has this name. With `or_collection`, columns `name_…` alone are enough.
    pub(super) fn named(
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
    pub(super) fn newer_owners(&self, name: &str, than: Option<usize>) -> Vec<usize> {
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
    pub(super) fn renewed(
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

    /// The collection that a column counts, and its level, if it was defined anew as another list.
    pub(super) fn counted_anew(&mut self, name: &str) -> Option<(String, LevelId)> {
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
    pub(super) fn lists_counted_by(&mut self, counter: &str) -> Rc<[String]> {
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
    pub(super) fn given_function(&self, name: &str) -> Option<Named> {
        match &self.defines.named(name, self.scope)?.1.value {
            Binding::Provided(named) => Some(named.clone()),
            _ => None,
        }
    }

    /// Whether it is a record, or a collection whose members have one length. A friend `f` with the columns
    /// `f.Jet_pt` and `f.Muon_pt` is not.
    pub(super) fn is_one_collection(&self, whole: &Binding) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_found_in_their_branches_as_by_a_look_at_each() {
        let names = ["a", "a.b", "a_b", "a_b.c", "b", "a.b.c_d", "_", "c_"];
        let mut definitions = Definitions::default();
        // Parents that jump back and forth, so that there are long branches and many short ones.
        for index in 0..300_usize {
            let back = [1, 1, 1, 1, 7, 1, 40][index * index % 7];
            let name = names[index * 5 % 11 % names.len()];
            let value = Binding::Value(0);
            definitions.add(index.checked_sub(back), name, value);
        }
        for scope in (0..300).map(Some).chain([None]) {
            for name in names {
                let called = definitions.called(name, scope).map(|(index, _)| index);
                let below = definitions.below(name, scope).map(|(index, _)| index);
                let all = || definitions.all(scope);
                let alike = all().filter(|(_, define)| alike(&define.name, name));
                let members = all().filter(|(_, define)| rest(&define.name, name).is_some());
                assert!(called.eq(alike.map(|(index, _)| index)));
                assert!(below.eq(members.map(|(index, _)| index)));
                let same = all().find(|(_, define)| define.name == name);
                let found = definitions.named(name, scope);
                assert_eq!(found.map(|(index, _)| index), same.map(|(index, _)| index));
            }
        }
    }
}
