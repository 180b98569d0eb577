"""`python -m bench.types`: every kind of branch, beside uproot; a page in `bench/results/`."""

import argparse
import subprocess
import sys
from pathlib import Path

import treemill as tm

from .. import data, machine, publish
from ..protocol import REPOSITORY
from .cells import Cell
from .measure import Bench, DifferenceError, places
from .page import markdown
from .write import SETTINGS


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.types", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="a hundredth of the entries, 2 rounds: does it run?")
    add("--scale", type=float, help="entries, where 1 takes a few minutes")
    add("--rounds", type=int, help="counted rounds (5)")
    add("--codecs", nargs="+", metavar="C", choices=SETTINGS, default=["none", "lz4"])
    add("--kinds", nargs="+", metavar="K", help="only kinds whose names begin so")
    add("--data", type=Path, default=data.FOLDER, help="folder of the files that are read")
    add("--output", type=Path, default=publish.FOLDER, help="folder")
    add("--clock", choices=("wall", "cpu"), default="wall", help="cpu: for a machine that is busy")
    chosen = parser.parse_args(arguments)
    chosen.scale = chosen.scale or (0.01 if chosen.quick else 1.0)
    chosen.rounds = chosen.rounds or (2 if chosen.quick else 5)
    return chosen


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _files(folder: Path, codecs: list[str], scale: float) -> dict[str, Path]:
    """The files of these codecs; ROOT writes what is not there."""
    folder = folder / f"types-{scale:g}"
    folder.mkdir(parents=True, exist_ok=True)
    paths = {codec: folder / f"{codec}.root" for codec in codecs}
    missing = [codec for codec, path in paths.items() if not path.exists()]
    if missing:
        _say(f"ROOT writes {', '.join(missing)} to {folder}")
        command = [sys.executable, "-W", "ignore", "-m", "bench.types.write", str(folder)]
        subprocess.run([*command, str(scale), *missing], cwd=REPOSITORY, check=True, stdout=2)
    return paths


def main(arguments: list[str] | None = None) -> int:
    """Run what the options ask for; 1 where arrays differ."""
    chosen = _options(arguments)
    facts = machine.describe()
    cells: list[Cell] = []
    sizes: dict[str, int] = {}
    wrong: list[str] = []
    for codec, path in _files(chosen.data, chosen.codecs, chosen.scale).items():
        data.warm_up(path)
        sizes[codec] = path.stat().st_size
        bench = Bench(path, codec, chosen.rounds, chosen.clock)
        for place in places(path):
            if chosen.kinds and not place.kind.startswith(tuple(chosen.kinds)):
                continue
            try:
                last = bench.measure(place)
            except DifferenceError as error:
                wrong.append(str(error))
                _say(f"WRONG: {error}")
                continue
            except tm.UnsupportedError as error:
                _say(f"{codec} {place.kind}: {error}")
                continue
            cells.append(last)
            _say(
                f"{codec} {last.kind}: {last.treemill.median * 1e3:.2f} ms"
                f", uproot / treemill {last.ratio or 0:.1f}, treemill / limit {last.over_limit:.1f}"
            )
    title = f"Every kind of branch, {publish.today()}"
    told = _facts(facts, sizes, chosen)
    raw = {"title": title, "machine": facts, "facts": told, "cells": [c.as_dict() for c in cells]}
    what = "-types" + "-quick" * chosen.quick
    publish.page(chosen.output, what, raw, markdown(title, told, cells))
    return 1 if wrong else 0


def _facts(
    facts: dict[str, object], sizes: dict[str, int], chosen: argparse.Namespace
) -> dict[str, object]:
    versions = dict(facts["versions"])  # type: ignore[call-overload]
    return {
        "machine": f"{facts['cpu']}, {facts['cores']} cores, {facts['kernel']}",
        "versions": ", ".join(f"{k} {v}" for k, v in versions.items())
        + f"; Python {facts['python']}, {facts['rustc']}; commit {facts['commit']}",
        "files": ", ".join(f"{codec} {size / 1e6:.0f} MB" for codec, size in sizes.items()),
        "counted rounds": chosen.rounds,
        "clock": f"{chosen.clock}; load average before the run {facts['load']:.2f}",
    }


if __name__ == "__main__":
    sys.exit(main())
