"""Expressions over an entry's run and luminosity section: whether the section is in a set, and
which it is. A run and its section are one integer, and a set is a sorted table of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ..errors import QueryError, quoted
from ..language.expression import Expression, parse
from ..language.tree_node import children
from .sections import LumiSections

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ..language.tree_node import Tree

__all__ = ["LUMINOSITY_BLOCK", "RUN", "LumiMask", "number_of", "sections_of"]

RUN, LUMINOSITY_BLOCK = "run", "luminosityBlock"
"""NanoAOD's names."""
_BITS = 32
"""Those of the section, below those of the run."""


class LumiMask:
    """A condition: the entry's luminosity section is certified. `events.filter(mask)` takes it."""

    def __init__(
        self,
        sections: LumiSections,
        run: str = RUN,
        luminosity_block: str = LUMINOSITY_BLOCK,
        unless: str | None = None,
    ) -> None:
        """`run`, `luminosity_block`: the columns. Entries for which `unless` is true pass, too."""
        self.sections = sections
        """The certified sections."""
        self._number = number_of(run, luminosity_block)
        self._before = "" if unless is None else f"({parse(unless).text}) or "

    @property
    def expression(self) -> Expression:
        """One bool per entry."""
        begin, end = f"{self._before}in_ranges({self._number}, ", ")"
        text = f"{begin}…{end}"
        tree = parse(f"{begin}[0, 0]{end}").tree
        table: Tree = {"kind": "const", "value": self._ends(), "at": [len(begin), len(begin) + 1]}
        if not self._before:
            return Expression(text, _with_table(tree, table))
        *others, looked_up = children(tree, "values")
        return Expression(text, {**tree, "values": [*others, _with_table(looked_up, table)]})

    def _ends(self) -> list[int]:
        ranges = self.sections.ranges.items()
        return [(run << _BITS) + end for run, each in ranges for pair in each for end in pair]

    def __call__(self, runs: ArrayLike, luminosity_blocks: ArrayLike) -> NDArray[np.bool_]:
        """The mask of arrays of runs and sections, as coffea's: for selectors and processors. It
        knows nothing of `unless`."""
        import numpy as np

        numbers = np.asarray(runs, np.int64) << _BITS | np.asarray(luminosity_blocks, np.int64)
        ends = np.array(self._ends(), np.int64).reshape(-1, 2)
        edges = np.add(ends, (0, 1)).ravel()
        inside: NDArray[np.bool_] = np.searchsorted(edges, numbers, side="right") % 2 == 1
        return inside

    def __repr__(self) -> str:
        return f"<mask of {len(self.sections):,} luminosity sections>"


def _with_table(call: Tree, table: Tree) -> Tree:
    """The call of `in_ranges` with this table."""
    number, _ = children(call, "args")
    return {**call, "args": [number, table]}


def number_of(run: str, luminosity_block: str) -> str:
    """An entry's run and section as one integer: an expression."""
    for name in (run, luminosity_block):
        if not isinstance(name, str) or not name:
            raise QueryError(f"the column of a run or luminosity section has a name, not {name!r}")
    return f"int({quoted(run)}) * {1 << _BITS} + int({quoted(luminosity_block)})"


def sections_of(numbers: Iterable[int]) -> LumiSections:
    """The sections that these integers mean."""
    return LumiSections.of((int(n) >> _BITS, int(n) & ((1 << _BITS) - 1)) for n in numbers)
