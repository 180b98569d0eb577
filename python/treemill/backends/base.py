"""What a pass and a pool of workers are to a session, whatever the workers are.

How actions reach workers, and how partials come back, is in threads.py, processes/ and dask/.
"""

from __future__ import annotations

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import TYPE_CHECKING, ClassVar, Protocol

from ..errors import QueryError, TreemillError, WorkerError, traceback_of
from ..frozen import frozen, replaced
from ..io_report import IOReport
from ..monitoring.logs import tell
from ..scheduling import (
    Coverage,
    Event,
    FilesDone,
    FileSize,
    LeasedTrace,
    Monitored,
    PacketDone,
    PacketFailed,
    Policy,
    Sizing,
    Trace,
)
from ..scheduling.coordinator import Log
from ..workers.task import Task
from ..workers.workload import Partial
from .merged_partial import Seen

if TYPE_CHECKING:
    from treemill._core import Control

    from .checkpoint_writer import Checkpointing, PassWriter
    from .remembered_partial import Remembering

__all__ = [
    "Ending",
    "Heartbeat",
    "KnownCounters",
    "Pass",
    "PassStatus",
    "Pool",
    "RemoteQuery",
    "Request",
    "Results",
    "given_up",
    "policy_of",
    "sizing_of",
    "worker_error",
]

_WHY_LOST = (
    "Usual reasons are a limit of the workers' memory (smaller chunks need less: chunksize=) or a "
    "crash of compiled code; the workers' logs say which"
)
"""What is said of workers that die."""


def given_up(
    title: str,
    reason: str,
    *,
    died: bool = False,
    worker: str | None = None,
    file: str | None = None,
    entries: tuple[int, int] | None = None,
) -> WorkerError:
    """The error of a query that is given up because of its workers. `died`: whether what usually
    kills them is said; `worker`, `file`, `entries`: what is to blame, as far as it is known."""
    why = f". {_WHY_LOST}" if died else ""
    message = f"query {title!r} was given up: {reason}{why}"
    return WorkerError(message, worker=worker, file=file, entries=entries)


# What a process has counted of one pass, and sends to the scheduler of the pass; what the scheduler
# knows of it. Plain data.


@frozen
class Heartbeat:
    """A sign of life, with counters."""

    entries: int = 0
    bytes_read: int = 0
    bytes_decompressed: int = 0
    bytes_from_cache: int = 0
    io: IOReport = field(default_factory=IOReport)

    @classmethod
    def of(cls, control: Control) -> Heartbeat:
        """The counters of this process."""
        return cls(
            control.entries,
            control.bytes_read,
            control.bytes_decompressed,
            control.bytes_from_cache,
            IOReport.of(control),
        )

    def plus(self, other: Heartbeat) -> Heartbeat:
        """The sum of both."""
        return Heartbeat(
            self.entries + other.entries,
            self.bytes_read + other.bytes_read,
            self.bytes_decompressed + other.bytes_decompressed,
            self.bytes_from_cache + other.bytes_from_cache,
            self.io.plus(other.io),
        )

    def at_least(self, bytes_read: int) -> Heartbeat:
        """This heartbeat, of a process that has read at least this many bytes."""
        if bytes_read <= self.bytes_read:
            return self
        io = self.io._replace(bytes_read=max(self.io.bytes_read, bytes_read))
        return replaced(self, bytes_read=bytes_read, io=io)


