"""The template process: loads once what workers need, and forks them when a pass starts, so that
they share its memory.

It never has more than one thread, because a fork copies only the thread that calls it. It ends with
its session, and then ends its workers. Knows tasks and messages; knows no packet.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import select
import signal
import socket
import sys
from collections.abc import Mapping
from functools import singledispatchmethod
from typing import IO

from ...errors import portable
from ...workers.task import Task
from .messages import (
    Channel,
    DropTask,
    Exited,
    Fork,
    Inputs,
    Kill,
    Load,
    PassGone,
    Ready,
    Started,
    StartFailed,
    TaskLoaded,
)
from .spawn import loading, parcel, spawn
from .worker_process import run

__all__ = ["Template"]


class Template:
    """The state of the process: tasks, inputs and workers."""

    def __init__(self, channel: Channel, forks: bool = True) -> None:
        """`forks`: whether workers are forked; else they are spawned."""
        self._channel = channel
        self._forks = forks
        self._parcels: dict[int, IO[bytes]] = {}  # for spawned workers
        self._inputs_data: bytes | None = None
        self._tasks: dict[int, Task] = {}
        self._folders: dict[int, str] = {}  # of passes
        self._digest: bytes | None = None
        self._inputs: Mapping[str, object] | None = None
        self._inputs_error: BaseException | None = None  # with which they failed to load
        self._children: dict[int, tuple[int, int]] = {}  # process id -> key
        self._ending: set[int] = set()  # passes that are over and whose workers may still run

    def serve(self) -> None:
        """Handles messages until the session closes its end."""
        woken, waker = os.pipe()
        os.set_blocking(waker, False)
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        # The garbage collector must not visit objects that live as long as the process: a visit
        # would copy their pages in every worker.
        gc.disable()
        self._channel.send(Ready(os.getpid()))
        # select takes no descriptor beyond 1023, and this one has the number that it had in the
        # session's process, which may have thousands of files open.
        waiting = select.poll()
        waiting.register(self._channel.fileno(), select.POLLIN)
        waiting.register(woken, select.POLLIN)
        alive = True
        while alive:
            ready = [descriptor for descriptor, _ in waiting.poll()]
            if woken in ready:
                with contextlib.suppress(BlockingIOError):
                    os.read(woken, 4096)
                self._reap()
            if self._channel.fileno() in ready:
                messages, alive = self._channel.receive()
                for message in messages:
                    self._handle(message)
        self._end_children()

    @singledispatchmethod
    def _handle(self, message: object) -> None:
        raise TypeError(f"not a message for the template: {message!r}")

    @_handle.register
    def _take_inputs(self, message: Inputs) -> None:
        try:
            with loading():
                self._inputs = pickle.loads(message.data)
            self._digest = message.digest
            self._inputs_data = None if self._forks else message.data
        except Exception as error:
            self._inputs, self._digest = None, None
            self._inputs_error = portable(error, "the inputs cannot be loaded")

    @_handle.register
    def _load(self, message: Load) -> None:
        try:
            if message.folder is not None:
                self._folders[message.number] = message.folder
            self._enter(message.number)
            with loading():
                task: Task = pickle.loads(message.data)
                if message.digest is not None:
                    if self._digest != message.digest:
                        raise self._inputs_error or RuntimeError("the inputs did not arrive")
                    task.inputs = self._inputs
                task.preload()
        except BaseException as error:
            self._channel.send(
                StartFailed(message.number, portable(error, "a worker cannot load the selector"))
            )
            return
        self._tasks[message.number] = task
        if not self._forks:
            inputs = None if message.digest is None else self._inputs_data
            self._parcels[message.number] = parcel(message.data, inputs)
        gc.collect()
        gc.freeze()
        self._channel.send(TaskLoaded(message.number))

    @_handle.register
    def _fork(self, message: Fork) -> None:
        descriptor = self._channel.descriptors.pop(0)
        task = self._tasks.get(message.key[0])
        if task is None:  # the pass has ended
            os.close(descriptor)
            return
        sys.stdout.flush()
        sys.stderr.flush()
        try:
            pid = self._start(descriptor, task, message)
        except OSError as error:
            os.close(descriptor)
            self._channel.send(StartFailed(message.key[0], portable(error, "no worker can start")))
            return
        os.close(descriptor)
        self._children[pid] = message.key
        self._channel.send(Started(message.key, pid))

    def _enter(self, number: int) -> None:
        """Changes to the folder of a pass: the session may have another one for each."""
        if number in self._folders:
            os.chdir(self._folders[number])

    def _start(self, descriptor: int, task: Task, message: Fork) -> int:
        (number, worker), memory = message.key, message.memory
        self._enter(number)
        if not self._forks:
            return spawn(descriptor, self._parcels[number], worker, memory)
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._channel.close()
            run(socket.socket(fileno=descriptor), lambda: task, worker, memory)
        return pid

    @_handle.register
    def _kill(self, message: Kill) -> None:
        for pid, key in self._children.items():
            if key == message.key:
                _kill_group(pid)

    @_handle.register
    def _drop(self, message: DropTask) -> None:
        self._tasks.pop(message.number, None)
        self._folders.pop(message.number, None)
        parcel = self._parcels.pop(message.number, None)
        if parcel is not None:
            parcel.close()
        # A worker whose channel is closed ends, unless its process is stopped.
        for pid, (number, _) in self._children.items():
            if number == message.number:
                _kill_group(pid)
        self._ending.add(message.number)
        self._report_lost_pass()

    def _report_lost_pass(self) -> None:
        gone = self._ending - {number for number, _ in self._children.values()}
        self._ending -= gone
        for number in gone:
            with contextlib.suppress(OSError):
                self._channel.send(PassGone(number))

    def _reap(self) -> None:
        for pid in list(self._children):
            try:
                ended, status = os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                ended, status = pid, 0
            if ended == 0:
                continue
            key = self._children.pop(pid)
            # Processes that the worker has started must not outlive it.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(pid, signal.SIGKILL)
            with contextlib.suppress(OSError):
                self._channel.send(Exited(key, os.waitstatus_to_exitcode(status)))
        self._report_lost_pass()

    def _end_children(self) -> None:
        for pid in self._children:
            _kill_group(pid)
        for pid in self._children:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)


def _kill_group(pid: int) -> None:
    """Kills a worker and the processes that it has started. The worker's process group may not
    exist yet."""
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)


def main(descriptor: int, start: str) -> None:
    """Runs the process from its start to its end. `descriptor`: its end of the session's socket.
    `start`: how workers start, "fork" or "spawn"."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the session handles Ctrl-C
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        Template(Channel(socket.socket(fileno=descriptor)), start == "fork").serve()
