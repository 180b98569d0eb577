"""Which branches of a dataset are meant by the names and globs that somebody reads columns by, and
whether they can be read. Reads no column.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .errors import QueryError, UnsupportedError
from .groups import Group, group_of, is_group, leaves

if TYPE_CHECKING:
    from .branches import Branch
    from .dataset import Branches, Dataset

__all__ = ["group_named", "select"]


def select(dataset: Dataset, branches: Branches, names: str | Sequence[str] | None) -> list[str]:
    """The branches that `names` (names or globs) mean, in the tree's order for globs, each once.
    None: all of the first file that can be read, the values of each once, so members rather than
    the groups of them. A name that the first file lacks is kept where it has a default."""
    if names is None:
        return [n for n, branch in branches.items() if _is_plain(branches, branch)]
    chosen: dict[str, None] = {}
    for name in [names] if isinstance(names, str) else names:
        if name in branches:
            _require_readable(branches, name)
            chosen[name] = None
        elif name in dataset.trees[0].by_name:  # by its path, which may have brackets in it
            chosen[name] = None
        elif any(sign in name for sign in "*?["):
            fitting = fnmatch.filter(branches, name)
            matches = [match for match in fitting if _is_plain(branches, branches[match])]
            # What is only read by name, as a friend's columns, where nothing else fits.
            matches = matches or [match for match in fitting if branches[match].readable]
            if not matches:
                raise QueryError(f"no readable branch matches {name}")
            chosen.update(dict.fromkeys(matches))
        else:
            _require_known(dataset, name)
            chosen[name] = None
    return list(chosen)


def _is_plain(branches: Branches, branch: Branch) -> bool:
    """Whether it has data that no other branch has."""
    if branch.is_member or is_group(branch, branches.children.get(branch.path, [])):
        return False
    return branch.readable


def _require_known(dataset: Dataset, name: str) -> None:
    tree = dataset.trees[0]
    if name in tree.aliases:
        raise QueryError(
            f"{name} is an alias, {tree.aliases[name]!r}, not a branch: "
            "use it in the expressions of queries",
            branch=name,
        )
    has_default = dataset.trees.missing.has(name)
    if not has_default or (name not in dataset.trees.missing.names and tree.sample(name) is None):
        raise tree.lacks(name)


def _require_readable(branches: Branches, name: str) -> None:
    branch, group = branches[name], group_named(branches, name)
    if group is None and branch.kind == "group":
        raise QueryError(f"{name} has no data, of its own or of branches in it", branch=name)
    for each in [branch] if group is None else leaves(group):
        if not each.readable:
            reason = f": {each.reason}" if each.reason else ""
            raise UnsupportedError(
                f"neither treemill nor uproot can read {each.cpp_type} of branch {each.path}"
                f"{reason}",
                branch=each.path,
            )


def group_named(branches: Branches, name: str) -> Group | None:
    """The group of branches of this name, if it is one that holds any data together."""
    branch = branches.get(name)
    if branch is None or not is_group(branch, branches.children.get(branch.path, [])):
        return None
    group = group_of(branch, branches.children)
    return group if group.members else None
