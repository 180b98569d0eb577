//! A tree and the source that its baskets lie in.

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
    by_name: HashMap<String, usize>,
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
        let mut by_name = HashMap::with_capacity(tree.branches.len());
        for (index, branch) in tree.branches.iter().enumerate() {
            // The outermost of several branches with one name is meant: it comes first.
            by_name.entry(branch.name.clone()).or_insert(index);
        }
        TreeFile {
            inbox: Inbox::new(&source),
            source,
            proofs: Proofs::new(tree.branches.len()),
            ends: Kept::default(),
            tree,
            by_name,
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

    /// Index in `tree().branches` of the branch of this name. A name in the file may end with a
    /// dot, which users leave out.
    #[must_use]
    pub fn branch(&self, name: &str) -> Option<usize> {
        let found = self.by_name.get(name);
        found
            .or_else(|| self.by_name.get(&format!("{name}.")))
            .copied()
    }

    /// Index of the branch that counts the items of this one. Of several of its name (a tree may have
    /// two collections that are called alike) it is the one that this branch lies in.
    #[must_use]
    pub fn counter(&self, index: usize) -> Option<usize> {
        let branches = &self.tree.branches;
        let branch = branches.get(index)?;
        let name = branch.counter.as_deref()?;
        let mut next = branch.parent;
        // Parents come before their children, so this ends.
        while let Some(parent) = next {
            let above = branches.get(parent)?;
            if above.name.trim_end_matches('.') == name.trim_end_matches('.') {
                return Some(parent);
            }
            next = above.parent;
        }
        self.branch(name)
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

    /// The name of that branch, where no other one is meant by it.
    #[must_use]
    pub fn counter_name(&self, index: usize) -> Option<&str> {
        let name = self.tree.branches.get(index)?.counter.as_deref()?;
        (self.branch(name) == self.counter(index)).then_some(name)
    }

    /// Its parents' names and its own, `parent/child`: what no two branches share, as uproot writes it.
    #[must_use]
    pub fn path(&self, index: usize) -> String {
        let mut names = Vec::new();
        let mut next = self.tree.branches.get(index);
        while let Some(branch) = next {
            names.push(branch.name.as_str());
            // Parents come before their children, so this ends.
            next = branch.parent.and_then(|p| self.tree.branches.get(p));
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
            let names = self.tree.branches.iter().map(|b| b.name.as_str());
            let mut message = format!("tree '{}' has no branch '{name}'", self.tree.name);
            let likely = near(name, names, 3);
            if !likely.is_empty() {
                message.push_str(&format!("; near names: {}", likely.join(", ")));
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
