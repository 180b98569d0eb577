"""`python -m bench storages`: `treemill bench storage` over XRootD, HTTP, NFS and dCap, from 1 to
256 readers on an emulated link of 0.3 ms; and of a tree with unordered baskets beside the same one
in clusters. Writes both reports, and a page, to `bench/results/<date>-<machine>-storages…`.

Some fifty minutes on two cores; `--rounds 1` takes half of that. Root only.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path

from treemill.facility.generate import Recipe, paths, write_dataset
from treemill.facility.scaling.limit_diagnosis import conclusion
from treemill.facility.scaling.measurements import ResultsFile, load
from treemill.facility.storage.reading import ReaderSeries, lines

from tools.link.host import Host
from tools.link.link import Link, Wire
from tools.link.link import missing as link_missing

from .. import data, machine, publish, tables
from ..commands import treemill
from ..measured import Row
from ..options import Options
from ..protocol import REPOSITORY
from .servers import missing, started

_DELAY = 0.15
"""Milliseconds of one way."""
_PROTOCOLS = ("--readers", "1,4,16,64,256")
_LAYOUTS = ("--readers", "1,16", "--as", "streams", "--read", "all,two")
_QUICK = ("--readers", "2", "--as", "streams", "--window", "60 MB")
"""What of the matrix is measured; of both with --quick."""
_BOTH = ("root", "nfs")
"""The storages of that tree."""
_PROGRAM = REPOSITORY / "tests" / "remote" / "unordered_baskets.py"
_LEGEND = """\
Servers and readers share two cores and a link of 0.3 ms; the door of dCap is the tests' own, in
Python: it shows the readers' processor time, not the speed of a storage. Best: of all numbers of
readers, of windows and of kinds of readers. CPU is that of the readers. The reports have all
measurements, and need no internet. ✓ the goal is reached, ✗ it is not.
"""


def rows(results: ResultsFile, part: str) -> Iterator[Row]:
    """What each storage gives, by what is read; and the errors of all readers."""
    best: dict[tuple[str, str], ReaderSeries] = {}
    for line in lines(results.readings):
        place = f"{line.storage.partition(':')[0]}, {line.layout}"
        known = best.setdefault((line.what, place), line)
        if _rate(line) > _rate(known):
            best[line.what, place] = line
    for (what, place), line in best.items():
        rounds = line.best.rounds
        title = f"{part}, {what}, {place}: the best ({line.best.readers} {line.way})"
        yield Row(title, tuple(each.megabytes_per_second for each in rounds), "MB/s")
        cpu = tuple(each.cpu_per_gigabyte or 0.0 for each in rounds)
        yield Row(f"{part}, {what}, {place}: its CPU", cpu, "s/GB")
    failed = sum(sum(each.errors.values()) for each in results.readings)
    yield Row(f"{part}: errors", (float(failed),), "errors", below=0.0)


def _rate(line: ReaderSeries) -> float:
    return line.best.value("megabytes_per_second")


def _events(options: argparse.Namespace) -> list[Path]:
    """Files as they usually are."""
    recipe = Recipe(options.files, options.events, 10_000, "zstd", schema="opendata")
    folder = options.data / f"storages-{options.files}-{options.events}"
    for line in write_dataset(folder, recipe):
        publish.say(line)
    return paths(folder, recipe)


def _laid(options: argparse.Namespace) -> list[Path]:
    """One tree in clusters, and with baskets in any order; nothing without ROOT."""
    if find_spec("ROOT") is None:
        publish.say("without ROOT there is no tree with unordered baskets")
        return []
    made = []
    for name, flush in (("flushed", options.baskets // 20), ("unordered", 0)):
        path = options.data / f"{name}-{options.baskets}.root"
        if not path.exists():
            words = [sys.executable, "-W", "ignore", str(_PROGRAM), str(path)]
            subprocess.run([*words, str(flush), str(options.baskets)], check=True)
        made.append(path)
    return made


def _compared(
    urls: Sequence[str],
    cells: Sequence[str],
    output: Path,
    options: argparse.Namespace,
    client: Host,
) -> ResultsFile:
    """Runs the command, and makes its report."""
    words = ("--seconds", options.seconds, "--repeat", options.rounds, "-o", output)
    chosen = _QUICK if options.quick else cells
    treemill("bench", "storage", *urls, *words, *chosen, host=client)
    treemill("bench", "report", output, "-o", _report(output))
    return load(output)


def _report(output: Path) -> Path:
    return output.with_suffix(".html")


def main(arguments: list[str]) -> int:
    """Compare, write; 1 if the servers or the link are not here."""
    options = Options("storages", __doc__, clock=False)
    options.size("files", 4, 1, "of each storage")
    options.size("events", 50_000, 2_000, "in each file")
    options.size("baskets", 200_000, 20_000, "entries of the tree with its baskets in either way")
    options.size("seconds", 3.0, 0.3, "of each measurement")
    options.size("rounds", 2, 1, "over all of them")
    chosen = options.parse(arguments)
    if reason := link_missing() or missing():
        publish.say(f"python -m bench storages: {reason}")
        return 1
    for folder in (chosen.output, chosen.data):
        folder.mkdir(parents=True, exist_ok=True)
    facts = machine.describe()
    events, laid = _events(chosen), _laid(chosen)
    for path in (*events, *laid):
        data.warm_up(path)
    what = "storages" + "-quick" * chosen.quick
    base = f"{publish.today()}-{machine.slug()}-{what}"
    found: dict[str, tuple[Path, ResultsFile]] = {}
    with Link(["client", "server"]) as link, started([*events, *laid], link.hosts["server"]) as at:
        link.set("server", Wire(delay_ms=_DELAY))
        client = link.hosts["client"]
        urls = [server.url(path.name) for server in at.values() for path in events]
        path = chosen.output / f"{base}-protocols.json"
        found["protocols"] = path, _compared(urls, _PROTOCOLS, path, chosen, client)
        if laid:
            urls = [at[scheme].url(path.name) for scheme in _BOTH for path in laid]
            path = chosen.output / f"{base}-layouts.json"
            found["layouts"] = path, _compared(urls, _LAYOUTS, path, chosen, client)
    measured = [row for part, (_, each) in found.items() for row in rows(each, part)]
    files = f"{chosen.files} files of {chosen.events:,} events, the schema `opendata`"
    about = machine.about(facts, files, chosen.rounds, "wall")
    told = []
    for part, (path, each) in found.items():
        told.append(f"\n{part} ([report]({_report(path).name}), a page for any browser):\n")
        told += [f"- {line}" for line in conclusion(each)]
    head = f"# Storages beside each other, {publish.today()}\n"
    text = "\n".join([head, tables.facts(about), *told, "\n" + _LEGEND, tables.rows(measured)])
    numbers = {"machine": facts, "about": about, "rows": [row.as_dict() for row in measured]}
    publish.page(chosen.output, f"-{what}", numbers, text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
