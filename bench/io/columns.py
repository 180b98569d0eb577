"""Few columns of many over an ocean, and filters that keep little: how often a reader waits, and
how many bytes it reads.
"""

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path

from treemill import _core
from treemill.facility.exerciser import Size, chosen

from .. import data
from ..measured import Row
from . import goals, layouts, nano
from .contestants import BY_KEY, FILES, Task
from .field import LINKS, LOCAL, Field, Run
from .files import sizes
from .findings import Findings

LEGEND = """\
columns: treemill reads 10 of 200 columns of a file like a NanoAOD. Round trips of waiting: the time
at 137 ms without that at 0.3 ms, over the round trip; opening, new connections and their slow start
are in it. The filter of such a file keeps one luminosity block of a hundred, whose entries lie
together; that of the layout of 2013, of which 30 % of the bytes are read, one entry of a hundred,
anywhere. Bytes read: those of the run with the filter over those of the run without it, both at
137 ms. The least: the bytes of the filter's column, and of the pages or baskets of the others that
have an entry that the filter keeps. None of them can be read in part: it is compressed as a whole,
and an RNTuple's has the first bytes of all its values before their second ones.
"""
_NEAR, _FAR = "0.3 ms", "137 ms"
_BLOCK = "luminosityBlock"
_EVENTS, _QUICK = 50_000, 2_000
_SHARE = 0.3


@dataclass(frozen=True)
class _Case:
    """A file, what is read of it, and the filter."""

    title: str
    path: Path
    names: tuple[str, ...]
    where: str
    is_waiting_promised: bool
    kept: range | None = None
    """The entries that the filter keeps, if they lie together."""


def measure(
    part: str, options: argparse.Namespace, place: Field, findings: Findings
) -> Iterator[Row]:
    """All kinds of files, each near and far, with and without the filter."""
    if find_spec("ROOT") is None:
        findings.notes.append(f"{part}: ROOT, which writes the files, is not installed")
        return
    for case in _cases(options):
        data.warm_up(case.path)
        place.put(case.path, case.path.name)
        yield from _case(f"{part}, {case.title}", case, options, place, findings)


def _cases(options: argparse.Namespace) -> Iterator[_Case]:
    for kind in nano.KINDS:
        events = _QUICK if options.quick else _EVENTS
        path = nano.make(kind, events, options.data)
        number = nano.BLOCKS // 2
        where, kept = f"{_BLOCK} == {number}", nano.block(number, events)
        yield _Case(kind, path, nano.COLUMNS, where, is_waiting_promised=True, kept=kept)
    layout = "CMS 2013"
    path = layouts.make(layout, options.events, options.data)
    known = [Size(name, size) for name, size in sizes(str(path)).items()]
    names = tuple(chosen(known, _SHARE, "roundrobin"))
    yield _Case(layout, path, names, "any(b0 > 295)", is_waiting_promised=False)


def _case(
    what: str, case: _Case, options: argparse.Namespace, place: Field, findings: Findings
) -> Iterator[Row]:
    ours = BY_KEY["treemill"]
    here = Task(FILES, (str(case.path),), case.names)
    far = replace(here, urls=(place.url(ours.scheme, case.path.name),))
    wheres = {"all entries": "", "filter": case.where}
    runs: dict[tuple[str, str], list[Run]] = {}
    expected = {}
    for entries, where in wheres.items():
        there = place.run(ours, replace(here, where=where), options.patience, here=True)
        if there.error:
            findings.notes.append(f"{what}, {LOCAL}: {there.error}")
            return
        expected[entries] = there.total
    for _ in range(options.rounds):
        for link in (_NEAR, _FAR):
            place.set(LINKS[link])
            for entries, where in wheres.items():
                found = place.run(ours, replace(far, where=where), options.patience)
                runs.setdefault((link, entries), []).append(found)
    rows = {}
    for (link, entries), each in runs.items():
        title = f"{what}, {link}: {entries}"
        if findings.look_at(title, each, expected[entries]):
            rows[link, entries] = goals.row(title, each, options.patience)
    yield from rows.values()
    if len(rows) < len(runs) or any(r.seconds is None for each in runs.values() for r in each):
        return
    trip = 2 * LINKS[_FAR].delay_ms / 1e3
    for entries in wheres:
        pairs = zip(rows[_FAR, entries].values, rows[_NEAR, entries].values, strict=True)
        waited = tuple((there - near) / trip for there, near in pairs)
        goal = goals.PROMISED["waiting"] if case.is_waiting_promised and not wheres[entries] else {}
        yield Row(f"{what}, {_FAR}: {entries}, round trips of waiting", waited, "", **goal)
    read = {entries: [_bytes(run) for run in runs[_FAR, entries]] for entries in wheres}
    shares = zip(read["filter"], read["all entries"], strict=True)
    values = tuple(100 * some / every for some, every in shares)
    goal = goals.PROMISED["bytes"]
    if case.kept is not None:
        least = 100 * least_share(case.path, case.names, case.kept)
        yield Row(f"{what}: bytes that the filter leaves in this layout, the least", (least,), "%")
        goal = goal if least < goal["below"] else {}  # nobody could keep it
    yield Row(f"{what}, {_FAR}: bytes read with the filter", values, "%", **goal)


def least_share(path: Path, names: tuple[str, ...], kept: range) -> float:
    """The bytes of the columns that have to be read for the filter and the entries that it keeps,
    over those of all entries."""
    tree = _core.File(str(path)).tree(layouts.TREE)
    others = [name for name in names if name != _BLOCK]
    every = tree.bytes_of(names, 0, tree.num_entries)
    needed = tree.bytes_of([_BLOCK], 0, tree.num_entries)
    return (needed + tree.bytes_of(others, kept.start, kept.stop)) / every


def _bytes(run: Run) -> float:
    assert run.counters is not None
    return run.counters["bytes_read"]
