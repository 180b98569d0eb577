"""What reading took: bytes, requests, waits. Plain values, which add up over workers; knows no file
and no worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ._core import Control

__all__ = ["IOReport"]


class IOReport(NamedTuple):
    """What reading took. Of local files only `bytes_read` and `bytes_from_cache` are counted."""

    bytes_wanted: int = 0
    """Bytes from servers that were used, as the files have them."""
    bytes_read: int = 0
    """Bytes that were asked for: from servers and from local files."""
    bytes_from_cache: int = 0
    """Bytes, decompressed by earlier queries, that came from `treemill.cache` instead."""
    bytes_from_disk: int = 0
    """Bytes of files on servers, as they are stored there, that came from the folder
    `treemill.cache.directory` instead."""
    requests: int = 0
    """Ranges that servers were asked for; a message to a server may have many."""
    round_trips: int = 0
    """How often a thread waited for a server, because bytes that it needed were not here yet."""
    seconds_waited: float = 0.0
    """For how long, all threads together."""

    @property
    def bytes_over_read(self) -> int:
        """Bytes from servers that nothing used: they lay between others, or were asked for in
        vain."""
        return max(self.bytes_read - self.bytes_wanted, 0) if self.requests else 0

    @classmethod
    def of(cls, control: Control) -> IOReport:
        """The counters of one process's run."""
        waits, seconds = control.waits
        return cls(
            bytes_wanted=control.bytes_wanted,
            bytes_read=control.bytes_read,
            bytes_from_cache=control.bytes_from_cache,
            bytes_from_disk=control.bytes_from_disk,
            requests=control.requests,
            round_trips=waits,
            seconds_waited=seconds,
        )

    def plus(self, other: IOReport) -> IOReport:
        """Both together.

        >>> IOReport(requests=1, bytes_read=5).plus(IOReport(requests=2)).requests
        3
        """
        return IOReport(
            self.bytes_wanted + other.bytes_wanted,
            self.bytes_read + other.bytes_read,
            self.bytes_from_cache + other.bytes_from_cache,
            self.bytes_from_disk + other.bytes_from_disk,
            self.requests + other.requests,
            self.round_trips + other.round_trips,
            self.seconds_waited + other.seconds_waited,
        )

    def __str__(self) -> str:
        def megabytes(number: int) -> str:
            return f"{number / 1e6:,.1f} MB"

        told = [f"{megabytes(self.bytes_read)} read"]
        if self.requests:
            told.append(f"{megabytes(self.bytes_wanted)} of them used")
            told.append(f"{self.requests:,} ranges asked for")
            told.append(f"{self.round_trips:,} waits, {self.seconds_waited:.1f} s in all threads")
        if self.bytes_from_disk:
            told.append(f"{megabytes(self.bytes_from_disk)} from disk")
        if self.bytes_from_cache:
            told.append(f"{megabytes(self.bytes_from_cache)} from memory")
        return ", ".join(told)
