"""What a worker does beside its order: opens files that it will need, and asks for the bytes of
packets that are promised to it, on threads of its own. What goes wrong there is no event: the order
that needs the bytes will meet it again. Knows no packetizer but its hints, and no transport.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Generic

from ..scheduling import OPENINGS, PROMISES, Packet
from .workload import P, Workload

if TYPE_CHECKING:
    from treemill._core import Control

    from .workload import Bound

__all__ = ["FILES_AT_ONCE", "SideWork"]

FILES_AT_ONCE = 1 + PROMISES + OPENINGS
"""Files on servers that one worker is at, at most: the one that it reads, those that its promises
are in, and those that it has opened ahead."""
_AT_ONCE = OPENINGS + 2
"""Threads of one worker, at most: most of them wait for a file to be opened."""


class SideWork(Generic[P]):
    """The promises to one worker, and what is done for them. Thread-safe."""

    def __init__(self, workload: Workload[P], control: Control) -> None:
        """`control` counts what is asked for."""
        self._workload = workload
        self._control = control
        self._lock = threading.Lock()
        self._tasks: deque[Callable[[], None]] = deque()
        self._threads = 0
        self._promised: dict[int, tuple[Packet, Bound[P] | None]] = {}
        """The packets by number; no bound until their bytes have been asked for."""
        self._has_begun = False
        self._waiting: list[Packet] = []
        """Those that were promised before the worker has begun anything."""

    def do(self, task: Callable[[], None]) -> None:
        """Does this on another thread, soon. It must raise nothing."""
        with self._lock:
            self._tasks.append(task)
            if self._threads == _AT_ONCE:
                return
            self._threads += 1
        threading.Thread(target=self._work, name="treemill-beside", daemon=True).start()

    def _work(self) -> None:
        # Threads end when there is nothing to do: most workers never need one.
        self._control.enter()
        while True:
            with self._lock:
                if not self._tasks:
                    self._threads -= 1
                    return
                task = self._tasks.popleft()
            task()

    def prefetch(self, packet: Packet) -> None:
        """Asks for the bytes of a packet, unless it is begun or forgotten before. What comes with a
        worker's first packet waits until that one has asked for its own bytes: servers answer in
        the order in which they are asked."""
        with self._lock:
            self._promised[packet.number] = packet, None
            if not self._has_begun:
                self._waiting.append(packet)
                return
        self.do(lambda: self._prefetch(packet))

    def _prefetch(self, packet: Packet) -> None:
        with self._lock:
            if packet.number not in self._promised or self._control.stopped:
                return
        try:
            bound = self._workload.bound(packet.file)  # may have to open the file
            with self._lock:  # so that it cannot be forgotten before it is asked for
                if packet.number in self._promised:
                    bound.prefetch(packet.start, packet.stop, self._control)
                    self._promised[packet.number] = packet, bound
        except Exception:  # the packet itself will meet it again
            return

    def forget(self, packet: Packet) -> None:
        """Drops what was fetched of a packet, and does not ask for the rest."""
        with self._lock:
            self._forget(packet.number)

    def _forget(self, number: int) -> None:
        packet, bound = self._promised.pop(number, (None, None))
        if packet is not None and bound is not None:
            bound.forget(packet.start, packet.stop)

    def begin(self, packet: Packet) -> None:
        """Notes that the worker begins the packet, which is no promise any more."""
        self._has_begun = True  # before the look: who promises something meanwhile sees it
        if self._promised:
            self.pass_on(packet)
            if self._waiting:
                self._begin_first(packet)

    def _begin_first(self, packet: Packet) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        with contextlib.suppress(Exception):  # the packet itself meets it next
            self._workload.bound(packet.file).prefetch(packet.start, packet.stop, self._control)
        for promised in waiting:
            self.do(partial(self._prefetch, promised))

    def pass_on(self, packet: Packet) -> None:
        """Notes that the packet is no promise any more: this worker begins it, or another one that
        has the same workload, and so what was fetched."""
        if self._promised:
            with self._lock:
                self._promised.pop(packet.number, None)

    def leave(self) -> None:
        """Does nothing more of what waits, and drops what was fetched. The pass is over: if it was
        stopped, servers need not go on sending."""
        with self._lock:
            for number in list(self._promised):
                self._forget(number)
            self._waiting.clear()
            self._tasks.clear()
