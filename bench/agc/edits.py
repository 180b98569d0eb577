"""`python -m bench edits`: the tt̄ analysis edited ten times as people do it, each time run from the
shell, in treemill with and without `tm.remember`, coffea with and without coffea-workflow, and
RDataFrame. The table goes into docs/remember.md, the page and its numbers into `bench/results/`.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from argparse import Namespace
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from .. import machine, publish, tables
from ..options import Options
from ..protocol import REPOSITORY
from .edited import EDITS, Sources
from .programs import SOURCES
from .programs import data as made_data
from .run import unlike

PAGE = REPOSITORY / "docs" / "remember.md"
FIRST = "the first run"
REMEMBERING, PLAIN = "treemill, remember", "treemill"
PROGRAMS = {
    REMEMBERING: "treemill_ttbar",
    PLAIN: "treemill_ttbar",
    "coffea, for speed": "coffea_fast",
    "coffea-workflow": "coffea_workflow_ttbar",
    "coffea, as its reference": "coffea_ttbar",
    "RDataFrame, c++ -O3": "rdataframe_ttbar",
}
"""The modules, by the titles of the table's columns."""
USUAL = [name for name in PROGRAMS if PROGRAMS[name] != "coffea_ttbar"]
COMPILED = "of it the compiler"
_LEGEND = """\
Each cell is a new process, from its start to its end, on one core: seconds. Each edit comes on top
of those before; the histograms of all programs are equal after each. RDataFrame's program is
compiled after each edit of its source; the last column says for how much of the time.
"""


@dataclass
class Timed:
    """The seconds of one program, by what was edited."""

    name: str
    seconds: dict[str, list[float]] = field(default_factory=dict)
    compiled: dict[str, list[float]] = field(default_factory=dict)

    def note(self, step: str, seconds: float, compiled: float) -> None:
        """One run."""
        self.seconds.setdefault(step, []).append(seconds)
        self.compiled.setdefault(step, []).append(compiled)

    @property
    def is_compiled(self) -> bool:
        """Whether a compiler took any time of it."""
        return max(max(each) for each in self.compiled.values()) > 1.0


def run_once(name: str, sources: Sources, folder: Path) -> tuple[float, dict[str, Any]]:
    """The seconds of a program from its start to its end, and what it has found."""
    output = folder / "found.json"
    remembers = {"TREEMILL_REMEMBER": str(folder / "results")} if name == REMEMBERING else {}
    own = {SOURCES: str(sources.programs), "TMPDIR": str(folder)}
    command = [sys.executable, "-W", "ignore", "-m", "bench.agc.once", PROGRAMS[name]]
    began = time.perf_counter()
    done = subprocess.run(
        [*command, str(sources.data), str(output)],
        cwd=REPOSITORY,
        env=os.environ | own | remembers,
        capture_output=True,
        text=True,
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(f"{name}: {done.stderr.strip()[-2000:]}")
    return seconds, json.loads(output.read_text())


def differing(found: Mapping[str, Mapping[str, list[float]]]) -> list[str]:
    """The histograms that are not the same in all programs, of which the first is compared."""
    first, *others = found
    words = []
    for other in others:
        ours, theirs = found[first], found[other]
        words += [f"{other}: {name}" for name in sorted(ours.keys() ^ theirs.keys())]
        both = ours.keys() & theirs.keys()
        words += [f"{other}: {n}" for n in sorted(both) if unlike(ours[n], theirs[n])]
    return words


def measure(chosen: Namespace, data: Path) -> list[Timed]:
    """All programs after each edit, in turn. Raises RuntimeError if one fails, or if they do not
    agree."""
    timed = [Timed(name) for name in chosen.programs]
    for number in range(chosen.rounds):
        with tempfile.TemporaryDirectory(prefix="agc-edits-") as made:
            folder = Path(made)
            sources = Sources(folder, data, chosen.events)
            for edit in (None, *EDITS):
                if edit is not None:
                    sources.change(edit)
                step = FIRST if edit is None else edit.title
                found = {}
                for each in timed:
                    seconds, told = run_once(each.name, sources, folder)
                    each.note(step, seconds, told["compiled"])
                    found[each.name] = told["bins"]
                    publish.say(f"round {number + 1}: {step}: {each.name}: {seconds:.2f} s")
                if words := differing(found):
                    raise RuntimeError(f"{step}: not equal: {', '.join(words[:5])}")
    return timed


def table(timed: Sequence[Timed]) -> str:
    """Medians, a line for each edit, and their sum."""
    columns: dict[str, dict[str, float]] = {}
    for each in timed:
        columns[each.name] = {step: median(runs) for step, runs in each.seconds.items()}
        if each.is_compiled:
            columns[COMPILED] = {step: median(runs) for step, runs in each.compiled.items()}
    steps = [FIRST, *(edit.title for edit in EDITS)]
    lines = [[step, *(f"{column[step]:.2f}" for column in columns.values())] for step in steps]
    sums = (sum(column[step] for step in steps[1:]) for column in columns.values())
    lines.append(["all ten edits", *(f"{seconds:.1f}" for seconds in sums)])
    return tables.table(["", *columns], lines)


def main(arguments: list[str]) -> int:
    """Measure and write; 1 if a program fails or has other histograms."""
    options = Options("edits", __doc__, clock=False)
    options.size("events", 200_000, 4_000, "events in each data set")
    options.size("rounds", 3, 1, "rounds, each from nothing")
    options.choice("programs", [*PROGRAMS], USUAL, "only these")
    options.add("--page", type=Path, default=PAGE, help="where the table goes; not with --quick")
    chosen = options.parse(arguments)
    data = made_data(chosen.data, chosen.events, False)
    facts = machine.describe("coffea-workflow")
    try:
        timed = measure(chosen, data)
    except RuntimeError as error:
        publish.say(f"failed: {error}")
        return 1
    events = f"nine data sets of {chosen.events:,} events"
    about = machine.about(facts, events, chosen.rounds, "wall")
    title = f"The tt̄ analysis edited ten times, {publish.today()}"
    numbers = {"machine": facts, "about": about, "edits": [vars(each) for each in timed]}
    text = "\n".join([f"# {title}\n", tables.facts(about), _LEGEND, table(timed)])
    publish.page(chosen.output, "-edits" + "-quick" * chosen.quick, numbers, text)
    if not chosen.quick:
        on = f"{publish.today()}, {about['machine']}; {events}, {chosen.rounds} rounds."
        text = publish.between(chosen.page, "edits", "edits", f"{table(timed)}\n{on}\n")
        chosen.page.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
