"""One pass in one of Dask's worker processes: loads the task, and runs its workers as threads of
their own, which share open files and caches; the mergers that the process has for the pass.

Knows no Dask: it says and asks what it must by callables that it is given.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import NamedTuple, Protocol

from ..._system.memory import said_bytes
from ...errors import TreemillError, WorkerError, portable
from ...frozen import replaced
from ...scheduling import (
    Commit,
    Committed,
    Event,
    FileFailed,
    Forget,
    Halt,
    Hint,
    Order,
    Packet,
    PacketDone,
    PacketFailed,
    Process,
    Ranges,
    Reserve,
    WorkerJoined,
)
from ...workers.task import OneStateTask, Task
from ...workers.worker import Worker
from ...workers.workload import Partial
from ..base import Heartbeat
from .memory_limits import AtWork, Measured, Over
from .merger import ProcessMergers, Read, RefusedByMerger, Unreachable
from .messages import (
    Act,
    Begin,
    Crashed,
    Fetch,
    Hold,
    Loaded,
    OverMemory,
    Recall,
    RecallFrom,
    Tell,
    Unreached,
)
from .operation import DoingThread

__all__ = ["Handed", "PassWorkers", "ProcessServices", "ReservedPackets"]

# Errors of a Dask worker, with the worker and what to do. Knows no pass and no transport.


def cannot_load(error: Exception, where: str) -> BaseException:
    """The error of a process that cannot load what a pass is to do."""
    told = portable(error, f"worker {where} cannot load the selector", where)
    if isinstance(error, ModuleNotFoundError) and isinstance(told, TreemillError):
        told.message += "; session.upload(folder) puts modules on the workers"
    return told


def with_place(failed: PacketFailed | FileFailed, where: str) -> PacketFailed | FileFailed:
    """The event with an error that can be sent, and that says where it happened. Files may be
    there for some workers only, and relative paths begin at each worker's own folder."""
    worker = f"{failed.worker} on {where}"
    error = portable(failed.error, f"worker {worker} failed", worker)
    if isinstance(error, WorkerError):
        error.worker = worker
    else:
        error.add_note(f"This happened on worker {worker}, in the folder {os.getcwd()}.")
    return replaced(failed, error=error)


# The packets that the workers of a process may begin without an order, and when what they have
# done must be told: not each time, if more than half of the packets are there still. Knows no
# transport.


@dataclass(eq=False, slots=True)
class _Queue:
    packets: deque[Packet] = field(default_factory=deque)
    aside: int | None = None  # the number of the packet before which the partial is put aside
    filled: int = 0  # how many there were when one was added last, or it was told last


