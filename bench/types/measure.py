"""Reads every branch of a file with treemill and with uproot, in turn, compares the arrays, and
takes the times. Knows nothing of promises and tables.
"""

import gc
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import treemill as tm
import uproot

from tools.readers.compare import difference

from ..times import Times
from ..unpack import unpack
from .cells import Cell
from .places import Place


class DifferenceError(Exception):
    """treemill and uproot gave different arrays, and no reason is known."""


UPROOT_IS_WRONG = {
    "vector<Item>": "of C arrays in objects uproot makes no fixed dimension",
    "vector<Item> split: x.s": "uproot takes all of an entry's strings for one",
}
"""Kinds whose arrays are not compared, with the reason: tests with the values that were written
(tests/oracle/test_objects.py) say who is right."""


class Bench:
    """Measures places of one file."""

    def __init__(self, path: Path, codec: str, rounds: int, clock: str) -> None:
        self._path, self._codec, self._rounds = path, codec, rounds
        self._cpu = clock == "cpu"
        self._other = uproot.open(path, object_cache=None, array_cache=None)

    def measure(self, place: Place) -> Cell:
        """Raises `DifferenceError`, and treemill's errors."""
        events = tm.dataset(self._path, tree=place.tree)
        branch = self._other[place.tree]
        for name in place.path.split("/"):
            branch = next(b for b in branch.branches if b.name == name)
        ways: dict[str, Callable[[], Any]] = {
            "treemill": lambda: events.arrays([place.name])[place.name],
            "uproot": lambda: branch.array(array_cache=None),
        }
        ours = ways["treemill"]()
        interpretation = type(branch.interpretation).__name__
        why = UPROOT_IS_WRONG.get(place.kind, "")
        try:
            theirs = ways["uproot"]()
        except Exception as error:
            interpretation = f"cannot: {type(error).__name__}"
            del ways["uproot"]
        else:
            found = difference(ours, theirs)
            if found is not None and not why:
                raise DifferenceError(f"{place.kind}, {self._codec}: {found}")
            why = why if found is not None else ""
            del theirs
        del ours
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(self._rounds):
            for name, way in ways.items():
                taken[name].append(self._seconds(way))
        times = {name: Times(tuple(seconds)) for name, seconds in taken.items()}
        return Cell(
            place.kind,
            self._codec,
            place.cpp_type,
            interpretation,
            int(branch.uncompressed_bytes),
            times["treemill"],
            times.get("uproot"),
            self._limit(place),
            why,
        )

    def _seconds(self, way: Callable[[], Any]) -> float:
        now = time.process_time if self._cpu else time.perf_counter
        gc.collect()  # what the other left in cycles is not to be counted here
        begin = now()
        array = way()
        end = now()
        del array  # Its memory is given back after the clock has stopped.
        return end - begin

    def _limit(self, place: Place) -> Times:
        wall = self._unpacked(place, self._rounds)[0]
        if not self._cpu:
            return Times(tuple(wall))
        # A program of its own: what it takes without the runs is taken off.
        many = 4 * self._rounds
        more, less = self._unpacked(place, many)[1], self._unpacked(place, 0)[1]
        return Times((max(more - less, 1e-6) / many,))

    def _unpacked(self, place: Place, repeat: int) -> tuple[list[float], float]:
        return unpack(self._path, place.tree, place.path, repeat)
