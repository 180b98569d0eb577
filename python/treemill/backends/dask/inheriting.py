"""A pass with sub-masters of which some will go: they end, their groups get others, and what they
have merged becomes another one's. A part of master.py, of which it knows what it says below.

Until the heir says that it has merged it, it belongs to the one that goes. If that one's process is
lost meanwhile, only the heir knows: it is asked to renounce, and says which of both it is.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

from ...scheduling.keeping import KeepingLessor
from ...scheduling.messages import Downward, LessorEvent, NotComing, SubLost
from .group_messages import Declined, Inherit, Inherited, Renounce, Under, Up
from .grouping import Member
from .heirs import Estate, Estates, heir_of
from .messages import PassRequest
from .pass_state import PassState
from .roster import Led, Roster

__all__ = ["NO_SITE", "Inheriting"]

NO_SITE = "nobody"
"""The site that is expected while there is no process at all."""


class Inheriting(PassState):
    """See Master."""

    _roster: Roster

    def __init__(self, name: str, request: PassRequest, clock: Callable[[], float]) -> None:
        """Takes what `PassState` takes."""
        super().__init__(name, request, clock)
        self._lessor: KeepingLessor | None = None  # once there are processes
        self._members: dict[str, Member] = {}
        self._estates = Estates()
        self.inherited = 0
        """How often what one has merged has become another one's."""

    @abstractmethod
    def _handle(self, event: LessorEvent) -> None:
        """Lets the lessor handle an event."""

    @abstractmethod
    def _carry_out(self, orders: list[Downward]) -> None:
        """Carries out the lessor's orders."""

    @abstractmethod
    def _drop_out(self, address: str) -> None:
        """A process that leaves has nothing more of the pass."""

    @abstractmethod
    def _appoint(self, led: Led) -> None:
        """Makes a process of a group its sub-master, if one can be."""

    def _resign(self) -> None:
        """Those that lead and will go resign, if anybody stays."""
        stays = any(led.group.members.keys() - led.leaving for led in self._roster.groups)
        if self._lessor is not None and stays:
            for sub, led in list(self._roster.subs.items()):
                if led.there and led.leader in led.leaving:
                    self._carry_out(self._lessor.resign(sub))

    def _resigned(self, led: Led) -> None:
        """A sub-master has ended, though the pass goes on: its group gets another one."""
        assert self._lessor is not None
        assert led.leader is not None
        assert led.sub is not None
        address, sub = led.leader, led.sub
        self._estates[sub] = Estate(sub, address, led.group.name, led.status)
        self._roster.unseat(address)
        self._begin_anew(led, lambda: None)
        if sub not in self._lessor.keepers:
            self._heir_failed(sub)
            self._forsake(self._estates[sub], "it had nothing")
            self._drop_out(address)

    def _begin_anew(self, led: Led, end: Callable[[], None]) -> None:
        """A group has no sub-master any more: it gets another one. `end` notes how it has ended."""
        assert self._lessor is not None
        # The lessor ends a pass for which no workers are to be expected.
        self._lessor.coming(led.group.name if led.group.members else NO_SITE)
        end()
        gone = self._roster.depose(led)
        if self.over:
            return
        for address in led.group.members:
            self._say(address, Under(self.name, gone, None))
        if led.group.members:
            self._appoint(led)
        else:
            self._handle(NotComing(led.group.name))

    def _bequeath(self) -> None:
        """Asks sub-masters to take what others have merged that will go."""
        for estate in self._estates.open:
            led = heir_of(estate, self._roster.groups)
            if led is not None and led.sub is not None and led.leader is not None:
                estate.heir, estate.heir_at = led.sub, led.leader
                about = (estate.sub, estate.address, estate.status.commits)
                self._say(led.leader, Inherit(self.name, led.sub, *about))

    def _forsake(self, estate: Estate, reason: str) -> None:
        """What it has merged is done again."""
        assert self._lessor is not None
        if not self._members:
            self._lessor.coming(NO_SITE)
        self._handle(SubLost(estate.sub, reason))
        del self._estates[estate.sub]

    def _heir_failed(self, sub: int, giver: int | None = None) -> None:
        """A sub-master has not taken what it was asked to, or is lost itself."""
        for estate in self._estates.left_to(sub):
            if giver is None or estate.sub == giver:
                estate.heir = None
                if estate.lost:
                    self._forsake(estate, "the process that led the group was lost")

    def _inherited(self, message: Inherited) -> None:
        estate = self._estates.get(message.giver)
        if estate is not None and estate.heir == message.sub:
            assert self._lessor is not None
            self._carry_out(self._lessor.bequeath(message.giver, message.sub))
            del self._estates[message.giver]
            self.inherited += 1
            self._drop_out(estate.address)
            self._bequeath()

    def _estate_lost(self, address: str, reason: str) -> None:
        """A process is lost that has ended, and waits until another one has taken what it has."""
        estate = self._estates.at(address)
        if estate is not None:
            self._heir_failed(estate.sub)
            if estate.heir is None:
                self._forsake(estate, reason)
            else:
                estate.lost = True
                self._say(estate.heir_at, Renounce(self.name, estate.heir, estate.sub))

    def _hear_heir(self, message: Up) -> None:
        for each in message.messages:
            if isinstance(each, Inherited):
                self._inherited(each)
            elif isinstance(each, Declined):
                self._heir_failed(each.sub, each.giver)
