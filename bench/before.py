"""`python -m bench before COMMIT`: treemill at another commit beside treemill now, in turns.

Builds the other commit in release mode into a folder of its own, once. Both versions answer in
processes that stay up; a round asks both, one after the other. The queries of `rivals`, the tasks
of `adl`, and arrays, selectors, skims and the start of the package are measured, with one worker
and nothing remembered between rounds. Writes `bench/results/<date>-<machine>-before.{json,md}`.
"""

import argparse
import compileall
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from . import data, machine, publish, tables, warm
from .options import Options
from .protocol import REPOSITORY, RivalError, Worker
from .publish import say
from .rivals.earlier import PARTS, Part
from .tables import table

SLOWER = 1.03
"""A cell above this ratio is named in the page."""


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("before", __doc__)
    options.add("commit", help="any name that git knows")
    options.size("events", 500_000, 20_000, "events in each file")
    options.size("rounds", 10, 2, "counted rounds")
    options.choice("parts", list(PARTS), list(PARTS), "only these")
    options.choice("codecs", data.CODECS, ("lz4", "zstd"), "of the files")
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
    files = {part.schema: _files(part.schema, chosen) for part in parts}
    facts = machine.describe() | {"before": commit}
    try:
        cells = [c for part in parts for c in _measured(part, code, files[part.schema], chosen)]
    except (warm.WrongBinsError, RivalError) as error:
        say(f"failed: {error}")
        return 1
    described = {
        f"{schema} {codec}": data.describe(path)
        for schema, some in files.items()
        for codec, path in some.items()
    }
    numbers = tables.numbers(facts, described, chosen, cells, [])
    about = machine.about(facts, tables.sizes(described), chosen.rounds, chosen.clock)
    text = _page(commit, about, cells)
    publish.page(chosen.output, "-before" + "-quick" * chosen.quick, numbers, text)
    return 0


def _files(schema: str, chosen: argparse.Namespace) -> dict[str, Path]:
    files = {codec: data.make(codec, chosen.events, chosen.data, schema) for codec in chosen.codecs}
    for path in files.values():
        data.warm_up(path)
    return files


def _measured(
    part: Part, code: Path, files: dict[str, Path], chosen: argparse.Namespace
) -> list[warm.Cell]:
    with warm.Pool() as pool:
        pool.workers.append(Worker(part.now))
        pool.workers.append(Worker(part.before, code))
        return warm.measure(pool, part.queries, files, chosen.rounds, chosen.clock, say)


def _ratios(cells: list[warm.Cell]) -> Iterator[tuple[warm.Cell, warm.Cell, float]]:
    """What is now, what was before, and the ratio of the medians."""
    before = {cell.place: cell for cell in cells if cell.rival.startswith("before")}
    for cell in cells:
        if cell.rival.startswith("now"):
            was = before[cell.place]
            yield cell, was, cell.times.median / was.times.median


def _page(commit: str, about: Mapping[str, object], cells: list[warm.Cell]) -> str:
    pairs = list(_ratios(cells))
    rows = [
        [
            now.place,
            f"{was.times.median * 1e3:.2f}",
            f"{now.times.median * 1e3:.2f}",
            f"{ratio:.3f}",
            f"{now.times.low / was.times.low:.3f}",
        ]
        for now, was, ratio in pairs
    ]
    slower = [now.place for now, was, ratio in pairs if ratio > SLOWER]
    return "\n".join(
        [
            f"# treemill now beside treemill at {commit}, {publish.today()}",
            "",
            "One worker, in turns; milliseconds are medians.",
            "",
            tables.facts(about),
            table(["", "before", "now", "now / before", "ratio of the fastest"], rows),
            f"Slower by more than {100 * (SLOWER - 1):.0f} %: {', '.join(slower) or 'none'}.",
            "",
        ]
    )
