"""An endurance run's account in words, figures and a table. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ...pictures.line_charts import Panel, Series
from ..storage.figures import Figure
from .account import Moment, Tally, efficiency_of

__all__ = ["HEAD", "drawn", "findings", "line_of", "rows"]

HEAD = (
    "job", "storage", "done", "failed", "events", "MB", "asked / wanted", "CPU / wall",
    "s 50 %", "90 %", "99 %", "causes",
)  # fmt: skip
_MOST_CAUSES = 5
_PARTS = 60
"""Rates are averages over so many parts of the run, at most."""


def findings(tallies: Sequence[Tally], course: Sequence[Moment]) -> Iterator[str]:
    """One line for each storage, and one for what failed."""
    if not tallies:
        return
    seconds = course[-1].seconds if course else 0.0
    for storage in dict.fromkeys(each.storage for each in tallies):
        mine = [each for each in tallies if each.storage == storage]
        done, failed = sum(each.done for each in mine), sum(each.failed for each in mine)
        events, read = sum(e.events for e in mine), sum(e.bytes_wanted for e in mine)
        ratio = efficiency_of(mine)
        efficiency = "unknown" if ratio is None else f"{ratio:.0%}"
        share = failed / (done + failed) if done + failed else 0.0
        line = (
            f"{storage}: {done:,} jobs in {seconds:,.0f} s, {failed:,} failed ({share:.1%}), "
            f"CPU efficiency {efficiency}"
        )
        if seconds > 0:
            line += f", {events / seconds:,.0f} events/s, {read / 1e6 / seconds:,.1f} MB/s"
        yield line
    causes: Counter[str] = Counter()
    for each in tallies:
        causes.update(each.causes)
    if causes:
        common = causes.most_common(_MOST_CAUSES)
        said = "; ".join(f"{cause} ({number})" for cause, number in common)
        yield f"failures: {said}" + ("; …" if len(causes) > _MOST_CAUSES else "")
    else:
        yield "no job failed"


def rows(tallies: Sequence[Tally]) -> Iterator[tuple[str, ...]]:
    """A row for each kind of job at each storage."""
    for each in tallies:
        ratio = each.bytes_asked / each.bytes_wanted if each.bytes_wanted else None
        times = (each.seconds_50, each.seconds_90, each.seconds_99)
        yield (
            each.kind,
            each.storage,
            f"{each.done:,}",
            f"{each.failed:,}",
            f"{each.events:,}",
            f"{each.bytes_wanted / 1e6:,.1f}",
            "" if ratio is None else f"{ratio:.2f}",
            f"{each.efficiency:.0%}",
            *("" if time is None else f"{time:.2f}" for time in times),
            "; ".join(f"{cause} ({number})" for cause, number in each.causes.items()),
        )


def drawn(course: Sequence[Moment]) -> list[Figure]:
    """Jobs, rates and failures against time."""
    parts = _thinned(course)
    if len(parts) < 2:
        return []
    spans = [*pairwise(parts)]
    middles = [(one.seconds + other.seconds) / 2 for one, other in spans]

    def rate(name: str, scale: float = 1.0) -> list[float]:
        return [
            (getattr(other, name) - getattr(one, name))
            / scale
            / max(other.seconds - one.seconds, 1e-9)
            for one, other in spans
        ]

    times = [each.seconds for each in course]
    jobs = [
        Series("running", times, [float(each.running) for each in course]),
    ]
    ends = [Series("done", middles, rate("done")), Series("failed", middles, rate("failed"))]
    grid = [
        [
            Panel("jobs at once", "s", "jobs", jobs, steps=True),
            Panel("jobs that ended", "s", "jobs/s", ends),
        ],
        [
            Panel("events", "s", "events/s", [Series("", middles, rate("events"))]),
            Panel("bytes", "s", "MB/s", [Series("", middles, rate("bytes_wanted", 1e6))]),
        ],
    ]
    return [("Endurance run: jobs and rates against time", grid)]


def line_of(moment: Moment) -> str:
    """Returns how far the run is, for a terminal."""
    return (
        f"{moment.seconds:8,.0f} s  {moment.running:4} running {moment.done:7,} done "
        f"{moment.failed:5,} failed  {moment.events:14,} events "
        f"{moment.bytes_wanted / 1e6:12,.1f} MB"
    )


def _thinned(course: Sequence[Moment]) -> list[Moment]:
    step = -(-len(course) // _PARTS) or 1
    return [*course[::step]]
