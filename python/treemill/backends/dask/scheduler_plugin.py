"""What meets distributed's internals on the scheduler: a plugin, which carries messages between
scheduler_state.py and workers (worker_plugin.py), and the requests of clients.

Requests are handlers that are added to the servers' own, as distributed's shuffle does it. None of
them uses a stream: an exception there would cost Dask a worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import pickle
import time
from collections import Counter
from typing import TYPE_CHECKING, TypedDict

import dask
from dask.utils import parse_timedelta
from distributed.diagnostics.plugin import SchedulerPlugin
from distributed.protocol.pickle import dumps as dumps_plugin
from distributed.utils import offload

from ...errors import QueryError, traceback_of
from ...monitoring.dashboard_page import Screen
from ...monitoring.logs import tell
from . import dask_logs
from .dask_client import check_version
from .http_routes import SchedulerBoard, application
from .messages import Caller, Version
from .operation import Operation
from .ownership import Ownership, lifetimes, operators
from .rules import read_rules
from .scheduler_state import SchedulerState
from .worker_plugin import NAME, ReadAnswer, TreemillWorkerPlugin

if TYPE_CHECKING:
    from distributed import Client, Scheduler
    from distributed.scheduler import WorkerState

__all__ = ["LONGEST", "Hello", "PluginInstallation", "TreemillSchedulerPlugin", "install"]

# Puts the loop (worker_plugin.py) on the workers that a scheduler has, on the scheduler. Each is
# asked by itself, so that one that is frozen, or cannot import treemill, keeps no other from its
# work. Those that join later get the loop from Dask.

_FIRST = 25.0
"""Seconds for which the first worker is waited for: on a busy machine importing treemill takes
a while."""
_OTHERS = 8.0
"""Seconds for which the others are waited for, once one has its loop."""
LONGEST = _FIRST + _OTHERS
_AGAIN = 5.0
"""Seconds after which a worker that could not be reached is asked again."""


class PluginInstallation:
    """The workers of a scheduler that do not have their loops, and why."""

    def __init__(self, scheduler: Scheduler) -> None:
        """Asks the workers that there are."""
        self.refused: dict[str, str] = {}
        """Why workers cannot have the loop, by address."""
        self._scheduler = scheduler
        self._plugin = dumps_plugin(TreemillWorkerPlugin(Version.here()))
        self._first = asyncio.Event()
        scheduler.worker_plugins[NAME] = self._plugin
        self._asked = {
            address: asyncio.create_task(self._install_plugin(address))
            for address in scheduler.workers
        }

    @property
    def silent(self) -> list[str]:
        """The addresses of workers that have not answered."""
        return list(self._asked)

    async def settled(self) -> None:
        """Waits until workers have answered, but not for one that is much slower than others."""
        if self._asked:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._first.wait(), _FIRST)
        if self._asked:
            await asyncio.wait(self._asked.values(), timeout=_OTHERS)

    def remove(self, address: str) -> None:
        """Forgets a worker that is gone."""
        self.refused.pop(address, None)
        task = self._asked.pop(address, None)
        if task is not None:
            task.cancel()
            self._look()

    def close(self) -> None:
        """Asks no more."""
        for address in self.silent:
            self.remove(address)

    async def _install_plugin(self, address: str) -> None:
        message = {"op": "plugin-add", "plugin": self._plugin, "name": NAME}
        while True:
            (answer,) = (
                await self._scheduler.broadcast(msg=message, workers=[address], on_error="return")
            ).values()
            if not isinstance(answer, OSError | TimeoutError):
                break
            await asyncio.sleep(_AGAIN)
        del self._asked[address]
        reason = _refusal(answer)
        if reason is None:
            self._first.set()
        else:
            self.refused[address] = reason
            self._look()

    def _look(self) -> None:
        if not self._asked:
            self._first.set()  # there is no other to wait for


def _refusal(answer: object) -> str | None:
    """Why a worker has not taken the loop, if it has not."""
    if isinstance(answer, Exception):
        return str(answer) or repr(answer)
    if isinstance(answer, dict) and answer.get("status") == "error":
        return str(answer.get("exception_text", "its treemill fails"))
    return None


_TICK = 0.5
_log = logging.getLogger(__name__)
_SHUTDOWN_SECONDS = 10.0
"""Seconds after which a worker that was retired, and is there, takes part again."""


class Hello(TypedDict):
    """What the scheduler says of itself."""

    version: int
    """The version of the messages."""
    release: str
    """The release of treemill."""
    threads: list[int]
    """The threads of each host's workers."""
    workers: int
    """Dask's, which have threads, without those that are named below."""
    hosts: int
    refused: dict[str, str]
    """Why workers cannot load treemill, by address."""
    silent: list[str]
    """The addresses of workers that were asked to load it and have not answered."""


