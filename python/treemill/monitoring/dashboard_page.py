"""What the page of running queries shows, as plain data, and its text: one HTML document with its
script, its style and the plotting library inside, so that it works without the internet. Pure, but
for reading the package's own files.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from ..pictures.histogram_labels import edges_of, filled, is_logarithmic, with_ends
from ..scheduling import MEASURES, Monitored, WorkerCounters
from .progress import Progress, ProgressHistory, histograms
from .report import Report
from .worker_histograms import HISTOGRAMS, WorkerHistograms, prometheus

if TYPE_CHECKING:
    from boost_histogram.axis import Axis
    from hist import Hist

__all__ = [
    "HEADERS",
    "LOOK_EVERY",
    "MOST_BINS",
    "MOST_WORKERS",
    "OVERVIEW",
    "REPORT_POLICY",
    "AccountWithCounters",
    "AccountWithState",
    "Board",
    "KeptAccount",
    "Live",
    "Screen",
    "activity",
    "detail",
    "document",
    "figure",
    "policy",
    "table",
]

# What the page wants of a session and its queries. Protocols only: sessions implement them.


class KeptAccount(Protocol):
    """The account of a query, which outlives it."""

    @property
    def id(self) -> str:
        """Names the query."""

    @property
    def title(self) -> str:
        """The query in a few words."""

    @property
    def feedback(self) -> str | None:
        """The name of the histogram that the user has chosen to see; None: any."""

    @property
    def traced(self) -> bool:
        """True if `Board.trace_page` has a page for the query."""

    @property
    def done(self) -> bool:
        """True if the query has ended, well or not."""

    @property
    def progress(self) -> Progress:
        """The progress of the query."""

    @property
    def report(self) -> Report:
        """Which entries are in the result, which are missing, and why."""


@runtime_checkable
class AccountWithCounters(Protocol):
    """An account with numbers that queries do not have."""

    @property
    def counters(self) -> Sequence[tuple[str, str]]:
        """Each with its name."""


@runtime_checkable
class AccountWithState(Protocol):
    """An account that knows how its query has ended."""

    @property
    def state(self) -> str:
        """ "running", "stopped", "aborted", "failed" or "done"."""


class Live(Protocol):
    """A query that runs, or whose results someone holds."""

    @property
    def titles(self) -> Sequence[str]:
        """The values' titles, if they have no names of their own."""

    def snapshot(self, within: float | None = None) -> object:
        """The values so far; None if there are none, or none within so many seconds."""

    def stop(self, reason: str = ...) -> None:
        """Ends the query soon, with what is done by then."""

    def abort(self, reason: str = ...) -> None:
        """Ends the query at once."""


class Board(Protocol):
    """The queries of a session."""

    def named(self) -> str:
        """The session in a few words."""

    def accounts(self) -> Sequence[KeptAccount]:
        """The queries, oldest first, running or ended."""

    def live(self, name: str) -> Live | None:
        """The query with this id, if it can be asked for values or be stopped."""

    def trace_page(self, name: str) -> str | None:
        """The report of what the query with this id did, from its trace, as an HTML page that runs
        no script; None if there is none."""


# What the page shows, as plain data for JSON: a line for each query, and one query whole. Pure.

# What the workers of a query do, as plain data for JSON: a table by worker, how many have a
# packet against time, and for how long fewer have had one. Pure.

OVERVIEW = (
    "packets_per_worker",
    "entries_per_worker",
    "workers_per_node",
    "latency_per_worker",
    "seconds_per_worker",
    "cpu_per_worker",
)
"""The histograms of workers that the page shows side by side."""
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
    value: Callable[[int, WorkerCounters, float], float | str]
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


# A histogram as plain numbers for the page: one or two axes, numbers or categories. Pure.

MOST_BINS = 40_000
"""A histogram with more bins is not sent."""


def figure(title: str, histogram: Hist) -> dict[str, object] | None:
    """The axes and the values without flow bins, as JSON takes them; None for a histogram that the
    page cannot draw: of no or more than two axes, or of more bins than a screen has."""
    values = histogram.values()
    if not 1 <= histogram.ndim <= 2:
        return None
    axes = [_axis(axis) for axis in histogram.axes]
    if histogram.ndim == 2 and is_logarithmic(histogram.axes[1]):  # most of its decades are empty
        first, last = filled(values.sum(axis=0))
        axes[1]["edges"] = [float(edge) for edge in histogram.axes[1].edges[first : last + 1]]
        values = values[:, first:last]
    if values.size > MOST_BINS:
        return None
    if histogram.ndim == 2 and histogram.axes[1].name == "time":  # time goes to the right
        axes, values = axes[::-1], values.T
    flat = [float(value) for value in values.T.reshape(-1)]
    return {
        "title": title,
        "about": str(histogram.label or ""),
        "axes": axes,
        "values": [value if math.isfinite(value) else None for value in flat],
    }


def _axis(axis: Axis) -> dict[str, object]:
    label = str(axis.label or axis.name or "")
    if axis.traits.discrete:
        return {"label": label, "names": [str(each) for each in axis]}
    return {"label": label, "edges": with_ends(edges_of(axis))}


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
        "state": account.state if isinstance(account, AccountWithState) else "",
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
    """The query that the page shows. `series`: of `ProgressHistory`; `names`: of the histograms
    that there are; `figure`: of the one that was asked for; `can_end`: whether the page may stop
    it."""
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
    tail = None if active.tail is None else ended - active.tail
    if not done and tail is not None and tail < _TAIL_PACKETS * _packet_seconds(counts):
        tail = None  # now and then fewer have a packet, by chance
    return {
        "edges": active.edges,
        "active": active.values,
        "now": 0.0 if done else active.now,
        "tail": tail,
        "overview": [_if_any(figure(name, measured.histogram(name))) for name in OVERVIEW],
        "table": table(counts),
    }


