"""A query's node as data for selectors: which entries of a chunk pass its filters, and the columns
that it defines. The core computes both.

Knows the query's description, one file's binding and rows; knows no selector and no session.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ..data.foreign import Computed
from ..data.rows import Sink
from ..errors import QueryError, UnsupportedError
from ..language.expression import column
from ..query.node import Booking, Node, steps_to
from ..query.planning import Specification, plan
from ..query.rows import Arrays
from ..query.steps import Define, Vary
from .file_query import PerFile
from .row_collection import Collecting

if TYPE_CHECKING:
    from awkward.contents import Content
    from numpy.typing import NDArray

    from .._core import Bound
    from ..data.chain import Chain

__all__ = ["Derivation", "NodeColumns", "derivation"]

_ENTRY = "treemill_number_of_entry"


@dataclass(frozen=True)
class Derivation:
    """What a node adds to its chain, in a form that can be sent."""

    specification: Specification
    names: tuple[str, ...]
    """The columns that the node defines."""
    limit: int
    """Bytes of these columns at most, for one chunk."""
    objects: tuple[str, ...] = ()
    """What the node defines and only expressions can use: elements, combinations, lists of them."""
    redefined: tuple[str, ...] = ()
    """The dataset's columns that the node has redefined, with those that do not fit to them:
    other members of the collection, and the counts of its items."""


def derivation(node: Node, chain: Chain) -> Derivation | None:
    """Returns what the node adds to the chain; None if it is the dataset itself. Only columns of
    numbers and of lists of numbers are given: others (elements, combinations) are for expressions
    only. Opens the first file. Raises what is wrong with the filters."""
    steps = [each.step for each in steps_to(node) if each.step is not None]
    if not steps:
        return None
    if any(isinstance(step, Vary) for step in steps):
        raise UnsupportedError("a selector below vary() is not supported: run it on a node above")
    defined = dict.fromkeys(step.name for step in steps if isinstance(step, Define))
    _bind(_described(node, ()), chain, 0)
    names = tuple(name for name in defined if _is_column(node, name, chain))
    objects = tuple(name for name in defined if name not in names)
    redefined = tuple(_redefined(node, defined, chain))
    return replace(_described(node, names), objects=objects, redefined=redefined)


def _redefined(node: Node, defined: Iterable[str], chain: Chain) -> Iterator[str]:
    """The dataset's columns that the selector must not read along with these definitions."""
    branches = chain.branches
    for name in defined:
        if name in branches:
            yield name
        members = [b for b in branches.values() if b.name.startswith((f"{name}_", f"{name}."))]
        counters = {b.counter for b in members if b.counter is not None}
        for member in (*counters, *(b.name for b in members)):
            pattern_match = _is_column(node, member, chain, found=True)
            if pattern_match and not _is_column(node, member, chain):
                yield member


def _is_column(node: Node, name: str, chain: Chain, found: bool = False) -> bool:
    try:
        _bind(_described(node, (name,), found), chain, 0)
    except (QueryError, UnsupportedError):
        return False
    return True


def _described(node: Node, names: tuple[str, ...], found: bool = False) -> Derivation:
    columns = tuple((name, column(name, found)) for name in (_ENTRY, *names))
    booking = Booking(node, Arrays(columns))
    planned = plan([booking])
    node.origin.discard(booking)
    (wanted,) = planned.rows.values()
    return Derivation(planned.specification, names, wanted.limit)


def _bind(derivation: Derivation, chain: Chain, file: int) -> Bound:
    query = PerFile(derivation.specification)
    bound: Bound = query.bind(chain, file, Computed({_ENTRY: np.arange}))
    return bound


class NodeColumns:
    """Evaluates a `Derivation` on one worker."""

    def __init__(self, derivation: Derivation, chain: Chain) -> None:
        self._derivation = derivation
        self._chain = chain
        self._bound: tuple[int, Bound] | None = None
        self.objects = derivation.objects
        self.refused = {name: _refusal(name) for name in derivation.redefined}
        """Columns of the dataset that must not be read, each with the error that reading raises."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the files that the filters and definitions read; empty before the first
        file is read. All threads may ask."""
        bound = self._bound
        return () if bound is None else tuple(bound[1].columns)

    def _bound_to(self, file: int) -> Bound:
        if self._bound is None or self._bound[0] != file:
            self._bound = (file, _bind(self._derivation, self._chain, file))
        return self._bound[1]

    def within(
        self, file: int, start: int, stop: int
    ) -> tuple[NDArray[np.int64], dict[str, Content]]:
        """The places of the entries of `[start, stop)` that pass, counted from `start`, ascending.
        Also the defined columns of these entries, as awkward layouts by name."""
        from treemill import _core  # heavy: core

        from ..data.columns import Table, numbers  # heavy: core
        from ..data.from_core import layout  # heavy: awkward

        collecting = Collecting(self._bound_to(file), file, {0: Sink(self._derivation.limit)})
        partial = collecting.partial()
        collecting.run(start, stop, partial, _core.Control())
        rows = partial.rows[0]
        tables = list(rows.tables())
        if not tables:
            return np.zeros(0, np.int64), {}
        whole = Table.joined(tables).columns
        columns = {
            name: layout(whole[name], name in rows.optional) for name in self._derivation.names
        }
        entries = numbers(whole[_ENTRY]).astype(np.int64, copy=False)
        return entries - start, columns


def _refusal(name: str) -> QueryError:
    return QueryError(
        f"{name} is a column of the file, but the query has redefined it or its collection: give "
        'the new values a name of their own, as in define("good_pt", "Jet.pt")',
        branch=name,
    )
