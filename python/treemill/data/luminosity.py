"""Sets of luminosity sections, as in the JSON files of certified data, and expressions that ask
whether an entry's section is in a set.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, TypeAlias

from .._system.files import parsed, write_text
from ..errors import QueryError, SourceError, quoted
from ..language.expression import Expression, parse
from ..language.tree_node import children
from ..public_api import short_errors
from . import source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from ..language.tree_node import Tree

__all__ = ["LumiMask", "LumiSections", "lumi_mask", "number_of", "sections_of"]

# A set of luminosity sections: ranges by run, as in the JSON files that certify data. Pure.

Ranges = tuple[tuple[int, int], ...]
"""First and last sections of ranges, which ascend and do not touch."""

_MOST = (1 << 32) - 2
"""The largest number of a section; of a run it is half of that. The core makes one integer of 64
bits of a run and the number after a section."""


class LumiSections:
    """An immutable set of luminosity sections by run, with the operators `|` (or `+`), `&` and `-`
    of sets.

    Parameters
    ----------
    ranges
        By run, the first and the last section of each range: `{"273158": [[1, 1279]]}`. Ranges may
        overlap, and the key of a run may be a number or a text.

    Raises
    ------
    QueryError
        For anything else.

    Examples
    --------
    >>> certified = tm.lumi_mask({"200000": [[1, 4]], "200001": [[1, 4]]})
    >>> done = events.filter(certified).lumi_sections().value
    >>> len(certified.sections), len(done), len(certified.sections - done)
    (8, 2, 6)
    """

    def __init__(self, ranges: Mapping[str | int, Iterable[Iterable[int]]] | None = None) -> None:
        by_run: dict[int, list[tuple[int, int]]] = {}
        for run, each in (ranges or {}).items():
            by_run.setdefault(_run(run), []).extend(_checked(run, each))
        self._ranges = {run: _joined(each) for run, each in sorted(by_run.items()) if each}

    @classmethod
    def of(cls, pairs: Iterable[tuple[int, int]]) -> LumiSections:
        """Makes a set of pairs of a run and a section."""
        by_run: dict[int, list[tuple[int, int]]] = {}
        for run, section in pairs:
            by_run.setdefault(int(run), []).append((int(section), int(section)))
        return cls({str(run): each for run, each in by_run.items()})

    @property
    def runs(self) -> tuple[int, ...]:
        """The runs, ascending."""
        return tuple(self._ranges)

    @property
    def ranges(self) -> dict[int, Ranges]:
        """The first and the last section of each range, by run."""
        return dict(self._ranges)

    def __contains__(self, place: object) -> bool:
        """True if a pair of a run and a section is in it."""
        if not isinstance(place, tuple) or len(place) != 2:
            return False
        run, section = place
        return any(first <= section <= last for first, last in self._ranges.get(run, ()))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        """Pairs of a run and a section, ascending."""
        for run, ranges in self._ranges.items():
            for first, last in ranges:
                for section in range(first, last + 1):
                    yield run, section

    def __len__(self) -> int:
        """The number of sections."""
        each = (last - first + 1 for ranges in self._ranges.values() for first, last in ranges)
        return sum(each)

    def to_numpy(self) -> NDArray[np.uint32]:
        """Get the sections as an array, which coffea's `LumiList(*a.T)` takes.

        Returns
        -------
        numpy.ndarray
            A row of run and section for each.

        Examples
        --------
        >>> tm.LumiSections({"1": [[2, 3]]}).to_numpy().tolist()
        [[1, 2], [1, 3]]
        """
        import numpy as np

        return np.array(list(self), np.uint32).reshape(-1, 2)

    def to_json(self) -> dict[str, list[list[int]]]:
        """Get the sections in the form of the JSON files.

        Returns
        -------
        dict
            By run, the first and the last section of each range.

        Examples
        --------
        >>> tm.LumiSections({"1": [[2, 3], [4, 6]]}).to_json()
        {'1': [[2, 6]]}
        """
        return {str(run): [list(each) for each in rs] for run, rs in self._ranges.items()}

    def save(self, path: str) -> None:
        """Write a JSON file, a line for each run, as `lumi_mask` reads it.

        Parameters
        ----------
        path
            The file. An older file is replaced.

        Raises
        ------
        SourceError
            If it cannot be written.

        Examples
        --------
        >>> tm.LumiSections({"1": [[2, 3]]}).save("lumi.json")
        >>> tm.lumi_mask("lumi.json").sections.to_json()
        {'1': [[2, 3]]}
        """
        import json  # start-up: results are seldom saved

        lines = (f"{json.dumps(run)}: {json.dumps(r)}" for run, r in self.to_json().items())
        write_text(path, "{" + ",\n".join(lines) + "}\n")

    def __or__(self, other: LumiSections) -> LumiSections:
        return self._with(other, lambda mine, theirs: (*mine, *theirs))

    __add__ = __or__

    def __and__(self, other: LumiSections) -> LumiSections:
        return self - (self - other)

    def __sub__(self, other: LumiSections) -> LumiSections:
        return self._with(other, _less)

    def _with(self, other: LumiSections, do: Callable[[Ranges, Ranges], Ranges]) -> LumiSections:
        if not isinstance(other, LumiSections):
            return NotImplemented
        runs = {*self._ranges, *other._ranges}
        by_run = {run: do(self._ranges.get(run, ()), other._ranges.get(run, ())) for run in runs}
        return LumiSections({str(run): each for run, each in by_run.items()})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LumiSections) and self._ranges == other._ranges

    def __hash__(self) -> int:
        return hash(tuple(self._ranges.items()))

    def __reduce__(self) -> tuple[type[LumiSections], tuple[object, ...]]:
        return LumiSections, (self.to_json(),)

    def __repr__(self) -> str:
        return f"<{len(self):,} luminosity sections of {len(self._ranges):,} runs>"


def _run(key: object) -> int:
    try:
        run = int(str(key))
    except ValueError:
        run = -1
    if not 0 <= run <= _MOST >> 1:
        raise QueryError(f"the run {key!r} is no number of a run")
    return run


def _joined(ranges: Iterable[tuple[int, int]]) -> Ranges:
    """The ranges in order, with those joined that overlap or touch."""
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = joined[-1][0], max(joined[-1][1], last)
        else:
            joined.append((first, last))
    return tuple(joined)


def _checked(run: object, ranges: object) -> Iterator[tuple[int, int]]:
    for each in ranges if isinstance(ranges, Iterable) else [ranges]:
        pair = tuple(each) if isinstance(each, Iterable) else (each,)
        if len(pair) != 2 or not all(_is_section(section) for section in pair) or pair[1] < pair[0]:
            raise QueryError(
                f"run {run} has {each!r:.60}, which is no range of luminosity sections, "
                "[first, last]"
            )
        yield int(pair[0]), int(pair[1])


def _is_section(section: object) -> bool:
    is_number = isinstance(section, Integral) and not isinstance(section, bool)
    return is_number and 0 <= section <= _MOST  # type: ignore[operator]


def _less(mine: Ranges, theirs: Ranges) -> Ranges:
    """Returns what is in `mine` and not in `theirs`; both ascend."""
    rest: list[tuple[int, int]] = []
    for first, last in mine:
        for begin, end in theirs:
            if end < first or begin > last:
                continue
            if begin > first:
                rest.append((first, begin - 1))
            first = end + 1
        if first <= last:
            rest.append((first, last))
    return tuple(rest)


# Expressions over an entry's run and luminosity section: whether the section is in a set, and
# which it is. A run and its section are one integer, and a set is a sorted table of these.

RUN, LUMINOSITY_BLOCK = "run", "luminosityBlock"
"""NanoAOD's names."""
_BITS = 32
"""Those of the section, below those of the run."""


