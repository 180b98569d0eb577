"""What the client, the scheduler's plugin and worker processes say to each other. The packetizer's
events and actions are carried as they are. Plain data, which is sent pickled, and the mailboxes
that bring each message once.

A process is one of Dask's workers; a worker is one of its threads, with a number in its pass.
"""

from __future__ import annotations

import getpass
import os
import re
import socket
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from importlib import metadata

from ...frozen import frozen
from ...scheduling import (
    Coverage,
    Event,
    FileSize,
    Halt,
    Hint,
    Monitored,
    Order,
    Policy,
    Ranges,
    Sizing,
    Trace,
)
from ..base import Ending, Heartbeat

__all__ = [
    "UNLIMITED",
    "VERSION",
    "Act",
    "AdmittedThreads",
    "Begin",
    "Caller",
    "CheckpointName",
    "Crashed",
    "Drop",
    "End",
    "Fetch",
    "HeldPartial",
    "Hold",
    "KeepsMemory",
    "Limits",
    "Listed",
    "Loaded",
    "OverMemory",
    "Owner",
    "PassEnded",
    "PassRequest",
    "PassUpdate",
    "Recall",
    "RecallFrom",
    "Tell",
    "Unreached",
    "Version",
    "free_threads",
]

# How many workers of a process may take part in a pass that is limited to some. Pure.


@frozen
class Limits:
    """The largest numbers of workers of a pass; None: no limit."""

    workers: int | None = None
    """The number of workers in all."""
    on_host: int | None = None
    """The number of workers on each host."""

    def there(self, threads: Iterable[int]) -> int:
        """Returns how many workers may take part, at least one, if each host has so many threads.

        >>> Limits(on_host=2).there([4, 1]), Limits(workers=3).there([4, 1])
        (3, 3)
        """
        most = self.on_host
        there = sum(each if most is None else min(each, most) for each in threads)
        return max(there if self.workers is None else min(there, self.workers), 1)


UNLIMITED = Limits()


@frozen
class AdmittedThreads:
    """A process that takes part, with this many workers."""

    host: str
    workers: int


def free_threads(
    limits: Limits, host: str, threads: int, admitted: Iterable[AdmittedThreads]
) -> int:
    """Returns how many workers a process of this host, with this many threads, may have in addition
    to those that take part.

    >>> taking_part = [AdmittedThreads("a", 2), AdmittedThreads("b", 1)]
    >>> free_threads(Limits(workers=4, on_host=3), "a", 8, taking_part)
    1
    """
    if limits == UNLIMITED:
        return threads  # however many there are: they need not be counted
    processes = list(admitted)
    if limits.workers is not None:
        threads = min(threads, limits.workers - sum(each.workers for each in processes))
    if limits.on_host is not None:
        here = sum(each.workers for each in processes if each.host == host)
        threads = min(threads, limits.on_host - here)
    return max(threads, 0)


VERSION = 16
"""The version of these messages. Client, scheduler and workers must have the same one."""


@frozen
class Version:
    """The treemill of a process."""

    messages: int
    release: str

    @classmethod
    def here(cls) -> Version:
        """That of this process."""
        return cls(VERSION, metadata.version("treemill"))

    def works_with(self, other: Version) -> bool:
        """True if both have the same messages, and releases of which one is at most the next one
        after the other.

        >>> Version(12, "0.4.1").works_with(Version(12, "0.5.0"))
        True
        >>> Version(12, "0.4.1").works_with(Version(12, "0.6.0"))
        False
        >>> Version(12, "0.4.1").works_with(Version(13, "0.4.1"))
        False
        """
        (major, minor), (its_major, its_minor) = _release(self.release), _release(other.release)
        return (
            self.messages == other.messages and major == its_major and abs(minor - its_minor) <= 1
        )

    def __str__(self) -> str:
        return f"treemill {self.release} (messages {self.messages})"


def _release(version: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)


# From the client to the scheduler.


