"""What the workers of a query do, as plain data for JSON: a table by worker, how many have a packet
against time, and for how long fewer have had one. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..scheduling import MEASURES, Monitored, OfWorker

__all__ = ["MOST_WORKERS", "OVERVIEW", "Activity", "activity", "table"]

OVERVIEW = (
    "packets_per_worker",
    "entries_per_worker",
    "workers_per_node",
    "latency_per_worker",
    "seconds_per_worker",
    "cpu_per_worker",
)
"""The histograms of workers that the page shows beside one another."""
MOST_WORKERS = 1000
"""Workers that are listed."""
_MOST = 0.9
"""The tail begins when fewer than this share of the most workers have a packet."""


class Activity(NamedTuple):
    """How many workers had a packet."""

    edges: list[float]
    """The edges of bins of time, in seconds since the query began."""
    values: list[float]
    """Workers with a packet, on average over each bin."""
    tail: float | None
    """When the tail began; None if there is none."""

    @property
    def now(self) -> float:
        """Workers with a packet in the last bin."""
        return self.values[-1] if self.values else 0.0


def activity(counts: Monitored, began: float = 0.0) -> Activity:
    """The workers that had a packet. `began`: when the pass began, in seconds since the query
    did."""
    used = max((len(bins) for bins in counts.nodes.values()), default=0)
    edges, values = [0.0], []
    for at in range(used):
        width = min(counts.seconds - edges[-1], counts.width)
        if width <= 1e-6:  # of the whole bins nothing is left
            break
        edges.append(edges[-1] + width)
        values.append(sum(bins[at] for bins in counts.nodes.values()) / width)
    most = max(values, default=0.0)
    full = [at for at, value in enumerate(values) if value >= _MOST * most]
    tail = began + edges[full[-1] + 1] if most and full[-1] + 1 < len(values) else None
    return Activity([began + edge for edge in edges], values, tail)


class _WorkerColumn(NamedTuple):
    title: str
    kind: str
    """How the page writes it: "text", "whole", "short", "megabytes", "seconds" or "share"."""
    about: str
    value: Callable[[int, OfWorker, float], float | str]
    """Takes the worker's number, what it has done, and the seconds of the pass."""


def _sum(measure: str, title: str, kind: str) -> _WorkerColumn:
    words = MEASURES[measure].words
    return _WorkerColumn(title, kind, words, lambda number, done, _: done.sums.get(measure, 0))


_COLUMNS: Sequence[_WorkerColumn] = (
    _WorkerColumn("worker", "whole", "the worker's number", lambda number, done, _: number),
    _WorkerColumn("host", "text", "where it runs", lambda number, done, _: done.host),
    _sum("packets", "packets", "whole"),
    _sum("entries", "events", "whole"),
    _WorkerColumn(
        "events/s",
        "short",
        "events per second of its packets' time",
        lambda number, done, _: _ratio(done.sums.get("entries", 0), done.sums.get("seconds", 0)),
    ),
    _WorkerColumn(
        "busy",
        "share",
        "the share of the query's time that its packets took",
        lambda number, done, seconds: _ratio(done.sums.get("seconds", 0), seconds),
    ),
    _sum("cpu", "CPU", "seconds"),
    _sum("bytes_read", "MB read", "megabytes"),
    _sum("waited", "server wait", "seconds"),
    _sum("latency", "latency", "seconds"),
)


def table(counts: Monitored) -> dict[str, object]:
    """The table by worker: its columns, its rows in the order of workers' numbers, and how many
    workers more there are."""
    shown = sorted(counts.workers.items())
    columns = [
        each for each in _COLUMNS if each.kind != "text" or any(done.host for _, done in shown)
    ]
    return {
        "columns": [{"title": c.title, "kind": c.kind, "about": c.about} for c in columns],
        "rows": [
            [each.value(number, done, counts.seconds) for each in columns]
            for number, done in shown[:MOST_WORKERS]
        ],
        "more": max(len(shown) - MOST_WORKERS, 0),
    }


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
