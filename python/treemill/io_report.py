"""What reading took: bytes, requests, waits, by server. Plain values, which add up over workers;
knows no file and no worker."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ._core import Control

__all__ = ["IOReport", "SourceReport"]


class SourceReport(NamedTuple):
    """What one server was asked for, opening files included."""

    source: str
    """Scheme, host and port. If a redirector has named another server, it is that one."""
    files: int = 0
    """How often a file was opened there: once for each connection that reads it."""
    messages: int = 0
    """Messages that asked for bytes. Each may have many ranges; by HTTP and S3 each is for one
    range or a part of it."""
    requests: int = 0
    """Ranges."""
    bytes_read: int = 0
    """Bytes that came."""
    errors: int = 0
    """Ranges that did not come."""
    waits: int = 0
    """How often a thread waited for bytes of this server. For files with replicas the waits are in
    the totals only: no worker waits for one of two."""
    waited: float = 0.0
    """The time of these waits, summed over all threads."""
    seconds_busy: float = 0.0
    """How long at least one range was on its way, all processes together."""

    @property
    def was_asked(self) -> bool:
        """Whether anything was asked of it. Time may pass with what an earlier run has asked."""
        counts = self.files, self.messages, self.requests, self.bytes_read, self.errors, self.waits
        return any(counts)

    @property
    def megabytes_per_second(self) -> float:
        """10^6 bytes that came in each second in which something was on its way."""
        return self.bytes_read / 1e6 / self.seconds_busy if self.seconds_busy > 0 else 0.0

    def plus(self, other: SourceReport) -> SourceReport:
        """Both together, by the name of this one.

        >>> SourceReport("root://a", requests=1).plus(SourceReport("root://a", requests=2)).requests
        3
        """
        return SourceReport(
            self.source,
            self.files + other.files,
            self.messages + other.messages,
            self.requests + other.requests,
            self.bytes_read + other.bytes_read,
            self.errors + other.errors,
            self.waits + other.waits,
            self.waited + other.waited,
            self.seconds_busy + other.seconds_busy,
        )

    def __str__(self) -> str:
        items = [
            f"{_megabytes(self.bytes_read)} at {self.megabytes_per_second:.1f} MB/s",
            f"{self.requests:,} ranges in {self.messages:,} messages",
            f"{self.waits:,} waits, {self.waited:.1f} s",
        ]
        if self.errors:
            items.append(f"{self.errors:,} ranges failed")
        return f"{self.source}: {', '.join(items)}"


class IOReport(NamedTuple):
    """What reading took, opening files on servers included. For local files only `bytes_read` and
    `bytes_from_cache` count."""

    bytes_wanted: int = 0
    """Bytes from servers that were used, as the files have them, each counted once."""
    bytes_read: int = 0
    """Bytes that came from servers, and that were read from local files."""
    bytes_from_cache: int = 0
    """Bytes, decompressed by earlier queries, that came from `treemill.cache` instead."""
    bytes_from_disk: int = 0
    """Bytes of files on servers, as they are stored there, that came from the folder
    `treemill.cache.directory` instead."""
    requests: int = 0
    """Ranges that servers were asked for: see `messages` of `sources`."""
    waits: int = 0
    """How often a thread waited for a server, because bytes that it needed were not here yet."""
    waited: float = 0.0
    """The time of these waits, summed over all threads."""
    sources: tuple[SourceReport, ...] = ()
    """Reports by server, in the order of their names. If several runs share a process at the
    same time, each counts what all of them have asked for."""

    @property
    def bytes_over_read(self) -> int:
        """Bytes from servers that nothing used: they lay between others, or were asked for in
        vain."""
        return max(self.bytes_read - self.bytes_wanted, 0) if self.requests else 0

    @classmethod
    def of(cls, control: Control) -> IOReport:
        """The counters of one process's run."""
        waits, seconds = control.waits
        sources = [SourceReport(*counts) for counts in control.servers]
        sent = sum(source.bytes_read for source in sources)
        # What was fetched before the run is neither read nor used by it.
        used = min(control.bytes_wanted + control.bytes_opening, sent)
        return cls(
            bytes_wanted=used,
            bytes_read=control.bytes_read - control.bytes_asked + sent,
            bytes_from_cache=control.bytes_from_cache,
            bytes_from_disk=control.bytes_from_disk,
            requests=sum(source.requests for source in sources),
            waits=waits,
            waited=seconds,
            sources=tuple(source for source in sources if source.was_asked),
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
            self.waits + other.waits,
            self.waited + other.waited,
            _together(self.sources, other.sources),
        )

    def __str__(self) -> str:
        items = [f"{_megabytes(self.bytes_read)} read"]
        if self.requests:
            items.append(f"{_megabytes(self.bytes_wanted)} of them used")
            items.append(f"{self.requests:,} ranges asked for")
            items.append(f"{self.waits:,} waits, {self.waited:.1f} s in all threads")
        if self.bytes_from_disk:
            items.append(f"{_megabytes(self.bytes_from_disk)} from disk")
        if self.bytes_from_cache:
            items.append(f"{_megabytes(self.bytes_from_cache)} from memory")
        lines = [", ".join(items), *(f"  {source}" for source in self.sources)]
        return "\n".join(lines)


def _together(
    some: tuple[SourceReport, ...], others: tuple[SourceReport, ...]
) -> tuple[SourceReport, ...]:
    if not (some and others):
        return some or others
    by_source = {report.source: report for report in some}
    for report in others:
        mine = by_source.get(report.source)
        by_source[report.source] = report if mine is None else mine.plus(report)
    return tuple(by_source[name] for name in sorted(by_source))


def _megabytes(number: int) -> str:
    return f"{number / 1e6:,.1f} MB"