@frozen
class Owner:
    """Whose a query is, as its client says: distributed knows no users."""

    user: str = "unknown"
    """The name of the account."""
    host: str = ""
    """The host where the client runs."""
    client: str = ""
    """Names the session: its program, its process and a number of its own."""

    @classmethod
    def here(cls, client: str = "") -> Owner:
        """The owner of what this process asks for."""
        try:
            user = getpass.getuser()
        except (OSError, KeyError, ImportError):  # an account without a name, as in containers
            user = str(os.getuid()) if hasattr(os, "getuid") else "unknown"
        return cls(user, socket.gethostname(), client)

    def __str__(self) -> str:
        return f"{self.user}@{self.host}" if self.host else self.user


@frozen
class Caller:
    """Who asks, with what opens queries: the user's key, those of queries and an operator's."""

    owner: Owner
    keys: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Caller({self.owner!r})"  # keys are secrets


@frozen
class CheckpointName:
    """What a pass is kept in by its client."""

    place: str
    """Names the checkpoint: the same for all runs that resume from it."""
    of: str
    """The digest of what decides the numbers of the pass."""


@frozen
class PassRequest:
    """A pass to be made."""

    name: str
    """Names the query, which may have several passes."""
    title: str
    task: str
    """The digest of the task's bytes."""
    inputs: str | None
    """The digest of the inputs' bytes, if the task has some."""
    packages: tuple[str, ...]
    """The digests of the packages that workers need on their path."""
    files: Sequence[FileSize | None]
    nodes: Sequence[str | None]
    """The node of each file, as its address says it."""
    policy: Policy
    sizing: Sizing
    silence: float
    patience: float
    wait: float
    """Seconds for which a pass without any worker waits for one."""
    keep: float
    """Seconds for which a result waits for a client."""
    trace: int
    served: Sequence[str] | None = None
    """The node that serves each file; None: what workers do is not counted."""
    recipe: str | None = None
    """The digest of what a client needs to make the user's result, if it can be sent."""
    done: Ranges = field(default_factory=dict)
    """The entries that a checkpoint has: the result has them already."""
    before: str | None = None
    """The digest of what a checkpoint has, if it has anything: for a client that attaches."""
    kept: CheckpointName | None = None
    """Names the client's checkpoint."""
    limits: Limits = UNLIMITED
    """How many workers may take part."""
    memory: int | None = None
    """The most bytes that it may take in each process, as the user says."""
    addresses: Mapping[int, Sequence[str]] = field(default_factory=dict)
    """All addresses of each file that has several of them, each at a host."""
    owner: Owner = field(default_factory=Owner)
    opened_by: tuple[str, ...] = ()
    """The fingerprints of the keys that open the query (ownership.py)."""


# From the scheduler to a worker process.


@frozen
class Begin:
    """Load the task of a pass, and start workers with these numbers."""

    work: str
    task: str
    inputs: str | None
    packages: tuple[str, ...]
    workers: tuple[int, ...]
    title: str
    """The query in a few words, for errors."""
    memory: int | None = None
    """The most bytes that the pass may take in the process."""
    blobs: Mapping[str, bytes] = field(default_factory=dict)
    """The bytes of the task and of the inputs, by digest, if they are few: then the process need
    not ask for them."""


@frozen
class Hold:
    """Be the merger with this number."""

    work: str
    merger: int


@frozen
class Act:
    """An action for a worker. `address`: of the merger that a Commit names; `covers`: the entries
    of the partial that it is to get; `taken`: how many of the worker's it has."""

    work: str
    action: Order | Hint | Halt
    address: str | None = None
    covers: Ranges = field(default_factory=dict)
    taken: int = 0


@frozen
class Recall:
    """The worker is lost. If the merger has not taken its partial, it will not take it any more."""

    work: str
    merger: int
    worker: int


@frozen
class Fetch:
    """Merge what another merger, `giver`, has at this address: this many commits. Tell HandedOn."""

    work: str
    merger: int
    giver: int
    address: str
    commits: int


@frozen
class RecallFrom:
    """The other merger is lost. If the merger has not merged what that had, it will not do it any
    more."""

    work: str
    merger: int
    giver: int


@frozen
class Drop:
    """Drop the partial of this merger: its entries are elsewhere, or are done again there."""

    work: str
    merger: int


@frozen
class End:
    """The pass is over, or this process has no part in it any more: drop all of it."""

    work: str


# From a worker process to the scheduler.


@frozen
class Loaded:
    """The process has loaded the task: its workers start, and it can merge. `names` of its host, as
    it knows them."""

    work: str
    workers: tuple[int, ...]
    names: tuple[str, ...] = ()


