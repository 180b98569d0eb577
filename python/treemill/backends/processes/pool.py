"""Workers as processes of this machine, as in PROOF-Lite: a template process forks them when a pass
starts, and they talk to this process over UNIX sockets. The passes on them: how orders reach
workers, how events come back, and what happens when a worker or the template dies.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ..._system.files import working_folder
from ...errors import UnsupportedError, WorkerError
from ...frozen import replaced
from ...scheduling import (
    Action,
    Event,
    Halt,
    Hint,
    Order,
    Process,
    ProcessFiles,
    Sizing,
    Tick,
    WorkerJoined,
    WorkerLost,
)
from ...workers.task import OneStateTask, States
from ..base import Heartbeat, KnownCounters, Pool, Request, worker_error
from ..coordinated_pass import CoordinatedPass
from .messages import Channel, Hand, WorkerCrashed
from .template_client import TemplateWorkers, cause

__all__ = ["ProcessPass", "ProcessPool"]

# An order and its answer cost about 100 us.
SIZING = Sizing(shortest=0.2, longest=2.0, ask=100e-6, merge=5e-3)
_TEMPLATES = 3
"""Template processes that a pass may lose."""
_LOADS = 3
"""Workers in a row that may be lost before one has joined, if each loads the task itself."""


class ProcessPool(Pool):
    """The template process, which starts when it is first needed, and the passes on its workers."""

    kind = "processes"
    remembers = False
    sizing = SIZING
    keeps = True
    keeps_results = True

    def __init__(
        self,
        size: int,
        *,
        memory: int | None = None,
        silence: float = 60.0,
        patience: float = 10.0,
        start: str | None = None,
        trace: int = 0,
    ) -> None:
        """`memory`: bytes that a worker may take on top of the template's. `silence`: seconds
        without a heartbeat after which a worker is given up, and seconds that the template may take
        to load something. `start`: "fork" or "spawn"; None: the one that is safe on this system."""
        super().__init__(size, patience, trace)
        if not hasattr(socket, "send_fds"):
            raise UnsupportedError('mode="processes" needs UNIX sockets; use mode="threads"')
        self.memory = memory
        self.silence = silence
        # On other systems than Linux, libraries of the system may not survive a fork.
        self.start = start or ("fork" if sys.platform == "linux" else "spawn")
        self._lock = threading.Lock()
        self._closed = False
        self._template_client: TemplateWorkers | None = None
        self._paths: tuple[str, ...] = ()

    def prepare(self, request: Request) -> ProcessPass:
        """Makes a pass, which the caller starts."""
        return ProcessPass(self, request)

    def template_client(self) -> TemplateWorkers:
        """The thread that talks to workers. Starts one if there is none."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the session is closed: make another one by treemill.connect()")
            if self._template_client is None or not self._template_client.alive:
                self._template_client = TemplateWorkers(
                    self._paths, self.start, silence=self.silence, patience=self.patience
                )
            return self._template_client

    def set_paths(self, paths: Sequence[str]) -> None:
        """Puts folders at the beginning of the workers' import path, for the passes to come."""
        with self._lock:
            if self._paths == tuple(paths):
                return
            self._paths = tuple(paths)
            old, self._template_client = self._template_client, None
        if old is not None:
            old.close()

    def close(self) -> None:
        """Ends the workers and the template, and waits for their end."""
        with self._lock:
            self._closed = True
            template_client, self._template_client = self._template_client, None
        if template_client is not None:
            template_client.close()


@dataclass
class _End:
    """What this process knows of one worker."""

    channel: Channel
    heard: float
    """When the last message came."""
    counted: KnownCounters = field(default_factory=KnownCounters)
    committed: int = 0
    """Its counter of entries at its last commit."""
    joined: bool = False


class _Sums:
    """Counters of all workers together. The entries of a lost worker count no more; the bytes that
    it has read still do."""

    def __init__(self) -> None:
        self.ends: dict[int, _End] = {}
        self.committed: Callable[[], int] = lambda: 0
        self._gone = Heartbeat()  # of lost workers

    def forget(self, end: _End) -> None:
        self._gone = self._gone.plus(end.counted.heartbeat)

    @property
    def heartbeat(self) -> Heartbeat:
        total, entries = self._gone, self.committed()
        for end in list(self.ends.values()):
            total = total.plus(end.counted.heartbeat)
            entries += max(end.counted.heartbeat.entries - end.committed, 0)
        return replaced(total, entries=entries)


