"""The same reading by all contestants over all links: the IOExerciser on two layouts, and some
branches of many files.
"""

import argparse
import shutil
from collections.abc import Iterator

from treemill.facility.exerciser import Size, chosen

from .. import data
from ..measured import Row
from . import floor, goals, layouts
from .contestants import BY_KEY, CONTESTANTS, COPY, EXERCISE, FILES, Contestant, Task
from .field import LINKS, LOCAL, Field, Run
from .files import MUONS, compressed, sizes
from .findings import Findings

LEGEND = """\
The exerciser and many files: all read the same branches of the same entries and got the same sum.
treemill here is the same run on the file on this disk. xrdcp copies as many bytes as
treemill reads here, in one file. 20 MB/s is the limit of each connection. The least: what no reader
of these bytes can be faster than over this link, with 8 new connections to the server, if it knew
at once which bytes it wants; computed, not measured.
"""
_SHARE, _PRESCALE = 0.3, 50


def _exercise(layout: str, options: argparse.Namespace, place: Field) -> Task:
    """What is read of a layout's file."""
    path = layouts.make(layout, options.events, options.data)
    data.warm_up(path)
    place.put(path, path.name)
    known = sizes(str(path))
    names = chosen([Size(n, s) for n, s in known.items()], _SHARE, "roundrobin")
    others = tuple(name for name in known if name not in set(names))
    return Task(EXERCISE, (str(path),), tuple(names), others, options.events, _PRESCALE)


def many_files(_part: str, options: argparse.Namespace, place: Field) -> Task:
    """Files of the same content. Each has a place of its own on the disk: one file by many names
    would stay in the processor's cache."""
    path = compressed(options, options.megabytes)
    folder = path.parent / "copies"
    folder.mkdir(exist_ok=True)
    copies = [folder / f"{number:03d}-{path.name}" for number in range(options.files)]
    for number, copy in enumerate(copies):
        if not copy.exists() or copy.stat().st_size != path.stat().st_size:
            shutil.copyfile(path, copy)
        data.warm_up(copy)
        place.put(copy, many_name(number))
    return Task(FILES, tuple(map(str, copies)), MUONS)


def many_name(number: int) -> str:
    """Of one of many files, at the servers."""
    return f"many/file_{number:03d}.root"


def _far(task: Task, scheme: str, place: Field) -> Task:
    """The task with URLs instead of paths."""
    if task.what == EXERCISE:
        names = [path.rpartition("/")[2] for path in task.urls]
    else:
        names = [many_name(i) for i in range(len(task.urls))]
    urls = tuple(place.url(scheme, name) for name in names)
    return Task(task.what, urls, task.chosen, task.others, task.entries, task.prescale)


def measure(
    part: str, options: argparse.Namespace, place: Field, findings: Findings
) -> Iterator[Row]:
    """A part over all links. All contestants run in every round, but for those that were ended."""
    make = many_files if part == layouts.MANY else _exercise
    task = make(part, options, place)
    there = [c for c in CONTESTANTS if c.key in options.contestants and task.what in c.tasks]
    rounds = range(options.rounds)
    ours = BY_KEY["treemill"]
    first, *local = [place.run(ours, task, options.patience, here=True) for _ in (0, *rounds)]
    if first.error:
        findings.notes.append(f"{part}, {LOCAL}: {first.error}")
        return
    wanted = int((first.counters or {})["bytes_read"])
    findings.files[part] = f"{wanted / 1e6:.1f} MB to read"
    copied = layouts.plain(wanted, options.data)
    place.put(copied, copied.name)
    copy = Task(task.what, (place.url("root", copied.name),), ())
    yield goals.row(f"{part}, {LOCAL}: treemill", local, options.patience)
    contestants: list[tuple[Contestant, Task]] = [(COPY, copy)]
    contestants += [(each, _far(task, each.scheme, place)) for each in there]
    for link in options.links:
        place.set(LINKS[link])
        runs: dict[str, list[Run]] = {each.key: [] for each, _ in contestants}
        for _ in rounds:
            for contestant, far in contestants:
                before = runs[contestant.key]
                if not before or before[-1].seconds is not None:
                    before.append(place.run(contestant, far, options.patience))
        for contestant, _far_task in contestants:
            what = f"{part}, {link}: {contestant.title}"
            found = runs[contestant.key]
            if findings.look_at(what, found, None if contestant is COPY else first.total):
                yield goals.row(what, found, options.patience)
        runs[LOCAL] = local
        if part != layouts.MANY:
            yield from goals.against_least(f"{part}, {link}", floor.cold(wanted, LINKS[link]), runs)
        yield from goals.ratios(part, link, runs, options.patience)
