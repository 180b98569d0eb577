"""A sub-master: a state machine that leads what is below it and answers to its parent. To its
parent it is like one strong worker that holds parts of the dataset, asks for more before they are
done, and hands up merged partials with their exact ranges.

It does not say when the merged partial changes hands: the driver asks `due`, takes the merged
partial out while nothing is being merged into it, and calls `hand_up` at the same moment. What was
handed up to it is merged together with the handling of the HandedUp that came with it: not before
other messages of the same delivery, because each of them may have this one hand up."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

from . import Finish, Halt, Tick
from .inner import Inner
from .leasing import Leasing
from .messages import (
    Asked,
    Downward,
    Ended,
    Failed,
    Grant,
    HandedUp,
    NothingLeft,
    Opened,
    Part,
    Resign,
    Returned,
    Standing,
    SubJoined,
    TakeBack,
    Upward,
)

__all__ = ["Consequences", "SubMaster"]

Said = TypeVar("Said")
Ordered = TypeVar("Ordered")


@dataclass
class Consequences(Generic[Ordered]):
    """What follows from an event: orders for those below, and messages to the parent in their
    order."""

    orders: list[Ordered | Finish] = field(default_factory=list)
    up: list[Upward] = field(default_factory=list)


class SubMaster(Generic[Said, Ordered]):
    """One sub-master. Not thread-safe."""

    def __init__(
        self,
        number: int,
        site: str,
        inner: Inner[Said, Ordered],
        leasing: Leasing | None = None,
    ) -> None:
        """`number` and `site`: as in SubJoined. `inner`: what it leads."""
        self.number = number
        self.inner = inner
        self._over = False
        self._site = site
        self._leasing = leasing or Leasing()
        self._asked = False
        self._dry = False  # nothing is left at the parent
        self._owed = False  # what the parent takes back is still to come from below
        self._manned = False  # whether there were workers when it said how it stands
        self._ended = False  # Ended was said
        self._opened: list[Upward] = []  # to be told with the next message, or in a second
        self._last = 0.0  # when it handed up

    @property
    def over(self) -> bool:
        """True if the query is over."""
        return self._over

    def join(self, now: float) -> list[Upward]:
        """Gives the first message to the parent."""
        self._last = now
        return [SubJoined(self.number, self._site)]

    def handle(self, event: Said | Downward, now: float) -> Consequences[Ordered]:
        """Handles an event from the parent or from below."""
        step: Consequences[Ordered] = Consequences()
        if self._over:
            return step
        if isinstance(event, Downward):
            self._obey(event, now, step)
        else:
            step.orders += self.inner.handle(event, now)
        if self.over:
            return step
        if self.inner.over:
            # What ended early below goes on above: the last word is the parent's.
            step.orders = [order for order in step.orders if not isinstance(order, Finish)]
        ticks = isinstance(event, Tick)
        self._report(now, step, ticks)
        if step.up or ticks:
            # Sizes come first: what follows may be about parts of these files.
            step.up, self._opened = [*self._opened, *step.up], []
        return step

    def _obey(self, event: Downward, now: float, step: Consequences[Ordered]) -> None:
        if isinstance(event, Grant):
            self._asked = self._dry = False
            step.orders += self.inner.add(event.parts, event.beyond, now)
        elif isinstance(event, NothingLeft):
            self._dry = True
            step.orders += self.inner.no_more(now)
        elif isinstance(event, TakeBack):
            parts, orders = self.inner.give_back(event.entries, event.among, now)
            step.orders += orders
            if parts is None:
                self._owed = True
            else:
                self._return(parts, step, asked=True)
        elif isinstance(event, Halt | Resign):
            step.orders += self.inner.stop("the query was ended", now)
        else:
            self._over = True
            step.orders.append(event)

    def _report(self, now: float, step: Consequences[Ordered], ticks: bool) -> None:
        """Tells the parent what it should know now."""
        inner, up = self.inner, step.up
        if inner.has_progress:
            progress = inner.take_progress()
            self._opened += [Opened(self.number, file, size) for file, size in progress.opened]
            up += [Failed(self.number, part, error) for part, error in progress.failures]
        if self._owed:
            reclaimed = inner.reclaimed()
            if reclaimed is not None:
                self._owed = False
                self._return(reclaimed, step, asked=True)
        if inner.over:
            if not (inner.has_commits or self._ended):
                self._ended = True
                up.append(Ended(self.number))
            return
        workers = inner.workers
        if not workers and not inner.starving:
            parts, orders = inner.give_back(None, None, now)
            step.orders += orders
            self._return(parts or [], step)
        if self._asked:
            if (workers > 0) != self._manned or (ticks and self._dry):
                up.append(self._standing())
        elif workers and self._wants():
            self._asked = True
            up += [self._standing(), Asked(self.number)]

    def _wants(self) -> bool:
        inner = self.inner
        rate = inner.rate
        return inner.left < rate * self._leasing.hold if rate else inner.starving

    def _standing(self) -> Standing:
        inner = self.inner
        self._manned = bool(inner.workers)
        left = inner.left + inner.left_below if self._dry else inner.left
        return Standing(self.number, inner.workers, inner.rate, left)

    def _return(self, parts: list[Part], step: Consequences[Ordered], asked: bool = False) -> None:
        if asked or parts:
            step.up.append(Returned(self.number, tuple(parts), asked))

    # The merged partial.

    def due(self, now: float) -> bool:
        """True if it should hand up what is committed: some time has passed, or there is nothing
        else to do."""
        inner = self.inner
        if self._over or not inner.has_commits:
            return False
        late = now - self._last >= self._leasing.hand_up_seconds
        return late or inner.over or (inner.starving and inner.quiet)

    def hand_up(self, now: float) -> list[Upward]:
        """The messages that go with the merged partial, which has all that was committed so far.
        Empty if there is nothing."""
        step: Consequences[Ordered] = Consequences()
        progress = self.inner.take_progress()
        ranges = tuple(self.inner.take_commits())
        opened = [Opened(self.number, file, size) for file, size in progress.opened]
        step.up, self._opened = [*self._opened, *opened], []
        step.up += [Failed(self.number, part, error) for part, error in progress.failures]
        if ranges:
            self._last = now
            step.up += [HandedUp(self.number, ranges), self._standing()]
        if self.inner.over and not self._ended:
            self._ended = True
            step.up.append(Ended(self.number))
        return step.up