@frozen
class Tell:
    """An event of a worker or of a merger, with the counters of its process."""

    work: str
    event: Event
    heartbeat: Heartbeat | None = None


@frozen
class Unreached:
    """A worker could not hand its partial to the merger, or another merger could not fetch what it
    has."""

    work: str
    merger: int
    reason: str


@frozen
class Crashed:
    """The pass cannot continue, here or on another worker: it ends with this error."""

    work: str
    error: BaseException


@frozen
class OverMemory:
    """The process takes more memory than one of its passes may, and has workers of several at work:
    this one is to have the process for itself, so that its memory can be measured; or (not
    `is_wanted`) that is done."""

    work: str
    is_wanted: bool


@frozen
class KeepsMemory:
    """What the process keeps of memory from packet to packet, and may have in all. See Blame."""

    keeps: int
    limit: int
    worked: tuple[str, ...]
    """The passes that were at work since this was said last; none: it is said first."""


# From the scheduler to a client.


@frozen
class HeldPartial:
    """A partial that a merger holds, and where."""

    merger: int
    address: str
    commits: int
    """The number of partials of workers that are merged in it."""


@frozen
class PassEnded:
    """How a pass has ended. One pickle holds the error and the coverage that refers to it."""

    error: BaseException | None
    coverage: Coverage
    entries: int
    trace: Trace | None
    sizes: Mapping[int, int]
    """The entries of the files that were opened."""
    monitored: Monitored | None = None
    """What workers have done, if it was counted."""


@frozen
class PassUpdate:
    """How far a pass is, as the scheduler tells a client that watches it: the client makes a
    PassStatus of it."""

    change: int
    """Counts what a client wants to hear of at once."""
    heartbeat: Heartbeat
    """Counters of this pass. Its entries are not those of `before`."""
    expected: int
    before: int
    """Entries that a checkpoint had."""
    workers: int
    seconds: float
    begun: bool
    parts: tuple[HeldPartial, ...] | None = None
    """All that the result consists of, once no worker has anything to do."""
    ended: PassEnded | None = None
    ending: Ending | None = None
    """Who has ended it early, if it was not the session that asks."""
    threads: int = 0
    """The threads of all workers of the cluster, whether they take part yet or not."""


@frozen
class Listed:
    """A pass in the scheduler's list."""

    work: str
    request: PassRequest
    done: bool
    entries: int
    expected: int
    state: str = "running"
    """"running", "stopped", "aborted", "failed" or "done"."""
    seconds: float = 0.0
    """Its age."""
    unwatched: float = 0.0
    """Seconds since a session has asked for it."""
    workers: int = 0
    bytes_read: int = 0


# How messages arrive in order, and once, over requests that may be lost, repeated or overtaken.
# Each side has a mailbox. A parcel holds all messages of which the other side has not said that it
# has them. So a parcel never has a gap before it, and one that comes late has nothing new.


@frozen
class Parcel:
    """Messages on their way. `first`: the number of the first one. `heard`: how many messages of
    the other side the sender has."""

    first: int
    messages: tuple[object, ...]
    heard: int


class Mailbox:
    """One side's messages to the other one, and how many of the other side's it has."""

    def __init__(self) -> None:
        self._first = 0
        self._unheard: deque[object] = deque()
        self._heard = 0

    def put(self, message: object) -> None:
        """Adds a message to be sent."""
        self._unheard.append(message)

    @property
    def waiting(self) -> bool:
        """True if there are messages that the other side may not have."""
        return bool(self._unheard)

    def parcel(self) -> Parcel:
        """Returns what to send now."""
        return Parcel(self._first, tuple(self._unheard), self._heard)

    def take(self, parcel: Parcel) -> list[object]:
        """The messages of a parcel that are new. Raises ValueError if one before them is missing:
        the other side is not the one that the earlier parcels came from."""
        if parcel.first > self._heard or parcel.heard > self._first + len(self._unheard):
            raise ValueError("a parcel of another conversation")
        while self._first < parcel.heard:
            self._unheard.popleft()
            self._first += 1
        new = parcel.messages[self._heard - parcel.first :]
        self._heard += len(new)
        return list(new)
