"""The page's text: one HTML document with its script, its style and the plotting library inside, so
that it works without the internet. Pure, but for reading the package's own files.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from .board import Board, KeptAccount
from .feedback import histograms
from .view import Samples, detail, figure, line, work
from .worker_histograms import HISTOGRAMS, prometheus

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["HEADERS", "LOOK_EVERY", "REPORT_POLICY", "Screen", "document", "policy"]

# What a page shows of a board, with samples of each query's progress: answers to the page's
# questions, for any server. Thread-safe; no socket, no clock.

LOOK_EVERY = 0.25
"""Seconds between calls of `look`, about."""
_LONGEST_MERGE = 0.5
"""Seconds that a question waits for the values so far."""


class Screen:
    """The state of a page."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._samples: dict[str, Samples] = {}
        self._lock = threading.Lock()

    def look(self) -> None:
        """Takes a sample of each query that runs, and of each that is new."""
        accounts = self._board.accounts()
        with self._lock:
            for account in accounts:
                known = account.id in self._samples
                samples = self._samples.setdefault(account.id, Samples())
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
        return {
            "session": self._board.named(),
            "queries": [line(each) for each in accounts],
            "chosen": self._detail(chosen[0], options.get("histogram")) if chosen else None,
        }

    def metrics(self) -> str:
        """Returns what the workers of all queries have done, for Prometheus."""
        queries = [(each.id, each.report.measured) for each in self._board.accounts()]
        return prometheus([(name, each) for name, each in queries if each is not None])

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
        name = wanted if wanted in names else chosen or next(iter(names), None)
        drawn = None
        if name in shown:
            drawn = figure(name, shown[name])
        elif measured is not None and name is not None:
            drawn = figure(name, measured.histogram(name))
        with self._lock:
            samples = self._samples.get(account.id)
            series = Samples().series() if samples is None else samples.series()
        page = detail(account, series, names, drawn, live is not None)
        return page | {"work": work(account, measured)}


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
