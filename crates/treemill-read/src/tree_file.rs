//! A tree and the source that its baskets lie in.

use crate::branch_names::BranchNames;
use crate::counts::{Kept, Proofs};
use crate::decode;
use crate::near::near;
use crate::{ErrorKind, Inbox, ReadError};
use std::collections::HashMap;
use std::sync::Arc;
use treemill_format::layout::Layout;
use treemill_format::tree::{Branch, Tree};
use treemill_source::Source;

/// A tree that can be read. Shared by any number of readers.
pub struct TreeFile {
    source: Arc<dyn Source>,
    inbox: Option<Arc<Inbox>>,
    tree: Tree,
    names: BranchNames,
    proofs: Proofs,
    ends: Kept,
}

impl std::fmt::Debug for TreeFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TreeFile")
            .field("source", &self.source.name())
            .field("tree", &self.tree.name)
            .finish_non_exhaustive()
    }
}

impl TreeFile {
    /// A tree whose baskets lie in `source`.
    #[must_use]
    pub fn new(source: Arc<dyn Source>, tree: Tree) -> Self {
        TreeFile {
            inbox: Inbox::new(&source),
            source,
            proofs: Proofs::new(tree.branches.len()),
            ends: Kept::default(),
            names: BranchNames::new(&tree.branches),
            tree,
        }
    }

    /// The tree's metadata.
    #[must_use]
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What has been seen of its branches' counts.
    pub(crate) fn proofs(&self) -> &Proofs {
        &self.proofs
    }

    /// List ends that readers have recorded.
    pub(crate) fn ends(&self) -> &Kept {
        &self.ends
    }

    /// Its bytes that were asked for; `None` if the source is a near one.
    #[must_use]
    pub fn inbox(&self) -> Option<&Arc<Inbox>> {
        self.inbox.as_ref()
    }

    /// Where its bytes come from.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// Index in `tree().branches` of the branch that this name means. A name in the file may end with a dot, which
    /// users leave out. A name that several branches have means none of them, except where it is the whole name of one.
    #[must_use]
    pub fn branch(&self, name: &str) -> Option<usize> {
        self.names.find(name)
    }

    /// The name of a branch: the one in the file if no other branch has it, else with the name of the object that it
    /// lies in, `mu2.fCoordinates.fPt`, or with a number.
    #[must_use]
    pub fn name(&self, index: usize) -> &str {
        self.names(index).next().unwrap_or("")
    }

    /// All names that mean the branch, the usual one first.
    pub fn names(&self, index: usize) -> impl Iterator<Item = &str> {
        self.names.of(&self.tree.branches, index)
    }

    /// Names that several branches share, each with the names of the first of these: by itself such a name means none
    /// of them.
    #[must_use]
    pub fn shared_names(&self) -> HashMap<&str, Vec<&str>> {
        let names = |sharing: Vec<usize>| sharing.iter().map(|&index| self.name(index)).collect();
        let shared = self.names.shared(&self.tree.branches).into_iter();
        shared
            .map(|(name, sharing)| (name, names(sharing)))
            .collect()
    }

    /// Index of the branch that counts the items of this one.
    #[must_use]
    pub fn counter(&self, index: usize) -> Option<usize> {
        self.tree.branches.get(index)?.counter
    }

    /// The counter of a branch whose entries are items of a fixed size and nothing else, and that size.
    pub(crate) fn counted(&self, index: usize) -> Option<(usize, usize)> {
        let Layout::Counted { item, header: 0 } = &self.tree.branches.get(index)?.layout else {
            return None;
        };
        let Ok(decode::Size::Fixed(size @ 1..)) = decode::size_of(item) else {
            return None;
        };
        Some((self.counter(index)?, size))
    }

    /// Its parents' names and its own, `parent/child`, as uproot writes it. No two branches have the same path: the
    /// second of several top branches of one name has a number, `x;2`.
    #[must_use]
    pub fn path(&self, index: usize) -> String {
        let mut names = Vec::new();
        let mut next = Some(index);
        while let Some(branch) = next.and_then(|index| self.tree.branches.get(index)) {
            let top = next.filter(|_| branch.parent.is_none());
            names.push(top.map_or(branch.name.as_str(), |index| self.name(index)));
            // Parents come before their children, so this ends.
            next = branch.parent;
        }
        names.reverse();
        names.join("/")
    }

    /// Index in `tree().branches` of the branch of this name or path.
    ///
    /// # Errors
    /// `NotFound` with the names that are near.
    pub fn find(&self, name: &str) -> Result<usize, ReadError> {
        let by_path = || {
            let paths = name.contains('/').then_some(0..self.tree.branches.len());
            paths.into_iter().flatten().find(|&i| self.path(i) == name)
        };
        self.branch(name).or_else(by_path).ok_or_else(|| {
            if let Some(sharing) = self.shared_names().get(name) {
                let names = sharing.join(" or ");
                let message = format!("{name} is ambiguous: write {names}");
                return ReadError::not_found(message, self.source.name());
            }
            let names = self.tree.branches.iter().map(|b| b.name.as_str());
            let mut message = format!("tree '{}' has no branch '{name}'", self.tree.name);
            let likely = near(name, names, 3);
            if !likely.is_empty() {
                message.push_str(&format!("; did you mean {}?", likely.join(", ")));
            }
            ReadError::not_found(message, self.source.name())
        })
    }

    /// The branch at `index`, if it can be read.
    ///
    /// # Errors
    /// `Unsupported` with the reason; `NotFound` if there is no such index.
    pub fn readable(&self, index: usize) -> Result<&Branch, ReadError> {
        let file = self.source.name();
        let branch = self.tree.branches.get(index).ok_or_else(|| {
            let message = format!("tree {} has no branch number {index}", self.tree.name);
            ReadError::not_found(message, file)
        })?;
        decode::Column::new(&branch.layout, 0)
            .and_then(|_| decode::arrow_type(&branch.layout))
            .map_err(|e| ReadError {
                kind: ErrorKind::Unsupported,
                branch: Some(branch.name.as_str().into()),
                ..ReadError::format(&e, file, None)
            })?;
        Ok(branch)
    }

    /// The Arrow field of the branch at `index`: what a reader's arrays of it are.
    ///
    /// # Errors
    /// As [`TreeFile::readable`].
    pub fn arrow_field(&self, index: usize) -> Result<arrow_schema::Field, ReadError> {
        let branch = self.readable(index)?;
        decode::field(&branch.name, &branch.layout)
            .map_err(|e| ReadError::format(&e, self.source.name(), None))
    }
}
