"""What `treemill bench run` measures, in which order: numbers of workers, queries, rounds, and how
many events each sees. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...errors import QueryError

__all__ = ["BASELINES", "QUERIES", "SCALINGS", "PlannedQuery", "ScalingPlan", "rising"]

QUERIES: Mapping[str, str] = {
    "none": "files are opened, no column is read: what the session and the packetizer cost",
    "full": "all columns are read and summed up: the load on the storage",
    "partial": "a fifth of the bytes is read and filled into histograms: an analysis",
    "cpu": "no data: 16 histograms of Gaussian random numbers",
}
"""The standard queries, by name."""

BASELINES: Mapping[str, str] = {
    "all": "the first file, and then all files",
    "file": "the first file only",
    "none": "nothing",
}
"""What one process reads alone, by name."""

SCALINGS: Mapping[str, str] = {
    "strong": "the same events with each number of workers",
    "weak": "as many events for each worker",
}


@dataclass(frozen=True)
class PlannedQuery:
    """A query to be run."""

    workers: int
    query: str
    round: int
    events: int
    """How many of the dataset, from the first one; for `cpu`: how many to make."""


@dataclass(frozen=True)
class ScalingPlan:
    """The measurements on one system."""

    workers: Sequence[int]
    """Rising."""
    queries: Sequence[str]
    rounds: int
    events: int
    """The events of the dataset."""
    cycles: int
    """Events that `cpu` makes."""
    scaling: str = "strong"

    def __post_init__(self) -> None:
        for query in self.queries:
            if query not in QUERIES:
                raise QueryError(f"no standard query {query!r}", suggestions=[*QUERIES])
        if self.scaling not in SCALINGS:
            raise QueryError(f"no scaling {self.scaling!r}", suggestions=[*SCALINGS])
        if not self.workers or min(self.workers) < 1:
            raise QueryError(f"numbers of workers are 1 or more, not {list(self.workers)}")

    def steps(self, workers: int) -> Iterator[PlannedQuery]:
        """Returns what is run with this number of workers. Rounds go over all queries, so that a
        disturbance does not hit all rounds of one query."""
        for number in range(self.rounds):
            for query in self.queries:
                yield PlannedQuery(workers, query, number, self.share(query, workers))

    def share(self, query: str, workers: int) -> int:
        """Returns how many events the query sees with so many workers."""
        events = self.cycles if query == "cpu" else self.events
        if self.scaling == "strong":
            return events
        return max(events * workers // max(self.workers), 1)


def rising(most: int) -> list[int]:
    """Numbers of workers from 1 to `most`, each about twice the one before.

    >>> rising(6)
    [1, 2, 4, 6]
    """
    numbers = []
    workers = 1
    while workers < most:
        numbers.append(workers)
        workers *= 2
    return [*numbers, most]
