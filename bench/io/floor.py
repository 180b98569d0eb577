"""The least time in which bytes can come over a link, whoever reads them: round trips, the windows
of new connections, the link's rate. Pure.
"""

import math
from collections.abc import Callable, Sequence

from tools.link.link import Wire

CONNECTIONS = 8
"""To one server that a reader may use, as treemill does; the official client's limit is 16."""
FIRST_WINDOW = 14_600
"""Bytes that a new connection's first round trip brings: ten segments (RFC 6928)."""
COLD_TRIPS = 2
"""Before anything can be asked for: to connect, and to log in and open."""


def cold(size: float, wire: Wire, connections: int = CONNECTIONS) -> float:
    """Seconds from a file's name to the last of `size` bytes, on new connections whose windows
    double in each round trip, and all of whose bytes were known to be wanted at once."""
    trip = 2 * wire.delay_ms / 1e3
    window = float(connections * FIRST_WINDOW)
    most = _rate(wire, connections) * trip
    grown = max(min(size, most - window), 0.0)
    growing = math.log2(grown / window + 1) * trip
    return COLD_TRIPS * trip + max(growing, trip) + (size - grown) / _rate(wire, connections)


def together(size: float, wires: Sequence[Wire], connections: int = CONNECTIONS) -> float:
    """As `cold`, of a file that lies behind all of these wires, if each of them brings bytes until
    the last of `size` is here."""

    def brought(seconds: float, wire: Wire) -> float:
        return _greatest(size, lambda part: cold(part, wire, connections) <= seconds)

    alone = min(cold(size, wire, connections) for wire in wires)
    return _greatest(alone, lambda s: sum(brought(s, wire) for wire in wires) < size)


def _greatest(most: float, holds: Callable[[float], bool]) -> float:
    """The greatest number up to `most` of which it holds, as it does of all smaller ones; 0 if of
    none."""
    least = 0.0
    for _ in range(60):
        middle = (least + most) / 2
        least, most = (middle, most) if holds(middle) else (least, middle)
    return least


def warm(size: float, wire: Wire, connections: int = CONNECTIONS) -> float:
    """As `cold`, on connections that are open and wide: one round trip, and the rate."""
    return 2 * wire.delay_ms / 1e3 + size / _rate(wire, connections)


def _rate(wire: Wire, connections: int) -> float:
    """Bytes per second of all connections together."""
    limits = [wire.mbit, connections * wire.stream_mbit]
    return min((limit for limit in limits if limit), default=math.inf) * 1e6 / 8
