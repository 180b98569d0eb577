"""Measures what packets take of one worker: its clocks, and the counters of its reads. Knows no
packet.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import sub
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Protocol, TypeAlias

from ..scheduling import Spent, Step

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["Meter", "meter"]

Counted: TypeAlias = tuple[int, int, int, int, int, int, float, float, float, float]
"""What a control counts: the counters of `Spent`."""


class _Counts(Protocol):
    @property
    def counted(self) -> Counted:
        """See `Control`."""


class Meter:
    """The meter of one worker. The worker's thread calls all methods."""

    steps: Sequence[Step] = ()
    """What was done for the packet that has ended, one step after another, if that is kept."""

    def __init__(self, control: _Counts) -> None:
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


class _Taken:
    """A control whose steps are taken out together with what it has counted."""

    def __init__(self, control: Control) -> None:
        self._control = control
        self.steps: list[Step] = []

    @property
    def counted(self) -> Counted:
        counted, steps = self._control.take_steps()
        self.steps = [Step(*step) for step in steps]
        return counted


class _StepMeter(Meter):
    """A meter that has the worker's steps, too."""

    def __init__(self, control: Control) -> None:
        self._taken = _Taken(control)
        super().__init__(self._taken)

    def end(self) -> tuple[float, Spent]:
        """See Meter."""
        seconds, spent = super().end()
        late = perf_counter() - self._began - seconds  # this thread may have had to wait since
        bound = Step("bound", 0, seconds, spent.opening, 0, [], "", "", True)
        steps = [step._replace(ago=step.ago - late) for step in self._taken.steps]
        self.steps = [bound, *steps]
        return seconds, spent


def meter(control: Control) -> Meter:
    """The meter of the worker that has this control to itself."""
    return _StepMeter(control) if control.keeps_steps else Meter(control)