class TreemillSchedulerPlugin(SchedulerPlugin):  # type: ignore[misc]
    """Treemill's part of Dask's scheduler."""

    name = NAME
    idempotent = True

    async def start(self, scheduler: Scheduler) -> None:
        """Adds the handlers, and a loop to each worker."""
        check_version()
        dask_logs.join(scheduler, "scheduler")
        self._scheduler = scheduler
        self._scheduler_state = SchedulerState(time.monotonic, read_rules())
        self._ownership = Ownership(self._scheduler_state, time.monotonic, operators(), lifetimes())
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
            treemill_leave=self.leave,
            treemill_operate=self.operate,
        )
        # Clients and clusters call handlers; gateways and the web interface call methods.
        self._demand_of_tasks = scheduler.handlers["adaptive_target"]
        scheduler.adaptive_target = scheduler.handlers["adaptive_target"] = self.adaptive_target
        self.screen = Screen(SchedulerBoard(self._scheduler_state))
        scheduler.http_application.add_application(application(scheduler))
        self._retire = scheduler.retire_workers
        scheduler.retire_workers = scheduler.handlers["retire_workers"] = self.retire_workers
        self._operation = Operation(
            scheduler, self._ownership, self.retire_workers, self._scheduler_state.is_leaving
        )
        self._news = asyncio.Event()
        self._ticker = asyncio.create_task(self._tick())
        self._installation = PluginInstallation(scheduler)
        await self._installation.settled()

    async def close(self) -> None:
        """Ends with the scheduler."""
        self._ticker.cancel()
        dask_logs.leave(self._scheduler)
        self._installation.close()

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK)
            looks = (self._scheduler_state.tick, self._ownership.tick, self._wake, self.screen.look)
            for each in looks:
                try:
                    each()
                except Exception as error:  # the passes need their clock, whatever it was
                    _log.error("a look at the passes failed: %s", traceback_of(error))

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        """See SchedulerPlugin."""
        known = scheduler.workers.get(worker)
        about = {} if known is None else {"host": known.host, "threads": known.nthreads}
        tell(_log, logging.DEBUG, "worker joined", address=worker, **about)

    def remove_worker(
        self, scheduler: Scheduler, worker: str, *, stimulus_id: str = "", **kwargs: object
    ) -> None:
        """See SchedulerPlugin."""
        # A worker that was sent away (scaling down, `--lifetime`) says nothing of its packets.
        self._installation.remove(worker)
        retired = self._scheduler_state.is_leaving(worker)
        became = "retired" if retired else "lost"
        self._ownership.totals.workers_lost += not retired
        level = logging.DEBUG if retired else logging.WARNING
        called = self._scheduler_state.called(worker)
        tell(_log, level, f"worker {became}", address=called)
        self._scheduler_state.remove(worker, f"worker {called} was {became}", fault=not retired)
        event = self._mail.pop(worker, None)
        if event is not None:
            event.set()
        self._wake()

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """See SchedulerPlugin."""
        self._ownership.lose(client)

    async def retire_workers(
        self,
        workers: list[str] | None = None,
        *,
        names: list[object] | None = None,
        **options: object,
    ) -> object:
        """Does what Scheduler.retire_workers does, after it has saved what these workers have
        done."""
        scheduler = self._scheduler
        if workers is None and names is None:
            how = {key: options.pop(key) for key in _HOW if key in options}
            workers, options = scheduler.workers_to_close(**options), how
        which = {"workers": workers} if names is None else {"names": names}
        leaving = self._named({str(each) for each in (*(workers or ()), *(names or ()))})
        await self._drained(leaving, self._scheduler_state.patience)
        try:
            return await self._retire(**which, **options)
        finally:
            asyncio.get_running_loop().call_later(_SHUTDOWN_SECONDS, self._stay, leaving)

    async def leave(self, address: str, seconds: float) -> None:
        """A worker ends, because its process was told to: what it has done is saved, if it
        can be within this many seconds."""
        await self._drained([address], seconds)

    async def _drained(self, leaving: list[str], seconds: float) -> None:
        """Waits until these workers have no part in anything any more."""
        for address in leaving:
            self._scheduler_state.leave(address)
        self._wake()
        deadline = time.monotonic() + seconds
        while any(self._scheduler_state.has_part(address) for address in leaving):
            rest = deadline - time.monotonic()
            if rest <= 0:
                break  # what they have not committed is done again
            self._news.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._news.wait(), rest)

    def _named(self, wanted: set[str]) -> list[str]:
        """The addresses of the workers with these addresses or names. Some clusters give names as
        addresses (which Dask passes over), or those of jobs with several workers."""
        addresses = []
        for address, worker in self._scheduler.workers.items():
            name = str(worker.name)
            if wanted & {address, name, name.rpartition("-")[0]}:
                addresses.append(address)
        return addresses

    def _stay(self, addresses: list[str]) -> None:
        """Takes workers back that were not sent away after all."""
        for address in addresses:
            worker = self._scheduler.workers.get(address)
            if worker is not None and worker.status.name == "running":
                self._scheduler_state.stay(address)

    def valid_workers_downscaling(
        self, scheduler: Scheduler, workers: list[WorkerState]
    ) -> list[WorkerState]:
        """See SchedulerPlugin."""
        return [each for each in workers if not self._scheduler_state.needed(each.address)]

    def adaptive_target(self, target_duration: str | float | None = None) -> int:
        """Returns how many workers an adaptive cluster should have: Dask asks for it about every
        second, and sees its own tasks only."""
        tasks: int = self._demand_of_tasks(target_duration=target_duration)
        if target_duration is None:
            target_duration = dask.config.get("distributed.adaptive.target-duration")
        threads = [each.nthreads for each in self._scheduler.workers.values()]
        mean = sum(threads) / len(threads) if threads else 1.0
        return max(tasks, self._scheduler_state.demand(parse_timedelta(target_duration), mean))

    def metrics(self) -> str:
        """Numbers of all queries, for Prometheus."""
        return self._ownership.metrics(len(self._scheduler.workers))

    def _wake(self, besides: str | None = None) -> None:
        news, self._scheduler_state.news = self._scheduler_state.news, set()
        for address in news - {besides}:
            if address in self._mail:
                self._mail[address].set()
        changed, self._scheduler_state.changed = self._scheduler_state.changed, set()
        self._news.set()  # clients need not hear that a worker has nothing more to lose
        for name in changed & self._changes.keys():
            self._changes.pop(name).set()

    # Handlers. What they take and give is bytes: the scheduler does not look into messages.

    async def hello(self) -> Hello:
        """Returns what a client must know."""
        here, refused, silent = (
            Version.here(),
            self._installation.refused,
            self._installation.silent,
        )
        absent = refused.keys() | silent
        workers = [each for each in self._scheduler.workers.values() if each.address not in absent]
        threads: Counter[str] = Counter()
        for each in workers:
            threads[each.host] += each.nthreads
        return {
            "version": here.messages,
            "release": here.release,
            "threads": list(threads.values()),
            "workers": len(workers),
            "hosts": len(threads),
            "refused": refused,
            "silent": silent,
        }

    async def exchange(
        self, address: str, start: str, parcel: bytes, wait: bool, host_name: str
    ) -> bytes | None:
        """Takes a worker's messages and gives it the scheduler's. None: the worker must start
        over.
        """
        known = self._scheduler.workers.get(address)
        if known is None:
            return None
        self._scheduler_state.add(address, known.host, known.nthreads, host_name)
        well = self._scheduler_state.receive(address, start, pickle.loads(parcel))
        self._wake(address)
        if not well:
            return None
        if wait and not self._scheduler_state.has_mail(address):
            event = self._mail.setdefault(address, asyncio.Event())
            event.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(event.wait(), self._scheduler_state.poll)
        mail = self._scheduler_state.mail(address)
        return None if mail is None else pickle.dumps(mail)

    async def blob(self, digest: str) -> bytes | None:
        """Bytes for a worker or a client."""
        return self._scheduler_state.get(digest)

    async def put(self, digest: str, data: bytes) -> None:
        """Bytes from a client."""
        self._scheduler_state.put(digest, data)

    async def relay(self, address: str, work: str, merger: int, caller: bytes) -> ReadAnswer:
        """Returns what a merger has, for a client that cannot reach its worker. The bytes are
        passed on as they come."""
        try:
            self._ownership.check(_caller(caller), work)
        except QueryError:
            return {"gone": True}
        try:
            worker = self._scheduler.rpc(address)
            answer: ReadAnswer = await worker.treemill_read(work=work, merger=merger)
        except OSError:
            return {"gone": True}
        return answer

    async def ask(self, what: str, arguments: bytes, caller: bytes) -> bytes:
        """A request of a client; see Ownership."""
        try:
            if what in ("forget", "drop", "release"):
                self.screen.look()  # the page keeps how the pass has ended
            known = await offload(pickle.loads, arguments)
            answer = self._ownership.ask(_caller(caller), what, known)
            self._wake()
            if what != "settle":
                return pickle.dumps((answer, None))
            data: bytes = await offload(pickle.dumps, (answer, None))  # a trace may take seconds
            return data
        except Exception as error:
            return pickle.dumps((None, error))

    async def operate(self, what: str, arguments: bytes, caller: bytes) -> bytes:
        """A request of an operator; see Operation."""
        try:
            known = pickle.loads(arguments)
            return pickle.dumps((await self._operation.answer(_caller(caller), what, known), None))
        except Exception as error:
            return pickle.dumps((None, error))

    async def watch(
        self, name: str, change: int, wait: float, caller: bytes, watcher: str = ""
    ) -> bytes:
        """The status of a pass, once it is not the one with this `change` any more, or after
        `wait` seconds."""
        deadline = time.monotonic() + wait
        try:
            while True:
                # A session may go while its request waits here.
                is_there = watcher.split("/")[0] in self._scheduler.clients
                wants = watcher if is_there else ""
                update = self._ownership.watch(_caller(caller), name, wants)
                rest = deadline - time.monotonic()
                if update.change != change or rest <= 0:
                    if update.ended is None:
                        return pickle.dumps((update, None))
                    # A trace may take seconds.
                    data: bytes = await offload(pickle.dumps, (update, None))
                    return data
                event = self._changes.setdefault(name, asyncio.Event())
                with contextlib.suppress(asyncio.TimeoutError):
                    await asyncio.wait_for(event.wait(), rest)
        except Exception as error:
            return pickle.dumps((None, error))


_HOW = ("close_workers", "remove", "stimulus_id")
"""Options of Scheduler.retire_workers that do not say which workers are retired."""


def _caller(data: bytes) -> Caller:
    caller: Caller = pickle.loads(data)
    return caller


async def install(client: Client) -> Hello:
    """Puts treemill on the client's scheduler, if it is not there. Gives what `hello` says."""
    check_version()
    await client._register_scheduler_plugin(TreemillSchedulerPlugin(), NAME, idempotent=True)
    hello: Hello = await client.scheduler.treemill_hello()
    return hello
