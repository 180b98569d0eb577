"""Files that lie at two places: what a second source gains, and what it costs when one dies."""

import argparse
from collections.abc import Iterator

from tools.link.link import Wire

from .. import data
from ..measured import Row, ratios
from . import floor, goals
from .contestants import BY_KEY, REPLICAS, Task
from .field import LOCAL, SECOND, Field, Meanwhile, Run
from .files import sizes, uncompressed
from .findings import Findings

LEGEND = """\
replicas: all columns of one file, which is not compressed, by treemill. A server's speed is the
limit of all that it sends. One dies: both have 20 MB/s, and one is killed (-9) at half of the time
that the same round took with both. Seconds lost are those beyond the mean of the times with one and
with both, which is what half of the bytes from both and half from one would take. At most: the
ratio of the least times that the links allow (round trips to connect and to open, the windows of
new connections, the rates), whoever reads.
"""
_LINKS = {"20 ms": 10.0, "137 ms": 68.5}
"""Round trips, and delays of one way."""
_FAST, _SLOW = 160.0, 40.0
"""Mbit/s: 20 and 5 MB/s."""
_MEGABYTES, _QUICK = 160, 4
_MOST_ROUNDS = 3
"""A round takes half a minute."""


def measure(
    part: str, options: argparse.Namespace, place: Field, findings: Findings
) -> Iterator[Row]:
    """All cases in every round."""
    path = uncompressed(options, _QUICK if options.quick else _MEGABYTES, part)
    data.warm_up(path)
    place.put(path, path.name)
    known = sizes(str(path))
    names = tuple(known)
    findings.files[part] = f"{sum(known[name] for name in names) / 1e6:.1f} MB to read"
    one, two = (place.url(server, path.name) for server in ("root", SECOND))
    ours = BY_KEY["treemill"]
    expected = place.run(ours, Task(REPLICAS, (str(path),), names), options.patience, here=True)
    if expected.error:
        findings.notes.append(f"{part}, {LOCAL}: {expected.error}")
        return

    def run(*urls: str, dies_after: float = 0) -> Run:
        kills = Meanwhile(dies_after, lambda: place.kill(SECOND)) if dies_after else None
        task = Task(REPLICAS, urls, names)
        found = place.run(ours, task, options.patience, meanwhile=kills)
        if dies_after:
            place.kill(SECOND)  # if the contestant was quicker
            place.restart(SECOND)
        return found

    for link, delay in _LINKS.items():
        fast, slow = (Wire(delay_ms=delay, mbit=mbit) for mbit in (_FAST, _SLOW))
        runs: dict[str, list[Run]] = {title: [] for title in _TITLES}
        place.set(fast)
        run(one, two)  # what is kept of the file's description would else be there for one of them
        for number in range(min(options.rounds, _MOST_ROUNDS)):
            place.set(fast)
            runs["one of 20 MB/s"].append(run(one))
            both = run(one, two)
            runs["two of 20 MB/s"].append(both)
            # The user does not know which one is the better.
            place.set(fast, slow)
            order = (one, two) if number % 2 else (two, one)
            runs["20 and 5 MB/s"].append(run(*order))
            place.set(fast)
            runs["one of two dies"].append(run(two, one, dies_after=(both.seconds or 0) / 2))
        what = f"{part}, {link}"
        yield from _rows(what, runs, expected.total, options.patience, findings)
        yield from _most(what, sum(known[name] for name in names), fast, slow)


_TITLES = ("one of 20 MB/s", "two of 20 MB/s", "20 and 5 MB/s", "one of two dies")


def _rows(
    what: str, runs: dict[str, list[Run]], expected: float, patience: float, findings: Findings
) -> Iterator[Row]:
    # All are judged, also those after one that failed.
    well = [findings.look_at(f"{what}: {title}", runs[title], expected) for title in _TITLES]
    if not all(well):
        return
    one, two, uneven, dying = (
        goals.row(f"{what}: {title}", runs[title], patience) for title in _TITLES
    )
    yield from (one, two, uneven, dying)
    yield ratios(f"{what}: one / two of 20 MB/s", one, two, **goals.PROMISED["two"])
    yield ratios(f"{what}: the better one / 20 and 5 MB/s", one, uneven, **goals.PROMISED["uneven"])
    times = zip(one.values, two.values, dying.values, strict=True)
    lost = tuple(took - (alone + both) / 2 for alone, both, took in times)
    yield Row(f"{what}: lost when one of two dies", lost, "s", **goals.PROMISED["lost"])


def _most(what: str, size: float, fast: Wire, slow: Wire) -> Iterator[Row]:
    alone = floor.cold(size, fast)
    for title, other in (("one / two of 20 MB/s", fast), ("the better one / 20 and 5 MB/s", slow)):
        most = alone / floor.together(size, (fast, other))
        yield Row(f"{what}: {title}, at most", (most,), "x")
