"""The mergers that have joined: chooses the one for the next partial, and the ones that should hand
over their partials. Knows no worker and no packet: ledger.py has the entries of each merger."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Set
from dataclasses import dataclass

from .nodes import host_of

__all__ = ["Mergers"]


@dataclass(eq=False, slots=True)
class _Merger:
    host: str | None
    last_collect: float
    collecting: bool = False  # it was asked to hand over, and has not answered


class Mergers:
    """The mergers, to which partials go in turn: to those on the worker's host, if there are any,
    else to all."""

    def __init__(self, collect_seconds: float) -> None:
        """A merger that gets partials hands over about every `collect_seconds`. That limits the
        cost of its death, and the age of the results that users see."""
        self._collect_seconds = collect_seconds
        self._there: dict[int, _Merger] = {}
        self._turns: dict[str | None, deque[int]] = {None: deque()}
        """By host; None has all."""

    def __contains__(self, number: int) -> bool:
        return number in self._there

    @property
    def numbers(self) -> Set[int]:
        """The numbers of all mergers."""
        return self._there.keys()

    def join(self, number: int, node: str | None, now: float) -> None:
        """Adds a merger."""
        host = host_of(node)
        self._there[number] = _Merger(host, now)
        for each in {None, host}:
            self._turns.setdefault(each, deque()).append(number)

    def leave(self, number: int) -> None:
        """Removes a merger that is lost."""
        for each in {None, self._there.pop(number).host}:
            self._turns[each].remove(number)

    def next(self, host: str | None) -> int | None:
        """The merger for the next partial of a worker on this host; None if there are no
        mergers."""
        turns = self._turns.get(host) or self._turns[None]
        if not turns:
            return None
        turns.rotate(-1)
        return turns[-1]

    def due(self, number: int, now: float) -> bool:
        """Whether a merger that got a partial should hand over now. If so, it counts as asked."""
        merger = self._there[number]
        if merger.collecting or now - merger.last_collect < self._collect_seconds:
            return False
        merger.collecting = True
        return True

    def rest(self, holding: Iterable[int]) -> list[int]:
        """The mergers among `holding` that were not asked to hand over. They count as asked now."""
        asked = [number for number in holding if not self._there[number].collecting]
        for number in asked:
            self._there[number].collecting = True
        return asked

    def collected(self, number: int, now: float) -> None:
        """Notes that the merger has handed over."""
        self._there[number].collecting = False
        self._there[number].last_collect = now