class LumiMask:
    """The condition that the luminosity section of an entry is certified. `events.filter(mask)`
    takes it."""

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


# Files with certified luminosity sections, as masks. Reads the file; knows no ROOT file.

Certified: TypeAlias = str | os.PathLike[str] | Mapping[Any, Sequence[Sequence[int]]] | LumiSections


@short_errors
def lumi_mask(
    certified: Certified,
    *,
    run: str = RUN,
    luminosity_block: str = LUMINOSITY_BLOCK,
    unless: str | None = None,
) -> LumiMask:
    """Make a mask of good luminosity sections, for `filter`.

    Parameters
    ----------
    certified
        The path or URL of a JSON file in CMS's form (`{"273158": [[1, 1279]], …}`, compressed as
        `.gz` or not), a mapping of this form, or `LumiSections`.
    run, luminosity_block
        The columns' names.
    unless
        An expression. Entries for which it is true pass with any section. For example, write
        "is_mc" if a fileset has simulation and data.

    Returns
    -------
    LumiMask
        `filter` takes the mask. In a selector, it is a function of arrays.

    Raises
    ------
    SourceError
        If the file cannot be read.
    QueryError
        If `certified` does not have this form.

    Examples
    --------
    >>> good = tm.lumi_mask({"1": [[1, 20], [25, 25]]}, luminosity_block="luminosityBlock")
    >>> len(good.sections)
    21
    >>> certified = events.filter(good, name="certified")
    """
    if isinstance(certified, LumiSections):
        return LumiMask(certified, run, luminosity_block, unless)
    of = "the mapping"
    given: object = certified
    if isinstance(certified, str | os.PathLike):
        of = source.address(os.fspath(certified))
        try:
            given = parsed(source.content(of), of)
        except (SourceError, ValueError) as error:
            message = f"cannot read the luminosity sections {of}: {error}"
            raise SourceError(message, file=of) from None
    if not isinstance(given, Mapping):
        raise QueryError(f"{of} maps runs to ranges of luminosity sections, not {given!r:.60}")
    try:
        sections = LumiSections(given)
    except QueryError as error:
        error.message = f"{of}: {error.message}"
        raise
    return LumiMask(sections, run, luminosity_block, unless)
