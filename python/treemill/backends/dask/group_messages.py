"""What the scheduler's plugin and the processes of a group with a sub-master say to each other, in
addition to messages.py. `work` is the scheduler's name of the pass, `sub` the number of the
sub-master in it; between a sub-master and its processes the pass is called `inner_name(work, sub)`,
so that nothing of an earlier sub-master is taken for a later one's. Plain data, sent pickled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from ...frozen import frozen
from ...scheduling import Monitored
from ...scheduling.messages import Downward, Upward
from ..pulse import Pulse
from .messages import PassRequest

__all__ = [
    "Apart",
    "Declined",
    "Down",
    "Give",
    "GroupStatus",
    "Hosted",
    "Inherit",
    "Inherited",
    "LeadGroup",
    "Release",
    "Released",
    "Renounce",
    "Seat",
    "Under",
    "Unseat",
    "Up",
    "inner_name",
]


def inner_name(work: str, sub: int) -> str:
    """Returns what a sub-master and its processes call the pass."""
    return f"{work}/{sub}"


# From the scheduler to a process.


@frozen
class LeadGroup:
    """Be the sub-master with this number, and merge for the processes of the group. `works`:
    whether this process has workers of its own beside that. `threads`: how many."""

    work: str
    sub: int
    site: str
    host: str
    threads: int
    request: PassRequest
    """The request of the pass, without its files."""
    seconds: float
    """The time since the pass began."""


@frozen
class Under:
    """Drop what you have of the pass, and ask the process at `address` from now on; None: none,
    until another word comes."""

    work: str
    sub: int
    address: str | None


@frozen
class Down:
    """A message of the lessor to a sub-master."""

    work: str
    sub: int
    message: Downward
    addresses: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """Where the files of a grant are, if the client has found that out."""


@frozen
class Give:
    """End soon with what is merged (`reason`); what is not committed is lost."""

    work: str
    sub: int
    reason: str


@frozen
class Seat:
    """The process at `address` belongs to the group, with this many workers."""

    work: str
    sub: int
    address: str
    host: str
    threads: int


@frozen
class Unseat:
    """The process is lost. `fault`: whether its packets may be to blame."""

    work: str
    sub: int
    address: str
    reason: str
    fault: bool


@frozen
class Release:
    """The process will go: its workers commit what they have. Answer: Released."""

    work: str
    sub: int
    address: str


@frozen
class Inherit:
    """Merge what the sub-master `giver` has, which will go: `commits` partials, at `address`.
    Answer: Inherited or Declined."""

    work: str
    sub: int
    giver: int
    address: str
    commits: int


@frozen
class Renounce:
    """The process of the giver is lost: what is not merged of it will not be. Answer: as before."""

    work: str
    sub: int
    giver: int


# From a process to the scheduler.


@frozen
class Inherited:
    """What the giver had is merged."""

    sub: int
    giver: int


@frozen
class Declined:
    """What the giver had is not merged, and will not be unless it is asked again."""

    sub: int
    giver: int


@frozen
class Hosted:
    """A process of the group is on this host, which has these names, as far as they are known."""

    host: str
    names: tuple[str, ...]


@frozen
class GroupStatus:
    """How a group stands."""

    workers: int
    begun: int
    """The workers that have got a packet so far, also those that are lost."""
    commits: int
    """The partials of workers that its merger has."""
    pulse: Pulse
    monitored: Monitored | None = None
    """What its workers have done since the pass began, when that is told."""


@frozen
class Up:
    """Messages of a sub-master to the lessor, and how its group stands. `error`: the pass cannot go
    on."""

    work: str
    sub: int
    messages: tuple[Upward | Inherited | Declined | Hosted, ...]
    status: GroupStatus
    error: BaseException | None = None


@frozen
class Released:
    """The process has nothing of the pass any more."""

    work: str
    sub: int
    address: str


@frozen
class Apart:
    """A process does not reach its sub-master."""

    work: str
    sub: int
    reason: str
