"""What treemill spends a run's time on, by the counters that its workers send with each packet
(docs/monitoring.md). It says what stands between a run with nothing remembered and decompression
alone. Judges nothing.
"""

import time
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

STEPS = {
    "opening": "opening files",
    "reading": "reading",
    "decompressing": "decompressing",
    "decoding": "decoding",
    "evaluating": "evaluating and filling",
    "outside": "outside packets",
}
"""The steps in their order, and their columns. "Outside packets": planning, handing out, merging
and making the histograms."""
_PACKETS = "seconds"
_COUNTED = ("opening", "reading", "decompressing", "decoding", _PACKETS)
LEGEND = """\
What treemill's time goes into, by its own counters, in milliseconds (medians; nothing remembered,
one thread). "Outside packets" is the rest of the run: planning, handing out, merging and making
the histograms.
"""


class Clock:
    """Begins with a run on one thread, which may be several queries."""

    def __init__(self, session: Any) -> None:
        self._session = session
        self._before = {query.id for query in session.queries}
        self._began = time.perf_counter()

    def spent(self) -> dict[str, float]:
        """Seconds of each step since then."""
        seconds = time.perf_counter() - self._began
        queries = (query for query in self._session.queries if query.id not in self._before)
        workers = [
            worker.sums
            for query in queries
            for worker in query.report.measured.counts.workers.values()
        ]
        return steps({name: sum(of.get(name, 0.0) for of in workers) for name in _COUNTED}, seconds)


def steps(counted: Mapping[str, float], seconds: float) -> dict[str, float]:
    """The steps of a run of `seconds`, from what its packets have counted."""
    found = {name: counted[name] for name in _COUNTED if name != _PACKETS}
    found["evaluating"] = counted[_PACKETS] - sum(found.values())
    found["outside"] = seconds - counted[_PACKETS]
    return found


def medians(runs: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Of the same query's runs; empty if it was not counted."""
    everywhere = [name for name in STEPS if runs and all(name in run for run in runs)]
    return {name: median(run[name] for run in runs) for name in everywhere}