class ProcessPass(CoordinatedPass):
    """A pass on processes. Only the template client's thread uses the workers' sockets, and only
    that thread calls the methods below, except `start`."""

    def __init__(self, pool: ProcessPool, request: Request) -> None:
        super().__init__(pool, request)
        self._pool = pool
        self._has_template = False  # since `start`
        self._states = States()
        self._sums = _Sums()
        coordinator = self._coordinator
        before = self._before
        self._sums.committed = lambda: coordinator.committed_entries - before
        self._ends = self._sums.ends
        self._next = 0
        self._folder = working_folder()
        self._spare = 4 * self.workers + 8  # replacements for dead workers
        self._lost: list[WorkerLost] = []  # handled once another worker has joined
        self._templates = _TEMPLATES
        self._loads = _LOADS

    def _heartbeat(self) -> Heartbeat:
        return self._sums.heartbeat

    def start(self) -> None:
        """Sends the task to the template. Returns at once. Raises QueryError if the task cannot be
        sent. All threads may call this."""
        task, sent = self._task, False
        while task is not None and not sent:
            self._template_client = self._pool.template_client()
            self._number = self._template_client.number()
            self._has_template = True
            sent = self._template_client.submit(self._number, self, task, self._folder)

    def loaded(self) -> None:
        """Forks the workers: the template has loaded the task."""
        for _ in range(self.workers):
            self._fork()

    def failed(self, error: BaseException) -> None:
        """Ends the pass: the template could not load the task."""
        self._crash(error)

    def orphaned(self, reason: str) -> None:
        """Continues with another template: this one has ended, and its workers with it."""
        for number, end in list(self._ends.items()):
            self._drop(number, end, reason)
        self._templates -= 1
        if self._templates == 0:
            self._crash(WorkerError(f"{_TEMPLATES} times {reason}"))
        if self.ended is not None:
            return
        try:
            self.start()
        except Exception as error:  # the session is closed, or no process can be started
            self._crash(worker_error(self._next, error))

    def heard(self, number: int, messages: Sequence[object]) -> None:
        """Handles the messages of a worker."""
        end = self._ends.get(number)
        if end is None:
            return
        end.heard = self._clock()
        for message in messages:
            try:
                self._understand(number, end, message)
            except Exception as error:  # partials that cannot be merged, for instance
                self._crash(worker_error(number, error))

    def _understand(self, number: int, end: _End, message: object) -> None:
        if isinstance(message, Heartbeat):
            end.counted.update(message)
        elif isinstance(message, Hand):
            task, data = self._task, message.data
            if task is not None:
                end.counted.update(message.heartbeat)
                load = OneStateTask(task).load
                self._commit(number, lambda: self._states.inner(load(data)))
                end.committed = message.heartbeat.entries
        elif isinstance(message, WorkerCrashed):
            self._crash(message.error)
        elif isinstance(message, Event):
            end.counted.follow(message)
            if isinstance(message, WorkerJoined):
                end.joined, self._loads = True, _LOADS
            self._send_event(message)
            self._report_lost_workers()
        else:
            raise TypeError(f"not a message of a worker: {message!r}")

    def exited(self, number: int, code: int) -> None:
        """Handles the end of a worker's process, after all of its messages."""
        self._lose(number, f"worker {number} {cause(code)}")

    def check(self) -> None:
        """Gives up workers that were silent for too long. Also lets the packetizer look for late
        workers, which nothing else does."""
        self._send_event(Tick())
        limit = self._clock() - self._pool.silence
        for number, end in list(self._ends.items()):
            if end.heard < limit:
                self._template_client.kill(self._number, number)
                self._lose(
                    number, f"worker {number} did not answer for {self._pool.silence:g} seconds"
                )

    def _lose(self, number: int, reason: str) -> None:
        end = self._ends.get(number)
        if end is None:
            return
        self._drop(number, end, reason)
        if self.ended is not None:
            return
        self._loads -= self._pool.start == "spawn" and not end.joined
        if self._loads <= 0 and not any(end.joined for end in self._ends.values()):
            words = f"{_LOADS} workers in a row were lost before they were at work"
            self._crash(WorkerError(f"given up: {words}: {reason}", worker=str(number)))
        elif self._spare > 0:
            self._spare -= 1
            self._fork()
        self._report_lost_workers()
        if not self._ends and self.ended is None:
            self._crash(WorkerError(f"no worker is left: {reason}", worker=str(number)))

    def _drop(self, number: int, end: _End, reason: str) -> None:
        del self._ends[number]
        self._sums.forget(end)
        self._template_client.forget(self._number, number)
        if end.joined:
            self._lost.append(WorkerLost(number, reason))

    def _report_lost_workers(self) -> None:
        """Handles lost workers, but not before another worker has joined: the packetizer ends a
        query that has no worker."""
        if self._ends and not any(end.joined for end in self._ends.values()):
            return
        lost, self._lost = self._lost, []
        for event in lost:
            self._send_event(event)

    def _fork(self) -> None:
        number = self._next
        self._next += 1
        channel = self._template_client.fork(self._number, number, self._pool.memory)
        self._ends[number] = _End(channel, self._clock())

    def _carry_out(self, decide: Callable[[], list[Action]]) -> list[Action]:
        actions = super()._carry_out(decide)
        for action in actions:
            if isinstance(action, Process | ProcessFiles):  # the worker gets its packet in a moment
                self._begins(action.worker)
        return actions

    def _send(self, action: Order | Hint) -> None:
        self._send_message(action.worker, action)

    def _halt(self) -> None:
        for worker in list(self._ends):
            self._send_message(worker, Halt())

    def _send_message(self, worker: int, message: object) -> None:
        end = self._ends.get(worker)
        if end is not None:
            with contextlib.suppress(
                OSError
            ):  # the template client's thread will notice the worker's end
                end.channel.send(message)

    def _give_up_merging(self, reason: str) -> None:
        super()._give_up_merging(reason)
        if self._given_up:
            self._template_client.abandon("the workers' session was in a merge that does not end")

    def settle(self) -> None:
        """See Pass."""
        self._template_client.wait_for_end(self._number)

    def _dismiss(self) -> None:
        if self._has_template:
            self._template_client.finished(self._number)