class ReservedPackets:
    """The queues of the workers, by number. Thread-safe: the event loop adds and forgets, workers
    take."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: dict[int, _Queue] = {}

    def add(self, worker: int, packet: Packet, aside: bool = False) -> None:
        """The worker may begin the packet after those that it has. `aside`: see Reserve."""
        with self._lock:
            queue = self._queues.setdefault(worker, _Queue())
            queue.packets.append(packet)
            queue.aside = packet.number if aside else queue.aside
            queue.filled = len(queue.packets)

    def forget(self, worker: int, packet: Packet) -> bool:
        """The worker may not begin the packet any more. False if it was not there: it may have
        begun it."""
        with self._lock:
            queue = self._queues.get(worker)
            if queue is None or packet not in queue.packets:
                return False
            queue.packets.remove(packet)
            return True

    def begin(self, worker: int, packet: Packet) -> None:
        """The worker was ordered to do the packet: the word that it is ahead came too late."""
        self.forget(worker, packet)

    def take(self, worker: int) -> tuple[Packet, bool, bool] | None:
        """The next packet of the worker, if there is one; whether it is time to tell what the
        worker has done, because others should be reserved before these are used up; and whether it
        is to put its partial aside first."""
        with self._lock:
            queue = self._queues.get(worker)
            if queue is None or not queue.packets:
                return None
            packet = queue.packets.popleft()
            is_time = 2 * len(queue.packets) <= queue.filled
            if is_time:
                queue.filled = len(queue.packets)
            return packet, is_time, packet.number == queue.aside


Handed = tuple[str, int, int, int, bool]
"""Which partial is handed over: its pass, the merger, the worker, its number of this worker, and
whether the worker goes on meanwhile."""

GATHER = 1.0
"""Seconds for which what need not be said at once waits for more, at most: as long as the packets
last that a worker has ahead. Once half of them are left it is said at once."""

_LOADED_SECONDS = 0.1
"""Seconds within which it is said that the task is loaded, if no worker is there before."""
_HEARTBEAT_SECONDS = 0.2
"""How often counters are told with packets."""


class ProcessServices(Protocol):
    """What the workers of a pass need of their process. All threads may call these."""

    address: str
    called: str
    names: tuple[str, ...]
    """The names of its host, if they are known."""

    def send_message(self, message: object, within: float = 0.0) -> None:
        """Sends a message to the scheduler, at once or with others within so many seconds. Does not
        wait."""

    def blob(self, digest: str) -> bytes:
        """Gets the bytes with this digest. Waits."""

    def paths(self, packages: Sequence[str]) -> None:
        """Puts packages on the import path. Waits."""

    def fetch(self, address: str, work: str, merger: int) -> Future[Read]:
        """Reads what a merger in another process has; see Merger. The future ends with that, with
        Unreachable or RefusedByMerger. It may be cancelled."""

    def hand(self, address: str, which: Handed, covers: Ranges, data: bytes | None) -> Future[None]:
        """Hands a partial to a merger in another process. The future ends when it is merged, or
        with Unreachable, RefusedByMerger, or what merging raises. It may be cancelled."""


class _Hand(NamedTuple):
    """A partial on its way to another process."""

    future: Future[None]
    is_aside: bool
    """Whether its worker goes on meanwhile."""


class PassWorkers:
    """The workers and mergers of one pass in this process."""

    def __init__(self, begin: Begin, around: ProcessServices) -> None:
        self.name = begin.work
        self._begin = begin
        self._around = around
        self._task: Task | None = None
        self._mergers = ProcessMergers(
            begin.work, around.fetch, self._loaded, self._send_event, around.send_message
        )
        self._inboxes: dict[int, SimpleQueue[Act | None]] = {
            number: SimpleQueue() for number in begin.workers
        }
        self._ahead = ReservedPackets()
        self._there: dict[int, Worker[Partial]] = {}
        self._doing: dict[int, DoingThread] = {}  # by worker
        self._handing: dict[tuple[int, int], _Hand] = {}
        """Partials on their way to other processes, by worker and merger."""
        self._commits: dict[int, Act] = {}
        """The last Commit of each worker."""
        self._ordering = threading.Lock()
        self._over_told = False
        self._counting = threading.Lock()
        self._orders = 0  # that were carried out
        self._has_worked = False  # since the last look at the memory
        self.memory = begin.memory
        """The most bytes that the pass may take here; None: any number."""
        self._last_heartbeat = 0.0
        self._over = False
        self._halted = False
        self._thread("load", self._load)

    # Messages, on the process's event loop: nothing here waits.

    def receive(self, message: object) -> None:
        """Handles a message of the scheduler."""
        if isinstance(message, Hold):
            self._mergers.begin(message.merger)
        elif isinstance(message, Recall):
            self._thread("recall", lambda: self._mergers.recall(message))
        elif isinstance(message, Fetch):
            self._thread("fetch", lambda: self._mergers.fetch(message))
        elif isinstance(message, RecallFrom):
            self._thread("recall", lambda: self._mergers.recall_from(message))
        elif isinstance(message, Act):
            self._act(message)
        else:
            raise TypeError(f"not a message for a worker process: {message!r}")

    def _act(self, message: Act) -> None:
        action = message.action
        if isinstance(action, Halt):
            self._halted = True
            if self._task is not None:
                self._control.stop()
        elif isinstance(action, Reserve):
            self._ahead.add(action.worker, action.packet, action.aside)
        elif isinstance(action, Forget) and self._ahead.forget(action.worker, action.packet):
            pass  # it has not begun it
        elif isinstance(action, Hint):
            worker = self._there.get(action.worker)
            to = action.to if isinstance(action, Forget) else None
            if worker is not None:
                worker.note(action, None if to is None else self._there.get(to))
        elif action.worker in self._inboxes:
            self._take_order(message, action)

    def _take_order(self, message: Act, order: Order) -> None:
        worker = self._there.get(order.worker)
        is_commit = isinstance(order, Commit)
        aside = worker.take_aside() if is_commit and worker is not None else None
        with self._ordering:
            for (number, _), hand in self._handing.items():
                # An order during a commit means that its merger is lost, or has said that it has
                # the partial; if the worker goes on meanwhile, another commit means it.
                if number == order.worker and (is_commit or not hand.is_aside):
                    hand.future.cancel()
            if is_commit:
                self._commits[order.worker] = message
            if aside is None:
                self._inboxes[order.worker].put(message)
        if aside is not None:
            self._thread("commit", lambda: self._hand(message, aside, is_aside=True))

    def drop(self, merger: int) -> None:
        """Drops the partial of a merger."""
        dropped = self._mergers.at(merger)
        if dropped is not None:
            self._thread("drop", dropped.drop)  # it may be in a merge

    def end(self) -> None:
        """Ends the workers, and drops all that the pass has here. Does not wait."""
        self._over = True
        self._mergers.end()
        if self._task is not None:
            self._control.stop()
        for inbox in self._inboxes.values():
            inbox.put(None)
        for hand in list(self._handing.values()):
            hand.future.cancel()
        for merger in self._mergers.numbers:
            self.drop(merger)

    # What other processes ask, on threads that may wait.

    def take(
        self,
        merger: int,
        worker: int,
        number: int,
        covers: Ranges,
        data: bytes | None,
        is_aside: bool,
    ) -> None:
        """Merges a partial of a worker elsewhere. See ProcessMergers."""
        about = merger, worker, number, covers
        self._mergers.take(*about, lambda: self._loaded(data), is_aside=is_aside)

    def read(self, merger: int) -> Read:
        """Returns what a merger has. See Merger."""
        return self._mergers.read(merger)

    def _loaded(self, data: bytes | None) -> Partial | None:
        if self._task is None:
            raise RefusedByMerger("the task is not loaded")
        return None if data is None else self._task.load(data)

    # What operators ask.

    def doing(self) -> dict[int, DoingThread]:
        """What each worker does."""
        return dict(self._doing)

    def held(self) -> int:
        """The bytes that the mergers hold."""
        return self._mergers.held()

    def _note(self, number: int, order: Order | None) -> None:
        with self._counting:
            before = self._doing.get(number)
            self._orders += before is not None and before.order is not None
            self._has_worked = self._has_worked or order is not None
        self._doing[number] = DoingThread(order, time.monotonic(), threading.get_ident())

    # Threads.

    def _thread(self, what: str, run: Callable[[], None]) -> None:
        def guarded() -> None:
            try:
                run()
            except BaseException as error:
                if not self._over:
                    self._around.send_message(Crashed(self.name, self._error(error)))

        threading.Thread(target=guarded, name=f"treemill-{what}", daemon=True).start()

    def _error(self, error: BaseException) -> BaseException:
        return portable(error, f"worker {self._where} failed", self._where)

    @property
    def _where(self) -> str:
        """The process as errors name it: its address, and its host as people call it."""
        return self._around.called

    def _load(self) -> None:
        begin, around = self._begin, self._around
        try:
            around.paths(begin.packages)
            task: Task = pickle.loads(self._bytes(begin.task))
            if begin.inputs is not None:
                task.inputs = pickle.loads(self._bytes(begin.inputs))
            task.preload()
            task = OneStateTask(task)
        except Exception as error:
            around.send_message(Crashed(self.name, cannot_load(error, self._where)))
            return
        self._control = task.control()
        self._task = task
        if self._halted or self._over:
            self._control.stop()
        # It travels with the word that the first of the workers is there.
        around.send_message(Loaded(self.name, begin.workers, around.names), _LOADED_SECONDS)
        for number in begin.workers:
            self._thread(f"{self.name}-{number}", lambda number=number: self._work(number, task))  # type: ignore[misc]

    def _bytes(self, digest: str) -> bytes:
        came = self._begin.blobs.get(digest)
        return self._around.blob(digest) if came is None else came

    def _work(self, number: int, task: Task) -> None:
        inbox = self._inboxes[number]
        target: list[Act] = []

        def commit(partial: Partial | None) -> None:
            act = target.pop()
            assert isinstance(act.action, Commit)
            self._hand(act, partial)

        workload = task.workload(number)
        workload.begin()
        worker = Worker(number, workload, self._control, commit, self._send_event)
        self._there[number] = worker
        self._note(number, None)
        self._send_event(WorkerJoined(number))
        while (act := inbox.get()) is not None:
            assert isinstance(act.action, Order)
            target[:] = [act]
            event = self._perform(worker, act.action)
            if isinstance(event, Committed):  # there was nothing to commit
                commit(None)
            elif event is not None:
                self._send_event(event)
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(Exception):
                    stream.flush()
        del self._there[number], self._doing[number]
        worker.leave()

    def _perform(self, worker: Worker[Partial], order: Order) -> Event | None:
        """Carries out an order, and the packets that may follow it without one."""
        number = worker.number
        if isinstance(order, Process):
            self._ahead.begin(number, order.packet)
        self._note(number, order)
        try:
            return self._performed(worker, order)
        finally:
            self._note(number, None)

    def _performed(self, worker: Worker[Partial], order: Order) -> Event | None:
        number = worker.number
        event = worker.perform(order)
        while isinstance(order, Process) and isinstance(event, PacketDone):
            # Else it was told to stop, or is to commit.
            goes_on = event.stop == order.packet.stop and not event.is_full
            next_packet = self._ahead.take(number) if goes_on else None
            if next_packet is None:
                break
            packet, soon, is_aside = next_packet
            if is_aside:
                worker.put_aside()
            begins = replaced(event, begun=packet.number)
            self._send_event(begins, 0.0 if soon else GATHER)
            order = Process(number, packet)
            self._note(number, order)
            event = worker.perform(order)
        return event

    # Memory.

    @property
    def is_at_work(self) -> bool:
        """True if a worker carries out an order, or something is merged."""
        return self._mergers.is_merging or any(
            each.order is not None for each in self.doing().values()
        )

    def worked(self) -> AtWork | None:
        """What the pass has done here since this was asked last; None: nothing."""
        has_merged = self._mergers.merged()
        with self._counting:
            has_worked, self._has_worked = self._has_worked or self.is_at_work, False
            if not (has_worked or has_merged):
                return None
            in_hand = sum(each.order is not None for each in self.doing().values())
            most = None if self._over else self.memory
            return AtWork(most, in_hand, self._orders, self._over)

    def tell_memory(self, found: Over | Measured) -> None:
        """The pass takes too much memory, or is to be measured, or that is done."""
        if isinstance(found, Measured) or not found.is_alone:
            self._around.send_message(OverMemory(self.name, isinstance(found, Over)))
        elif not self._over_told:
            self._end_over(found)

    def _end_over(self, over: Over) -> None:
        """Ends the pass, because it has taken more memory than it may."""
        self._over_told = True
        begun = sorted(self.doing().items(), key=lambda each: each[1].since)
        in_hand = [
            (worker, each.order.packet)
            for number, each in begun
            if isinstance(each.order, Process) and (worker := self._there.get(number)) is not None
        ]
        at_once = f", and for {len(in_hand) - 1} packets before" if len(in_hand) > 1 else ""
        entries = f" for these entries{at_once}" if in_hand else ", or what it has merged took it,"
        said = (
            f"took {said_bytes(over.taken)}{entries} on {self._where}, "
            f"and query {self._begin.title!r} may take {said_bytes(self.memory or 0)} in each "
            "process: it was given up. Smaller chunks (chunksize=) need less, and so do fewer "
            "bins; memory= of run() is the limit, up to the cluster's own"
        )
        if in_hand:  # the one that was begun last has taken the last bytes
            worker, packet = in_hand[-1]
            error = worker.out_of_memory(packet, said)
        else:
            error = WorkerError(f"a worker {said}", worker=self._where)
        self._around.send_message(Crashed(self.name, self._error(error)))

    def _hand(self, act: Act, partial: Partial | None, is_aside: bool = False) -> None:
        order = act.action
        assert isinstance(order, Commit)
        assert order.merger is not None
        merger, worker = order.merger, order.worker
        try:
            if act.address == self._around.address:
                about = merger, worker, act.taken, act.covers
                self._mergers.take(*about, lambda: partial, is_aside=is_aside)
            else:
                assert act.address is not None
                data = None if partial is None else partial.dumps()
                which = (self.name, merger, worker, act.taken, is_aside)
                hand = self._around.hand(act.address, which, act.covers, data)
                way = _Hand(hand, is_aside)
                with self._ordering:
                    self._handing[worker, merger] = way
                    is_next = not (is_aside or self._inboxes[worker].empty())
                    if is_next or self._commits[worker] is not act:
                        hand.cancel()  # the next order is there already
                try:
                    hand.result()
                finally:
                    with self._ordering:
                        if self._handing.get((worker, merger)) is way:
                            del self._handing[worker, merger]
        except CancelledError:
            return  # the merger is lost, or has said that it has it: there is another order
        except (Unreachable, RefusedByMerger) as error:
            reason = f"{type(error).__name__}: {error}"
            self._around.send_message(Unreached(self.name, merger, reason))

    def _send_event(self, event: Event, within: float = 0.0) -> None:
        if isinstance(event, PacketFailed | FileFailed):
            event = with_place(event, self._where)
        # Counters are exact when a worker waits for an order, which may be to commit; as long as it
        # goes on a client looks now and then.
        now = time.monotonic()
        goes_on = isinstance(event, PacketDone) and event.begun is not None
        is_due = not goes_on or now - self._last_heartbeat >= _HEARTBEAT_SECONDS
        if is_due:
            self._last_heartbeat = now
        self._around.send_message(
            Tell(self.name, event, self.heartbeat() if is_due else None), within
        )

    def heartbeat(self) -> Heartbeat:
        """The counters of this process."""
        if self._task is None:
            return Heartbeat()
        return Heartbeat.of(self._control)
