"""Says of a file of results what limits: one line for each query on each system. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from ..load_tests import run_summary
from ..storage.findings import findings
from .breakdown import Breakdown
from .measurements import ResultsFile, StorageScan
from .summary import Summary, middle, summaries

__all__ = ["LIMITS", "QueryFacts", "conclusion", "conclusions", "diagnosis", "facts"]

# What limits a query with the most workers that were tried, and what would help. Pure: numbers
# in, words out.

_MATTERS = 0.15
"""A loss below this part of the workers' time limits nothing."""

LIMITS: Mapping[str, tuple[str, str]] = {
    "CPU": (
        "the workers compute {share:.0%} of the time",
        "more workers help as long as there are cores for them; after that faster cores, or fewer "
        "columns and histograms",
    ),
    "cores": (
        "workers wait {share:.0%} of the time for a core, or threads for Python's lock",
        "fewer workers on each node, more nodes, or nothing else running beside; for selectors in "
        "Python processes instead of threads",
    ),
    "disk": (
        "workers wait for bytes {share:.0%} of the time",
        "faster disks, or the files on more of them; smaller files by stronger compression; fewer "
        "columns; runs over the same files soon after each other, which the system's cache serves",
    ),
    "network": (
        "workers wait for servers {share:.0%} of the time",
        "a copy nearer to the workers, more servers or replicas, a cache on disk "
        "(tm.cache.directory), fewer columns",
    ),
    "packetizer": (
        "workers wait for their next packet {share:.0%} of the time",
        "larger packets, or fewer workers for so short a query",
    ),
    "merging": (
        "results are merged {share:.0%} of the time",
        "smaller or fewer histograms, or mergers on more hosts",
    ),
    "tail": (
        "workers have nothing to do at the end {share:.0%} of the time",
        "smaller clusters in the files, more files than workers, or fewer workers for so short a "
        "query",
    ),
    "start-up": (
        "planning, starting workers and opening files take {share:.0%} of the time",
        "a longer query, workers that are there already, or fewer and larger files",
    ),
}
"""What was found, and what would help, by limit."""


@dataclass(frozen=True)
class QueryFacts:
    """What is known of a query with the most workers."""

    breakdown: Breakdown
    cpu_share_without_data: float = 1.0
    """The part of the time at packets for which the processor works if nothing is read: below 1 if
    workers wait for cores."""
    remote: bool = False
    """Whether files are on servers."""
    reads: bool = True
    """Whether the query reads columns."""


@dataclass(frozen=True)
class LimitDiagnosis:
    """What limits, and what would help."""

    limit: str
    """One of LIMITS."""
    share: float
    """The part of the workers' time that it takes."""
    found: str
    help: str

    def __str__(self) -> str:
        return f"limited by {self.limit}: {self.found}. What would help: {self.help}."


def diagnosis(facts: QueryFacts) -> LimitDiagnosis:
    """The diagnosis: the largest part of the workers' time that is not spent computing, if it
    matters; else the CPU.

    >>> times = Breakdown(0.0, 0.0, 6.0, 0.0, 0.0, 4.0, 0.0, 0.0)
    >>> diagnosis(QueryFacts(times)).limit
    'tail'
    """
    shares = _shares(facts)
    computing = shares.pop("CPU")
    limit, share = max(shares.items(), key=lambda item: item[1], default=("CPU", 0.0))
    if share < _MATTERS:
        limit, share = "CPU", computing
    finding, what_helps = LIMITS[limit]
    return LimitDiagnosis(limit, share, finding.format(share=share), what_helps)


def _shares(facts: QueryFacts) -> dict[str, float]:
    """The parts of the workers' time, by limit. They add up to 1."""
    times = facts.breakdown
    total = times.total or 1.0
    computing = min(times.cpu, times.busy) or times.busy  # 0: it was not measured
    waiting = min(_waiting(facts, computing), times.busy - computing)
    return {
        "CPU": computing / total,
        "cores": (times.busy - computing - waiting) / total,
        "network" if facts.remote else "disk": waiting / total,
        "packetizer": times.asking / total,
        "merging": (times.committing + times.collecting) / total,
        "tail": times.tail / total,
        "start-up": (times.starting + times.opening + times.around) / total,
    }


