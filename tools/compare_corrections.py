"""Corrections of whole documents beside correctionlib: every correction and compound, at random
values, at the documents' own edges and their neighbours, and outside of them. Values are compared
bit by bit, errors by their words.

    python -m tools.compare_corrections muon_Z.json.gz jet_jerc.json.gz
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import correctionlib
import numpy as np
import treemill as tm

__all__ = ["compare", "main"]

Value = float | int | str
Given = list[Any]


def values_of(node: object, found: defaultdict[str, set[Value]]) -> None:
    """Collects what the nodes below this one distinguish, by input."""
    if isinstance(node, list):
        for each in node:
            values_of(each, found)
    if not isinstance(node, dict):
        return
    kind = node.get("nodetype")
    if kind == "category":
        found[node["input"]].update(item["key"] for item in node["content"])
    elif kind == "binning":
        found[node["input"]].update(_edges(node["edges"]))
    elif kind == "multibinning":
        for name, edges in zip(node["inputs"], node["edges"], strict=True):
            found[name].update(_edges(edges))
    for each in node.values():
        values_of(each, found)


def _edges(edges: Any) -> list[float]:
    if isinstance(edges, dict):
        return [float(x) for x in np.linspace(edges["low"], edges["high"], edges["n"] + 1)]
    return [float(edge) for edge in edges]


class Drawer:
    """Draws values of inputs."""

    def __init__(self, text: str, seed: int) -> None:
        self.rng = random.Random(seed)
        found: defaultdict[str, set[Value]] = defaultdict(set)
        values_of(json.loads(text), found)
        self.known = {name: sorted(values, key=str) for name, values in found.items()}

    def word(self, name: str) -> str:
        """A string: mostly one that the document has."""
        words = [value for value in self.known.get(name, []) if isinstance(value, str)]
        return self.rng.choice(words) if words and self.rng.random() < 0.98 else "no such word"

    def number(self, name: str, kind: str, usual: bool) -> float | int:
        """A number; usual ones are between the document's edges."""
        known = [float(value) for value in self.known.get(name, []) if not isinstance(value, str)]
        finite = [value for value in known if math.isfinite(value)] or [0.0, 100.0]
        if kind == "int":
            return int(self.rng.choice(finite)) + (0 if usual else self.rng.randrange(-2, 3))
        low, high = min(finite), max(finite)
        between = self.rng.uniform(low, high)
        if usual:
            return between
        edge = self.rng.choice(finite)
        odd = [edge, math.nextafter(edge, -math.inf), math.nextafter(edge, math.inf)]
        odd += [low - 1, high + 1, high * 1e3, -between, 0.0, -0.0]
        return self.rng.choice(odd)


def outcome(function: Callable[..., Any], given: Given) -> bytes | str:
    """The bits of what it gives, or the words of its error."""
    try:
        found = np.asarray(function(*given), np.float64)
    except (ValueError, RuntimeError, IndexError, tm.TreemillError) as error:
        return str(error)
    return np.where(np.isnan(found), np.nan, found).tobytes()


def same(ours: bytes | str, theirs: bytes | str) -> bool:
    """Whether both gave the same bits, or an error of the same words."""
    if isinstance(ours, bytes) or isinstance(theirs, bytes):
        return ours == theirs
    return theirs in ours


def compare(
    content: bytes, rows: int, words: int, seed: int
) -> Iterator[tuple[str, int, list[str]]]:
    """For each correction its name, how many values were compared, and what differs."""
    text = (gzip.decompress(content) if content[:2] == b"\x1f\x8b" else content).decode()
    theirs, ours = correctionlib.CorrectionSet.from_string(text), tm.corrections(content)
    drawer = Drawer(text, seed)
    pairs: list[tuple[str, Any, Any]] = [(name, ours[name], theirs[name]) for name in theirs]
    pairs += [(name, ours.compound[name], theirs.compound[name]) for name in theirs.compound]
    for name, mine, their in pairs:
        count, differ = 0, []
        inputs = [(each.name, each.type) for each in their.inputs]
        for _ in range(words if any(kind == "string" for _, kind in inputs) else 2):
            fixed = {of: drawer.word(of) for of, kind in inputs if kind == "string"}
            for usual, many in ((True, rows), (False, rows // 5)):
                columns = {
                    of: np.array([drawer.number(of, kind, usual) for _ in range(many)])
                    for of, kind in inputs
                    if of not in fixed
                }
                given = [fixed.get(of, columns.get(of)) for of, _ in inputs]
                both = [outcome(mine, given), outcome(their.evaluate, given)]
                count += many
                if isinstance(both[1], bytes) and same(*both):
                    continue
                for row in range(many):  # which rows differ, or which ones are errors
                    alone = [
                        fixed.get(of, columns[of][row].item() if of in columns else 0)
                        for of, _ in inputs
                    ]
                    here = [outcome(mine, alone), outcome(their.evaluate, alone)]
                    if not same(*here):
                        differ.append(
                            f"{alone}: {_shown(here[0])}, correctionlib {_shown(here[1])}"
                        )
        yield name, count, differ


def _shown(found: bytes | str) -> str:
    return found if isinstance(found, str) else repr(np.frombuffer(found)[0])


def main(arguments: list[str]) -> int:
    """Compares the documents; 1 if any value differs."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.compare_corrections", description=__doc__
    )
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--rows", type=int, default=500, help="numbers drawn together")
    parser.add_argument(
        "--words", type=int, default=20, help="choices of strings for each correction"
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    failed = 0
    for path in options.files:
        corrections = values = 0
        try:
            for name, count, differ in compare(
                path.read_bytes(), options.rows, options.words, options.seed
            ):
                corrections, values = corrections + 1, values + count
                failed += len(differ)
                for line in differ[:3]:
                    print(f"{path}: {name}: {line}")
                if len(differ) > 3:
                    print(f"{path}: {name}: {len(differ)} values differ")
        except (tm.TreemillError, RuntimeError) as error:
            failed += 1
            print(f"{path}: {error}")
        print(f"{path}: {corrections} corrections, {values} values")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