@dataclass(slots=True)
class KnownCounters:
    """What is known of the counters of a process. Heartbeats come now and then; a packet tells
    itself what it has read, and its process may be lost, or the pass over, before the next
    heartbeat."""

    heartbeat: Heartbeat = field(default_factory=Heartbeat)
    """The last one, with what packets have told since."""
    packets: int = 0
    """Bytes that were read for packets of which the process has told."""

    def update(self, heartbeat: Heartbeat) -> None:
        """A heartbeat has come."""
        self.heartbeat = heartbeat.at_least(self.packets)

    def follow(self, event: Event) -> None:
        """An event of one of its workers has come.

        >>> from treemill.scheduling import Spent
        >>> counted = KnownCounters(Heartbeat(bytes_read=5))
        >>> counted.follow(PacketDone(0, 0, 10, 1.0, spent=Spent(0, 0, 0, bytes_read=7)))
        >>> counted.heartbeat.bytes_read
        7
        """
        if isinstance(event, _WITH_SPENT) and event.spent is not None:
            self.packets += event.spent.bytes_read
            self.heartbeat = self.heartbeat.at_least(self.packets)


_WITH_SPENT = (PacketDone, PacketFailed, FilesDone)


@cache
def _sized(sizing: Sizing, least: float, first: int) -> Sizing:
    return replace(sizing, least=least or sizing.least, first=first or sizing.first)


def sizing_of(sizing: Sizing, task: Task, workers: int | None) -> Sizing:
    """The sizing of a pass: the pool's, with what the task asks for. `workers`: None if they may
    become more."""
    return _sized(sizing, task.least_seconds, task.alone_entries if workers == 1 else 0)


def policy_of(request: Request, workers: int) -> Policy:
    """The rules of a pass by packets, from what it is to do. `workers`: those that should join."""
    task = request.task
    return Policy(
        skip_errors=request.skip_errors,
        commit_seconds=task.commit_seconds,
        speculate=task.second_runs,
        small_files=task.small_files,
        expected_workers=workers,
    )


@frozen
class Ending:
    """That somebody has ended a query before its end."""

    state: str
    """"stopped" or "aborted"."""
    by: str
    """Who, as user@host."""
    reason: str

    def __str__(self) -> str:
        said = f"{self.state} by {self.by}"
        return f"{said}: {self.reason}" if self.reason else said


@frozen
class PassStatus:
    """How far a pass is at one moment. To make it asks no worker and no server."""

    began: float
    """The time at which the pass was made."""
    heartbeat: Heartbeat = field(default_factory=Heartbeat)
    """What workers have counted. Its entries are not those of `before`."""
    expected: int = 0
    """Entries of the dataset; an estimate until all files have been opened."""
    before: int = 0
    """Entries that were in the result when the pass was made."""
    committed: int | None = None
    """Entries in the result of a pass that has ended; None before."""
    workers: int = 0
    """The number of workers that should take part."""
    error: BaseException | None = None
    """The error with which the pass ended, for `on_end`."""
    trace: Trace | None = None
    """The last events of workers and the actions that answered them, if records are kept."""
    leased: Sequence[LeasedTrace] = ()
    """The traces of sites, in the order in which they have ended, if there are sites."""
    dropped: int = 0
    """Records of `leased` that were dropped because there were too many."""
    ending: Ending | None = None
    """Who has ended the pass early, if it was not this session."""

    @property
    def entries(self) -> int:
        """Entries processed so far. A packet that two workers have counts twice until the pass
        ends.

        >>> PassStatus(0.0, Heartbeat(entries=30), expected=100, before=20).entries
        50
        >>> PassStatus(0.0, Heartbeat(entries=30), expected=100, committed=25).entries
        25
        """
        if self.committed is not None:
            return self.committed
        return min(self.before + self.heartbeat.entries, self.expected)


