"""The report of a query: which entries are in its result, which are missing and why, rates."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from typing import Protocol

from ..errors import warn, without_credentials
from ..io_report import IOReport
from .worker_histograms import WorkerHistograms

__all__ = ["FromMemory", "IncompleteWarning", "MissingEntries", "Report", "warn"]


class _Record(Protocol):
    @property
    def time(self) -> float: ...
    @property
    def event(self) -> object: ...
    @property
    def actions(self) -> tuple[object, ...]: ...


class _Trace(Protocol):
    @property
    def records(self) -> Collection[_Record]: ...
    @property
    def dropped(self) -> int: ...


def _shown(record: MissingEntries | Report) -> str:
    """What a dataclass shows of itself, without passwords and tokens: programs find files by their
    whole addresses, but users print reports into logs."""
    shown = [f"{each.name}={getattr(record, each.name)!r}" for each in fields(record) if each.repr]
    return without_credentials(f"{type(record).__name__}({', '.join(shown)})")


@dataclass(frozen=True, repr=False)
class MissingEntries:
    """Entries `[start, stop)` of a file that are not in the result. `stop` is None if all entries
    from `start` on are missing because the file could not be opened."""

    file: str
    """The file's path or address."""
    start: int
    """The first of the entries, counted in the file."""
    stop: int | None
    """The entry after the last one."""
    reason: str
    """Why they are missing."""

    def __str__(self) -> str:
        span = f"entries {self.start}..{self.stop}"
        if self.stop is None:
            span = f"entries from {self.start} on" if self.start else "all entries"
        return without_credentials(f"{self.file}: {span}: {self.reason}")

    def __repr__(self) -> str:
        return _shown(self)


@dataclass(frozen=True)
class FromMemory:
    """What a run has taken from remembered results (`treemill.remember`), and why not all."""

    results: int
    """Results of the core's: one for each booking and variation."""
    found: int
    """Those that nothing was computed for."""
    files: int
    """Files of the run."""
    read: int
    """Those of which something was computed."""
    parts: int
    """Results of single files that were computed."""
    computed: Sequence[tuple[str, str]]
    """Titles of the bookings that were computed, each with the reason."""
    from_memory: Sequence[str] = ()
    """Titles of the bookings that nothing was computed for."""

    def of(self, title: str) -> list[str]:
        """In words, what was remembered of the booking with this title and of its variations.

        >>> FromMemory(3, 2, 1, 1, 1, [("x (up)", "it is new")], ["x", "n"]).of("x")
        ['x: from memory', 'x (up): computed, because it is new']
        """
        why = [(name, f"computed, because {reason}") for name, reason in self.computed]
        lines = [(name, "from memory") for name in self.from_memory] + why
        every = [f"{title}: {words}" for name, words in lines if name == "all"]
        mine = [(n, words) for n, words in lines if n == title or n.startswith(f"{title} (")]
        return every or [f"{name}: {words}" for name, words in mine]

    def __str__(self) -> str:
        lines = [
            f"{self.found:,} of {self.results:,} results from memory, "
            f"{self.results - self.found:,} computed; {self.read:,} of {self.files:,} files read"
        ]
        shown = self.computed[:_SHOWN]
        lines += [f"  {title}: {reason}" for title, reason in shown]
        if len(self.computed) > len(shown):
            lines.append(f"  and {len(self.computed) - len(shown):,} more")
        return "\n".join(lines)


