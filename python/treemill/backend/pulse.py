"""What a process has counted of one pass, and sends to those who lead it. Plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..io_report import IOReport

if TYPE_CHECKING:
    from treemill._core import Control

__all__ = ["Pulse"]


@dataclass(frozen=True, slots=True)
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
