"""The queue of a master: it answers one message after another, and notes its load. Knows no
messages and no queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

__all__ = ["MasterLoad", "MasterQueue"]

Answer = TypeVar("Answer")


@dataclass
class MasterLoad:
    """What a master had to do."""

    messages: int = 0
    busy: float = 0.0
    """Seconds for which it was at its messages, by the scenario's costs."""
    merges: int = 0
    merging: float = 0.0
    """Seconds of these for merges."""
    waited: float = 0.0
    """The sum of the seconds for which messages waited for their turn."""
    longest_wait: float = 0.0
    decisions: float = 0.0
    """Seconds of CPU that its decisions took in reality, if they were measured."""


class MasterQueue:
    """A master's queue of messages."""

    def __init__(self, clock: Callable[[], float] | None) -> None:
        """`clock`: CPU seconds, if decisions are to be measured."""
        self.load = MasterLoad()
        self._clock = clock
        self._free = 0.0  # when all messages that have come will be answered

    def admit(self, now: float, cost: float, merges: bool = False) -> float:
        """A message comes. Returns when it is answered."""
        load = self.load
        wait = max(self._free - now, 0.0)
        self._free = now + wait + cost
        load.messages += 1
        load.busy += cost
        load.waited += wait
        load.longest_wait = max(load.longest_wait, wait)
        if merges:
            load.merges += 1
            load.merging += cost
        return self._free

    def decide(self, decision: Callable[[], Answer]) -> Answer:
        """Makes a decision."""
        if self._clock is None:
            return decision()
        began = self._clock()
        try:
            return decision()
        finally:
            self.load.decisions += self._clock() - began
