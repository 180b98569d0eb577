"""`python -m bench corrections [VALUES]`: corrections with arrays, beside correctionlib's
vectorised call on the same arrays. A table on standard output: nanoseconds per value on one
thread, by the CPU clock, medians of five rounds that are done in turn. Results are compared to the
last bit first.
"""

import json
import sys
import time
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import treemill as tm

Node = dict[str, Any]
ROUNDS = 5
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


def cost(function: Callable[..., object], given: tuple[object, ...]) -> float:
    """Nanoseconds that a call takes."""
    start = time.process_time_ns()
    function(*given)
    return float(time.process_time_ns() - start)


def main(arguments: list[str]) -> int:
    """Prints the table."""
    import correctionlib

    n = int(arguments[0]) if arguments else 1_000_000
    rng = np.random.default_rng(3)
    given = (rng.uniform(-2.4, 2.4, n), rng.exponential(40, n) + 15, "nominal")
    text = document()
    theirs = correctionlib.CorrectionSet.from_string(text)
    ours = tm.corrections(text.encode())
    print(f"| {n} values | correctionlib {correctionlib.__version__}, ns | treemill, ns | ratio |")
    print("|---|--:|--:|--:|")
    slower = 0
    for name, correction in ours.items():
        functions = (theirs[name].evaluate, correction)
        results = [np.asarray(function(*given)).tobytes() for function in functions]
        if results[0] != results[1]:
            print(f"{name}: results differ", file=sys.stderr)
            return 1
        rounds = [[cost(function, given) / n for function in functions] for _ in range(ROUNDS)]
        a, b = (median(costs) for costs in zip(*rounds, strict=True))
        slower += a < b
        print(f"| {name} | {a:.1f} | {b:.1f} | {a / b:.1f} |")
    return int(slower > 0)
