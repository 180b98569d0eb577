"""`python -m bench before COMMIT`: treemill at another commit beside treemill now, in turns.

Builds the other commit in release mode into a folder of its own, once. Both versions answer in
processes that stay up; a round asks both, one after the other. Both processes are started anew
some times, because where a process happens to have its memory makes it some per cent faster or
slower for all its life: the ratio of a cell is the median over the starts. A cell gets more starts
until it is sure on which side of the limit the median lies (`ratios.py`). The queries of `rivals`,
the tasks of `adl`, arrays, selectors, skims and the start of the package, what sessions cost, each
kind of branch of `types`, and the queries on RNTuples are measured, with one worker and nothing
remembered between rounds. Writes
`bench/results/<date>-<machine>-before.{json,md}`.
"""

import argparse
import compileall
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

from . import data, machine, ntuples, publish, ratios, tables, warm
from .options import Options
from .protocol import REPOSITORY, RivalError, Worker
from .publish import say
from .queries import Query
from .rivals.earlier import PARTS, Part
from .tables import table
from .times import Times
from .types import files as types
from .types.places import places

SLOWER = 1.03
"""A cell above this ratio is named in the page."""

Place = tuple[Part, str]
"""A part and the codec of its file."""

Starts = dict[Place, dict[Query, list[tuple[warm.Cell, warm.Cell]]]]
"""The cells of both versions, before and now, of each start, by what was asked where."""


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("before", __doc__)
    options.add("commit", help="any name that git knows")
    options.size("events", 500_000, 20_000, "events in each file")
    options.size("rounds", 15, 2, "counted rounds of each start")
    options.size("starts", 6, 2, "times that both versions are started")
    options.size("most", 40, 2, "starts of a cell that is near the limit")
    options.choice("parts", list(PARTS), list(PARTS), "only these")
    options.choice("codecs", data.CODECS, ("lz4", "zstd"), "of the files")
    options.size("scale", 0.3, 0.01, "of the files of types, where 1 takes ROOT some minutes")
    return options.parse(arguments)


def build(commit: str, folder: Path) -> Path:
    """A folder with the package of a commit, built in release mode unless it is there."""
    code = folder / "before" / commit
    if (code / "treemill").exists():
        return code
    source = code.with_name(f"{commit}-source")
    source.mkdir(parents=True, exist_ok=True)
    archive = subprocess.run(
        ["git", "archive", commit], cwd=REPOSITORY, check=True, capture_output=True
    )
    subprocess.run(["tar", "-x", "-C", str(source)], input=archive.stdout, check=True)
    flags = ["--quiet", "--no-deps", "--no-build-isolation", "--target", str(code)]
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # of maturin
    command = [sys.executable, "-m", "pip", "install", *flags, str(source)]
    subprocess.run(command, check=True, env=os.environ | {"PATH": path})
    return code


def main(arguments: list[str]) -> int:
    """Run what the options ask for; 1 if the versions disagree or one fails."""
    chosen = _options(arguments)
    named = ["git", "rev-parse", "--short", chosen.commit]
    commit = subprocess.run(
        named, cwd=REPOSITORY, check=True, capture_output=True, text=True
    ).stdout.strip()
    code = build(commit, chosen.data)
    for package in (REPOSITORY / "python" / "treemill", code / "treemill"):
        compileall.compile_dir(package, quiet=2)  # as an installed package is
    parts = [PARTS[name] for name in chosen.parts]
    files = {part.files: _files(part.files, chosen) for part in parts}
    facts = machine.describe() | {"before": commit}
    try:
        starts = _starts(parts, code, files, chosen)
    except (warm.WrongBinsError, RivalError) as error:
        say(f"failed: {error}")
        return 1
    described = {
        f"{kind} {codec}": _described(kind, path)
        for kind, some in files.items()
        for codec, path in some.items()
    }
    cells = [cell for known in starts.values() for same in known.values() for cell in _joined(same)]
    numbers = tables.numbers(facts, described, chosen, cells, [])
    about = machine.about(facts, tables.sizes(described), chosen.rounds, chosen.clock)
    text = _page(commit, about, starts)
    publish.page(chosen.output, "-before" + "-quick" * chosen.quick, numbers, text)
    return 0


def _files(kind: str, chosen: argparse.Namespace) -> dict[str, Path]:
    where, codecs, events = chosen.data, chosen.codecs, chosen.events
    if kind == "types":
        files = types.make(where, list(codecs), chosen.scale)
    elif kind == "ntuples":
        files = {codec: ntuples.make(codec, events, where) for codec in codecs}
    else:
        files = {codec: data.make(codec, events, where, kind) for codec in codecs}
    for path in files.values():
        data.warm_up(path)
    return files