def _waiting(facts: QueryFacts, computing: float) -> float:
    """Seconds for which workers waited for bytes: for servers, and in reads of near files. A worker
    that has to wait for a core does not work in its reads either: what computing takes longer
    because of that is not the disk's."""
    if not facts.reads:
        return 0.0
    times = facts.breakdown
    stretched = computing / max(facts.cpu_share_without_data, 1e-9)
    return max(min(times.reading, times.busy - stretched), times.waited, 0.0)


_ENOUGH = 0.9
"""So much of the best rate is as good as all of it."""
_WITHOUT_DATA = ("none", "cpu")


def conclusions(results: ResultsFile) -> list[tuple[Summary, LimitDiagnosis]]:
    """Returns what limits each query on each system, where it is known."""
    overview = summaries(results.measurements)
    remote = bool(results.dataset.get("remote"))
    cores = results.machine.get("cores")
    limits = []
    for each in overview:
        known = facts(each, overview, remote, cores if isinstance(cores, int) else None)
        if known is not None:
            limits.append((each, diagnosis(known)))
    return limits


def conclusion(results: ResultsFile) -> Iterator[str]:
    """The lines at the end of a report: one for each system, and one for each storage. Of the
    queries that were run on a system the one that reads most counts; others are said only if they
    have other limits."""
    by_system: dict[str, list[tuple[Summary, LimitDiagnosis]]] = {}
    for summary, other_limit in conclusions(results):
        by_system.setdefault(summary.name, []).append((summary, other_limit))
    for system, limits in by_system.items():
        limits.sort(key=lambda each: _bytes(each[0]), reverse=True)
        summary, leading = limits[0]
        n = summary.last.workers
        plural = "worker" if n == 1 else "workers"
        line = f"{system}, {n} {plural}: {summary.query} is {leading}"
        others: dict[str, list[str]] = {}
        for other, other_limit in limits[1:]:
            if other_limit.limit != leading.limit:
                others.setdefault(other_limit.limit, []).append(other.query)
        if others:
            said = "; ".join(f"{', '.join(names)}: {limit}" for limit, names in others.items())
            line += f" Others: {said}."
        yield line
    yield from _of_storage(results.storage)
    cores = results.machine.get("cores")
    yield from findings(results.readings, cores if isinstance(cores, int) else None)
    yield from run_summary.findings(results.jobs, results.course)


def _of_storage(storage: Sequence[StorageScan]) -> Iterator[str]:
    """Returns what the storage gives, and how many readers it takes."""
    for system in dict.fromkeys(each.system for each in storage):
        rates: dict[int, list[float]] = {}
        for each in storage:
            if each.system == system:
                rates.setdefault(each.readers, []).append(each.megabytes_per_second)
        medians = {
            readers: median(rates_of_readers) for readers, rates_of_readers in sorted(rates.items())
        }
        most = max(medians.values())
        enough = next(n for n, rate in medians.items() if rate >= _ENOUGH * most)
        plural = "reader gets" if enough == 1 else "readers get"
        line = f"storage, {system}: {most:,.0f} MB/s at most; {enough} {plural} {_ENOUGH:.0%} of it"
        if enough == max(medians) and len(medians) > 1:
            line += "; more readers than were tried may get more"
        yield f"{line}."


def facts(
    summary: Summary, beside: Sequence[Summary], remote: bool, cores: int | None
) -> QueryFacts | None:
    """Returns what is known of a query. `beside`: all queries, among them the one without data on
    the same system. `cores` of this machine. None if nothing is known of where the time went."""
    last = summary.last
    breakdown = middle(last.runs)
    if breakdown is None:
        return None
    shares = [
        point.cpu_share
        for each in beside
        if (each.name, each.query) == (summary.name, "cpu")
        for point in each.points
        if point.workers == last.workers and point.cpu_share is not None
    ]
    expected = min(1.0, cores / last.workers) if cores is not None else 1.0
    return QueryFacts(
        breakdown,
        shares[0] if shares else expected,
        remote,
        reads=summary.query not in _WITHOUT_DATA,
    )


def _bytes(summary: Summary) -> float:
    """Returns how much a query has to do with columns, whether they come from files or from
    memory."""
    return max((run.bytes_read + run.bytes_from_cache for run in summary.last.runs), default=0)
