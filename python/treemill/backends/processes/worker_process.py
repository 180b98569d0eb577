"""A worker process, from its fork to its end. The main thread carries out orders; a second thread
receives messages, sends heartbeats and watches the memory.

The process ends at once when the session's end of the socket is closed, for any reason.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import importlib.util
import os
import queue
import select
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import NoReturn

from ..._system.cache import turn_off
from ..._system.memory import limit, private_bytes
from ..._system.process import close_servers
from ...errors import portable, traceback_of
from ...frozen import replaced
from ...scheduling import (
    Event,
    FileFailed,
    Halt,
    Hint,
    Order,
    Packet,
    PacketFailed,
    Process,
    WorkerJoined,
)
from ...workers.task import OneStateTask, Task
from ...workers.worker import Worker
from ...workers.workload import Partial
from ..base import Heartbeat
from .messages import Channel, Hand, WorkerCrashed

__all__ = ["run"]

_HEARTBEAT_SECONDS = 0.2
"""Seconds between two heartbeats."""
_PR_SET_PDEATHSIG = 1


def run(sock: socket.socket, load: Callable[[], Task], number: int, memory: int | None) -> NoReturn:
    """Runs a worker to its end, in a new child process. `load` gives its task."""
    code = 1
    try:
        _settle()
        _WorkerProcess(sock, load(), number, memory).work()
        code = 0
    except BaseException as error:
        # The session sees only that the process has ended.
        with contextlib.suppress(Exception):
            print(traceback_of(error), end="", file=sys.stderr)
    finally:
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
            close_servers()
        os._exit(code)


def _settle() -> None:
    # A group of its own, so that it can be ended together with what it starts.
    os.setpgid(0, 0)
    parent = os.getppid()
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
    gc.enable()


class _WorkerProcess:
    def __init__(self, sock: socket.socket, task: Task, number: int, memory: int | None) -> None:
        sock.setblocking(True)
        self._channel = Channel(sock)
        self._task = OneStateTask(task)
        self._number = number
        self._control = task.control()
        self._inbox: queue.SimpleQueue[Order] = queue.SimpleQueue()
        self._pid = os.getpid()
        self._packet: Packet | None = None
        self._limit = None if memory is None else limit(memory)
        # A child that the user's code forks must not keep the connection open.
        os.register_at_fork(after_in_child=self._channel.close)
        threading.Thread(target=self._listen, daemon=True).start()

    def work(self) -> None:
        """Carries out orders until the socket is closed."""
        try:
            # The hook of uploaded packages, which few of them have.
            if importlib.util.find_spec("treemill_setup") is not None:
                importlib.import_module("treemill_setup")
            turn_off()
            workload = self._task.workload(self._number)
            workload.begin()
            self._worker = Worker(
                self._number, workload, self._control, self._hand, self._send_event
            )
            self._channel.send(WorkerJoined(self._number))
            while True:
                self._perform(self._inbox.get())
        except (BrokenPipeError, ConnectionResetError):
            pass  # the pass is over
        except BaseException as error:
            if os.getpid() == self._pid:
                words = f"worker {self._number} failed"
                with contextlib.suppress(OSError):
                    self._channel.send(WorkerCrashed(portable(error, words, str(self._number))))

    def _perform(self, order: Order) -> None:
        self._packet = order.packet if isinstance(order, Process) else None
        event = self._worker.perform(order)
        if os.getpid() != self._pid:
            os._exit(0)  # a process that the user's code has forked came back from process()
        self._packet = None
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
        if event is not None:
            self._channel.send(self._portable(event))

    def _portable(self, event: Event) -> Event:
        if isinstance(event, PacketFailed | FileFailed):
            error = portable(event.error, f"worker {self._number} failed", str(self._number))
            return replaced(event, error=error)
        return event

    def _send_event(self, event: Event) -> None:
        """Sends an event of a thread of the worker other than the main one."""
        with contextlib.suppress(OSError):  # the pass is over
            self._channel.send(self._portable(event))

    def _hand(self, partial: Partial) -> None:
        self._channel.send(Hand(partial.dumps(), self._heartbeat()))

    def _heartbeat(self) -> Heartbeat:
        return Heartbeat.of(self._control)

    def _listen(self) -> None:
        next_heartbeat = 0.0
        waiting = select.poll()  # select takes no descriptor beyond 1023
        waiting.register(self._channel.fileno(), select.POLLIN)
        while True:
            wait = max(next_heartbeat - time.monotonic(), 0.0)
            if waiting.poll(1e3 * wait):
                messages, alive = self._channel.receive()
                if not alive:
                    self._leave(0)
                for message in messages:
                    if isinstance(message, Halt):
                        self._control.stop()
                    elif isinstance(message, Hint):
                        self._worker.note(message)
                    elif isinstance(message, Order):
                        self._inbox.put(message)
            if time.monotonic() < next_heartbeat:
                continue
            next_heartbeat = time.monotonic() + _HEARTBEAT_SECONDS
            self._watch_memory()
            try:
                self._channel.send(self._heartbeat())
            except OSError:
                self._leave(0)

    def _watch_memory(self) -> None:
        """Ends the process if it has more memory than its limit: not all systems enforce that."""
        packet = self._packet
        if self._limit is None or packet is None or private_bytes() <= self._limit:
            return
        error = self._worker.out_of_memory(packet, "took more memory than its limit")
        with contextlib.suppress(OSError):
            self._channel.send(PacketFailed(self._number, packet.number, error, retry=False))
        self._leave(3)

    def _leave(self, code: int) -> NoReturn:
        """Ends the process at once."""
        with contextlib.suppress(Exception):
            sys.stdout.flush()
            close_servers()
        os._exit(code)
