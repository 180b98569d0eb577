"""Numbers of a cluster's queries for Prometheus, and which servers its workers have trouble with.
The series are bounded: no label changes with each query; users are labels only if the operator
wants that. Pure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from ...io_report import SourceReport
from ..base import Heartbeat

__all__ = ["GAUGES", "STATES", "SUMS", "IllServers", "Totals", "text"]

SUMS: dict[str, tuple[str, Callable[[Heartbeat], float]]] = {
    "entries": ("Entries that were processed", lambda beat: beat.entries),
    "read_bytes": ("Bytes that packets have read, compressed", lambda beat: beat.bytes_read),
    "decompressed_bytes": ("Bytes after decompression", lambda beat: beat.bytes_decompressed),
    "cache_hit_bytes": ("Bytes from treemill.cache", lambda beat: beat.bytes_from_cache),
    "disk_hit_bytes": ("Bytes from the cache on disk", lambda beat: beat.io.bytes_from_disk),
    "server_requests": ("Ranges that servers were asked for", lambda beat: beat.io.requests),
    "server_wait_seconds": ("Waits for servers, of all threads", lambda beat: beat.io.waited),
}
"""What workers count, by name: what it is, and where it stands."""
STATES = ("done", "stopped", "aborted", "failed", "dropped")
"""How queries end."""
GAUGES = {
    "queries_running": "Queries that run",
    "queries_waiting": "Queries whose results wait for a session",
    "queue_entries": "Entries of running queries that are not processed yet",
    "workers": "Workers of Dask",
    "worker_threads": "Their threads",
}
"""What is there now."""


@dataclass(slots=True)
class _Seen:
    user: str
    sums: dict[str, float]


class Totals:
    """Sums over all queries that a scheduler has had, by user."""

    def __init__(self, by_user: bool = False) -> None:
        """`by_user`: keep users apart; else all are one without a name."""
        self._by_user = by_user
        self._passes: dict[str, _Seen] = {}
        self.sums: Counter[tuple[str, str]] = Counter()
        """By name and user."""
        self.began: Counter[str] = Counter()
        """Passes of queries that have begun, by user."""
        self.ended: Counter[tuple[str, str]] = Counter()
        """Those that have ended, by state and user."""
        self.workers_lost = 0

    def begin(self, name: str, user: str) -> None:
        """A pass begins."""
        self._passes[name] = _Seen(user if self._by_user else "", dict.fromkeys(SUMS, 0.0))
        self.began[self._passes[name].user] += 1

    def follow(self, name: str, heartbeat: Heartbeat) -> None:
        """This is what the workers of a pass have counted so far.

        >>> totals = Totals()
        >>> totals.begin("a", "ada")
        >>> for entries in (5, 12, 12):
        ...     totals.follow("a", Heartbeat(entries=entries))
        >>> totals.sums["entries", ""]
        12.0
        """
        seen = self._passes.get(name)
        if seen is None:
            return
        for each, (_, count) in SUMS.items():
            now = float(count(heartbeat))
            # The counters of a lost process may be a little less than what it had told before.
            self.sums[each, seen.user] += max(now - seen.sums[each], 0.0)  # type: ignore[assignment]
            seen.sums[each] = max(now, seen.sums[each])

    def end(self, name: str, state: str) -> None:
        """A pass has ended; it is not followed any more."""
        seen = self._passes.pop(name, None)
        if seen is not None:
            self.ended[state, seen.user] += 1


_ILL = 3
"""Ranges that must fail, since the last word, before a server is called ill."""
_ILL_AGAIN = 60.0
"""Seconds after which it is called so again."""


class IllServers:
    """The servers that do not give what they are asked for. If several queries share a process,
    each counts what all have asked: so a server is told of once in a while, whoever asks."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, SourceReport]] = {}  # by pass: at the last word
        self._told: dict[str, float] = {}

    def look(self, work: str, sources: Iterable[SourceReport], now: float) -> list[SourceReport]:
        """The servers to tell of now, with what they were asked since the last word. `sources`:
        what a pass has asked so far.

        >>> ill = IllServers()
        >>> ill.look("a", [SourceReport("root://x", requests=50, errors=2)], now=0.0)
        []
        >>> [each.errors for each in ill.look("a", [SourceReport("root://x", errors=9)], now=1.0)]
        [9]
        >>> ill.look("a", [SourceReport("root://x", errors=20)], now=9.0)
        []
        """
        known, out = self._known.setdefault(work, {}), []
        for each in sources:
            before = known.get(each.source, SourceReport(each.source))
            errors = each.errors - before.errors
            if errors < _ILL or now - self._told.get(each.source, -_ILL_AGAIN) < _ILL_AGAIN:
                continue
            known[each.source], self._told[each.source] = each, now
            asked = max(each.requests - before.requests, errors)
            out.append(SourceReport(each.source, requests=asked, errors=errors))
        return out

    def forget(self, work: str) -> None:
        """The pass is over."""
        self._known.pop(work, None)


def text(totals: Totals, gauges: Mapping[str, float]) -> str:
    """All of it in Prometheus' text format."""
    return "\n".join(_lines(totals, gauges)) + "\n"


def _lines(totals: Totals, gauges: Mapping[str, float]) -> Iterator[str]:
    for name, words in GAUGES.items():
        yield from _head(name, words, "gauge")
        yield f"treemill_{name} {gauges[name]!r}"
    users = sorted(totals.began) or [""]
    yield from _head("queries_begun_total", "Passes of queries that have begun", "counter")
    yield from (
        f"treemill_queries_begun_total{_labels(user)} {totals.began[user]}" for user in users
    )
    yield from _head("queries_ended_total", "Passes of queries that have ended", "counter")
    for state in STATES:
        for user in users:
            labels = _labels(user, state=state)
            yield f"treemill_queries_ended_total{labels} {totals.ended[state, user]}"
    for name, (words, _) in SUMS.items():
        yield from _head(f"{name}_total", words, "counter")
        for user in users:
            yield f"treemill_{name}_total{_labels(user)} {float(totals.sums[name, user])!r}"
    yield from _head(
        "workers_lost_total", "Workers that were lost, without retired ones", "counter"
    )
    yield f"treemill_workers_lost_total {totals.workers_lost}"


def _head(name: str, words: str, kind: str) -> Iterator[str]:
    yield f"# HELP treemill_{name} {words}"
    yield f"# TYPE treemill_{name} {kind}"


def _labels(user: str, **others: str) -> str:
    labels = others | ({"user": user} if user else {})
    shown = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{shown}}}" if shown else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
