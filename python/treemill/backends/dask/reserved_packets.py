"""The packets that the workers of a process may begin without an order, and when what they have
done must be told: not each time, if more than half of the packets are there still. Knows no
transport.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field

from ...scheduling import Packet

__all__ = ["ReservedPackets"]


@dataclass(eq=False, slots=True)
class _Queue:
    packets: deque[Packet] = field(default_factory=deque)
    filled: int = 0  # how many there were after the last one was added
    is_told: bool = False  # since then, that few are left


class ReservedPackets:
    """The queues of the workers, by number. Thread-safe: the event loop adds and forgets, workers
    take."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._queues: dict[int, _Queue] = {}

    def add(self, worker: int, packet: Packet) -> None:
        """The worker may begin the packet after those that it has."""
        with self._lock:
            queue = self._queues.setdefault(worker, _Queue())
            queue.packets.append(packet)
            queue.filled, queue.is_told = len(queue.packets), False

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

    def take(self, worker: int) -> tuple[Packet, bool] | None:
        """The next packet of the worker, if there is one, and whether it is time to tell what the
        worker has done: others should be reserved before these are used up."""
        with self._lock:
            queue = self._queues.get(worker)
            if queue is None or not queue.packets:
                return None
            packet = queue.packets.popleft()
            is_time = not queue.is_told and 2 * len(queue.packets) <= queue.filled
            queue.is_told = queue.is_told or is_time
            return packet, is_time
