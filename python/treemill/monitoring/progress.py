"""How far a running query is, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..io_report import IOReport

__all__ = ["Progress"]


@dataclass(frozen=True)
class Progress:
    """The state of a running query at one moment."""

    phase: str
    """What the pass is for: finding ranges, or filling."""
    entries: int
    """Number of entries processed in this pass."""
    expected: int
    """Number of entries of the dataset; an estimate until all files have been opened."""
    bytes_read: int
    """Bytes that were read from files and servers."""
    bytes_decompressed: int
    """Bytes after decompression."""
    seconds: float
    """The time since the query began."""
    workers: int
    """Number of workers."""
    pass_seconds: float
    """The time since this pass began."""
    bytes_from_cache: int = 0
    """Bytes that earlier passes have decompressed: they are taken from memory, not read."""
    entries_before: int = 0
    """Those of the entries that an earlier run has processed (checkpoint=)."""
    io: IOReport = field(default_factory=IOReport)
    """What reading has taken, from servers above all."""

    @property
    def events_per_second(self) -> float:
        """Entries per second of this pass."""
        entries = self.entries - self.entries_before
        return entries / self.pass_seconds if self.pass_seconds > 0 else 0.0

    @property
    def megabytes_per_second(self) -> float:
        """10^6 bytes read from files per second of this pass, without bytes from the cache."""
        return self.bytes_read / 1e6 / self.pass_seconds if self.pass_seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated rest of this pass, at its average rate; None before any entry is done."""
        rate = self.events_per_second
        return max(self.expected - self.entries, 0) / rate if rate > 0 else None
