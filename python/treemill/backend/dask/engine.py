"""All that meets distributed's internals: a plugin on the scheduler and one on each worker, which
carry messages between desk.py and station.py, and the requests of clients.

Requests are handlers that are added to the servers' own, as distributed's shuffle does it. None of
them uses a stream: an exception there would cost Dask a worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import pickle
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import dask
from dask.utils import parse_timedelta
from distributed.core import send_recv
from distributed.diagnostics.plugin import SchedulerPlugin, WorkerPlugin
from distributed.protocol.pickle import dumps as dumps_plugin
from distributed.protocol.serialize import to_serialize

from ...dashboard.screen import Screen
from ...errors import UnsupportedError
from ..merged import Ranges
from . import compact  # noqa: F401 - how messages are pickled
from .crew import Handed
from .desk import Desk
from .mailbox import Parcel
from .merger import Refused, Unreachable
from .messages import VERSION, Status
from .page import DeskBoard, application
from .station import Station
from .version import check_version

if TYPE_CHECKING:
    from distributed import Client, Scheduler, Worker

__all__ = ["MasterPlugin", "asked", "install"]

NAME = "treemill"
_POLL = 5.0
"""Seconds for which a request of a worker or a client waits for news."""
_TICK = 0.5
_CONNECT = 5.0
_TRIES = 3


class MasterPlugin(SchedulerPlugin):  # type: ignore[misc]
    """The desk, on the scheduler."""

    name = NAME
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        """Adds the handlers, and a loop to each worker."""
        check_version()
        self._scheduler = scheduler
        self._desk = Desk(time.monotonic)
        self._mail: dict[str, asyncio.Event] = {}
        self._changes: dict[str, asyncio.Event] = {}
        scheduler.handlers.update(
            treemill_hello=self.hello,
            treemill_exchange=self.exchange,
            treemill_blob=self.blob,
            treemill_put=self.put,
            treemill_ask=self.ask,
            treemill_watch=self.watch,
            treemill_relay=self.relay,
        )
        self._demand_of_tasks = scheduler.handlers["adaptive_target"]
        scheduler.handlers["adaptive_target"] = self.adaptive_target
        self._screen = Screen(DeskBoard(self._desk))
        scheduler.http_application.add_application(application(self._screen))
        self._ticker = asyncio.create_task(self._tick())
        await scheduler.register_worker_plugin(
            None, dumps_plugin(LoopPlugin()), name=NAME, idempotent=False
        )

    async def close(self) -> None:
        """Ends with the scheduler."""
        self._ticker.cancel()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            self._desk.tick()
            self._wake()
            self._screen.look()

    def remove_worker(
        self, scheduler: Scheduler, worker: str, *, stimulus_id: str = "", **kwargs: Any
    ) -> None:
        """See SchedulerPlugin."""
        # A worker that was sent away (scaling down, `--lifetime`) says nothing of its packets.
        retired = stimulus_id.startswith("retire-workers")
        words = "was retired" if retired else "was lost"
        self._desk.remove(worker, f"worker {worker} {words}", fault=not retired)
        event = self._mail.pop(worker, None)
        if event is not None:
            event.set()
        self._wake()

    def valid_workers_downscaling(self, scheduler: Scheduler, workers: list[Any]) -> list[Any]:
        """See SchedulerPlugin."""
        return [each for each in workers if not self._desk.needed(each.address)]

    def adaptive_target(self, target_duration: str | float | None = None) -> int:
        """How many workers an adaptive cluster should have: Dask asks for it about every second,
        and sees its own tasks only."""
        tasks: int = self._demand_of_tasks(target_duration=target_duration)
        if target_duration is None:
            target_duration = dask.config.get("distributed.adaptive.target-duration")
        threads = [each.nthreads for each in self._scheduler.workers.values()]
        mean = sum(threads) / len(threads) if threads else 1.0
        return max(tasks, self._desk.demand(parse_timedelta(target_duration), mean))

    def _wake(self, besides: str | None = None) -> None:
        news, self._desk.news = self._desk.news, set()
        for address in news - {besides}:
            if address in self._mail:
                self._mail[address].set()
        changed, self._desk.changed = self._desk.changed, set()
        for name in changed & self._changes.keys():
            self._changes.pop(name).set()

    # Handlers. What they take and give is bytes: the scheduler does not look into messages.

    async def hello(self) -> dict[str, object]:
        """What a client must know."""
        workers = self._scheduler.workers.values()
        return {
            "version": VERSION,
            "threads": sum(each.nthreads for each in workers),
            "workers": len(workers),
            "hosts": len({each.host for each in workers}),
        }

    async def exchange(self, address: str, start: str, parcel: bytes, wait: bool) -> bytes | None:
        """A parcel of a worker's loop for one of the desk's. None: the worker is to begin anew."""
        known = self._scheduler.workers.get(address)
        if known is None:
            return None
        self._desk.add(address, known.host, known.nthreads)
        well = self._desk.hear(address, start, pickle.loads(parcel))
        self._wake(address)
        if not well:
            return None
        if wait and not self._desk.has_mail(address):
            event = self._mail.setdefault(address, asyncio.Event())
            event.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(event.wait(), min(_POLL, self._desk.silence / 4))
        mail = self._desk.mail(address)
        return None if mail is None else pickle.dumps(mail)

    async def blob(self, digest: str) -> bytes | None:
        """Bytes for a worker or a client."""
        return self._desk.get(digest)

    async def put(self, digest: str, data: bytes) -> None:
        """Bytes from a client."""
        self._desk.put(digest, data)

    async def relay(self, address: str, work: str, merger: int) -> dict[str, object]:
        """What a merger has, for a client that cannot reach its worker. The bytes are passed on as
        they come."""
        try:
            worker = self._scheduler.rpc(address)
            answer: dict[str, object] = await worker.treemill_read(work=work, merger=merger)
        except OSError:
            return {"gone": True}
        return answer

    async def ask(self, what: str, arguments: bytes) -> bytes:
        """A request of a client: a method of the desk, and its arguments."""
        try:
            if what not in _ASKED:
                raise UnsupportedError(f"treemill on the scheduler has no {what!r}")
            if what == "forget":
                self._screen.look()  # the page keeps how the pass has ended
            answer = getattr(self._desk, what)(*pickle.loads(arguments))
            self._wake()
            return pickle.dumps((answer, None))
        except Exception as error:
            return pickle.dumps((None, error))

    async def watch(self, name: str, change: int, wait: float) -> bytes:
        """The status of a pass, once it is not the one with this `change` any more, or after
        `wait` seconds."""
        deadline = time.monotonic() + wait
        try:
            while True:
                status: Status = self._desk.status(name)
                rest = deadline - time.monotonic()
                if status.change != change or rest <= 0:
                    return pickle.dumps((status, None))
                event = self._changes.setdefault(name, asyncio.Event())
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(event.wait(), rest)
        except Exception as error:
            return pickle.dumps((None, error))


_ASKED = {
    "missing",
    "begin",
    "coverage",
    "monitored",
    "parts",
    "sizes",
    "locate",
    "stop",
    "abort",
    "settle",
    "listed",
    "forget",
}
"""Methods of Desk that clients may call."""


class LoopPlugin(WorkerPlugin):  # type: ignore[misc]
    """The station, on a worker."""

    name = NAME

    def setup(self, worker: Worker) -> None:
        """Starts the loop."""
        # Here, so that the first query does not wait for it.
        importlib.import_module("treemill._core")
        self._worker = worker
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(4, thread_name_prefix="treemill-merge")
        self._something = asyncio.Event()
        self._closed = False
        self._station: Station | None = None
        worker.handlers.update(treemill_take=self.take, treemill_read=self.read)
        self._tasks = [asyncio.create_task(self._poll()), asyncio.create_task(self._flush())]

    def teardown(self, worker: Worker) -> None:
        """Ends the loop."""
        self._closed = True
        for task in self._tasks:
            task.cancel()
        if self._station is not None:
            self._station.end()
        self._threads.shutdown(wait=False)

    # The loop: one request waits for news, and what is to be said goes at once in another one.

    def _there(self) -> Station:
        if self._station is None:
            worker = self._worker
            self._station = Station(
                worker.address, worker.local_directory, self._fetch, self._hand, self._awake
            )
        return self._station

    def _awake(self) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: the process ends
            self._loop.call_soon_threadsafe(self._something.set)

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
        station = self._there()
        start = station.start
        try:
            answer = await self._worker.scheduler.treemill_exchange(
                address=station.address,
                start=start,
                parcel=pickle.dumps(station.parcel()),
                wait=wait,
            )
        except (TimeoutError, OSError):
            # Dask ends a worker that has lost its scheduler.
            await asyncio.sleep(0.2)
            self._something.set()
            return
        if start != station.start:
            return
        if answer is None:
            station.restart()
            await asyncio.sleep(0.1)
        else:
            parcel: Parcel = pickle.loads(answer)
            station.hear(parcel)

    # What the station needs; called on its threads.

    def _fetch(self, digest: str) -> bytes:
        async def fetch() -> bytes | None:
            found: bytes | None = await self._worker.scheduler.treemill_blob(digest=digest)
            return found

        data = asyncio.run_coroutine_threadsafe(fetch(), self._loop).result()
        if data is None:
            raise LookupError("the scheduler has no such bytes any more")
        return data

    def _hand(
        self, address: str, which: Handed, covers: Ranges, data: bytes | None
    ) -> Future[None]:
        async def hand() -> Any:
            return await asked(
                self._worker.rpc,
                address,
                _CONNECT,
                op="treemill_take",
                about=pickle.dumps((which, covers)),
                data=None if data is None else to_serialize(data),
            )

        async def tried() -> None:
            answer: Any = None
            for left in reversed(range(_TRIES)):
                try:
                    answer = await hand()
                    break
                except (TimeoutError, OSError) as error:
                    if left == 0:
                        raise Unreachable(f"{type(error).__name__}: {error}") from None
            if answer is not None:
                raise pickle.loads(answer)

        return asyncio.run_coroutine_threadsafe(tried(), self._loop)

    # Handlers.

    async def take(self, about: bytes, data: bytes | None) -> bytes | None:
        """A partial of a worker for a merger. Gives None, or what went wrong."""
        station = self._there()
        which, covers = pickle.loads(about)
        try:
            await self._loop.run_in_executor(self._threads, station.take, which, covers, data)
        except Exception as error:
            return _portable(error, station.address)
        return None

    async def read(self, work: str, merger: int) -> dict[str, object]:
        """The partial of a merger."""
        station = self._there()
        try:
            commits, covers, data = await self._loop.run_in_executor(
                self._threads, station.read, work, merger
            )
        except Refused:
            return {"gone": True}
        except Exception as error:
            return {"error": _portable(error, station.address)}
        about = pickle.dumps((commits, covers))
        return {"about": about, "data": None if data is None else to_serialize(data)}


def _portable(error: BaseException, address: str) -> bytes:
    from ..portable_error import portable  # start-up

    if isinstance(error, Refused):
        return pickle.dumps(error)
    return pickle.dumps(portable(error, f"worker {address} failed in merging", address))


async def asked(pool: Any, address: str, seconds: float, **message: object) -> Any:
    """The answer of a server, over a connection of a pool that is there or is made within so many
    seconds."""
    comm = await pool.connect(address, timeout=seconds)
    try:
        return await send_recv(comm, **message)
    finally:
        pool.reuse(address, comm)


async def install(client: Client) -> dict[str, Any]:
    """Puts treemill on the client's scheduler, if it is not there. Gives what `hello` says."""
    check_version()
    await client._register_scheduler_plugin(MasterPlugin(), NAME, idempotent=True)
    found: dict[str, Any] = await client.scheduler.treemill_hello()
    return found
