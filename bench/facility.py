"""`python -m bench facility`: treemill's own benchmark of this machine, from the data to the docs.
Writes the events, runs the standard queries on threads, processes and a Dask cluster, scans the
storage, traces a query step by step and replays the trace. Results, page and report go to
`bench/results/<date>-<machine>-facility…`, pictures to `docs/images/facility-….png`.

Some five minutes on two cores; with --quick one, for which pictures go beside the results.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import treemill as tm
from treemill.cli.trace import load
from treemill.facility.replay import replay
from treemill.monitoring.recorded import Recorded
from treemill.monitoring.summary import TraceSummary, summary

from . import machine, publish, tables
from .commands import treemill
from .measured import Row
from .options import Options
from .protocol import REPOSITORY

PICTURES = REPOSITORY / "docs" / "images"
NAMES = {
    "Query time": "time",
    "Events per second": "rate",
    "Megabytes per second": "megabytes",
    "Rate of a worker": "efficiency",
    "Active workers": "active",
    "How long workers waited": "latency",
    "Storage": "storage",
}
"""The words that a figure's title begins with, and its picture's name: facility-<name>.png."""
TRACE = "trace"
OFF = 0.1
"""A replay is off by a tenth at most."""
_LEGEND = """\
The replay lets the packetizer hand out the files of a traced query once more, to simulated workers
with the rates and delays that were measured; with the same workers it should take as long. The
report has all figures and tables and needs no internet. ✓ the goal is reached, ✗ it is not.
"""


def drawn(lines: Sequence[str], folder: Path) -> Iterator[tuple[str, Path]]:
    """Gives the figures that `bench report` has written their names in the docs, and titles."""
    for line in lines:
        path, colon, title = line.partition(": ")
        name = next((name for words, name in NAMES.items() if title.startswith(words)), None)
        if colon and name is not None and path.endswith(".png"):
            made = folder / f"facility-{name}.png"
            Path(path).replace(made)
            yield title, made


def traced(dataset: str, path: Path) -> tuple[Recorded, TraceSummary]:
    """The trace, with steps, of all columns' sums on two processes."""
    events = tm.dataset(dataset)
    columns = [b.name for b in events.branches.values() if b.kind in ("number", "list", "array")]
    with tm.connect(workers=2, mode="processes") as session:
        session.run(events.count(), progress=False)
        sums = [events.sum(f"`{name}`") for name in columns]
        session.run(sums, trace=path, trace_steps=True, progress=False)
    found = load(str(path))
    return found, summary(found)


def main(arguments: list[str]) -> int:
    """Measure, write, draw."""
    options = Options("facility", __doc__, clock=False)
    options.size("files", 8, 2, "of the dataset")
    options.size("events", 4000, 200, "in each file")
    options.size("rounds", 4, 1, "runs of each query")
    options.size("made", 4000, 100, "thousand events that the query `cpu` makes")
    options.size("replays", 5, 1, "traces that are replayed")
    options.choice("on", ("threads", "processes", "dask"), ("threads", "processes", "dask"), "on")
    chosen = options.parse(arguments)
    facts = machine.describe()
    what = "facility" + "-quick" * chosen.quick
    base = chosen.output / f"{publish.today()}-{machine.slug()}-{what}"
    pictures = chosen.output if chosen.quick else PICTURES
    for folder in (chosen.output, chosen.data, pictures):
        folder.mkdir(parents=True, exist_ok=True)
    where = chosen.data / what
    size = ("--files", chosen.files, "--events", chosen.events, "--cluster", 250)
    treemill("bench", "generate", where, *size)
    dataset = str(where / "dataset.json")
    results, storage = Path(f"{base}-runs.json"), Path(f"{base}-storage.json")
    systems = [word for name in chosen.on for word in ("--on", name)]
    repeat = ("--repeat", chosen.rounds, "--events-cpu", chosen.made)
    said = treemill("bench", "run", dataset, *systems, *repeat, "-o", results)
    said = said[said.index("") + 1 :]  # what limits
    said += treemill("bench", "scan-storage", dataset, "-o", storage)[-2:]
    titles: list[tuple[str, Path]] = []
    for path, page in ((results, f"{base}.html"), (storage, f"{base}-storage.html")):
        lines = treemill("bench", "report", path, "-o", page, "--figures", chosen.data / "figures")
        titles += drawn(lines, pictures)
    rows = list(replayed(dataset, chosen.data / "facility.json", chosen.replays))
    picture = pictures / f"facility-{TRACE}.png"
    treemill("trace", "report", chosen.data / "facility.json", "--most", 3, "--figure", picture)
    titles.append(("The traced query", picture))
    files = f"{chosen.files} files of {chosen.events:,} events, the schema `event`"
    about = machine.about(facts, files, chosen.rounds, "wall")
    text = "\n".join(
        [
            f"# This machine by treemill's own benchmark, {publish.today()}\n",
            tables.facts(about),
            f"Report: [{base.name}.html]({base.name}.html), a page for any browser.\n",
            *(f"- {line}" for line in said if line and not line.startswith("results:")),
            "\n" + _LEGEND,
            tables.rows(rows),
        ]
    )
    numbers = {"machine": facts, "about": about, "rows": [row.as_dict() for row in rows]}
    publish.page(chosen.output, f"-{what}", numbers, text)
    for title, path in titles:
        publish.say(f"{path}: {title}")
    return 0


def replayed(dataset: str, path: Path, times: int) -> Iterator[Row]:
    """What traces say, and how near replays with the same workers come."""
    found = []
    for _ in range(times):
        recorded, told = traced(dataset, path)
        reads = sum(row.bytes for row in told.steps.reads)
        packets = sum(row.bytes_read for row in told.packets)
        found.append((told.seconds, replay(recorded, None).seconds, reads / packets))
    yield Row("a query, all columns, two processes", tuple(each[0] for each in found), "s")
    yield Row("its replay with the same workers", tuple(each[1] for each in found), "s")
    off = tuple(abs(predicted / measured - 1) for measured, predicted, _ in found)
    yield Row("how far the replay is off", tuple(100 * each for each in off), "%", below=100 * OFF)
    yield Row(
        "bytes of single reads over those that packets counted", tuple(e[2] for e in found), "x"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
