"""The access pattern of CMSSW's IOExerciser: some of the branches for every entry, as an analysis
reads them, and all branches of each fiftieth entry or so, as an analysis does with what it selects.
What is to be read, and what came of it, as plain values: it knows no dataset and reads nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from ..scheduling import MEASURES

__all__ = ["COUNTERS", "ORDERS", "SWITCHES", "Exercise", "ExerciseOutcome", "Size", "chosen"]

ORDERS = ("smallest", "largest", "roundrobin")
"""The orders in which branches are taken until their share is reached; "roundrobin" takes a small
and a large one in turn, which is closest to what users do."""

SWITCHES: Mapping[str, str] = {
    "startup": "headers and ends of files together, known metadata from the disk",
    "trigger": "of the columns of rare entries, only what these entries touch",
    "coalescing": "neighbouring ranges as one",
    "multisource": "several sources of one file at once",
    "prefetch": "what later packets need, while one is computed",
}
"""What may be switched off, one by one, to see what it gains."""

COUNTERS = (
    "bytes_wanted",
    "bytes_read",
    "bytes_over_read",
    "bytes_from_cache",
    "bytes_from_disk",
    "requests",
    "waits",
    "waited",
)
"""What is told of an exercise, of what the core counts."""


@dataclass(frozen=True)
class Size:
    """A branch and its bytes in the file."""

    branch: str
    zip_bytes: int


@dataclass(frozen=True)
class Exercise:
    """What to read."""

    share: float = 0.3
    """The least share of the bytes of all branches that is read for every entry."""
    prescale: int = 50
    """Every n-th entry is read with all its branches; 0: none."""
    entries: int = 1000
    """The first ones of all files together; 0: all."""
    order: str = "smallest"
    without: frozenset[str] = field(default_factory=frozenset)
    """Names of SWITCHES."""

    @property
    def trigger(self) -> str:
        """The entries that are read whole, as a filter."""
        return f"entry_number % {self.prescale} == {self.prescale - 1}"


@dataclass(frozen=True)
class ExerciseOutcome:
    """What an exercise took."""

    seconds: float
    entries: int
    chosen: int
    """Branches that were read for every entry."""
    branches: int
    total: float
    """The sum of all values that were read: equal for all readers of the same data."""
    counters: Mapping[str, float]

    def lines(self) -> list[str]:
        """Gives lines for a terminal."""
        return [
            f"{self.entries:,} entries, {self.chosen} of {self.branches} branches: "
            f"{self.seconds:.3f} s",
            *(_line(name, value) for name, value in self.counters.items()),
        ]


def _line(name: str, value: float) -> str:
    measure = MEASURES[name]
    told = _BY_UNIT[measure.unit](value)
    return f"  {told:>14}  {measure.words}"


_BY_UNIT: Mapping[str, Callable[[float], str]] = {
    "bytes": lambda value: f"{value / 1e6:,.3f} MB",
    "s": lambda value: f"{value:,.3f} s",
    "": lambda value: f"{value:,.0f}",
}


def chosen(sizes: Iterable[Size], share: float, order: str) -> list[str]:
    """The branches to read for every entry: in the given order until they have the share of the
    bytes. Branches without bytes count, but never decide."""
    ascending = sorted(sizes, key=lambda size: (size.zip_bytes, size.branch))
    wanted = share * sum(size.zip_bytes for size in ascending)
    branches: list[str] = []
    taken = 0
    from_small = order != "largest"
    while ascending and taken < wanted:
        size = ascending.pop(0 if from_small else -1)
        branches.append(size.branch)
        taken += size.zip_bytes
        from_small ^= order == "roundrobin"
    return branches
