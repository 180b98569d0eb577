"""`python -m bench types`: every kind of branch, beside uproot; a page in `bench/results/`."""

import argparse
import sys

import treemill as tm

from .. import data, machine, publish
from ..options import Options
from ..publish import say
from . import files
from .cells import Cell
from .measure import Bench, DifferenceError
from .page import markdown
from .places import places
from .write import SETTINGS


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("types", __doc__)
    options.size("scale", 1.0, 0.01, "entries, where 1 takes a few minutes")
    options.size("rounds", 5, 2, "counted rounds")
    options.choice("codecs", list(SETTINGS), ["none", "lz4"], "of the files")
    options.add("--kinds", nargs="+", metavar="K", help="only kinds whose names begin so")
    return options.parse(arguments)


def main(arguments: list[str]) -> int:
    """Run what the options ask for; 1 where arrays differ."""
    chosen = _options(arguments)
    facts = machine.describe()
    cells: list[Cell] = []
    sizes: dict[str, int] = {}
    wrong: list[str] = []
    for codec, path in files.make(chosen.data, chosen.codecs, chosen.scale).items():
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
                say(f"WRONG: {error}")
                continue
            except tm.UnsupportedError as error:
                say(f"{codec} {place.kind}: {error}")
                continue
            cells.append(last)
            say(
                f"{codec} {last.kind}: {last.treemill.median * 1e3:.2f} ms"
                f", uproot / treemill {last.ratio or 0:.1f}, treemill / limit {last.over_limit:.1f}"
            )
    title = f"Every kind of branch, {publish.today()}"
    sized = ", ".join(f"{codec} {size / 1e6:.0f} MB" for codec, size in sizes.items())
    told = machine.about(facts, sized, chosen.rounds, chosen.clock)
    raw = {"title": title, "machine": facts, "facts": told, "cells": [c.as_dict() for c in cells]}
    what = "-types" + "-quick" * chosen.quick
    publish.page(chosen.output, what, raw, markdown(title, told, cells))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