@frozen
class Request:
    """What a pass is to do."""

    task: Task
    files: Sequence[FileSize | None]
    """The sizes of files, or of parts of files, if they are known."""
    workers: int
    skip_errors: bool
    on_end: Callable[[Pass], None]
    """Called once, on any thread, after the last commit."""
    checkpointing: Checkpointing | None = None
    """What is kept on disk; None: nothing."""
    remembering: Remembering | None = None
    """What is remembered of the results, if the pool can do it; None: nothing."""
    name: str = ""
    """Names the query, for workers that outlive this process."""
    key: str = ""
    """Opens the query for other users, if workers outlive this process."""
    is_shared: Callable[[], bool] = lambda: False
    """Whether others may want the result of this pass when this process has it."""
    title: str = ""
    """The query in a few words, for lists of them."""
    memory: int | None = None
    """The most bytes that it may take in each process; None: nobody has said."""
    trace: int = 0
    """The number of records to keep, if it is more than the pool's."""
    served: Callable[[int], str] | None = None
    """The node that serves the file with this number; None: what workers do is not counted."""
    query: object = None
    """What makes the user's result. It is pickled if the workers outlive this process."""
    addresses: Callable[[], Mapping[int, Sequence[str]]] = dict
    """Gives all addresses of each file that has several, by the file's number."""
    nodes: Callable[[], Sequence[str | None]] = tuple
    """Gives the nodes of the files, as their addresses say them; None: the address says nothing. Is
    for workers on several hosts only."""
    locate: Callable[[Collection[int]], Iterator[Mapping[int, Sequence[str]]]] | None = None
    """Asks servers, in batches, for the addresses of these files at the hosts that have them. Takes
    round trips, and is for workers on several hosts only."""


_log = logging.getLogger(__name__)


def log_of(query: str) -> Log:
    """Logs what goes wrong in a pass of this query: at level DEBUG, as a line an event."""
    return partial(tell, _log, logging.DEBUG, query=query)


class Results(Protocol):
    """What a pass has merged so far."""

    def results(self, within: float | None = None) -> list[object] | None:
        """The results so far, one per booking. None before there are any, and if getting them takes
        more than `within` seconds."""

    def take(self) -> Partial | None:
        """The merged partial itself, for the owner of a pass that has ended."""

    @property
    def seen(self) -> Seen:
        """What workers have seen of files at the end."""


class Pass(ABC):
    """One task's way through the data: workers ask for packets until the packetizer says Finish."""

    owner = ""
    """Whose it is, as user@host, if others have queries on the same workers."""

    def __init__(self, request: Request) -> None:
        self.workers = request.workers
        self.on_begin: Callable[[], None] = lambda: None
        """Called once, on any thread, when as many workers as the pass should have got their first
        packets. Until one of them has done its packet this process has nothing else to do. Not
        called if fewer workers get a packet."""
        self._on_end = request.on_end
        self._checkpoint_writer: PassWriter | None = None
        """What keeps commits on disk; None: nothing does."""

    def begin(self) -> None:
        """Starts the pass. Returns at once. Raises QueryError if the task cannot be sent."""
        try:
            self.start()
        except BaseException:
            if self._checkpoint_writer is not None:
                self._checkpoint_writer.end(save=False)  # another run may want the checkpoint
            raise
        if self._checkpoint_writer is not None:
            self._checkpoint_writer.start()

    def _conclude(self, save: bool = True) -> None:
        """Keeps what is merged, if `save`, and hands the pass to `on_end`. A session still asks a
        pass that is over for its coverage: it holds nothing of those that wait for it."""
        if self._checkpoint_writer is not None:
            self._checkpoint_writer.end(save)
        on_end, self._on_end, self.on_begin = self._on_end, lambda ended: None, lambda: None
        from treemill._core import Control  # heavy: core

        # The thread may be a worker's. What follows, such as the next pass, waits for servers
        # although this pass was stopped.
        Control.leave()
        on_end(self)

    @abstractmethod
    def start(self) -> None:
        """Starts the workers. Returns at once."""

    @abstractmethod
    def stop(self, reason: str) -> None:
        """Tells workers to end at their next batch and to commit; `on_end` follows. Workers that
        have not ended after `patience` seconds are given up."""

    @abstractmethod
    def abort(self, reason: str) -> None:
        """Ends at once with what is merged; the work that is not committed is lost."""

    def words(self) -> str | None:
        """What who waits for the pass should know now; None: nothing new. To be asked about every
        second."""
        return None

    def settle(self) -> None:
        """Waits, after the end, until no worker is left that cannot remove its files itself."""
        return

    @property
    @abstractmethod
    def merged(self) -> Results:
        """What is merged, until the pass has ended."""

    @abstractmethod
    def status(self) -> PassStatus:
        """Returns how far the pass is."""

    @property
    def monitored(self) -> Callable[[], Monitored] | None:
        """Gives what workers have done until now, or until the end, if that is counted."""
        return None

    def files(self) -> Collection[int]:
        """The files of which entries are merged. Of many it takes less than `coverage`."""
        return self.coverage().processed

    @abstractmethod
    def coverage(self) -> Coverage:
        """Returns which entries are merged, and which are given up."""


