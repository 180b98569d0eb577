"""What `treemill bench` is to measure, and what it has measured: one record for each query or cell
that ran, and the file of results. Knows JSON; measures nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from ..._system.files import whole_file
from ...errors import FormatError, QueryError, SourceError
from ..load_tests.run_summary import Moment, Tally
from ..storage.reading import Reading
from .breakdown import Breakdown

__all__ = [
    "BASELINES",
    "QUERIES",
    "SCALINGS",
    "Measurement",
    "PlannedQuery",
    "ResultsFile",
    "ScalingPlan",
    "StorageScan",
    "load",
    "rising",
    "save",
]

# What `treemill bench run` measures, in which order: numbers of workers, queries, rounds, and how
# many events each sees. Pure.

QUERIES: Mapping[str, str] = {
    "none": "files are opened, no column is read: what the session and the packetizer cost",
    "full": "all columns are read and summed up: the load on the storage",
    "partial": "a fifth of the bytes is read and filled into histograms: an analysis",
    "cpu": "no data: 16 histograms of Gaussian random numbers",
}
"""The standard queries, by name."""

BASELINES: Mapping[str, str] = {
    "all": "the first file, and then all files",
    "file": "the first file only",
    "none": "nothing",
}
"""What one process reads alone, by name."""

SCALINGS: Mapping[str, str] = {
    "strong": "the same events with each number of workers",
    "weak": "as many events for each worker",
}


@dataclass(frozen=True)
class PlannedQuery:
    """A query to be run."""

    workers: int
    query: str
    round: int
    events: int
    """How many of the dataset, from the first one; for `cpu`: how many to make."""


@dataclass(frozen=True)
class ScalingPlan:
    """The measurements on one system."""

    workers: Sequence[int]
    """Rising."""
    queries: Sequence[str]
    rounds: int
    events: int
    """The events of the dataset."""
    cycles: int
    """Events that `cpu` makes."""
    scaling: str = "strong"

    def __post_init__(self) -> None:
        for query in self.queries:
            if query not in QUERIES:
                raise QueryError(f"no standard query {query!r}", suggestions=[*QUERIES])
        if self.scaling not in SCALINGS:
            raise QueryError(f"no scaling {self.scaling!r}", suggestions=[*SCALINGS])
        if not self.workers or min(self.workers) < 1:
            raise QueryError(f"numbers of workers are 1 or more, not {list(self.workers)}")

    def steps(self, workers: int) -> Iterator[PlannedQuery]:
        """Returns what is run with this number of workers. Rounds go over all queries, so that a
        disturbance does not hit all rounds of one query."""
        for number in range(self.rounds):
            for query in self.queries:
                yield PlannedQuery(workers, query, number, self.share(query, workers))

    def share(self, query: str, workers: int) -> int:
        """Returns how many events the query sees with so many workers."""
        events = self.cycles if query == "cpu" else self.events
        if self.scaling == "strong":
            return events
        return max(events * workers // max(self.workers), 1)


def rising(most: int) -> list[int]:
    """Numbers of workers from 1 to `most`, each about twice the one before.

    >>> rising(6)
    [1, 2, 4, 6]
    """
    numbers = []
    workers = 1
    while workers < most:
        numbers.append(workers)
        workers *= 2
    return [*numbers, most]


_FORM = "treemill-benchmark"
_VERSION = 1


@dataclass(frozen=True)
class Measurement:
    """One run of one query. Times are in seconds."""

    system: str
    """Where it ran: threads, processes, dask, or the address of a cluster's scheduler."""
    query: str
    workers: int
    round: int
    seconds: float
    """The time from the call to the result, as the user waits for it."""
    entries: int
    bytes_read: int = 0
    bytes_from_cache: int = 0
    caches: str = ""
    """What was done about the operating system's cache of files before."""
    hosts: int = 1
    on_host: int | None = None
    """Workers on each host of a cluster, at most; None: any number."""
    files: int = 0
    baseline: bool = False
    """One process alone, on the first file or on all files: what the others are compared with."""
    agrees: bool = True
    """Whether its histograms are those of the other runs over the same events."""
    breakdown: Breakdown | None = None
    """Where the workers' time went; None: nothing is known of it."""

    @property
    def rate(self) -> float:
        """Events in a second, on average."""
        return self.entries / self.seconds if self.seconds > 0 else 0.0

    @property
    def megabytes_per_second(self) -> float:
        """10^6 bytes that were read in a second, on average."""
        return self.bytes_read / 1e6 / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class StorageScan:
    """One run of `treemill bench scan-storage`: so many readers at once."""

    system: str
    readers: int
    round: int
    seconds: float
    bytes_read: int
    caches: str = ""

    @property
    def megabytes_per_second(self) -> float:
        """10^6 bytes in a second, of all readers together."""
        return self.bytes_read / 1e6 / self.seconds if self.seconds > 0 else 0.0


