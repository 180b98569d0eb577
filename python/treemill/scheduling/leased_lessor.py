"""The sub-masters of a sub-master, led by a lessor that leases on what was leased to it."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set

from . import Beyond, Stop
from .inner import InnerProgress
from .leasing import Leasing
from .lessor import Lessor
from .messages import Downward, LessorEvent, Part
from .unleased_parts import Reach

__all__ = ["LeasedLessor"]


class LeasedLessor:
    """A lessor whose dataset is leased. See Inner."""

    def __init__(
        self, leasing: Leasing | None = None, *, reach: Callable[[int], Reach] | None = None
    ) -> None:
        """`reach` as in Lessor."""
        self.lessor = Lessor([], leasing, reach=reach, growing=True)

    @property
    def over(self) -> bool:
        """See Inner."""
        return self.lessor.over

    @property
    def workers(self) -> int:
        """See Inner."""
        return self.lessor.groups.workers

    @property
    def rate(self) -> float:
        """See Inner."""
        return self.lessor.groups.rate

    @property
    def left(self) -> float:
        """See Inner."""
        return self.lessor.left

    @property
    def left_below(self) -> float:
        """See Inner."""
        return self.lessor.left_below

    @property
    def starving(self) -> bool:
        """See Inner."""
        return not self.lessor.has_work

    @property
    def quiet(self) -> bool:
        """See Inner."""
        return self.lessor.quiet

    @property
    def has_commits(self) -> bool:
        """See Inner."""
        return self.lessor.has_news

    def handle(self, event: LessorEvent, now: float) -> list[Downward]:
        """See Inner."""
        return self.lessor.handle(event, now)

    def add(self, parts: Sequence[Part], beyond: Beyond, now: float) -> list[Downward]:
        """See Inner."""
        return self.lessor.add(parts, beyond, now)

    def no_more(self, now: float) -> list[Downward]:
        """See Inner. Its sub-masters are told when they ask."""
        return self.lessor.add((), Beyond(), now)

    def give_back(
        self, entries: int | None, among: Set[int] | None, now: float
    ) -> tuple[list[Part] | None, list[Downward]]:
        """See Inner."""
        return self.lessor.give_back(entries, among, now)

    def reclaimed(self) -> list[Part] | None:
        """See Inner."""
        parts, self.lessor.reclaimed = self.lessor.reclaimed, None
        return parts

    def stop(self, reason: str, now: float) -> list[Downward]:
        """See Inner."""
        return self.lessor.handle(Stop(reason), now)

    @property
    def has_progress(self) -> bool:
        """See Inner."""
        return bool(self.lessor.opened or self.lessor.failures)

    def take_progress(self) -> InnerProgress:
        """See Inner."""
        opened, self.lessor.opened = self.lessor.opened, []
        failures, self.lessor.failures = self.lessor.failures, []
        return InnerProgress(opened, failures)

    def take_commits(self) -> list[tuple[int, int, int]]:
        """See Inner."""
        news = self.lessor.take_news()
        return [(file, *span) for file, ranges in news.processed.items() for span in ranges]