@frozen
class RemoteQuery:
    """A query that workers have, and that this process did not start."""

    id: str
    """Names the query: `Session.attach` takes it."""
    title: str
    done: bool
    """Whether no worker has anything to do for it any more."""
    entries: int
    expected: int
    state: str = "running"
    """"running", "stopped", "aborted", "failed" or "done"."""
    owner: str = ""
    """Whose query it is, as user@host."""

    @property
    def name(self) -> str:
        """The `id`, by the name that users' programs have for it."""
        return self.id


class Pool(ABC):
    """Workers of one kind, and the passes on them."""

    kind: ClassVar[str]
    """The name of the workers, in the plural."""
    outlive: ClassVar[bool] = False
    """Whether queries continue after `close`."""
    remembers: ClassVar[bool]
    """Whether workers have what this process remembers of files."""
    sizing: ClassVar[Sizing]
    """The sizes of packets that suit these workers."""
    limits_memory: ClassVar[bool] = False
    """Whether passes see to it that they take no more memory than they may."""
    keeps: ClassVar[bool] = False
    """Whether passes keep their commits on disk if they are asked to."""
    goes_on_in_files: ClassVar[bool] = True
    """Whether a pass may begin with a part of a file whose size is not known."""
    keeps_results: ClassVar[bool] = False
    """Whether they keep the results of each file, and compute only those that are not kept."""

    def __init__(self, size: int, patience: float, trace: int) -> None:
        """`size`: the number of workers. `patience`: seconds for which the end of a pass or of the
        pool waits for what workers do. `trace`: the number of records that each pass keeps."""
        self._size = size
        self.patience = patience
        self.trace = trace

    @property
    def size(self) -> int:
        """The number of workers."""
        return self._size

    @property
    def threads(self) -> int:
        """How many threads of this process the user lets it keep busy: its workers, or one."""
        return self._size if self.remembers else 1

    @abstractmethod
    def prepare(self, request: Request) -> Pass:
        """Makes a pass, which the caller starts."""

    def kept(self) -> list[RemoteQuery]:
        """The queries that the workers have. Empty if they do not outlive this process."""
        return []

    def attach(self, id_or_key: str) -> tuple[object, Task, Callable[[Request], Pass]]:
        """The query with this name or key, its task, and what makes the handle on its pass. Raises
        QueryError if there is none."""
        name, _, _ = id_or_key.partition(".")
        raise QueryError(f"no query {name!r}: only clusters keep queries that others may attach to")

    @abstractmethod
    def set_paths(self, paths: Sequence[str]) -> None:
        """Puts folders at the beginning of the workers' import path, for the passes to come."""

    @abstractmethod
    def close(self) -> None:
        """Ends the workers, and waits for their end."""


def worker_error(number: int, error: BaseException) -> TreemillError:
    """The error that the user gets if this one has ended a worker."""
    if isinstance(error, TreemillError):
        return error
    failure = WorkerError(
        f"worker {number} failed: {type(error).__name__}: {error}",
        worker=str(number),
        traceback=traceback_of(error),
    )
    failure.__cause__ = error
    return failure
