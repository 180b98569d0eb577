"""How far a query is, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Progress"]


@dataclass(frozen=True)
class Progress:
    """A look at a running query."""

    phase: str
    """What the pass is for: finding ranges, or filling."""
    entries: int
    """Processed in this pass."""
    expected: int
    """Of the dataset; an estimate while not all files are open."""
    bytes_read: int
    bytes_decompressed: int
    seconds: float
    """Since the query began."""
    workers: int
    pass_seconds: float
    """Since this pass began."""
    bytes_from_cache: int = 0
    """Decompressed before this pass: taken from memory, not read."""

    @property
    def events_per_second(self) -> float:
        """Of this pass."""
        return self.entries / self.pass_seconds if self.pass_seconds > 0 else 0.0

    @property
    def megabytes_per_second(self) -> float:
        """Read from files, 10^6 bytes, of this pass; what was in memory does not count."""
        return self.bytes_read / 1e6 / self.pass_seconds if self.pass_seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Of this pass, as it goes now; None before anything is done."""
        rate = self.events_per_second
        return max(self.expected - self.entries, 0) / rate if rate > 0 else None