@dataclass(frozen=True)
class ResultsFile:
    """A file of results."""

    date: str
    """The date in the form of ISO 8601."""
    machine: Mapping[str, object]
    """The machine that the benchmark was started on, and versions."""
    settings: Mapping[str, object]
    dataset: Mapping[str, object]
    """Files, events, bytes, and what the events were made from, if it is known."""
    measurements: Sequence[Measurement] = ()
    storage: Sequence[StorageScan] = ()
    readings: Sequence[Reading] = field(default_factory=list)
    """The results of `treemill bench storage`."""
    jobs: Sequence[Tally] = field(default_factory=list)
    """The results of `treemill bench hammer`, by kind of job and storage."""
    course: Sequence[Moment] = field(default_factory=list)
    """The course of that run against time."""
    notes: Sequence[str] = field(default_factory=tuple)
    """What a reader of the figures should know."""


def save(results: ResultsFile, path: str | Path) -> None:
    """Write a file of results. It gets its name when it is complete. Raises OSError."""
    text = json.dumps({_FORM: _VERSION, **asdict(results)}, indent=1)
    with whole_file(path) as part:
        Path(part).write_text(text + "\n", encoding="utf-8")


def load(path: str | Path) -> ResultsFile:
    """Read a file of results. Raises SourceError if it cannot be read, FormatError if it is none,
    QueryError if another version of treemill has written it."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise SourceError(f"cannot read: {error.strerror}", file=str(path)) from None
    except UnicodeDecodeError:
        raise FormatError(f"{path} was not written by `treemill bench`", file=str(path)) from None
    try:
        document = json.loads(text)
        version = document[_FORM]
    except (ValueError, KeyError, TypeError):
        raise FormatError(f"{path} was not written by `treemill bench`", file=str(path)) from None
    if version != _VERSION:
        raise QueryError(
            f"{path} has version {version} of the benchmark's form, and this treemill reads "
            f"{_VERSION}: measure again, or use the treemill that wrote it"
        )
    try:
        return _results(document)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise FormatError(f"{path} is damaged: {error}", file=str(path)) from None


def _results(document: Mapping[str, Any]) -> ResultsFile:
    measurements = []
    for each in document["measurements"]:
        parts = each["breakdown"]
        breakdown = None if parts is None else Breakdown(**_known(parts, Breakdown))
        measurements.append(Measurement(**(_known(each, Measurement) | {"breakdown": breakdown})))
    return ResultsFile(
        str(document["date"]),
        dict(document["machine"]),
        dict(document["settings"]),
        dict(document["dataset"]),
        measurements,
        [StorageScan(**_known(each, StorageScan)) for each in document["storage"]],
        # Files of earlier versions have none.
        [Reading(**_known(each, Reading)) for each in document.get("readings", ())],
        [Tally(**_known(each, Tally)) for each in document.get("jobs", ())],
        [Moment(**_known(each, Moment)) for each in document.get("course", ())],
        [str(each) for each in document["notes"]],
    )


def _known(told: Mapping[str, Any], kind: type) -> dict[str, Any]:
    """The fields that this version knows."""
    names = {each.name for each in fields(kind)}
    return {name: value for name, value in told.items() if name in names}
