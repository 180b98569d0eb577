"""Workers as processes of this machine, PROOF-Lite's way: a template process forks them when a pass
starts, and they talk to this one over UNIX sockets. One pass on them: how its events come and go.
"""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...errors import UnsupportedError, WorkerError
from ...packetizer import (
    Action,
    FileSize,
    Halt,
    Order,
    Process,
    Sizing,
    Tick,
    WorkerJoined,
    WorkerLost,
)
from ...worker.task import Task
from ..base import Pass, worker_error
from .channel import Channel
from .master import Master, cause
from .messages import Crashed, Hand, Pulse

__all__ = ["ProcessPass", "ProcessPool"]

# An order and its answer cost some 100 us.
SIZING = Sizing(shortest=0.2, longest=2.0, ask=100e-6, merge=5e-3)
_TEMPLATES = 3
"""Template processes that a pass may lose."""
_LOADS = 3
"""Workers in a row that may be lost before any is at work, where each loads the task itself."""


class ProcessPool:
    """The template process, started when first needed, and the passes on its workers."""

    kind = "processes"
    remembers = False

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
        """`memory`: bytes that a worker may take on top of the template's; `silence`: seconds
        without a sign of life after which a worker is given up, or the template where it loads
        something; `patience`: seconds that the end of a query or of the pool waits for what workers
        are at. `start`: "fork" or "spawn"; None: what the system is good at. `trace`: how many
        records of each pass are kept."""
        if not hasattr(socket, "send_fds"):
            raise UnsupportedError('mode="processes" needs UNIX sockets; use mode="threads"')
        self.size = size
        self._trace = trace
        self.memory = memory
        self.silence = silence
        self.patience = patience
        # Elsewhere than on Linux libraries of the system may not survive a fork.
        self.start = start or ("fork" if sys.platform == "linux" else "spawn")
        self._lock = threading.Lock()
        self._closed = False
        self._master: Master | None = None
        self._paths: tuple[str, ...] = ()

    def prepare(
        self,
        task: Task,
        files: Sequence[FileSize | None],
        *,
        workers: int,
        skip_errors: bool,
        on_end: Callable[[Pass], None],
    ) -> ProcessPass:
        """A pass that was not started."""
        return ProcessPass(
            self,
            task,
            files,
            workers=workers,
            skip_errors=skip_errors,
            on_end=on_end,
            sizing=SIZING,
            patience=self.patience,
            trace=self._trace,
        )

    def master(self) -> Master:
        """The thread that talks to workers; started if it is not there."""
        with self._lock:
            if self._closed:
                raise RuntimeError("the session is closed")
            if self._master is None or not self._master.alive:
                self._master = Master(
                    self._paths, self.start, silence=self.silence, patience=self.patience
                )
            return self._master

    def set_paths(self, paths: Sequence[str]) -> None:
        """Folders that come first where workers import from; for the passes to come."""
        with self._lock:
            if self._paths == tuple(paths):
                return
            self._paths = tuple(paths)
            old, self._master = self._master, None
        if old is not None:
            old.close()

    def close(self) -> None:
        """Ends the workers and the template, and waits for that."""
        with self._lock:
            self._closed = True
            master, self._master = self._master, None
        if master is not None:
            master.close()


@dataclass
class _End:
    """This side's knowledge of one worker."""

    channel: Channel
    heard: float
    pulse: Pulse = field(default_factory=Pulse)
    committed: int = 0  # its counter at its last commit
    joined: bool = False


class _Sums:
    """Counters of all workers together. Work that was lost counts no more as entries, but what was
    read for it was read."""

    def __init__(self) -> None:
        self.ends: dict[int, _End] = {}
        self.committed: Callable[[], int] = lambda: 0
        self._read = self._decompressed = self._from_cache = 0

    def forget(self, end: _End) -> None:
        self._read += end.pulse.bytes_read
        self._decompressed += end.pulse.bytes_decompressed
        self._from_cache += end.pulse.bytes_from_cache

    @property
    def entries(self) -> int:
        ends = list(self.ends.values())
        return self.committed() + sum(max(e.pulse.entries - e.committed, 0) for e in ends)

    @property
    def bytes_read(self) -> int:
        return self._read + sum(e.pulse.bytes_read for e in list(self.ends.values()))

    @property
    def bytes_decompressed(self) -> int:
        return self._decompressed + sum(
            e.pulse.bytes_decompressed for e in list(self.ends.values())
        )

    @property
    def bytes_from_cache(self) -> int:
        return self._from_cache + sum(e.pulse.bytes_from_cache for e in list(self.ends.values()))


