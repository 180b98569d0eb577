"""Adds up what groups of workers have counted (monitoring.py), each for itself, to what one
coordinator would have counted. A group is the workers of a site. Pure.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

from .monitoring import BINS, WIDTH, Monitored, halved, spread
from .worker_tally import OfWorker

__all__ = ["GroupCounts"]

_Key = TypeVar("_Key", bound=Hashable)
_Number = TypeVar("_Number", int, float)
_Who = tuple[int, int, str]
"""A worker: its group, its number there, and its host."""


class GroupCounts:
    """The counts of all groups of one pass."""

    def __init__(self) -> None:
        self._groups: dict[int, tuple[Monitored, float]] = {}
        self._closed = _GroupSums()
        self._numbers: dict[_Who, int] = {}

    def update(self, group: int, counted: Monitored, since: float = 0.0) -> None:
        """Takes what a group has counted, in place of what it said before. `since`: when it began
        to count, in seconds since the pass began."""
        self._groups[group] = counted, since

    def close(self, group: int) -> None:
        """Keeps what the group has said last. What it says next is added to that."""
        said = self._groups.pop(group, None)
        if said is not None:
            self._closed.add(group, *said)

    def total(self, seconds: float) -> Monitored:
        """Returns what all have counted. `seconds`: since the pass began. A worker keeps the number
        that it gets here first."""
        sums = _GroupSums()
        sums.add_all(self._closed)
        for group, said in self._groups.items():
            sums.add(group, *said)
        numbers = self._numbers
        workers = {
            numbers.setdefault(who, len(numbers)): worker for who, worker in sums.workers.items()
        }
        return Monitored(seconds, workers, sums.width, sums.nodes)


class _GroupSums:
    """Counts that are added up."""

    def __init__(self) -> None:
        self.workers: dict[_Who, OfWorker] = {}
        self.width = WIDTH
        self.nodes: dict[str, list[float]] = {}

    def add(self, group: int, counted: Monitored, since: float) -> None:
        for number, worker in counted.workers.items():
            self._add_worker((group, number, worker.host), worker)
        self._add_nodes(counted.nodes, counted.width, since)

    def add_all(self, other: _GroupSums) -> None:
        for who, worker in other.workers.items():
            self._add_worker(who, worker)
        self._add_nodes(other.nodes, other.width, 0.0)

    def _add_worker(self, who: _Who, worker: OfWorker) -> None:
        sums = self.workers.setdefault(who, OfWorker(worker.host))
        _add(sums.sums, worker.sums)
        for name, bins in worker.spread.items():
            _add(sums.spread.setdefault(name, {}), bins)

    def _add_nodes(self, nodes: Mapping[str, list[float]], width: float, since: float) -> None:
        last = max(
            (at for bins in nodes.values() for at, spent in enumerate(bins) if spent), default=0
        )
        while self.width < width or self.width * BINS < since + (last + 1) * width:
            self.width *= 2
            self.nodes = {node: halved(bins) for node, bins in self.nodes.items()}
        for node, bins in nodes.items():
            sums = self.nodes.setdefault(node, [0.0] * BINS)
            for at, spent in enumerate(bins):
                if spent:
                    start = since + at * width
                    spread(sums, self.width, start, start + width, spent / width)


def _add(sums: dict[_Key, _Number], values: Mapping[_Key, _Number]) -> None:
    for name, value in values.items():
        sums[name] = sums.get(name, 0) + value
