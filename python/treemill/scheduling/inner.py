"""What a sub-master has below it: workers (leased_packetizer.py) or further sub-masters
(leased_lessor.py)."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from . import Beyond, FileSize
from .messages import Part

__all__ = ["Inner", "InnerProgress"]


@dataclass
class InnerProgress:
    """What has happened below since the last look, apart from what was committed."""

    opened: list[tuple[int, FileSize]] = field(default_factory=list)
    failures: list[tuple[Part, BaseException]] = field(default_factory=list)


Said = TypeVar("Said", contravariant=True)
Ordered = TypeVar("Ordered")


class Inner(Protocol[Said, Ordered]):
    """The distribution of what a sub-master has. Its dataset grows and shrinks. `Said`: what those
    below say; `Ordered`: what they are told."""

    @property
    def over(self) -> bool:
        """True if it has ended after `stop`: nothing more will be committed."""

    @property
    def workers(self) -> int:
        """The number of workers, at all levels below."""

    @property
    def rate(self) -> float:
        """Entries per second of all of them; 0 if nothing is measured."""

    @property
    def left(self) -> float:
        """The entries that are not begun below, and that no level below was told to distribute."""

    @property
    def left_below(self) -> float:
        """Further entries that no worker has begun."""

    @property
    def starving(self) -> bool:
        """True if those below have nothing more to get, as far as is known."""

    @property
    def quiet(self) -> bool:
        """True if nothing is in hand below."""

    @property
    def has_commits(self) -> bool:
        """True if anything was committed since `take_commits`."""

    def handle(self, event: Said, now: float) -> list[Ordered]:
        """Handles an event from below. Returns the orders to carry out."""

    def add(self, parts: Sequence[Part], beyond: Beyond, now: float) -> list[Ordered]:
        """Adds parts. `beyond`: what is expected to be added later."""

    def no_more(self, now: float) -> list[Ordered]:
        """Notes that no further parts are expected."""

    def give_back(
        self, entries: int | None, among: Set[int] | None, now: float
    ) -> tuple[list[Part] | None, list[Ordered]]:
        """Takes out about this many entries that no worker has begun; without a number, all that
        no level below has. None: they will be in `reclaimed`."""

    def reclaimed(self) -> list[Part] | None:
        """Returns what was promised by `give_back`, once."""

    def stop(self, reason: str, now: float) -> list[Ordered]:
        """Ends it early: what is done is committed."""

    @property
    def has_progress(self) -> bool:
        """True if `take_progress` has anything to tell."""

    def take_progress(self) -> InnerProgress:
        """Returns what has happened since the last call."""

    def take_commits(self) -> list[tuple[int, int, int]]:
        """The ranges committed since the last call: file, start, stop."""
