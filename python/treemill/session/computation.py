"""What a query computes, as a part that the query (run.py) is given and calls: the passes one after
another, and what the user gets. Implemented by booking_run.py and selector_run.py; knows no query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, ClassVar, Generic

from ..backends.base import Pass, Pool, Results
from ..errors import TreemillError
from ..frozen import frozen
from ..scheduling import FileSize
from ..workers.packets_and_chunks import PacketBoundaries
from ..workers.task import Task
from ..workers.workload import P, Span, Workload

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    from ..backends.checkpoint_writer import Checkpointing
    from ..backends.remembered_partial import Remembering
    from ..data.chain import Chain
    from ..monitoring.report import FromMemory
    from ..query.booking import Booking
    from .query_account import Account

    # A query whose result type checkers do not know has any.
    Result = TypeVar("Result", default=Any, covariant=True)
else:  # Python's own has no defaults before 3.13
    from typing import TypeVar

    Result = TypeVar("Result", covariant=True)

__all__ = [
    "Computation",
    "Course",
    "PlannedPass",
    "QueryState",
    "Result",
    "known_sizes",
    "useful_workers",
]


class QueryState(Enum):
    """What the user has asked of a query since its start."""

    RUNNING = auto()
    """Nothing: it ends when all entries are processed."""
    STOPPED = auto()
    """The query is to end soon: what is done by then becomes the result."""
    ABORTED = auto()
    """The query is to end at once: there is no result."""


@frozen
class PlannedPass:
    """A pass that can begin."""

    task: Task
    chain: Chain | None
    """The data as the pass sees them, if there are any."""
    sizes: Sequence[FileSize | None]
    phase: str
    """What the pass does, in a few words."""
    checkpointing: Checkpointing | None = None
    is_last: bool = True
    """Whether its results make the user's."""
    remembering: Remembering | None = None
    """What is remembered of its results, and what will be; None: nothing."""
    remembered: FromMemory | None = None
    """The same for the report."""


@frozen
class Course:
    """How a query has gone so far, for what it computes."""

    state: QueryState
    reason: str | None
    """Why the query was stopped or aborted."""
    account: Account
    last: Pass | None
    """The pass that was begun last."""


class Computation(ABC, Generic[Result]):
    """What a query computes: its passes, and what the user gets of the results of the last one."""

    title: str
    """In a few words."""
    titles: Sequence[str] = ()
    """The titles of the values, if there are several without names of their own."""
    bookings: Sequence[Booking] = ()
    """The bookings that get the values, if it is of bookings."""
    phase: str
    """What its last pass does, in a few words."""
    files: Sequence[str]
    replicas: Mapping[str, Sequence[str]]
    """All addresses of a file, by its path."""
    spans: Sequence[Span] | None
    """The parts of files to go through; None: all entries of all files."""

    @abstractmethod
    def first_pass(self) -> PlannedPass:
        """Makes the first pass. Raises what is wrong with the query or with the first file."""

    def next_pass(self, ended: Pass) -> PlannedPass | None:
        """The pass after one that has ended well; None if that was the last one."""
        return None

    def same_pass(self) -> PlannedPass:
        """The pass once more. A file was not what the pass had assumed it to be."""
        raise NotImplementedError

    @abstractmethod
    def values(self, raw: list[object], course: Course) -> Result:
        """What the user sees, from what the last pass has merged so far."""

    @abstractmethod
    def result(self, raw: list[object] | None, course: Course) -> Result:
        """What the user gets, from the results of the last pass; None: nothing was committed. Is
        called once, after the end."""

    def is_large(self, raw: list[object]) -> bool:
        """Whether these results, of the last pass, take so much memory that what the pass has
        merged should go before `result` makes others of them."""
        return False

    def prepare(self) -> Iterator[None]:
        """Makes containers for the results, one after another, while workers work."""
        return iter(())

    def drop(self) -> None:
        """Removes what was written to disk for the result."""

    def fail(self, merged: Results, course: Course) -> None:
        """There will be no result. `merged`: what the last pass has merged."""
        self.drop()

    # Queries that outlive this process.

    _left: ClassVar[frozenset[str]] = frozenset(("_pool",))
    """Attributes that are left out when it is sent to another process."""

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in self._left}

    def resume(self, pool: Pool, task: Task) -> None:
        """Rebuilds what was not sent. `task`: of the pass that the workers have."""


# The sizes of files that are known before a pass, and for how many workers these have packets.

_MANY = 256
"""Small files, more of which are not looked at beforehand: that takes as long as to read them."""


def known_sizes(
    chain: Chain,
    workload: Workload[P],
    parts: Sequence[Span] | None,
    workers: int,
    *,
    small: bool = False,
) -> list[FileSize | None]:
    """Sizes of the files, or of the parts of files, that have been opened before, or that are known
    from a list with enough clusters for these workers; None for the others. Opens no file. `small`:
    whether workers may get several files at once; of many, only what a list says is known."""
    if small and parts is None and len(chain.locations) > _MANY:
        verified = [location.verified for location in chain.locations]
        return [None if v is None else FileSize(v.entries, v.clusters) for v in verified]
    boundaries = PacketBoundaries(workers, len(chain.locations))
    numbers = range(len(chain.locations)) if parts is None else [file for file, _, _ in parts]
    known: list[FileSize | None] = []
    ahead: int | None = None  # what the first of them wants: it is open, and the others are alike
    for place, number in enumerate(numbers):
        try:
            listed, size = chain.sizes.peek(number), None
            # Where packets may end in a file of few clusters its worker says, which opens it.
            if listed is not None and (
                not chain.is_closed(number) or boundaries.are_plenty(len(listed[1]))
            ):
                ahead = workload.ahead(place) if ahead is None else 0
                size = FileSize(*workload.size(place), ahead)
        except TreemillError:  # the file has gone: the worker that opens it will say so
            size = None
        known.append(size)
    return known


def useful_workers(sizes: Sequence[FileSize | None], pool: Pool, share: int = 0) -> int:
    """The number of the pool's workers that can have a packet each. `share`: the entries that each
    of several workers of one process should have at least."""
    size = pool.size
    share = share if pool.remembers else 0  # these are of this process, and share its lock
    packets = entries = 0
    for each in sizes:
        if each is None:
            return size
        if each.entries:
            packets += 1 + sum(1 for cut in each.cuts if cut < each.entries)
            entries += each.entries
        if packets >= size and entries >= share * size:
            return size
    most = min(packets, size) if not share else min(packets, size, -(-entries // share))
    return max(most, 1)
