"""`python -m bench io`: reading over an emulated link; writes
`bench/results/<date>-<machine>-io.{json,md}`.

The IOExerciser (some branches of each entry, all branches of each fiftieth) on two layouts, and
some branches of many files, at 0.3 and 137 ms, without a limit and at 20 MB/s of each connection.
Each run is a new process with new connections: cold, but for the server's page cache. Root only.
"""

import argparse
import sys
from collections.abc import Iterator

from treemill.bench.exerciser import Size, chosen

from .. import data, machine, publish, tables
from ..measured import Row
from ..options import Options
from . import goals, layouts
from .contestants import BY_KEY, CONTESTANTS, COPY, EXERCISE, FILES, Contestant, Task
from .field import LINKS, LOCAL, Field, Run, field, missing

_LEGEND = """\
Seconds from before the file is opened until the result is known, in a new process with new
connections each time. All read the same branches of the same entries and got the same sum.
treemill here is the same run on the file on this disk. xrdcp copies as many bytes as the chosen
branches have, in one file. A run is ended when patience is: such lines say so and count as that
long. 20 MB/s is the limit of each connection.
"""
_SHARE, _PRESCALE = 0.3, 50
_MUONS = ("Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_charge", "nMuon")


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("io", __doc__, clock=False)
    options.size("events", 1000, 60, "entries of the exerciser")
    options.size("files", 100, 2, "files, of which some branches are read")
    options.size("megabytes", 40.0, 1.0, "size of each of these files")
    options.size("rounds", 5, 1, "counted rounds")
    options.size("patience", 60.0, 20.0, "seconds after which a run is ended")
    links = list(LINKS)
    options.choice("links", links, links, "only these")
    parts = [*layouts.CLUSTERS, layouts.MANY]
    options.choice("parts", parts, parts, "only these")
    keys = [each.key for each in CONTESTANTS]
    options.choice("contestants", keys, keys, "only these")
    return options.parse(arguments)


def main(arguments: list[str]) -> int:
    """Measure and write; 1 if there can be no link here, or if sums differ."""
    options = _options(arguments)
    if reason := missing():
        publish.say(f"python -m bench io: {reason}")
        return 1
    facts = machine.describe()
    rows: list[Row] = []
    notes: list[str] = []
    sizes: dict[str, int] = {}
    with field() as place:
        for part in options.parts:
            make = _many_files if part == layouts.MANY else _exercise
            task, sizes[part] = make(part, options, place)
            for row in _measure(part, task, sizes[part], options, place, notes):
                publish.say(f"{row.what}: {row.median:.3g} {row.unit}")
                rows.append(row)
    wrong = [note for note in notes if note.startswith("WRONG")]
    files = ", ".join(f"{name} {size / 1e6:.1f} MB to read" for name, size in sizes.items())
    about = machine.about(facts, files, options.rounds, "wall")
    raw = {"machine": facts, "about": about, "rows": [r.as_dict() for r in rows], "notes": notes}
    title = f"# Reading over a link, {publish.today()}\n"
    remarks = "".join(f"- {note}\n" for note in dict.fromkeys(notes))
    text = "\n".join([title, tables.facts(about), _LEGEND, tables.rows(rows), remarks])
    publish.page(options.output, "-io" + "-quick" * options.quick, raw, text)
    return 1 if wrong else 0


def _exercise(layout: str, options: argparse.Namespace, place: Field) -> tuple[Task, int]:
    """What is read of a layout's file, and how many bytes that is."""
    path = layouts.make(layout, options.events, options.data)
    data.warm_up(path)
    place.put(path, path.name)
    sizes = _sizes(str(path))
    names = chosen([Size(n, s) for n, s in sizes.items()], _SHARE, "roundrobin")
    others = tuple(name for name in sizes if name not in set(names))
    wanted = sum(sizes[name] for name in names)
    # What the chosen branches have; of the others, clusters of some entries only.
    task = Task(EXERCISE, (str(path),), tuple(names), others, options.events, _PRESCALE)
    return task, wanted


def _many_files(_part: str, options: argparse.Namespace, place: Field) -> tuple[Task, int]:
    """Files of the same content, each with a name of its own."""
    events = int(options.megabytes * 1e6 / _BYTES_OF_AN_EVENT)
    path = data.make("zstd", events, options.data, "opendata")
    data.warm_up(path)
    names = [f"many/file_{i:03d}.root" for i in range(options.files)]
    for name in names:
        place.put(path, name)
    sizes = _sizes(str(path))
    wanted = options.files * sum(sizes[name] for name in _MUONS)
    return Task(FILES, (str(path),) * options.files, _MUONS), wanted


_BYTES_OF_AN_EVENT = 205
"""Of the schema "opendata" by zstd, about."""


def _sizes(path: str) -> dict[str, int]:
    import treemill as tm

    return {b.name: b.zip_bytes for b in tm.dataset(path, layouts.TREE).branches.values()}


def _far(task: Task, scheme: str, place: Field) -> Task:
    """The task with URLs instead of paths."""
    if task.what == EXERCISE:
        names = [path.rpartition("/")[2] for path in task.urls]
    else:
        names = [f"many/file_{i:03d}.root" for i in range(len(task.urls))]
    urls = tuple(place.url(scheme, name) for name in names)
    return Task(task.what, urls, task.chosen, task.others, task.entries, task.prescale)


def _measure(
    part: str, task: Task, wanted: int, options: argparse.Namespace, place: Field, notes: list[str]
) -> Iterator[Row]:
    """A part over all links. All contestants run in every round, but for those that were ended."""
    there = [c for c in CONTESTANTS if c.key in options.contestants and task.what in c.tasks]
    copied = layouts.plain(wanted, options.data)
    place.put(copied, copied.name)
    copy = Task(task.what, (place.url("root", copied.name),), ())
    rounds = range(options.rounds)
    ours = BY_KEY["treemill"]
    first, *local = [place.run(ours, task, options.patience, here=True) for _ in (0, *rounds)]
    if first.error:
        notes.append(f"{part}, {LOCAL}: {first.error}")
        return
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
            notes += _remarks(what, found, None if contestant is COPY else first.total)
            if not found[-1].error:
                yield goals.row(what, found, options.patience)
        runs[LOCAL] = local
        yield from goals.ratios(part, link, runs, options.patience)


def _remarks(what: str, runs: list[Run], expected: float | None) -> Iterator[str]:
    """What the table does not say: errors, wrong sums, and what was counted."""
    for run in runs:
        if run.error:
            yield f"{what}: {run.error}"
        elif run.seconds is not None and expected is not None and not _same(run, expected):
            yield f"WRONG: {what}: {run.total!r} instead of {expected!r}"
    if counted := runs[-1].counters:
        yield f"{what}: " + ", ".join(f"{name} {value:,.6g}" for name, value in counted.items())


def _same(run: Run, expected: float) -> bool:
    return abs(run.total - expected) <= 1e-9 * abs(expected)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
