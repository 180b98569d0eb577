"""Measures what packets take of one worker: its clocks, and the counters of its reads. Knows no
packet.
"""

from __future__ import annotations

from operator import sub
from time import perf_counter, thread_time
from typing import TYPE_CHECKING

from ..packetizer import Spent

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["Meter"]


class Meter:
    """The meter of one worker. The worker's thread calls all methods."""

    def __init__(self, control: Control) -> None:
        """`control`: the worker's own, which no other worker counts with."""
        self._control = control
        self._counted = control.counted
        self._answered = self._began = self._opened = perf_counter()
        self._cpu = 0.0

    def begin(self) -> None:
        """A packet begins."""
        self._began = self._opened = perf_counter()
        self._cpu = thread_time()

    def opened(self) -> None:
        """The packet's file is open."""
        self._opened = perf_counter()

    def end(self) -> tuple[float, Spent]:
        """The packet has ended: the seconds that it took, and what was measured."""
        cpu, seconds = thread_time() - self._cpu, perf_counter() - self._began
        before, self._counted = self._counted, self._control.counted
        opening = self._opened - self._began
        since = map(sub, self._counted, before)
        return seconds, Spent(self._began - self._answered, opening, cpu, *since)

    def answered(self) -> None:
        """The worker has nothing more to do for its order."""
        self._answered = perf_counter()
