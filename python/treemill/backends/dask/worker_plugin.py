"""What meets distributed's internals on a worker: a plugin, which carries messages between
worker_agent.py and the scheduler (scheduler_plugin.py), and partials from worker to worker.

The requests that it answers are handlers that are added to the worker's own; see
scheduler_plugin.py.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import pickle
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypedDict

from distributed.core import ConnectionPool, send_recv
from distributed.diagnostics.plugin import WorkerPlugin
from distributed.protocol.serialize import to_serialize

from ..._system.memory import available
from ...errors import UnsupportedError, traceback_of
from ...scheduling import Ranges
from . import dask_logs
from .merger import Read, RefusedByMerger, Unreachable
from .messages import Parcel, Version
from .pass_workers import Handed
from .worker_agent import WorkerAgent

if TYPE_CHECKING:
    from distributed import Worker

__all__ = ["NAME", "TreemillWorkerPlugin", "asked", "opened"]

# Requests to a server of Dask over one of a pool's connections.


async def asked(pool: ConnectionPool, address: str, seconds: float, **message: object) -> Any:
    """The answer of a server, over a connection of a pool that is there or is made within this many
    seconds."""
    comm = await pool.connect(address, timeout=seconds)
    try:
        return await send_recv(comm, **message)
    finally:
        pool.reuse(address, comm)


NAME = "treemill"
"""The plugins are called so, here and on the scheduler."""
_CONNECT = 5.0
_TRIES = 3
_SHUTDOWN_SECONDS = 3.0
"""Seconds for which a worker that ends may save what it has done. Nannies give theirs five."""
_AGAIN = 0.2
"""Seconds after which what has failed is tried again."""
_log = logging.getLogger(__name__)


class ReadAnswer(TypedDict, total=False):
    """What a worker answers if another process wants the partial of one of its mergers."""

    gone: bool
    """There is no such merger."""
    error: bytes
    """An exception, pickled."""
    data: bytes | None
    about: bytes
    """The commits in it and what they cover, pickled."""


def opened(answer: ReadAnswer) -> Read:
    """Returns what `TreemillWorkerPlugin.read` has answered. Raises RefusedByMerger if there is no
    such merger."""
    if answer.get("gone"):
        raise RefusedByMerger
    if "error" in answer:
        raise pickle.loads(answer["error"])
    data = answer["data"]
    commits, covers = pickle.loads(answer["about"])
    return commits, covers, None if data is None else bytes(data)


class TreemillWorkerPlugin(WorkerPlugin):  # type: ignore[misc]
    """Treemill's part of one of Dask's worker processes."""

    name = NAME

    def __init__(self, version: Version | None = None) -> None:
        """`version`: the scheduler's, which gives this to its workers."""
        self._version = Version.here() if version is None else version

    def setup(self, worker: Worker) -> None:
        """Starts the loop. Raises UnsupportedError if the scheduler's treemill is another one."""
        mine = Version.here()
        if not mine.works_with(self._version):
            raise UnsupportedError(f"it has {mine}, and the scheduler has {self._version}")
        # Here, so that the first query does not wait for it.
        importlib.import_module("treemill._core")
        dask_logs.join(worker, "worker")
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="treemill-merge")
        self._something = asyncio.Event()
        self._later: asyncio.TimerHandle | None = None
        self._closed = False
        self._agent: WorkerAgent | None = None
        worker.handlers.update(
            treemill_take=self.take, treemill_read=self.read, treemill_activity=self.activity
        )
        self._tasks = [asyncio.create_task(self._poll()), asyncio.create_task(self._flush())]

    async def teardown(self, worker: Worker) -> None:
        """Ends the loop, once what the worker has done is saved: it may have got SIGTERM."""
        if self._agent is not None and self._agent.is_busy:
            with contextlib.suppress(TimeoutError, OSError):  # the scheduler may be gone, too
                await asyncio.wait_for(
                    worker.scheduler.treemill_leave(
                        address=worker.address, seconds=_SHUTDOWN_SECONDS
                    ),
                    _SHUTDOWN_SECONDS + 0.5,
                )
        self._closed = True
        dask_logs.leave(worker)
        for task in self._tasks:
            task.cancel()
        if self._agent is not None:
            self._agent.end()
        self._threads.shutdown(wait=False)

    # The loop: one request waits for news, and what is to be said goes at once in another one.

    def _there(self) -> WorkerAgent:
        if self._agent is None:
            worker = self._worker
            self._agent = WorkerAgent(
                worker.address,
                worker.local_directory,
                fetch=self._fetch,
                hand=self._hand,
                read=self._read,
                awake=self._awake,
                memory=worker.memory_manager.memory_limit or available() or 0,
            )
        return self._agent

    def _awake(self, within: float) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the process ends
            self._loop.call_soon_threadsafe(self._gather, within)

    def _gather(self, within: float) -> None:
        """Sends all within so many seconds."""
        if not within:
            self._wake()
            return
        until = self._loop.time() + within
        if self._later is None or until < self._later.when():
            if self._later is not None:
                self._later.cancel()
            self._later = self._loop.call_at(until, self._wake)

    def _wake(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None
        self._something.set()

    async def _poll(self) -> None:
        while not self._closed:
            await self._exchange(wait=True)

    async def _flush(self) -> None:
        while not self._closed:
            await self._something.wait()
            self._something.clear()
            if self._there().has_mail:
                await self._exchange(wait=False)

    async def _exchange(self, wait: bool) -> None:
        try:
            await self._exchanged(wait)
        except Exception as error:  # a loop that has ended would say nothing, and look alive
            _log.error("an exchange with the scheduler failed: %s", traceback_of(error))
            await asyncio.sleep(_AGAIN)
            self._something.set()

    async def _exchanged(self, wait: bool) -> None:
        agent = self._there()
        start = agent.start
        try:
            answer = await self._worker.scheduler.treemill_exchange(
                address=agent.address,
                start=start,
                parcel=pickle.dumps(agent.parcel()),
                wait=wait,
                host_name=agent.names[0],
            )
        except (TimeoutError, OSError):
            # Dask ends a worker that has lost its scheduler.
            await asyncio.sleep(_AGAIN)
            self._something.set()
            return
        if start != agent.start:
            return
        if answer is None:
            agent.restart()
            await asyncio.sleep(0.1)
        else:
            parcel: Parcel = pickle.loads(answer)
            agent.receive(parcel)

    # What the agent needs; called on its threads.

    def _fetch(self, digest: str) -> bytes:
        async def fetch() -> bytes | None:
            blob: bytes | None = await self._worker.scheduler.treemill_blob(digest=digest)
            return blob

        data = asyncio.run_coroutine_threadsafe(fetch(), self._loop).result()
        if data is None:
            raise LookupError("the scheduler has no such bytes any more")
        return data

    def _hand(
        self, address: str, which: Handed, covers: Ranges, data: bytes | None
    ) -> Future[None]:
        about = pickle.dumps((which, covers))
        sent = None if data is None else to_serialize(data)

        async def hand() -> None:
            answer = await self._ask(address, op="treemill_take", about=about, data=sent)
            if answer is not None:
                raise pickle.loads(answer)

        return asyncio.run_coroutine_threadsafe(hand(), self._loop)

    def _read(self, address: str, work: str, merger: int) -> Future[Read]:
        async def read() -> Read:
            return opened(await self._ask(address, op="treemill_read", work=work, merger=merger))

        return asyncio.run_coroutine_threadsafe(read(), self._loop)

    async def _ask(self, address: str, **message: object) -> Any:
        """A request to another worker. Raises Unreachable."""
        failed: Exception | None = None
        for _ in range(_TRIES):
            try:
                return await asked(self._worker.rpc, address, _CONNECT, **message)
            except (TimeoutError, OSError) as error:
                failed = error
        raise Unreachable(f"{type(failed).__name__}: {failed}")

    # Handlers.

    async def take(self, about: bytes, data: bytes | None) -> bytes | None:
        """A partial of a worker for a merger. Gives None, or what went wrong."""
        agent = self._there()
        which, covers = pickle.loads(about)
        try:
            await self._loop.run_in_executor(self._threads, agent.take, which, covers, data)
        except Exception as error:
            return _portable(error, agent.address)
        return None

    async def read(self, work: str, merger: int) -> dict[str, object]:
        """The partial of a merger."""
        agent = self._there()
        try:
            commits, covers, data = await self._loop.run_in_executor(
                self._threads, agent.read, work, merger
            )
        except RefusedByMerger:
            return {"gone": True}
        except Exception as error:
            return {"error": _portable(error, agent.address)}
        about = pickle.dumps((commits, covers))
        return {"about": about, "data": None if data is None else to_serialize(data)}

    async def activity(self, held: bool) -> bytes:
        """What the workers of this process do now."""
        agent = self._there()
        return await self._loop.run_in_executor(
            self._threads, lambda: pickle.dumps(agent.activity(held))
        )


def _portable(error: BaseException, address: str) -> bytes:
    from ...errors import portable  # start-up

    if isinstance(error, RefusedByMerger):
        return pickle.dumps(error)
    return pickle.dumps(portable(error, f"worker {address} failed in merging", address))
