"""The plan of a read: which branches have the data of the names that a user asks for, and what the
names become. The first file of a dataset says so. Reads no column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from .branch_group import BranchGroup, leaves
from .branch_names import group_named, select
from .foreign import ExtendedTree

if TYPE_CHECKING:
    from .branch import Branch
    from .chain import Chain
    from .column_source import TreeColumns

__all__ = ["Named", "ReadPlan", "plan"]

Named = str | tuple[str, ...] | None
"""Names, globs and expressions that are asked for; None: all that can be read."""


@dataclass(frozen=True)
class ReadPlan:
    """What to read for some names."""

    wanted: tuple[str, ...]
    """The columns of the result, in order."""
    groups: dict[str, BranchGroup[Branch]]
    """Columns of the result that are records of several branches."""
    columns: tuple[str, ...]
    """Names and paths of the branches that have the data."""
    optional: frozenset[str]
    """Columns of the result that may have missing values."""
    doubtful: tuple[str, ...]
    """Columns that have missing values only if some value is missing: defaults, and what uproot
    reads."""
    expressions: tuple[str, ...]
    """Columns that are computed."""
    left: tuple[str, ...]
    """Branches that are meant too, and that nothing reads."""


Plans = dict[Named, ReadPlan]

_MOST_PLANS = 1000
"""The number of plans that are remembered with a file."""


def plan(chain: Chain, table: TreeColumns, names: Named, anew: bool = False) -> ReadPlan:
    """The plan for these names. `table`: of the first file. `anew`: without what is remembered,
    because some branch has turned out to be unreadable."""
    # The columns of friends may change while the file stays as it is.
    plans = {} if isinstance(table, ExtendedTree) else _plans(chain)
    known = plans.get(names)
    if known is not None and not anew:
        return known
    read_plan = _plan(chain, names)
    if len(plans) < _MOST_PLANS or anew:
        plans[names] = read_plan
    return read_plan


def _plans(chain: Chain) -> Plans:
    """The plans of earlier reads, kept while the first file stays as it is."""
    return cast(Plans, chain.trees.remembered(0).setdefault("plans", {}))


def _plan(chain: Chain, names: str | Sequence[str] | None) -> ReadPlan:
    branches = chain.branches
    wanted, expressions, left = select(chain, branches, names)
    groups = {n: group for n in wanted if (group := group_named(branches, n)) is not None}
    paths = [leaf.path for group in groups.values() for leaf in leaves(group)]
    own = (name for name in wanted if name not in groups and name not in expressions)
    optional, doubtful = set(), []
    for name in wanted:
        branch = branches.get(name)
        if name in expressions:
            continue
        if branch is not None and branch.kind == "optional":
            optional.add(name)
        elif chain.trees.missing.has(name) or (branch is not None and not branch.supported):
            doubtful.append(name)
    return ReadPlan(
        tuple(wanted),
        groups,
        tuple(dict.fromkeys([*own, *paths])),
        frozenset(optional),
        tuple(doubtful),
        tuple(name for name in wanted if name in expressions),
        tuple(left),
    )
