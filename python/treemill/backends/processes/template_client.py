"""The thread that talks to the template process and to the workers; the template's start and end.

It carries messages to and from passes. Knows no packet, and of a task only its inputs.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Protocol

from ...errors import WorkerError
from ...workers.task import Task, pickled
from ..coordinated_pass import leave_behind
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
    StartFailed,
    TaskLoaded,
)
from .spawn import check_not_loading, command

__all__ = ["TemplateWorkers", "cause"]

_LOOK = 0.2
"""Seconds between two checks for silent workers."""
_STARTS = 60.0
"""Seconds that the template's interpreter may take to start."""

# There is one worker per core: threads that libraries start in each of them would only compete. And
# threads of the template would not survive the fork.
_ONE_THREAD = ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "VECLIB", "RAYON", "BLIS")


class Listener(Protocol):
    """What the template client calls on a pass, on the template client's thread unless said
    otherwise.
    """

    def loaded(self) -> None:
        """The template has loaded the task: workers may be forked."""

    def failed(self, error: BaseException) -> None:
        """The template could not load the task: no worker will start."""

    def orphaned(self, reason: str) -> None:
        """The template has ended."""

    def heard(self, number: int, messages: Sequence[object]) -> None:
        """A worker has sent these messages."""

    def exited(self, number: int, code: int) -> None:
        """A worker's process has ended with this exit code."""

    def check(self) -> None:
        """Looks for silent workers. Called several times per second."""

    def stop(self, reason: str) -> None:
        """The session ends. Called on any thread."""


