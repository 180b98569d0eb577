"""Sub-masters that will go, and have ended: what they have merged waits for another one. Plain
state, which master.py changes; knows no messages.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .group_messages import GroupStatus
from .roster import Led

__all__ = ["Estate", "Estates", "heir_of"]


@dataclass(eq=False, slots=True)
class Estate:
    """What one has merged. `group`: its name. `heir`: the sub-master that was asked to take it."""

    sub: int
    address: str
    group: str
    status: GroupStatus
    heir: int | None = None
    heir_at: str = ""
    lost: bool = False
    """Whether its process is lost. Then only the heir knows whether it has taken it."""


class Estates(dict[int, Estate]):
    """The estates by the number of the sub-master that left them."""

    def at(self, address: str) -> Estate | None:
        """The estate of this process."""
        return next((each for each in self.values() if each.address == address), None)

    def left_to(self, sub: int) -> list[Estate]:
        """Returns the estates that this sub-master was asked to take."""
        return [each for each in self.values() if each.heir == sub]

    @property
    def open(self) -> list[Estate]:
        """Returns the estates that another process should be asked to take. One that may still grow
        waits."""
        return [
            each
            for each in self.values()
            if each.heir is None and not each.lost and not self.left_to(each.sub)
        ]

    @property
    def any_lost(self) -> bool:
        """True if it is unknown of any whether it is taken."""
        return any(each.lost for each in self.values())


def heir_of(estate: Estate, groups: Iterable[Led]) -> Led | None:
    """The group whose sub-master should take it: its own, or one of those that stay."""
    able = [led for led in groups if led.there and led.leader not in led.leaving]
    own = [led for led in able if led.group.name == estate.group]
    return next(iter(own or able), None)
