"""Adds up what the groups of a pass have counted (monitoring.py), each with workers of its own, to
what one coordinator would have counted. Pure.
"""

from __future__ import annotations

from .monitoring import WIDTH, Monitored, widened

__all__ = ["GroupCounts"]


class GroupCounts:
    """The counts of all groups of one pass; those of groups that are lost remain."""

    def __init__(self) -> None:
        self._groups: dict[int, Monitored] = {}
        self._numbers: dict[tuple[int, int], int] = {}  # by group and worker: the number here

    def update(self, group: int, counted: Monitored) -> None:
        """Takes what a group has counted since the pass began, in place of what it said before."""
        self._groups[group] = counted
        for worker in counted.workers:
            self._numbers.setdefault((group, worker), len(self._numbers))

    def total(self, seconds: float) -> Monitored:
        """What all have counted. `seconds`: since the pass began. Workers are numbered in the order
        in which they were first heard of."""
        width = max((each.width for each in self._groups.values()), default=WIDTH)
        nodes: dict[str, list[float]] = {}
        for counted in self._groups.values():
            for node, bins in widened(counted, width).items():
                sums = nodes.get(node)
                nodes[node] = (
                    bins if sums is None else [a + b for a, b in zip(sums, bins, strict=True)]
                )
        workers = {
            number: self._groups[group].workers[worker]
            for (group, worker), number in self._numbers.items()
        }
        return Monitored(seconds, workers, width, nodes)
