"""`python -m bench remembered`: what `tm.remember` costs and saves, in seconds of processor time:
the first run of many histograms over many small files, the same again, one histogram or file more.
The table goes into docs/remember.md, the page and its numbers into `bench/results/`.
"""

import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import treemill as tm
from treemill.facility.generate import Recipe, paths, write_dataset

from . import machine, publish, tables
from .measured import Row, ratios
from .options import Options
from .protocol import REPOSITORY

PAGE = REPOSITORY / "docs" / "remember.md"
PLAIN, FIRST = "without remembering", "the first run, which remembers all"
SAME = "unchanged"
MORE, ALONE = "one histogram more", "that histogram alone, without remembering"
FILE_MORE, FILE_LESS = "one file more", "one file less"
_LEGEND = """\
Seconds of processor time of this process, all threads together, medians. What was read and
decompressed in one run is not kept for the next.
"""


def booked(files: Sequence[str], histograms: int, cut: float | None = None) -> list[Any]:
    """Histograms of 100 bins below fifty filters; and one more, of events above `cut`."""
    events = tm.dataset(files, "Events")
    nodes = [events.filter(f"MET_pt > {each}") for each in range(50)]
    columns = ("nMuon", "MET_pt")
    found = [
        nodes[n % 50].hist(columns[n // 50 % 2], bins=(100, 0, 200 + n)) for n in range(histograms)
    ]
    if cut is not None:
        found.append(events.filter(f"MET_pt > {cut}").hist("MET_pt", bins=(100, 0, 200)))
    return found


class Round:
    """All runs, once each, in a folder of their own."""

    def __init__(self, session: Any, seconds: dict[str, list[float]]) -> None:
        self._session, self._seconds = session, seconds

    def run(self, name: str, bookings: Sequence[Any], parts: int | None) -> None:
        """Notes the processor time. `parts`: the results of single files that it must compute, or
        None if nothing is remembered."""
        began = time.process_time()
        self._session.run(bookings, progress=False, remember=parts is not None)
        self._seconds.setdefault(name, []).append(time.process_time() - began)
        about = self._session.report.remembered
        if (None if about is None else about.parts) != parts:
            raise RuntimeError(f"{name}: {about} instead of {parts} parts")
        publish.say(f"{name}: {self._seconds[name][-1]:.3f} s")

    def runs(self, files: Sequence[str], histograms: int, number: int) -> None:
        """All of them. `number`: of the round, in which the histogram more is another one."""
        most, cut = files[:-1], 60 + number
        every = histograms * len(most)
        self.run(PLAIN, booked(most, histograms), None)
        self.run(FIRST, booked(most, histograms), every)
        self.run(SAME, booked(most, histograms), 0)
        self.run(MORE, booked(most, histograms, cut), len(most))
        self.run(ALONE, booked(most, 0, cut), None)
        self.run(FILE_MORE, booked(files, histograms), histograms)
        self.run(FILE_LESS, booked(most[:-1], histograms), 0)


def measured(chosen: Namespace) -> list[Row]:
    """The lines of the table."""
    recipe = Recipe(files=chosen.files + 1, events_per_file=chosen.events, codec="zstd")
    folder = chosen.data / f"remembered-{chosen.files}-{chosen.events}"
    for line in write_dataset(folder, recipe):
        publish.say(line)
    files = [str(path) for path in paths(folder, recipe)]
    seconds: dict[str, list[float]] = {}
    with tm.connect(workers=chosen.workers, mode="threads") as session:
        session.run(booked(files, 1), progress=False)  # a session knows its files
        for number in range(chosen.rounds):
            with tempfile.TemporaryDirectory(prefix="remembered-") as made:
                tm.remember(made)
                Round(session, seconds).runs(files, chosen.histograms, number)
                tm.remember(None)
    rows = {name: Row(name, tuple(each), "s") for name, each in seconds.items()}
    share = ratios("one histogram more, beside it alone", rows[MORE], rows[ALONE])
    beyond = tuple(a - b for a, b in zip(rows[MORE].values, rows[SAME].values, strict=True))
    above = Row(f"{MORE}, beyond an unchanged run", beyond, "s")
    return [*rows.values(), share, ratios(f"{above.what}, beside it alone", above, rows[ALONE])]


def table(rows: Sequence[Row]) -> str:
    """Medians."""
    lines = [[row.what, f"{row.median:.2f} {row.unit}"] for row in rows]
    return tables.table(["", "processor time"], lines)


def main(arguments: list[str]) -> int:
    """Measure and write."""
    options = Options("remembered", __doc__, clock=False)
    options.size("files", 1000, 20, "files")
    options.size("events", 2000, 200, "events in each file")
    options.size("histograms", 500, 20, "histograms of 100 bins")
    options.size("rounds", 5, 1, "rounds, each from nothing")
    options.size("workers", 2, 2, "threads")
    options.add("--page", type=Path, default=PAGE, help="where the table goes; not with --quick")
    chosen = options.parse(arguments)
    facts = machine.describe()
    rows = measured(chosen)
    what = f"{chosen.histograms:,} histograms, {chosen.files:,} files of {chosen.events:,} events"
    about = machine.about(facts, what, chosen.rounds, f"cpu, {chosen.workers} threads")
    publish.rows(chosen, "remembered", "What remembering costs", _LEGEND, about, facts, rows)
    if not chosen.quick:
        on = f"{publish.today()}, {about['machine']}; {what}, {chosen.rounds} rounds."
        chosen.page.write_text(
            publish.between(chosen.page, "remembered", "costs", f"{table(rows)}\n{on}\n")
        )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
