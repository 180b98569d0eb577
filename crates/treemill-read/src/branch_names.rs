//! What users call the branches of a tree: by the name in the file where no other branch has it, else with the name of
//! the object before it, `mu2.fCoordinates.fPt`. Pure.

use crate::limits::{NAME_LENGTH, SHARING};
use std::collections::HashMap;
use treemill_format::tree::Branch;

/// How well a name goes with a branch, the best first: its full name, the less deep the better; the full name with base
/// classes; the name alone.
type Rank = usize;
const WITH_BASES: Rank = Rank::MAX - 1;
const ALONE: Rank = Rank::MAX;

/// The names of a tree's branches.
#[derive(Debug, Default)]
pub(crate) struct BranchNames {
    branches: Vec<Names>,
    /// What each name means: one branch, or `None` where several go with it equally well.
    meant: HashMap<Box<str>, (Rank, Option<usize>)>,
}

/// The names of one branch that differ from its name in the file.
#[derive(Debug, Default)]
struct Names {
    /// The name as ROOT writes it (`TBranch::GetFullName`): members of base classes are the object's own. The second
    /// of several top branches of one name has a number, `x;2`.
    full: Option<Box<str>>,
    /// The full name with the base classes that the branch lies in.
    with_bases: Option<Box<str>>,
    /// The name of a branch that shares all of these with others.
    last: Option<Box<str>>,
}

impl Names {
    fn all(&self) -> impl Iterator<Item = &str> {
        let all = [&self.full, &self.with_bases, &self.last];
        all.into_iter().flatten().map(|name| &**name)
    }
}

impl BranchNames {
    pub(crate) fn new(branches: &[Branch]) -> Self {
        let mut names = Self {
            branches: Vec::with_capacity(branches.len()),
            meant: HashMap::with_capacity(branches.len()),
        };
        let mut tops: HashMap<&str, usize> = HashMap::new();
        for (index, branch) in branches.iter().enumerate() {
            let mut own = Names::default();
            let mut depth = 0;
            match branch.parent {
                None => {
                    let number = tops.entry(alone(branch)).or_default();
                    *number = number.saturating_add(1);
                    if *number > 1 {
                        own.full = Some(format!("{};{number}", alone(branch)).into());
                    }
                }
                Some(parent) => {
                    depth = Ancestors::of(branches, branch).count();
                    own = names.of_member(branches, branch, parent);
                }
            }
            names.claim(own.full.as_deref().unwrap_or(alone(branch)), depth, index);
            if let Some(name) = &own.with_bases {
                names.claim(name, WITH_BASES, index);
            }
            names.claim(alone(branch), ALONE, index);
            let is_first = branch.parent.is_none() && own.full.is_none();
            names.claim(&branch.name, if is_first { 0 } else { ALONE }, index);
            names.branches.push(own);
        }
        for (index, branch) in branches.iter().enumerate() {
            if names.of(branches, index).next().is_none() {
                let mut name = format!("{};{index}", alone(branch));
                while names.meant.contains_key(name.as_str()) {
                    name.push('\'');
                }
                names.claim(&name, 0, index);
                if let Some(own) = names.branches.get_mut(index) {
                    own.last = Some(name.into());
                }
            }
        }
        names
    }

    /// The full names of a branch in another one.
    fn of_member(&self, branches: &[Branch], branch: &Branch, parent: usize) -> Names {
        let own = alone(branch);
        // Below a branch whose name ends with a dot, and below some others, names begin with those above.
        let beginning = Ancestors::of(branches, branch).find_map(|(index, above)| {
            let rest = own.strip_prefix(alone(above))?.strip_prefix('.')?;
            (!rest.is_empty()).then_some((index, rest))
        });
        let (above, rest) = beginning.unwrap_or((parent, own));
        let mut object = above;
        while let Some(Branch {
            is_base: true,
            parent: Some(parent),
            ..
        }) = branches.get(object)
        {
            object = *parent;
        }
        let joined = |object: &str| {
            let name = format!("{object}.{rest}");
            (name.len() <= NAME_LENGTH).then(|| Box::from(name))
        };
        let full = joined(self.full(branches, object)).filter(|name| **name != *own);
        let with_bases = joined(self.with_bases(branches, above));
        let with_bases = with_bases.filter(|name| **name != *full.as_deref().unwrap_or(own));
        Names {
            full,
            with_bases,
            last: None,
        }
    }

    fn full<'a>(&'a self, branches: &'a [Branch], index: usize) -> &'a str {
        let full = self
            .branches
            .get(index)
            .and_then(|names| names.full.as_deref());
        full.unwrap_or_else(|| branches.get(index).map_or("", alone))
    }

    fn with_bases<'a>(&'a self, branches: &'a [Branch], index: usize) -> &'a str {
        let name = self
            .branches
            .get(index)
            .and_then(|names| names.with_bases.as_deref());
        name.unwrap_or_else(|| self.full(branches, index))
    }

    /// Notes that a branch goes by a name.
    fn claim(&mut self, name: &str, rank: Rank, index: usize) {
        match self.meant.get_mut(name) {
            None => {
                self.meant.insert(name.into(), (rank, Some(index)));
            }
            Some((known, _)) if *known < rank => {}
            Some((known, meant)) if *known == rank => {
                *meant = meant.filter(|meant| *meant == index)
            }
            Some(known) => *known = (rank, Some(index)),
        }
    }

    /// The branch that a name means.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.meant.get(name)?.1
    }

    /// The names that mean a branch, the usual one first.
    pub(crate) fn of<'a>(
        &'a self,
        branches: &'a [Branch],
        index: usize,
    ) -> impl Iterator<Item = &'a str> {
        let own = branches.get(index).into_iter();
        let own = own.flat_map(|branch| {
            let alone = alone(branch);
            let dotted = (alone != branch.name).then_some(alone);
            std::iter::once(branch.name.as_str()).chain(dotted)
        });
        let others = self.branches.get(index).into_iter().flat_map(Names::all);
        own.chain(others)
            .filter(move |name| self.find(name) == Some(index))
    }

    /// The names that several branches share equally, with the first of these.
    pub(crate) fn shared<'a>(&'a self, branches: &'a [Branch]) -> HashMap<&'a str, Vec<usize>> {
        let mut shared: HashMap<&str, Vec<usize>> = HashMap::new();
        for (index, branch) in branches.iter().enumerate() {
            let others = self.branches.get(index).into_iter().flat_map(Names::all);
            for name in std::iter::once(alone(branch)).chain(others) {
                if matches!(self.meant.get(name), Some((_, None))) {
                    let sharing = shared.entry(name).or_default();
                    if sharing.len() < SHARING {
                        sharing.push(index);
                    }
                }
            }
        }
        shared
    }
}

/// A branch's name in the file. A dot at its end belongs to the names of its members, as in ROOT.
fn alone(branch: &Branch) -> &str {
    branch.name.trim_end_matches('.')
}

/// The branches that a branch lies in, from the nearest on.
struct Ancestors<'a> {
    branches: &'a [Branch],
    next: Option<usize>,
}

impl<'a> Ancestors<'a> {
    fn of(branches: &'a [Branch], branch: &Branch) -> Self {
        let next = branch.parent;
        Self { branches, next }
    }
}

impl<'a> Iterator for Ancestors<'a> {
    type Item = (usize, &'a Branch);

    // Parents come before their children, so this ends.
    fn next(&mut self) -> Option<Self::Item> {
        let index = self.next?;
        let branch = self.branches.get(index)?;
        self.next = branch.parent.filter(|parent| *parent < index);
        Some((index, branch))
    }
}
