"""`python -m bench endurance`: `treemill bench hammer` against four storages, one of which is
killed at two fifths of the time and started again at a half. Writes the report, and a page that
says what failed and whose memory grows, to `bench/results/<date>-<machine>-endurance…`.

Needs no quiet machine: it measures what lasts, not what is fast. Root only (nfs-ganesha).
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from treemill.facility.generate import Recipe, paths, write_dataset
from treemill.facility.scaling.limit_diagnosis import conclusion
from treemill.facility.scaling.measurements import ResultsFile, load

from tools.servers.process import Server

from .. import machine, publish, tables
from ..commands import treemill
from ..measured import Row
from ..options import Options
from ..protocol import REPOSITORY
from .servers import missing, started

_JOBS = """\
[[job]]
name = "analysis"
share = 3
files = 2
filter = "nMuon >= 2"
hist = ["MET_pt", "sum(Muon_pt)", "Jet_pt"]

[[job]]
name = "two branches"
share = 2
read = "two"

[[job]]
name = "copy"
read = "whole"

[[job]]
name = "script"
share = 0.5
command = ["sh", "-c", "sleep 5; test -n \\"$0\\"", "{file}"]
"""
_LOST = "root"
"""The storage that is killed and started again, by its scheme."""
_KILLED, _AGAIN = 0.4, 0.5
"""When, as parts of the run."""
_FIRST = 0.1
"""Memory of the run is compared with what it was at this part of it."""
_MOST_GROWTH = 1.1
_LEGEND = """\
Jobs are processes of their own, by the mix of `bench/storage/endurance.py`; the storages are
xrootd, nginx, nfs-ganesha and the tests' own door of dCap, all on this machine, which other
programs used as well: rates are not to be compared. Resident memory: the largest of the last tenth
over that of the first one. The report has all jobs, failures by cause, and rates against time, and
needs no internet. ✓ the goal is reached, ✗ it is not.
"""


@dataclass
class _Watch:
    """The resident memory of some processes against time, and what is done at which time."""

    actions: list[tuple[float, Callable[[], object]]]
    memory: dict[str, list[tuple[float, int]]] = field(default_factory=dict)

    def look(self, now: float, pids: Mapping[str, Sequence[int]]) -> None:
        for name, mine in pids.items():
            self.memory.setdefault(name, []).append((now, sum(map(_resident, mine))))
        while self.actions and now >= self.actions[0][0]:
            self.actions.pop(0)[1]()


def _resident(pid: int) -> int:
    """Bytes; 0 if there is no such process."""
    try:
        text = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    sizes = [line.split()[1] for line in text.splitlines() if line.startswith("VmRSS:")]
    return 1024 * int(sizes[0]) if sizes else 0


def _hammered(
    urls: Sequence[str], servers: Mapping[str, Server], options: argparse.Namespace, output: Path
) -> _Watch:
    """Runs the command, and does meanwhile what is to be done. What kills and starts servers is
    this thread: servers end with the thread that has started them."""
    jobs = options.data / "endurance.toml"
    jobs.write_text(_JOBS)
    seconds = 60.0 * options.minutes
    lost = servers[_LOST]
    watch = _Watch([(_KILLED * seconds, lost.kill), (_AGAIN * seconds, lost.restart)])
    words = [sys.executable, "-m", "treemill", "bench", "hammer", str(jobs), *urls]
    words += ["--for", f"{seconds:g}s", "--ramp-up", f"{_FIRST * seconds / 2:g}s", "--live"]
    words += ["--at-once", str(options.jobs), "--grace", "5m", "-o", str(output)]
    began = time.monotonic()
    with subprocess.Popen(words, cwd=REPOSITORY, stdout=sys.stderr) as process:
        while process.poll() is None:
            pids = {name: [each.pid for each in s.processes] for name, s in servers.items()}
            watch.look(time.monotonic() - began, {"the run": [process.pid], **pids})
            time.sleep(1.0)
    if process.returncode:
        raise SystemExit(f"{' '.join(words)}: exit status {process.returncode}")
    return watch


def rows(results: ResultsFile, watch: _Watch, seconds: float) -> Iterator[Row]:
    """Jobs by storage, and memory."""
    for storage in dict.fromkeys(each.storage for each in results.jobs):
        mine = [each for each in results.jobs if each.storage == storage]
        done, failed = sum(each.done for each in mine), sum(each.failed for each in mine)
        scheme = storage.partition(":")[0]
        yield Row(f"{scheme}: jobs done", (float(done),), "jobs")
        stayed = {} if scheme == _LOST else {"below": 0.0}
        yield Row(f"{scheme}: jobs failed", (float(failed),), "jobs", **stayed)
    for name, seen in watch.memory.items():
        first = [size for now, size in seen if _FIRST / 2 <= now / seconds <= _FIRST]
        last = [size for now, size in seen if now / seconds >= 1 - _FIRST and size]
        if not first or not last:
            continue
        yield Row(f"{name}: resident memory at the end", (max(last) / 1e6,), "MB")
        goal = {"below": _MOST_GROWTH} if name == "the run" else {}
        growth = max(last) / max(first)
        yield Row(f"{name}: memory at the end / at the beginning", (growth,), "x", **goal)


def main(arguments: list[str]) -> int:
    """Run, watch, write; 1 if the servers are not here."""
    options = Options("endurance", __doc__, clock=False)
    options.size("minutes", 40.0, 0.5, "that jobs begin")
    options.size("jobs", 4, 4, "at once")
    options.size("files", 6, 2, "of each storage")
    options.size("events", 20_000, 500, "in each file")
    chosen = options.parse(arguments)
    if reason := missing():
        publish.say(f"python -m bench endurance: {reason}")
        return 1
    chosen.output.mkdir(parents=True, exist_ok=True)
    facts = machine.describe()
    recipe = Recipe(chosen.files, chosen.events, 2000, "zstd", schema="demo")
    folder = chosen.data / f"endurance-{chosen.files}-{chosen.events}"
    for line in write_dataset(folder, recipe):
        publish.say(line)
    made = paths(folder, recipe)
    what = "endurance" + "-quick" * chosen.quick
    base = f"{publish.today()}-{machine.slug()}-{what}"
    run, report = (chosen.output / f"{base}{end}" for end in ("-run.json", ".html"))
    with started(made) as servers:
        urls = [server.url(path.name) for server in servers.values() for path in made]
        watch = _hammered(urls, servers, chosen, run)
    treemill("bench", "report", run, "-o", report)
    results = load(run)
    found = list(rows(results, watch, 60 * chosen.minutes))
    files = f"{chosen.files} files of {chosen.events:,} events, the schema `demo`"
    about = machine.about(facts, files, 1, "wall")
    cut = f"{_LOST} was killed at {_KILLED:.0%} of the time, and started again at {_AGAIN:.0%}"
    text = "\n".join(
        [
            f"# Four storages for {chosen.minutes:g} minutes, {publish.today()}\n",
            tables.facts(about),
            f"Report: [{report.name}]({report.name}), a page for any browser.\n",
            *(f"- {line}" for line in conclusion(results)),
            f"- {cut}\n",
            _LEGEND,
            tables.rows(found),
        ]
    )
    numbers = {"machine": facts, "about": about, "rows": [row.as_dict() for row in found]}
    numbers["memory"] = {name: seen[:: len(seen) // 100 + 1] for name, seen in watch.memory.items()}
    publish.page(chosen.output, f"-{what}", numbers, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
