//! The definitions of a query, found by their names.

use crate::compile::Binding;
#[cfg(test)]
use crate::schema::walked;
use std::borrow::Cow;
use std::collections::HashMap;

/// A column, collection or record defined at a step.
pub(in crate::compile) struct Define {
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
pub(in crate::compile) struct Definitions {
    all: Vec<Define>,
    /// Those of each name, in which `.` is `_`; ascending.
    called: HashMap<String, Vec<usize>>,
    /// Those whose names are of members of each name, in which `.` is `_`; ascending.
    below: HashMap<String, Vec<usize>>,
}

impl Definitions {
    /// Adds one after `before`.
    pub(in crate::compile) fn add(
        &mut self,
        before: Option<usize>,
        name: &str,
        value: Binding,
    ) -> usize {
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

    pub(in crate::compile) fn get(&self, index: usize) -> Option<&Define> {
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
    pub(in crate::compile) fn called(
        &self,
        name: &str,
        scope: Option<usize>,
    ) -> impl Iterator<Item = (usize, &Define)> {
        let called = self.called.get(&*joined(name));
        self.visible(called.map_or(&[], Vec::as_slice), scope)
    }

    /// Those that are visible whose names are of members of this name, newest first.
    pub(in crate::compile) fn below(
        &self,
        name: &str,
        scope: Option<usize>,
    ) -> impl Iterator<Item = (usize, &Define)> {
        let below = self.below.get(&*joined(name));
        self.visible(below.map_or(&[], Vec::as_slice), scope)
    }

    /// The newest that is visible and has exactly this name.
    pub(in crate::compile) fn named(
        &self,
        name: &str,
        scope: Option<usize>,
    ) -> Option<(usize, &Define)> {
        self.called(name, scope)
            .find(|(_, define)| define.name == name)
    }

    /// All that are visible, newest first.
    pub(in crate::compile) fn all(
        &self,
        scope: Option<usize>,
    ) -> impl Iterator<Item = (usize, &Define)> {
        let all = std::iter::successors(scope, |index| self.all.get(*index)?.before);
        #[cfg(test)]
        let all = all.inspect(|_| walked::one_more());
        all.filter_map(|index| Some((index, self.all.get(index)?)))
    }
}

/// A name with `_` for `.`.
pub(in crate::compile) fn joined(name: &str) -> Cow<'_, str> {
    match name.contains('.') {
        true => Cow::Owned(name.replace('.', "_")),
        false => Cow::Borrowed(name),
    }
}

/// What a name can be the name of a member of.
pub(in crate::compile) fn owners(name: &str) -> impl Iterator<Item = &str> {
    let signs = name.match_indices(['_', '.']).map(|(at, _)| at);
    let signs = signs.filter(|at| at.saturating_add(1) < name.len());
    signs.filter_map(|at| name.get(..at))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::names::spelling::{alike, rest};

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