def _described(kind: str, path: Path) -> dict[str, object]:
    return {"bytes": path.stat().st_size} if kind == "types" else data.describe(path)


def _starts(
    parts: Sequence[Part],
    code: Path,
    files: Mapping[str, Mapping[str, Path]],
    chosen: argparse.Namespace,
) -> Starts:
    """All cells, each of as many starts as it takes to be sure."""
    starts: Starts = {(part, codec): {} for part in parts for codec in files[part.files]}
    for number in range(chosen.most):
        for (part, codec), known in starts.items():
            queries = [
                query
                for query, cells in known.items()
                if number < chosen.starts or not _is_decided(cells)
            ]
            if known and not queries:
                continue
            file = {codec: files[part.files][codec]}
            for query, cells in _measured(part, queries, code, file, chosen):
                known.setdefault(query, []).append(cells)
    return starts


def _is_decided(cells: Sequence[tuple[warm.Cell, warm.Cell]]) -> bool:
    return ratios.is_decided(_ratios(cells), SLOWER)


def _ratios(cells: Sequence[tuple[warm.Cell, warm.Cell]]) -> list[float]:
    return [now.times.median / before.times.median for before, now in cells]


def _measured(
    part: Part,
    queries: Sequence[Query],
    code: Path,
    files: dict[str, Path],
    chosen: argparse.Namespace,
) -> list[tuple[Query, tuple[warm.Cell, warm.Cell]]]:
    """Cells of one start of both versions. No queries: all that the part has."""
    with warm.Pool() as pool:
        pool.workers.append(Worker(part.before, code))
        pool.workers.append(Worker(part.now))
        asked = queries or part.queries or _answered(pool.workers, next(iter(files.values())))
        cells = warm.measure(pool, asked, files, chosen.rounds, chosen.clock, say)
        return list(zip(asked, zip(cells[::2], cells[1::2], strict=True), strict=True))


def _answered(workers: Sequence[Worker], path: Path) -> list[Query]:
    """A question for each branch that both versions can read."""
    found = []
    for place in places(path):
        query = Query(place.key, place.kind, (place.path,))
        try:
            for worker in workers:
                worker.run(query.key, path)
        except RivalError as error:
            say(f"left out: {query.key}: {error}")
            continue
        found.append(query)
    return found


def _joined(cells: Sequence[tuple[warm.Cell, warm.Cell]]) -> list[warm.Cell]:
    """A cell of each version with the runs of all starts, one start after the other."""
    return [
        replace(
            same[0],
            wall=Times(tuple(t for cell in same for t in cell.wall.seconds)),
            cpu=Times(tuple(t for cell in same for t in cell.cpu.seconds)),
        )
        for same in zip(*cells, strict=True)
    ]


def _page(commit: str, about: Mapping[str, object], starts: Starts) -> str:
    rows = []
    named: dict[str, list[str]] = {"slower": [], "not sure": []}
    everything = [
        (f"{part.name} {query.key} {codec}", cells)
        for (part, codec), known in starts.items()
        for query, cells in known.items()
    ]
    for place, cells in everything:
        measured = _ratios(cells)
        low, high = ratios.interval(measured)
        times = [
            f"{1e3 * median(c.times.median for c in same):.2f}" for same in zip(*cells, strict=True)
        ]
        ratio = [f"{median(measured):.3f}", f"{low:.3f} to {high:.3f}", str(len(cells))]
        rows.append([place, *times, *ratio])
        if word := ratios.verdict(measured, SLOWER):
            named[word].append(place)
    limit = f"{100 * (SLOWER - 1):.0f} %"
    return "\n".join(
        [
            f"# treemill now beside treemill at {commit}, {publish.today()}",
            "",
            "One worker, in turns; milliseconds are medians over the starts of both, and so are "
            f"the ratios. The median of a ratio lies between the two that follow with a "
            f"probability of {100 * ratios.SURE:.0f} %.",
            "",
            tables.facts(about),
            table(["", "before", "now", "now / before", "between", "starts"], rows),
            f"Slower by more than {limit}: {', '.join(named['slower']) or 'none'}.",
            "",
            f"Perhaps slower by more than {limit}, as the starts do not agree: "
            f"{', '.join(named['not sure']) or 'none'}.",
            "",
        ]
    )
