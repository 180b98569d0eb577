"""What the page shows, as plain data for JSON: a line for each query, and one query whole. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from .board import AccountWithCounters, KeptAccount
from .figure import figure
from .work import OVERVIEW, activity, table
from .worker_histograms import WorkerHistograms

__all__ = ["detail", "line", "work"]

_MOST_MISSING = 50
"""Ranges of missing entries that are listed."""


def line(account: KeptAccount) -> dict[str, object]:
    """A query in the list of all."""
    # Whether it has ended is asked first: what is asked later may only be newer.
    return _line(account, account.done)


def _line(account: KeptAccount, done: bool) -> dict[str, object]:
    progress = account.progress
    return {
        "id": account.id,
        "title": account.title,
        "done": done,
        "phase": progress.phase,
        "entries": progress.entries,
        "expected": progress.expected,
        "seconds": progress.seconds,
        "left": None if done else progress.seconds_left,
        "workers": account.report.workers if done else progress.workers,
        "traced": done and account.traced,
        "eventsPerSecond": progress.events_per_second,
        "megabytesPerSecond": progress.megabytes_per_second,
    }


def detail(
    account: KeptAccount,
    series: Mapping[str, Sequence[float]],
    names: Sequence[str],
    figure: Mapping[str, object] | None,
    can_end: bool,
) -> dict[str, object]:
    """The query that the page shows. `series`: of `Samples`; `names`: of the histograms that there
    are; `figure`: of the one that was asked for; `can_end`: whether the page may stop the query."""
    done = account.done
    report, progress = account.report, account.progress
    missing = [str(each) for each in report.missing[:_MOST_MISSING]] if done else []
    return _line(account, done) | {
        "series": series,
        "histograms": list(names),
        "figure": figure,
        "canEnd": can_end and not done,
        "inResult": report.entries,
        "missing": missing,
        "moreMissing": len(report.missing) - len(missing) if done else 0,
        "counters": _counters(account),
        "megabytesRead": progress.bytes_read / 1e6,
    }


def work(account: KeptAccount, measured: WorkerHistograms | None) -> dict[str, object] | None:
    """Returns what the query's workers do; None if it is not counted."""
    if measured is None:
        return None
    done, progress, counts = account.done, account.progress, measured.counts
    began = max(progress.seconds - progress.pass_seconds, 0.0)
    active = activity(counts, began)
    ended = began + counts.seconds
    return {
        "edges": active.edges,
        "active": active.values,
        "now": 0.0 if done else active.now,
        "tail": None if active.tail is None else ended - active.tail,
        "overview": [figure(name, measured.histogram(name)) for name in OVERVIEW],
        "table": table(counts),
    }


def _counters(account: KeptAccount) -> list[tuple[str, str]]:
    """Further numbers, each with its name."""
    progress = account.progress
    counters = [("read", f"{progress.bytes_read / 1e6:,.1f} MB")]
    if isinstance(account, AccountWithCounters):
        counters += account.counters
    if progress.bytes_decompressed:
        counters.append(("decompressed", f"{progress.bytes_decompressed / 1e6:,.1f} MB"))
    if progress.bytes_from_cache:
        counters.append(("from memory", f"{progress.bytes_from_cache / 1e6:,.1f} MB"))
    if progress.entries_before:
        counters.append(("from the checkpoint", f"{progress.entries_before:,} events"))
    if progress.io.requests:
        counters.append(("from servers", str(progress.io)))
    return counters
