"""The groups of a pass that has sub-masters: who belongs to which, which process leads it under
which number, and how they stand. Plain state, which master.py changes; knows no messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from ..pulse import Pulse
from .group_messages import GroupStatus
from .grouping import Group, Member, grouped, joins

__all__ = ["Led", "Roster"]

_UNKNOWN = GroupStatus(0, 0, 0, Pulse())


@dataclass(eq=False, slots=True)
class Led:
    """A group and the process that leads it."""

    group: Group
    sub: int | None = None
    leader: str | None = None
    there: bool = False
    """Whether the sub-master has joined."""
    status: GroupStatus = _UNKNOWN
    leaving: set[str] = field(default_factory=set)


class Roster:
    """The groups of a pass."""

    def __init__(self, size: int) -> None:
        """`size`: the workers of a group."""
        self.groups: list[Led] = []
        self.of: dict[str, Led] = {}
        """Groups by process."""
        self.subs: dict[int, Led] = {}
        """Groups by the sub-master's number."""
        self._size = size
        self._next = 0
        self._gone = Pulse()  # the counters of sub-masters that are lost
        self._at_host: dict[str, frozenset[str]] | None = None  # None: to be found again
        self._begun = 0  # the same of workers that had got a packet

    def form(self, members: Iterable[Member]) -> None:
        """Forms groups of the processes that there are."""
        self._at_host = None
        self.groups = [Led(group) for group in grouped(members, self._size)]
        self.of = {address: led for led in self.groups for address in led.group.members}

    def seat(self, member: Member) -> Led:
        """Puts a process that comes later in a group."""
        crowded = {led.group: led for led in self.groups if led.group.members}
        empty = next((led for led in self.groups if not led.group.members), None)
        group = joins(crowded, member, self._size)
        led = empty if group is None else crowded[group]
        if led is None:
            led = Led(Group(f"group {len(self.groups)}"))
            self.groups.append(led)
        self._at_host = None
        led.group.members[member.address] = member
        self.of[member.address] = led
        return led

    def unseat(self, address: str) -> Led | None:
        """Takes a process out of its group."""
        led = self.of.pop(address, None)
        if led is not None:
            self._at_host = None
            del led.group.members[address]
            led.leaving.discard(address)
        return led

    def appoint(self, led: Led) -> Member | None:
        """Makes a process of a group its sub-master, under a number that is new. None: none of them
        stays."""
        able = [each for each in led.group.members.values() if each.address not in led.leaving]
        if not able:
            return None
        led.sub, self._next = self._next, self._next + 1
        led.leader, led.there, led.status = able[0].address, False, _UNKNOWN
        self.subs[led.sub] = led
        return able[0]

    def depose(self, led: Led) -> int:
        """Notes that the process that leads a group is lost. Returns the number it had."""
        lost = led.sub
        assert lost is not None
        led.there = False
        del self.subs[lost]
        self._gone = self._gone.plus(led.status.pulse)
        self._begun += led.status.begun
        led.leader, led.sub, led.status = None, None, _UNKNOWN
        return lost

    @property
    def pulse(self) -> Pulse:
        """The counters of all, also of those that are lost."""
        pulse = self._gone
        for led in self.groups:
            pulse = pulse.plus(led.status.pulse)
        return pulse

    @property
    def workers(self) -> int:
        """The workers that have joined."""
        return sum(led.status.workers for led in self.groups)

    @property
    def begun(self) -> int:
        """The workers that have got a packet so far."""
        return self._begun + sum(led.status.begun for led in self.groups)

    def at_host(self, host: str) -> frozenset[str]:
        """The names of the groups with processes on this host."""
        if self._at_host is None:
            groups: dict[str, set[str]] = {}
            for led in self.groups:
                for member in led.group.members.values():
                    groups.setdefault(member.host, set()).add(led.group.name)
            self._at_host = {each: frozenset(names) for each, names in groups.items()}
        return self._at_host.get(host, frozenset())
