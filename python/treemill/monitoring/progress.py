"""How far a running query is, as plain numbers, and which of its histograms are shown meanwhile."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..io_report import IOReport

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["Progress", "histograms", "pick"]

# Chooses the histogram that feedback draws while a query runs, from the query's values. Pure.


def pick(values: object, titles: Sequence[str], name: str | None) -> tuple[str, Hist] | None:
    """The name and the histogram of the value called `name`, or of the first histogram if `name` is
    None. None if there is no such histogram.

    `values` is a selector's output, whose dicts may be nested ("dy.mass" or "mass"), or the tuple
    of values of bookings with these `titles`."""
    for path, histogram in histograms(values, titles):
        if name is None or path == name or path.endswith(f".{name}"):
            return path, histogram
    return None


def histograms(values: object, titles: Sequence[str] = ()) -> Iterator[tuple[str, Hist]]:
    """Yields all histograms among the values, each with its name."""
    pairs: list[tuple[str, object]]
    if isinstance(values, Mapping) and not titles:
        pairs = [(str(key), value) for key, value in values.items()]
    elif isinstance(values, tuple):
        pairs = list(zip(titles, values, strict=False))
    else:
        return
    for name, value in pairs:
        nominal = getattr(value, "nominal", None)
        if _is_histogram(value):
            yield name, value
        elif _is_histogram(nominal):
            yield name, nominal
        elif isinstance(value, Mapping):
            for inner, histogram in histograms(value):
                yield f"{name}.{inner}", histogram


def _is_histogram(value: object) -> bool:
    return all(hasattr(value, part) for part in ("axes", "values", "ndim", "storage_type"))


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
    """Compressed bytes that packets have read from files, or asked servers for; without those that
    opening files took, which `io` has."""
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
        """10^6 bytes read from files per second of this pass, without bytes from the cache; see
        `bytes_read`."""
        return self.bytes_read / 1e6 / self.pass_seconds if self.pass_seconds > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """Estimated rest of this pass, at its average rate; None before any entry is done."""
        rate = self.events_per_second
        return max(self.expected - self.entries, 0) / rate if rate > 0 else None