@dataclass(frozen=True, repr=False)
class Report:
    """The record of the work of a query: so far, or in total if the query has ended."""

    entries: int
    """Number of entries in the result."""
    processed: dict[str, list[tuple[int, int]]]
    """The entries in the result as half-open ranges, ascending, by file."""
    missing: list[MissingEntries]
    """The entries that are not in the result, and why."""
    seconds: float
    """The time that the query took."""
    bytes_read: int
    """Bytes that were read from files and servers."""
    bytes_decompressed: int
    """Bytes after decompression."""
    workers: int
    """Number of workers."""
    bytes_from_cache: int = 0
    """Bytes that were taken from `treemill.cache`, and so neither read nor decompressed."""
    entries_before: int = 0
    """Those of the entries that an earlier run has processed (checkpoint=, or remembered)."""
    io: IOReport = field(default_factory=IOReport)
    """What reading took: requests to servers, bytes that were used or not, time waited."""
    trace: _Trace | None = field(default=None, repr=False)
    """The last events of the workers and the answers to them (`treemill.scheduling.Trace`), if the
    session keeps them (`connect(trace=10_000)`)."""

    measured: WorkerHistograms | None = field(default=None, repr=False)
    """What workers did, as histograms (`measured.histograms`); None with `monitor=False`."""
    remembered: FromMemory | None = None
    """What was taken from remembered results; None if none are remembered."""

    @property
    def complete(self) -> bool:
        """True if every entry of the dataset is in the result."""
        return not self.missing

    @property
    def events_per_second(self) -> float:
        """Entries that were processed per second of wall time."""
        entries = self.entries - self.entries_before
        return entries / self.seconds if self.seconds > 0 else 0.0

    @property
    def megabytes_per_second(self) -> float:
        """10^6 bytes read from files per second of wall time, without bytes from the cache."""
        return self.bytes_read / 1e6 / self.seconds if self.seconds > 0 else 0.0

    def __repr__(self) -> str:
        return _shown(self)

    def __str__(self) -> str:
        lines = [
            f"{self.entries:,} events in {self.seconds:.3f} s on {self.workers} "
            f"{'worker' if self.workers == 1 else 'workers'}: "
            f"{self.events_per_second:,.0f} events/s, {self.megabytes_per_second:.1f} MB/s"
        ]
        if self.bytes_from_cache:
            lines[0] += f", {self.bytes_from_cache / 1e6:,.1f} MB from memory"
        if self.remembered is not None:
            lines.append(str(self.remembered))
        elif self.entries_before:
            lines.append(f"{self.entries_before:,} of these events are from the checkpoint")
        if self.io.requests:
            lines.append(f"from servers: {self.io}")
        if self.missing:
            lines.append("missing:")
            lines += [f"  {each}" for each in self.missing[:20]]
            if len(self.missing) > 20:
                lines.append(f"  and {len(self.missing) - 20} more")
        return "\n".join(lines)


# The warning that a run with `on_error="skip"` has left something out of its result.

_SHOWN = 5


class IncompleteWarning(UserWarning):
    """The result of a run does not cover all entries, because the run leaves out data that fail
    (`on_error="skip"`), and files that lack a branch."""

    def __init__(self, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.report = report
        """The report of the run: `report.missing` names all that is missing, and why."""


def warn_of_missing(report: Report) -> None:
    """Warns of what is missing, at the line of the user's that has called treemill."""
    if report.missing:
        warn(IncompleteWarning(_words(report), report))


def _words(report: Report) -> str:
    missing = report.missing
    files = dict.fromkeys(each.file for each in missing)
    known = sum(each.stop - each.start for each in missing if each.stop is not None)
    counted = f"{known:,} entries" if known else ""
    unopened = {each.file for each in missing if each.stop is None}
    if unopened:
        whole = f"all of {_files(len(unopened))}"
        counted = f"{counted} and {whole}" if counted else whole
    shown = [str(each) for each in missing[:_SHOWN]]
    more = len(missing) - len(shown)
    shown += [f"and {more:,} more, which the report names"] if more else []
    return (
        f'on_error="skip" left out {counted}, in {len(files):,} of '
        f"{_files(len({*report.processed, *files}))}: {_joined(shown)}"
    )


def _files(number: int) -> str:
    return "1 file" if number == 1 else f"{number:,} files"


def _joined(parts: list[str]) -> str:
    return "; ".join(part.rstrip(".") for part in parts)