_TAIL_PACKETS = 2
"""As long as so many packets the tail of a query that runs must be."""


def _if_any(figure: dict[str, object] | None) -> dict[str, object] | None:
    """The figure, if anything is in it."""
    values = [] if figure is None else figure["values"]
    return figure if any(values) else None  # type: ignore[arg-type]


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


# What a page shows of a board, with samples of each query's progress: answers to the page's
# questions, for any server. Thread-safe; no socket, no clock.

LOOK_EVERY = 0.25
"""Seconds between calls of `look`, about."""
_RATE_SECONDS = 1.0
"""Seconds over which rates are averages, at least. A look at what workers tell a few times a second
sees a packet more or less, by chance."""
_LONGEST_MERGE = 0.5
"""Seconds that a question waits for the values so far."""


class Screen:
    """The state of a page."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._samples: dict[str, ProgressHistory] = {}
        self._lock = threading.Lock()

    def look(self) -> None:
        """Takes a sample of each query that runs, and of each that is new."""
        accounts = self._board.accounts()
        with self._lock:
            for account in accounts:
                known = account.id in self._samples
                samples = self._samples.setdefault(account.id, ProgressHistory())
                if not account.done or not known:
                    samples.add(account.progress)
            for name in self._samples.keys() - {account.id for account in accounts}:
                del self._samples[name]

    def state(self, options: Mapping[str, str]) -> dict[str, object]:
        """Returns what the page shows: all queries, and whole the one with the option `query`, else
        the last one; of its histograms the one with the option `histogram`, else the one that the
        user has chosen as feedback, else the first one."""
        accounts = list(self._board.accounts())
        asked = [each for each in accounts if each.id == options.get("query")]
        chosen = (asked or accounts[-1:])[:1]
        # First what may wait for values: the list is to be of the same moment.
        whole = self._detail(chosen[0], options.get("histogram")) if chosen else None
        return {
            "session": self._board.named(),
            "queries": [line(each) for each in accounts],
            "chosen": whole,
        }

    def metrics(self) -> str:
        """Returns what the workers of all queries have done, for Prometheus."""
        queries = [(each.id, each.report.measured) for each in self._board.accounts()]
        return prometheus([(name, each) for name, each in queries if each is not None])

    @staticmethod
    def _besides(measured: WorkerHistograms) -> dict[str, object] | None:
        """The first histogram of what workers do that has something and is not in the overview."""
        others = ((name, measured.histogram(name)) for name in HISTOGRAMS if name not in OVERVIEW)
        first = next((each for each in others if each[1].values().any()), None)
        return None if first is None else figure(*first)

    def _detail(self, account: KeptAccount, wanted: str | None) -> dict[str, object]:
        live = self._board.live(account.id)
        values = None if live is None else live.snapshot(_LONGEST_MERGE)
        shown: dict[str, Hist] = {}
        if live is not None and values is not None:
            shown |= dict(histograms(values, live.titles))
        measured = account.report.measured
        # The query's own come first.
        others = [] if measured is None else [name for name in HISTOGRAMS if name not in shown]
        names = [*shown, *others]
        chosen = _named(account.feedback, names)
        name = wanted if wanted in names else chosen or next(iter(shown), None)
        drawn = None
        if name is None and measured is not None:
            drawn = self._besides(measured)
        elif name in shown:
            drawn = figure(name, shown[name])
        elif measured is not None and name is not None:
            drawn = figure(name, measured.histogram(name))
        with self._lock:
            samples = self._samples.get(account.id)
            packet = 0.0 if measured is None else _packet_seconds(measured.counts)
            series = (samples or ProgressHistory()).series(max(packet, _RATE_SECONDS))
        page = detail(account, series, names, drawn, live is not None)
        return page | {"work": work(account, measured)}


def _packet_seconds(counts: Monitored) -> float:
    """How long a packet takes, on average."""
    sums = [done.sums for done in counts.workers.values()]
    seconds = sum(each.get("seconds", 0) for each in sums)
    return _ratio(float(seconds), float(sum(each.get("packets", 0) for each in sums)))


def _named(feedback: str | None, names: Sequence[str]) -> str | None:
    """The histogram that `feedback=` means, as `pick` finds it."""
    if feedback is None:
        return None
    return next((n for n in names if n == feedback or n.endswith(f".{feedback}")), None)


HEADERS = {
    "Cache-Control": "no-store",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
"""Headers of all answers."""
REPORT_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of reports of traces: they run no script and load nothing. Their
style is in them, and has nothing of the user's."""

_NONCE = "@nonce@"
_PARTS = {
    "@plot-style@": "vendor/uPlot.min.css",
    "@style@": "page.css",
    "@plot-script@": "vendor/uPlot.iife.min.js",
    "@charts@": "charts.js",
    "@script@": "page.js",
}


@cache
def _template() -> str:
    folder = files(__package__) / "page"
    text = (folder / "page.html").read_text("utf-8")
    for mark, name in _PARTS.items():
        text = text.replace(mark, folder.joinpath(name).read_text("utf-8"))
    return text


def document(nonce: str) -> str:
    """The page. `nonce`: a random word, also of `policy`."""
    return _template().replace(_NONCE, nonce)


def policy(nonce: str) -> str:
    """Returns what the browser may do for the page (Content-Security-Policy): run its own script
    and style, ask this server, and nothing else."""
    return (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )
