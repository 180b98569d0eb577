"""What operators ask of a cluster beside its queries: its workers, what each process does at one
moment (a line for each of its threads, with the place in the code, and the bytes that its mergers
hold), and to send some away. The scheduler's plugin and the workers answer by this.
"""

from __future__ import annotations

import asyncio
import pickle
import sys
import threading
import time
import traceback
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Protocol

from ...errors import QueryError, UnsupportedError
from ...frozen import frozen
from ...scheduling import Commit, OpenFile, Order, Process, ProcessFiles
from .messages import Caller
from .ownership import Ownership

if TYPE_CHECKING:
    from distributed import Scheduler

__all__ = [
    "DoingThread",
    "Operation",
    "ProcessActivity",
    "ThreadActivity",
    "WorkerLine",
    "activity",
    "words",
]


_DEEPEST = 30
"""Calls of a stack that are told: the innermost ones."""
_OUTERMOST = ("/threading.py", "/pass_workers.py")
"""The ends of files whose calls are in all stacks, and say nothing."""


@frozen
class ThreadActivity:
    """What one worker does."""

    work: str
    worker: int
    doing: str
    seconds: float
    """Since when."""
    stack: tuple[str, ...] = ()
    """The calls that its thread is in, the outermost first."""


@frozen
class ProcessActivity:
    """What a process does."""

    address: str
    threads: tuple[ThreadActivity, ...] = ()
    held: Mapping[str, int] = field(default_factory=dict)
    """The bytes that its mergers hold, by pass."""
    silent: str | None = None
    """Why nothing is known of it."""


@frozen
class DoingThread:
    """A thread's order, and when it got it."""

    order: Order | None
    since: float
    thread: int


class _Pass(Protocol):
    name: str

    def doing(self) -> Mapping[int, DoingThread]:
        """What each worker does."""

    def held(self) -> int:
        """The bytes that the mergers hold."""


def words(order: Order | None) -> str:
    """An order in a few words.

    >>> words(None), words(ProcessFiles(0, (1, 2), 10, 1.0)), words(Commit(0, 1))
    ('waits for a packet', 'processes 2 files', 'hands over what it has done')
    """
    if isinstance(order, Process):
        packet = order.packet
        return f"processes entries {packet.start}..{packet.stop} of file {packet.file}"
    if isinstance(order, ProcessFiles):
        return f"processes {len(order.files)} files"
    if isinstance(order, OpenFile):
        return f"opens file {order.file}"
    if isinstance(order, Commit):
        return "hands over what it has done"
    return "waits for a packet" if order is None else type(order).__name__


def activity(address: str, passes: Iterable[_Pass], held: bool) -> ProcessActivity:
    """What this process does for these passes. `held`: count the bytes that mergers hold, for which
    these are written to memory once."""
    now, frames = time.monotonic(), sys._current_frames()
    here, threads, sizes = threading.get_ident(), [], {}
    for each in passes:
        for number, doing in sorted(each.doing().items()):
            frame = frames.get(doing.thread) if doing.thread != here else None
            stack = traceback.extract_stack(frame, limit=None) if frame is not None else []
            inner = [call for call in stack if not call.filename.endswith(_OUTERMOST)]
            calls = tuple(f"{c.name} ({c.filename}:{c.lineno})" for c in inner[-_DEEPEST:])
            told = (words(doing.order), now - doing.since, calls)
            threads.append(ThreadActivity(each.name, number, *told))
        if held:
            sizes[each.name] = each.held()
    return ProcessActivity(address, tuple(threads), sizes)


@frozen
class WorkerLine:
    """One of Dask's workers."""

    address: str
    host: str
    threads: int
    memory: int
    """Bytes that its process takes, as it said last."""
    limit: int
    """Those that it may take; 0: any number."""
    cpu: float
    """Per cent of one core."""
    leaving: bool


class Operation:
    """Answers operators."""

    def __init__(
        self,
        scheduler: Scheduler,
        ownership: Ownership,
        retire: Callable[[list[str]], Awaitable[object]],
        is_leaving: Callable[[str], bool],
    ) -> None:
        """`retire` sends the workers with these addresses away, once what they have is saved."""
        self._scheduler = scheduler
        self._ownership = ownership
        self._retire = retire
        self._is_leaving = is_leaving

    async def answer(self, caller: Caller, what: str, arguments: Sequence[object]) -> object:
        """The answer to a request. Raises QueryError for all but operators."""
        if what == "workers":
            return self.workers()
        self._ownership.check_operator(caller)
        if what == "activity":
            return await self.activity(*arguments)  # type: ignore[arg-type]
        if what == "retire":
            return await self.retire(*arguments)  # type: ignore[arg-type]
        raise UnsupportedError(f"treemill on the scheduler has no {what!r}")

    def workers(self) -> list[WorkerLine]:
        """Dask's workers, as they said last how they are."""
        return [
            WorkerLine(
                address,
                each.host,
                each.nthreads,
                int(each.metrics.get("memory", 0)),
                int(each.memory_limit or 0),
                float(each.metrics.get("cpu", 0.0)),
                self._is_leaving(address),
            )
            for address, each in self._scheduler.workers.items()
        ]

    async def activity(self, held: bool, seconds: float) -> list[ProcessActivity]:
        """What each worker does now. One that does not answer within so many seconds is named."""

        async def ask(address: str) -> ProcessActivity:
            try:
                asked = self._scheduler.rpc(address).treemill_activity(held=held)
                found: ProcessActivity = pickle.loads(await asyncio.wait_for(asked, seconds))
            except TimeoutError:
                why = (
                    f"no answer within {seconds:g} s: its process is stopped, or something holds "
                    "its interpreter"
                )
                return ProcessActivity(address, silent=why)
            except Exception as error:
                return ProcessActivity(address, silent=f"{type(error).__name__}: {error}")
            return found

        return list(await asyncio.gather(*map(ask, list(self._scheduler.workers))))

    async def retire(self, names: Sequence[str]) -> list[str]:
        """Sends workers away: those with these addresses or names, or on these hosts. Gives their
        addresses. Raises QueryError for a name that no worker has."""
        chosen: list[str] = []
        for name in names:
            meant = [
                address
                for address, each in self._scheduler.workers.items()
                if name in (address, str(each.name), each.host, address.partition("://")[2])
            ]
            if not meant:
                raise QueryError(f"no worker is called {name!r}, and none is on such a host")
            chosen += [each for each in meant if each not in chosen]
        await self._retire(chosen)
        return chosen
