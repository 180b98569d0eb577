"""What a process has counted of one pass, and sends to those who lead it; what these know of it.
Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..frozen import frozen, replaced
from ..io_report import IOReport
from ..scheduling import Event, PacketDone, PacketFailed

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["KnownCounters", "Pulse"]


@frozen
class Pulse:
    """A sign of life, with counters."""

    entries: int = 0
    bytes_read: int = 0
    bytes_decompressed: int = 0
    bytes_from_cache: int = 0
    io: IOReport = field(default_factory=IOReport)

    @classmethod
    def of(cls, control: Control) -> Pulse:
        """The counters of this process."""
        return cls(
            control.entries,
            control.bytes_read,
            control.bytes_decompressed,
            control.bytes_from_cache,
            IOReport.of(control),
        )

    def plus(self, other: Pulse) -> Pulse:
        """The sum of both."""
        return Pulse(
            self.entries + other.entries,
            self.bytes_read + other.bytes_read,
            self.bytes_decompressed + other.bytes_decompressed,
            self.bytes_from_cache + other.bytes_from_cache,
            self.io.plus(other.io),
        )

    def at_least(self, bytes_read: int) -> Pulse:
        """This pulse, of a process that has read at least this many bytes."""
        if bytes_read <= self.bytes_read:
            return self
        io = self.io._replace(bytes_read=max(self.io.bytes_read, bytes_read))
        return replaced(self, bytes_read=bytes_read, io=io)


@dataclass(slots=True)
class KnownCounters:
    """What is known of the counters of a process. Pulses come now and then; a packet tells itself
    what it has read, and its process may be lost, or the pass over, before the next pulse."""

    pulse: Pulse = field(default_factory=Pulse)
    """The last one, with what packets have told since."""
    packets: int = 0
    """Bytes that were read for packets of which the process has told."""

    def tell(self, pulse: Pulse) -> None:
        """A pulse has come."""
        self.pulse = pulse.at_least(self.packets)

    def follow(self, event: Event) -> None:
        """An event of one of its workers has come.

        >>> from treemill.scheduling import Spent
        >>> counted = KnownCounters(Pulse(bytes_read=5))
        >>> counted.follow(PacketDone(0, 0, 10, 1.0, spent=Spent(0, 0, 0, bytes_read=7)))
        >>> counted.pulse.bytes_read
        7
        """
        if isinstance(event, PacketDone | PacketFailed) and event.spent is not None:
            self.packets += event.spent.bytes_read
            self.pulse = self.pulse.at_least(self.packets)