class TemplateWorkers:
    """One template and its workers. The public methods may be called on all threads."""

    def __init__(
        self,
        paths: Sequence[str] = (),
        start: str = "fork",
        *,
        silence: float = 60.0,
        patience: float = 10.0,
    ) -> None:
        """`paths`: the beginning of the template's import path. `start`: "fork" or "spawn".
        `silence`: seconds that the template may take to load something. `patience`: seconds that
        `close` waits for passes to end."""
        self.alive = True
        self._silence = silence
        self._patience = patience
        self._loading: dict[int, float] = {}  # passes whose task the template loads: since when
        # When the template last ended a load; before its start, when it should have started.
        self._loaded = time.monotonic() + _STARTS
        self._ended: str | None = None  # how the template has ended
        self._over = threading.Event()
        self._numbers = itertools.count()
        self._passes: dict[int, Listener] = {}
        self._gone: dict[int, threading.Event] = {}  # of passes that may have a process
        self._channels: dict[tuple[int, int], Channel] = {}
        self._digest: bytes | None = None
        self._submitting = threading.Lock()
        self._commands: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._closing: float | None = None
        self._process, self._template = _start_template(paths, start)
        self._wake, woken = socket.socketpair()
        self._wake.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(woken, selectors.EVENT_READ, None)
        self._selector.register(self._template, selectors.EVENT_READ, None)
        self._woken = woken
        _template_clients.add(self)
        self._thread = threading.Thread(target=self._run, name="treemill-master", daemon=True)
        self._thread.start()

    def number(self) -> int:
        """The number of a new pass."""
        return next(self._numbers)

    def submit(self, number: int, listener: Listener, task: Task, folder: str | None) -> bool:
        """Sends a pass's task to the template. `folder`: where its relative paths begin. False if
        the template has ended, so that the pass needs another template client. Raises QueryError if
        the task cannot be sent."""
        data = pickled(task, "the selector")
        digest = None
        with self._submitting:
            if not self.alive:
                return False
            self._loading[number] = time.monotonic()
            self._gone[number] = threading.Event()
            self._passes[number] = listener
            try:
                if task.inputs is not None:
                    inputs = pickled(task.inputs, "the inputs")
                    digest = hashlib.blake2b(inputs).digest()
                    if digest != self._digest:
                        self._template.send(Inputs(digest, inputs))
                        self._digest = digest
                self._template.send(Load(number, digest, data, folder))
            except OSError:
                pass  # the template is gone; the template client's thread will notice
        return True

    def fork(self, number: int, worker: int, memory: int | None) -> Channel:
        """Starts a worker. Returns the channel to it."""
        ours, theirs = socket.socketpair()
        channel = Channel(ours)
        self._channels[number, worker] = channel
        self._selector.register(channel, selectors.EVENT_READ, (number, worker))
        with contextlib.suppress(OSError), theirs:
            self._template.send(Fork((number, worker), memory), theirs.fileno())
        return channel

    def kill(self, number: int, worker: int) -> None:
        """Kills a worker that does not answer."""
        with contextlib.suppress(OSError):
            self._template.send(Kill((number, worker)))

    def forget(self, number: int, worker: int) -> None:
        """Closes the channel to a worker, which ends the worker."""
        channel = self._channels.pop((number, worker), None)
        if channel is not None:
            with contextlib.suppress(KeyError, ValueError):
                self._selector.unregister(channel)
            channel.close()

    def finished(self, number: int) -> None:
        """Ends the workers of a pass that is over. Does not wait for them."""
        self._call(lambda: self._end(number))

    def wait_for_end(self, number: int) -> None:
        """Waits until no process of a pass that was ended is left, for `patience` seconds. The
        template client's own thread, which would be told of that, does not wait."""
        gone = self._gone.get(number)
        if gone is not None and threading.current_thread() is not self._thread:
            gone.wait(self._patience)

    def close(self) -> None:
        """Ends the passes and the template, and waits for their end."""
        self._closing = time.monotonic()
        self._call(lambda: None)
        for listener in list(self._passes.values()):
            listener.stop("the session was closed")
        if threading.current_thread() is not self._thread:
            self._over.wait()

    def abandon(self, reason: str) -> None:
        """Leaves the template client's thread behind, because it is in user code that does not end.
        Other passes continue with another template client. Called on another thread, by the pass
        that gave up."""
        with self._submitting:
            self.alive = False
            self._ended = self._ended or reason
            passes, self._passes = self._passes, {}
        self._kill_template()
        self._wait_for_template()
        for listener in passes.values():
            listener.orphaned(reason)
        leave_behind([self._thread], workers=False)
        self._none_is_left()
        self._over.set()

    def _call(self, command: Callable[[], None]) -> None:
        self._commands.put(command)
        with contextlib.suppress(OSError):
            self._wake.send(b"\0")

    def _run(self) -> None:
        from treemill import _core  # heavy: core

        _core.remote_share(True)
        next_look = time.monotonic() + _LOOK
        problem: BaseException = WorkerError("the session was closed")
        try:
            while self._ended is None and not self._may_close():
                wait = max(next_look - time.monotonic(), 0.0)
                for key, _ in self._selector.select(wait):
                    self._receive(key)
                self._obey()
                if time.monotonic() >= next_look:
                    self._look()
                    next_look = time.monotonic() + _LOOK
        except BaseException as error:  # a fault of treemill: passes must end all the same
            problem = error
            raise
        finally:
            if not self._submitting.acquire(timeout=self._patience):
                self._kill_template()  # another thread waits to send it something
                self._submitting.acquire()
            self.alive = False
            self._submitting.release()
            self._end_all(problem)
            self._shut()
            _core.remote_share(False)
            self._over.set()

    def _look(self) -> None:
        for listener in list(self._passes.values()):
            listener.check()
        loading = list(self._loading.items())  # another thread may add to it
        if loading and time.monotonic() > max(loading[0][1], self._loaded) + self._silence:
            number = loading[0][0]
            if number in self._passes:
                words = (
                    f"workers' template process did not load it within {self._silence:g} seconds"
                )
                self._passes[number].failed(WorkerError(f"given up: the {words}"))
                self._end(number)
            self._kill_template()

    def _may_close(self) -> bool:
        if self._closing is None:
            return False
        return not self._passes or time.monotonic() > self._closing + self._patience

    def _receive(self, key: selectors.SelectorKey) -> None:
        source = key.fileobj
        if source is self._woken:
            self._woken.recv(4096)
        elif source is self._template:
            messages, alive = self._template.receive()
            for message in messages:
                self._understand(message)
            if not alive:
                self._ended = f"the workers' template process {cause(self._wait_for_template())}"
                # Messages that workers have sent before their end count.
                for (number, worker), channel in list(self._channels.items()):
                    if number in self._passes:
                        self._passes[number].heard(worker, channel.drain())
        elif isinstance(source, Channel) and self._channels.get(key.data) is source:
            self._hear_worker(key.data, source)

    def _hear_worker(self, place: tuple[int, int], channel: Channel) -> None:
        messages, alive = channel.receive()
        if not alive:  # the template will tell how the worker has ended
            self._selector.unregister(channel)
        listener = self._passes.get(place[0])
        if listener is not None and messages:
            listener.heard(place[1], messages)

    def _understand(self, message: object) -> None:
        if isinstance(message, Ready | TaskLoaded | StartFailed):
            self._loaded = time.monotonic()
        if isinstance(message, TaskLoaded | StartFailed):
            self._loading.pop(message.number, None)
        if isinstance(message, TaskLoaded) and message.number in self._passes:
            self._passes[message.number].loaded()
        elif isinstance(message, StartFailed) and message.number in self._passes:
            self._passes[message.number].failed(message.error)
        elif isinstance(message, Exited):
            number, worker = message.key
            channel, listener = self._channels.get(message.key), self._passes.get(number)
            if channel is not None and listener is not None:
                listener.heard(worker, channel.drain())
                listener.exited(worker, message.code)
            self.forget(number, worker)
        elif isinstance(message, PassGone):
            gone = self._gone.pop(message.number, None)  # a pass may be ended twice
            if gone is not None:
                gone.set()

    def _obey(self) -> None:
        with contextlib.suppress(Empty):
            while True:
                self._commands.get_nowait()()

    def _end(self, number: int) -> None:
        self._passes.pop(number, None)
        if number in self._loading and not self._passes:
            self._kill_template()  # it loads a task that no pass needs, perhaps without end
        for place in [place for place in self._channels if place[0] == number]:
            self.forget(*place)
        with contextlib.suppress(OSError):
            self._template.send(DropTask(number))

    def _end_all(self, error: BaseException) -> None:
        while self._passes:
            number, listener = next(iter(self._passes.items()))
            self._end(number)
            if self._ended is None:
                listener.failed(error)
            else:
                listener.orphaned(self._ended)
        self._obey()

    def _shut(self) -> None:
        for place in list(self._channels):
            self.forget(*place)
        self._selector.close()
        for each in (self._template, self._wake, self._woken):
            each.close()
        self._wait_for_template()
        self._none_is_left()

    def _none_is_left(self) -> None:
        for gone in list(self._gone.values()):
            gone.set()

    def _wait_for_template(self) -> int:
        """Waits for the template's end, kills it if necessary, and returns its exit code."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(self._patience)
        self._kill_template()
        return self._process.wait()

    def _kill_template(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)


def cause(code: int) -> str:
    """Returns how a process with this exit code has ended, in words."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _start_template(paths: Sequence[str], start: str) -> tuple[subprocess.Popen[bytes], Channel]:
    check_not_loading()
    ours, theirs = socket.socketpair()
    where = [*paths, *map(os.path.abspath, sys.path)]  # workers change their folder
    threads = {f"{library}_NUM_THREADS": "1" for library in _ONE_THREAD}
    threads["VECLIB_MAXIMUM_THREADS"] = "1"
    threads["JE_ARROW_MALLOC_CONF"] = "background_thread:false"  # pyarrow's allocator
    with theirs:
        process = subprocess.Popen(
            command("template", where, theirs.fileno(), start),
            pass_fds=[theirs.fileno()],
            env=os.environ | threads,
            stdin=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C at the terminal is not for workers
        )
    return process, Channel(ours)


_template_clients: weakref.WeakSet[TemplateWorkers] = weakref.WeakSet()


def _let_go() -> None:
    """Closes all channels in a fork of the user's program, which would keep workers alive."""
    for template_client in _template_clients:
        for channel in [template_client._template, *template_client._channels.values()]:
            channel.close()


os.register_at_fork(after_in_child=_let_go)