class ProcessPass(Pass):
    """A pass on processes. Its workers' sockets are the master thread's, which calls what is not
    marked as anybody's."""

    def __init__(
        self, pool: ProcessPool, task: Task, files: Sequence[FileSize | None], **options: Any
    ) -> None:
        super().__init__(task, files, **options)
        self._pool = pool
        self._sums = _Sums()
        coordinator = self._coordinator
        self._sums.committed = lambda: coordinator.committed_entries
        self.control = self._sums
        self._ends = self._sums.ends
        self._next = 0
        self._spare = 4 * self.workers + 8  # replacements for dead workers
        self._lost: list[WorkerLost] = []  # told once somebody is there to take over
        self._templates = _TEMPLATES
        self._loads = _LOADS

    def start(self) -> None:
        """Anybody's. Returns at once. Raises what keeps the task from being sent."""
        task, sent = self._task, False
        while task is not None and not sent:
            self._master = self._pool.master()
            self._number = self._master.number()
            sent = self._master.submit(self._number, self, task)

    def loaded(self) -> None:
        """The template has the task."""
        for _ in range(self.workers):
            self._fork()

    def failed(self, error: BaseException) -> None:
        """The template cannot do it."""
        self._crash(error)

    def orphaned(self, reason: str) -> None:
        """The template is gone, and its workers with it: another one goes on."""
        for number, end in list(self._ends.items()):
            self._drop(number, end, reason)
        self._templates -= 1
        if self._templates == 0:
            self._crash(WorkerError(f"{_TEMPLATES} times {reason}"))
        if self.ended is not None:
            return
        try:
            self.start()
        except Exception as error:  # the session is closed, or no process can be had
            self._crash(worker_error(self._next, error))

    def heard(self, number: int, messages: Sequence[Any]) -> None:
        """A worker said this."""
        end = self._ends.get(number)
        if end is None:
            return
        end.heard = self._clock()
        for message in messages:
            try:
                self._understand(number, end, message)
            except Exception as error:  # what was handed over does not fit together
                self._crash(worker_error(number, error))

    def _understand(self, number: int, end: _End, message: Any) -> None:
        if isinstance(message, Pulse):
            end.pulse = message
        elif isinstance(message, Hand):
            task = self._task
            if task is not None:
                end.pulse = message.pulse
                self._commit(number, lambda: task.load(message.data))
                end.committed = message.pulse.entries
        elif isinstance(message, Crashed):
            self._crash(message.error)
        else:  # an event of the packetizer's
            if isinstance(message, WorkerJoined):
                end.joined, self._loads = True, _LOADS
            self._tell(message)
            self._tell_losses()

    def exited(self, number: int, code: int) -> None:
        """A worker's process is gone; all that it had said was heard."""
        self._lose(number, f"worker {number} {cause(code)}")

    def check(self) -> None:
        """Gives up who has not answered for too long. Called now and then; nothing else tells the
        packetizer that a worker is late."""
        self._tell(Tick())
        limit = self._clock() - self._pool.silence
        for number, end in list(self._ends.items()):
            if end.heard < limit:
                self._master.kill(self._number, number)
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
        self._tell_losses()
        if not self._ends and self.ended is None:
            self._crash(WorkerError(f"no worker is left: {reason}", worker=str(number)))

    def _drop(self, number: int, end: _End, reason: str) -> None:
        del self._ends[number]
        self._sums.forget(end)
        self._master.forget(self._number, number)
        if end.joined:
            self._lost.append(WorkerLost(number, reason))

    def _tell_losses(self) -> None:
        """The packetizer ends a query that has no worker, so the next one joins first."""
        if self._ends and not any(end.joined for end in self._ends.values()):
            return
        lost, self._lost = self._lost, []
        for event in lost:
            self._tell(event)

    def _fork(self) -> None:
        number = self._next
        self._next += 1
        channel = self._master.fork(self._number, number, self._pool.memory)
        self._ends[number] = _End(channel, self._clock())

    def _carry_out(self, decide: Callable[[], list[Action]]) -> list[Action]:
        actions = super()._carry_out(decide)
        for action in actions:
            if isinstance(action, Process):  # it will have it in a moment
                self._begins(action.worker)
        return actions

    def _send(self, worker: int, order: Order) -> None:
        self._say(worker, order)

    def _halt(self) -> None:
        for worker in list(self._ends):
            self._say(worker, Halt())

    def _say(self, worker: int, message: Any) -> None:
        end = self._ends.get(worker)
        if end is not None:
            with contextlib.suppress(OSError):  # its end will be noticed
                end.channel.send(message)

    def _give_up_merging(self, reason: str) -> None:
        super()._give_up_merging(reason)
        if self._given_up:
            self._master.abandon("the workers' session was in a merge that does not end")

    def _dismiss(self) -> None:
        self._master.finished(self._number)
