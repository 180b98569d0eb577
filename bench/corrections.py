"""`python -m bench corrections`: corrections with arrays, beside correctionlib's vectorised call on
the same arrays. A table on standard output and in `bench/results/<date>-<machine>-corrections.md`,
raw numbers beside it in JSON.

Times are nanoseconds per value, medians of `--rounds`, on one thread, in turn, by the CPU clock.
Results are compared first, to the last bit.
"""

import json
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import treemill as tm

from . import machine, publish
from .measured import Row, in_turn, ratios
from .options import Options

Node = dict[str, Any]
_LEGEND = """\
A scale factor as those of muons (bins of eta and pT, categories), a calibration as those of jets (a
formula with parameters of its own in each of 40 bins of eta), and normal random numbers from a hash
of both values. Both take the same NumPy arrays. The ratio is correctionlib's time over
treemill's, round by round. ✓ the goal is reached, ✗ it is not.
"""
OUTPUT = {"name": "weight", "type": "real"}
INPUTS = [
    {"name": "eta", "type": "real"},
    {"name": "pt", "type": "real"},
    {"name": "syst", "type": "string"},
]
SYSTEMATICS = ["nominal", "stat", "syst", "systup", "systdown"]


def edges(low: float, high: float, n: int) -> list[float]:
    return [float(x) for x in np.linspace(low, high, n + 1)]


def scale_factor() -> Node:
    """As those of muons: bins of eta, of pt in each, of which each has a category."""
    values = iter(np.random.default_rng(1).uniform(0.8, 1.2, 10_000).tolist())

    def cell() -> Node:
        content = [{"key": key, "value": next(values)} for key in SYSTEMATICS]
        return {"nodetype": "category", "input": "syst", "content": content}

    def row() -> Node:
        pt = edges(15, 120, 7)
        content = [cell() for _ in pt[1:]]
        return {
            "nodetype": "binning",
            "input": "pt",
            "edges": pt,
            "content": content,
            "flow": "clamp",
        }

    eta = edges(-2.4, 2.4, 12)
    content = [row() for _ in eta[1:]]
    return {
        "nodetype": "binning",
        "input": "eta",
        "edges": eta,
        "content": content,
        "flow": "clamp",
    }


def calibration() -> Node:
    """As those of jets: a formula with its own parameters in each bin of eta."""
    values = np.random.default_rng(2).uniform(0.01, 0.1, (40, 4)).tolist()
    text = "max(0.1,min(2.0,1+[0]+[1]*log10(max(10.0,min(1000.0,x)))+[2]/(pow(log10(x),2)+[3])))"
    eta = edges(-5.0, 5.0, 40)
    content = [
        {
            "nodetype": "formula",
            "expression": text,
            "parser": "TFormula",
            "variables": ["pt"],
            "parameters": parameters,
        }
        for parameters in values
    ]
    return {
        "nodetype": "binning",
        "input": "eta",
        "edges": eta,
        "content": content,
        "flow": "error",
    }


def smearing() -> Node:
    return {"nodetype": "hashprng", "inputs": ["eta", "pt"], "distribution": "normal"}


def document() -> str:
    """The corrections that are measured."""
    parts = {"scale factor": scale_factor(), "calibration": calibration(), "smearing": smearing()}
    listed = [
        {"name": name, "version": 1, "inputs": INPUTS, "output": OUTPUT, "data": data}
        for name, data in parts.items()
    ]
    return json.dumps({"schema_version": 2, "corrections": listed})


def measured(rounds: int, number: int) -> Iterator[Row]:
    """Each correction by both, and the ratio of the two."""
    import correctionlib

    rng = np.random.default_rng(3)
    given = (rng.uniform(-2.4, 2.4, number), rng.exponential(40, number) + 15, "nominal")
    text = document()
    theirs = correctionlib.CorrectionSet.from_string(text)
    for name, ours in tm.corrections(text.encode()).items():
        publish.say(name)
        tasks: dict[str, Callable[[], object]] = {
            "correctionlib": partial(theirs[name].evaluate, *given),
            "treemill": partial(ours, *given),
        }
        one, other = (np.asarray(task()).tobytes() for task in tasks.values())
        if one != other:
            raise SystemExit(f"{name}: results differ")
        rows = [
            Row(f"{who}: {name}", tuple(1e9 * s / number for s in seconds), "ns a value")
            for who, seconds in in_turn(rounds, tasks, time.process_time).items()
        ]
        yield from rows
        yield ratios(f"correctionlib over treemill: {name}", *rows, above=1.0)


def main(arguments: list[str]) -> int:
    """Measure and write."""
    options = Options("corrections", __doc__, clock=False)
    options.size("rounds", 7, 2, "counted rounds of each measurement")
    options.size("values", 1_000_000, 20_000, "in each array")
    chosen = options.parse(arguments)
    facts = machine.describe("correctionlib")
    rows = [*measured(chosen.rounds, chosen.values)]
    about = machine.about(facts, f"{chosen.values:,} values", chosen.rounds, "cpu, one thread")
    publish.rows(chosen, "corrections", "Corrections", _LEGEND, about, facts, rows)
    return int(not all(row.reached for row in rows if row.reached is not None))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
