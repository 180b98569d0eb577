"""Makes verdicts of a file of results: one line for each query on each system. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from ..load_tests import telling
from ..storage.findings import findings
from .measurements import ResultsFile, StorageScan
from .summary import Summary, middle, summaries
from .verdict import Facts, LimitVerdict, verdict

__all__ = ["conclusion", "conclusions", "facts"]

_ENOUGH = 0.9
"""So much of the best rate is as good as all of it."""
_WITHOUT_DATA = ("none", "cpu")


def conclusions(results: ResultsFile) -> list[tuple[Summary, LimitVerdict]]:
    """Returns what limits each query on each system, where it is known."""
    overview = summaries(results.measurements)
    remote = bool(results.dataset.get("remote"))
    cores = results.machine.get("cores")
    limits = []
    for each in overview:
        known = facts(each, overview, remote, cores if isinstance(cores, int) else None)
        if known is not None:
            limits.append((each, verdict(known)))
    return limits


def conclusion(results: ResultsFile) -> Iterator[str]:
    """The lines at the end of a report: one for each system, and one for each storage. Of the
    queries that were run on a system the one that reads most counts; others are said only if they
    have other limits."""
    by_system: dict[str, list[tuple[Summary, LimitVerdict]]] = {}
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
    yield from telling.findings(results.jobs, results.course)


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
) -> Facts | None:
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
    return Facts(
        breakdown,
        shares[0] if shares else expected,
        remote,
        reads=summary.query not in _WITHOUT_DATA,
    )


def _bytes(summary: Summary) -> float:
    """Returns how much a query has to do with columns, whether they come from files or from
    memory."""
    return max((run.bytes_read + run.bytes_from_cache for run in summary.last.runs), default=0)
