"""The mergers that have joined: chooses the one for the next partial, the ones that should hand
over their partials, and the ones to which others hand theirs on. Knows no worker and no packet:
ledger.py has the entries of each merger."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Set
from dataclasses import dataclass

from .storage_nodes import host_of

__all__ = ["MergerChoice"]


@dataclass(eq=False, slots=True)
class _Merger:
    host: str | None
    last_collect: float
    collecting: bool = False  # it was asked to hand over, and has not answered
    leaving: bool = False
    giving: bool = False  # it was told to hand on, and keeps what it has meanwhile


class MergerChoice:
    """The mergers, to which partials go in turn: to those on the worker's host, if there are any,
    else to all."""

    def __init__(self, collect_seconds: float | None) -> None:
        """A merger that gets partials hands over about every `collect_seconds`. That limits the
        cost of its death, and the age of the results that users see. None: it is never asked to."""
        self._collect_seconds = collect_seconds
        self._there: dict[int, _Merger] = {}
        self.numbers: Set[int] = self._there.keys()
        """The numbers of all mergers."""
        self._turns: dict[str | None, deque[int]] = {None: deque()}
        """Mergers by host, without those that are leaving or handing on; None has those of all
        hosts."""
        self.leaving: list[int] = []
        """Those that will go, in the order in which that was said. Not to be changed by others."""

    def __contains__(self, number: int) -> bool:
        return number in self._there

    def join(self, number: int, node: str | None, now: float) -> None:
        """Adds a merger."""
        self._there[number] = _Merger(host_of(node), now)
        self._begin(number)

    def leave(self, number: int) -> None:
        """Removes a merger that is lost, or has handed on all that it had."""
        self._end(number)
        if number in self.leaving:
            self.leaving.remove(number)
        del self._there[number]

    def _begin(self, number: int) -> None:
        for each in {None, self._there[number].host}:
            self._turns.setdefault(each, deque()).append(number)

    def _end(self, number: int) -> None:
        if number in self._turns[None]:
            for each in {None, self._there[number].host}:
                self._turns[each].remove(number)

    def next(self, host: str | None) -> int | None:
        """The merger for the next partial of a worker on this host; None if there are no
        mergers."""
        turns = self._turns.get(host) or self._turns[None]
        if not turns:
            return next((each for each in self.leaving if not self._there[each].giving), None)
        turns.rotate(-1)
        return turns[-1]

    # Handing on.

    def will_leave(self, number: int) -> None:
        """Notes that the merger will go."""
        merger = self._there[number]
        if not merger.leaving:
            merger.leaving = True
            self.leaving.append(number)
            self._end(number)

    def gives(self, number: int) -> None:
        """Notes that the merger hands on what it has: until it has, it gets nothing."""
        self._there[number].giving = True
        self._end(number)

    def keeps(self, number: int) -> None:
        """Notes that the merger has still what it was to hand on: the other one is lost."""
        merger = self._there[number]
        merger.giving = False
        if not merger.leaving:
            self._begin(number)

    def is_free(self, number: int) -> bool:
        """True if the merger neither hands on nor over what it has."""
        merger = self._there[number]
        return not (merger.giving or merger.collecting)

    def next_merger(self, number: int) -> int | None:
        """The merger to which a leaving one should hand on: one of its host if there is any."""
        return self.next(self._there[number].host) if self._turns[None] else None

    def by_host(self, numbers: Iterable[int]) -> list[int]:
        """The mergers, those of a host side by side."""
        return sorted(numbers, key=lambda number: (self._there[number].host or "", number))

    # Handing over.

    def due(self, number: int, now: float) -> bool:
        """True if a merger that got a partial should hand over now. If so, it counts as asked."""
        merger = self._there[number]
        if self._collect_seconds is None or merger.collecting:
            return False
        if now - merger.last_collect < self._collect_seconds:
            return False
        merger.collecting = True
        return True

    def rest(self, holding: Iterable[int]) -> list[int]:
        """The mergers among `holding` that should hand over at the end, and were not asked to. They
        count as asked now."""
        if self._collect_seconds is None:
            return []
        asked = [number for number in holding if not self._there[number].collecting]
        for number in asked:
            self._there[number].collecting = True
        return asked

    def collected(self, number: int, now: float) -> None:
        """Notes that the merger has handed over."""
        self._there[number].collecting = False
        self._there[number].last_collect = now
