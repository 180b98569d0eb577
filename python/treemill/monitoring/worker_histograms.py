"""What workers do, as histograms and as Prometheus text, from the counts of a query. Knows their
names, units and words; counts nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..scheduling import MEASURES, PER_DECADE, SECONDS, Monitored

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["HISTOGRAMS", "WorkerHistograms", "prometheus"]


_COUNTING = threading.Lock()
"""Held while counts are asked for: several reports of a query count the same records."""


class _MeasuredKind(NamedTuple):
    title: str
    make: Callable[[Monitored, str, str], Hist]
    measure: str


class WorkerHistograms:
    """The measures of a query, while it runs or at its end."""

    def __init__(self, counts: Monitored | Callable[[], Monitored]) -> None:
        """`counts`: what was counted, or what gives it when it is asked for."""
        self._counts = counts

    @property
    def counts(self) -> Monitored:
        """The counts as plain data."""
        with _COUNTING:
            if not isinstance(self._counts, Monitored):
                self._counts = self._counts()
            return self._counts

    def __reduce__(self) -> tuple[type[WorkerHistograms], tuple[Monitored]]:
        return WorkerHistograms, (self.counts,)

    def histogram(self, name: str) -> Hist:
        """One of HISTOGRAMS. Raises KeyError for another name."""
        kind = HISTOGRAMS[name]
        return kind.make(self.counts, kind.title, kind.measure)

    @property
    def histograms(self) -> dict[str, Hist]:
        """The histograms of HISTOGRAMS by name."""
        return {name: self.histogram(name) for name in HISTOGRAMS}

    def prometheus(self, query: str = "") -> str:
        """The sums over packets by worker, in Prometheus' text format. `query`: its label."""
        return prometheus([(query, self)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WorkerHistograms) and self.counts == other.counts

    __hash__ = None  # type: ignore[assignment]  # its counts may change

    def __repr__(self) -> str:
        packets = sum(each.sums.get("packets", 0) for each in self.counts.workers.values())
        return f"<measures of {packets:,.0f} packets of {len(self.counts.workers):,} workers>"


def _workers(counts: Monitored) -> list[str]:
    return [
        f"{each.host}/{number}" if each.host else str(number)
        for number, each in sorted(counts.workers.items())
    ]


def _sums(counts: Monitored, title: str, measure: str) -> Hist:
    from hist import Hist, axis

    histogram: Hist = Hist(
        axis.StrCategory(_workers(counts), name="worker", growth=True, overflow=False),
        label=title,
    )
    histogram.view()[:] = [each.sums.get(measure, 0) for _, each in sorted(counts.workers.items())]
    return histogram


def _spread(counts: Monitored, title: str, measure: str) -> Hist:
    from hist import Hist, axis

    low, high = SECONDS
    bins = (high - low) * PER_DECADE
    times = axis.Regular(
        bins,
        10.0**low,
        10.0**high,
        transform=axis.transform.log,
        name=measure,
        label=f"{measure} [s]",
    )
    labels = axis.StrCategory(_workers(counts), name="worker", growth=True, overflow=False)
    histogram: Hist = Hist(labels, times, label=title)
    view = histogram.view(flow=True)
    for place, (_, each) in enumerate(sorted(counts.workers.items())):
        for at, number in each.spread.get(measure, {}).items():
            view[place, at + 1] = number
    return histogram


def _nodes(counts: Monitored, title: str, measure: str) -> Hist:
    from hist import Hist, axis

    names = sorted(counts.nodes)
    bins = max((len(each) for each in counts.nodes.values()), default=1)
    used = min(int(counts.seconds / counts.width) + 1, bins)
    histogram: Hist = Hist(
        axis.StrCategory(names, name="node", growth=True, overflow=False),
        axis.Regular(used, 0.0, used * counts.width, name="time", label="time [s]"),
        label=title,
    )
    view = histogram.view()
    for place, name in enumerate(names):
        view[place, :] = [each / counts.width for each in counts.nodes[name][:used]]
    return histogram


def _of(measure: str, make: Callable[[Monitored, str, str], Hist] = _sums) -> _MeasuredKind:
    about = MEASURES[measure]
    unit = f" ({about.unit})" if about.unit else ""
    return _MeasuredKind(f"{about.words} by worker{unit}", make, measure)


HISTOGRAMS = {
    "packets_per_worker": _of("packets"),
    "entries_per_worker": _of("entries"),
    "workers_per_node": _MeasuredKind(
        "workers at the files of each node, against time", _nodes, "workers"
    ),
    "latency_per_worker": _of("latency", _spread),
    "seconds_per_worker": _of("seconds", _spread),
    "cpu_per_worker": _of("cpu", _spread),
    "bytes_read_per_worker": _of("bytes_read"),
    "reads_per_worker": _of("reads"),
    "decompressing_per_worker": _of("decompressing"),
    "waited_per_worker": _of("waited"),
}
"""Kinds by name: `<measure>_per_worker`, of the one table of measures, and `workers_per_node`."""


def prometheus(queries: Sequence[tuple[str, WorkerHistograms]]) -> str:
    """The sums over packets of several queries, by worker, in Prometheus' text format. Each query
    has a label."""
    return "\n".join(_prometheus(queries)) + "\n"


def _prometheus(queries: Sequence[tuple[str, WorkerHistograms]]) -> Iterator[str]:
    for name, measure in MEASURES.items():
        if not measure.of_packets:
            continue
        unit = "_seconds" if measure.unit == "s" and name != "seconds" else ""
        full = f"treemill_{name}{unit}_total"
        yield f"# HELP {full} {measure.words}"
        yield f"# TYPE {full} counter"
        for query, measured in queries:
            about = f'query="{_escaped(query)}",' if query else ""
            for number, each in sorted(measured.counts.workers.items()):
                labels = f'{about}worker="{number}",host="{_escaped(each.host)}"'
                yield f"{full}{{{labels}}} {each.sums.get(name, 0)!r}"


def _escaped(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
