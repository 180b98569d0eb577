"""Which processes form a group with a sub-master: those of a rack or a host, several of them
if they fit in one; several groups of one that has many. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ...frozen import frozen

__all__ = ["RACK", "Group", "Member", "group_size", "grouped", "joins", "rack_of"]

_MANY = 5000
"""The number of workers above which there are sub-masters, unless the user says otherwise: up to
here the scheduler alone is as fast or faster, and a lost process costs its own work only
(docs/packetizer.md)."""
_SIZE = 500
"""The workers of a group, if no number is given."""

RACK = "rack-"
"""The name of the resource by which a Dask worker says its rack begins so."""


@frozen
class Member:
    """A process: `place` is its rack, or else its host."""

    address: str
    host: str
    place: str
    workers: int


@dataclass(eq=False, slots=True)
class Group:
    """Processes with one sub-master."""

    name: str
    members: dict[str, Member] = field(default_factory=dict)

    @property
    def workers(self) -> int:
        """The workers of all of them."""
        return sum(member.workers for member in self.members.values())

    @property
    def places(self) -> set[str]:
        """Racks or hosts of the group's processes."""
        return {member.place for member in self.members.values()}


def rack_of(resources: Mapping[str, float]) -> str | None:
    """The rack that a worker's resources name.

    >>> rack_of({"GPU": 1, "rack-b12": 1})
    'rack-b12'
    """
    return min((name for name in resources if name.startswith(RACK)), default=None)


def group_size(wanted: bool | int | None, workers: int) -> int | None:
    """The workers of a group, if sub-masters are wanted in this way for this many workers; None:
    there are to be none.

    >>> group_size(None, 5000), group_size(None, 5001), group_size(True, 4), group_size(2, 4)
    (None, 500, 500, 2)
    """
    if wanted is None:
        wanted = workers > _MANY
    if wanted is False:
        return None
    return _SIZE if wanted is True else wanted


def grouped(members: Iterable[Member], size: int) -> list[Group]:
    """Forms groups of about this many workers.

    >>> crowd = [Member(f"{h}{n}", h, h, 1) for h in "ab" for n in range(4)]
    >>> [sorted(group.members) for group in grouped(crowd, 4)]
    [['a0', 'a1', 'a2', 'a3'], ['b0', 'b1', 'b2', 'b3']]

    >>> [len(group.members) for group in grouped(crowd, 8)]
    [8]
    """
    places: dict[str, list[Member]] = {}
    for member in members:
        places.setdefault(member.place, []).append(member)
    bundles = [bundle for name in sorted(places) for bundle in _even(places[name], size)]
    groups: list[Group] = []
    for bundle in bundles:
        workers = sum(member.workers for member in bundle)
        last = groups[-1] if groups else None
        if last is None or last.workers + workers > size:
            last = Group(f"group {len(groups)}")
            groups.append(last)
        last.members |= {member.address: member for member in bundle}
    return groups


def _even(members: list[Member], size: int) -> list[list[Member]]:
    """The processes of one place, in bundles of at most about this many workers, evenly."""
    workers = sum(member.workers for member in members)
    count = min(max(-(-workers // size), 1), len(members))
    return [
        members[i * len(members) // count : (i + 1) * len(members) // count] for i in range(count)
    ]


def joins(groups: Iterable[Group], member: Member, size: int) -> Group | None:
    """The group that a process joins that comes later: one of its place, or else any with room.
    None: it begins one."""
    fitting = [group for group in groups if group.workers + member.workers <= size]
    here = [group for group in fitting if member.place in group.places]
    return min(here or fitting, key=lambda group: group.workers, default=None)
