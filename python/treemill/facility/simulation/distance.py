"""What a worker waits for if all files are far away: opening takes round trips, bytes come a round
trip after they were asked for, and its connection carries a number of them per second. Knows
packets; knows no packetizer and no event queue."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ...scheduling import Packet

__all__ = ["Connection", "Distance"]


@dataclass(frozen=True)
class Distance:
    """The way to the files, for each worker."""

    round_trip: float
    """Seconds."""
    stream: float
    """MB/s that a worker's connection carries."""
    open_rounds: int = 4
    """Round trips that opening a file takes."""
    depth: float = 2.0
    """What should be on its way, as a multiple of what the connection carries in a round trip."""

    def ahead(self, mb: float) -> int:
        """The events ahead that are worth asking for, if an event has this many MB."""
        return int(self.depth * self.round_trip * self.stream / mb)


@dataclass(eq=False, slots=True)
class _Request:
    first: float  # when its first byte comes
    last: float


class Connection:
    """One worker's connection. The answers come in the order of the requests, one after another."""

    def __init__(self, distance: Distance, mb: float, varied: Callable[[float], float]) -> None:
        """`mb`: of an event. `varied` makes times vary."""
        self._distance = distance
        self._mb = mb
        self._varied = varied
        self._free = 0.0  # when all that was asked for has come
        self._open: dict[int, float] = {}  # files: from when on
        self._asked: dict[int, _Request] = {}  # by packet

    def open(self, file: int, now: float) -> float:
        """Opens a file, unless that has happened. Returns when it is open."""
        if file not in self._open:
            rounds = self._distance.open_rounds * self._distance.round_trip
            self._open[file] = now + self._varied(rounds)
        return max(self._open[file], now)

    def ask(self, packet: Packet, now: float) -> None:
        """Asks for a packet's bytes, as soon as its file is open."""
        if packet.number in self._asked:
            return
        sent = self.open(packet.file, now)
        first = max(sent + self._distance.round_trip, self._free)
        size = (packet.stop - packet.start) * self._mb
        self._free = first + self._varied(size / self._distance.stream)
        self._asked[packet.number] = _Request(first, self._free)

    def forget(self, packet: Packet, now: float) -> None:
        """Gives up a packet's bytes. What the server has sent before it hears of that still
        comes."""
        request = self._asked.pop(packet.number, None)
        if request is not None and request.last == self._free:
            heard = now + self._distance.round_trip
            self._free = min(request.last, max(request.first, heard))

    def process(self, packet: Packet, now: float, compute: float) -> float:
        """Returns when a packet ends that begins now and needs this much CPU time: it computes on
        bytes as they come."""
        self.ask(packet, now)
        request = self._asked.pop(packet.number)
        return max(request.last, max(now, request.first) + compute)
