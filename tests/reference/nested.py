"""Random expressions over what random.py has not: strings, lists of strings, lists of lists, 64-bit
numbers at their ends, constants by name; and the data for them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot
from hypothesis import strategies as st

from .values import Event

WORDS = ("", "a", "ab", "b", "mu", "el")
PARAMS = {"cut": 1.3, "two": 2, "word": "mu"}
"""Constants that all expressions may name."""
_ENDS = (0, 1, 2, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 2, 2**64 - 1)


def write(path: Path, seed: int, entries: int = 40) -> None:
    """An RNTuple called Events."""
    rng = np.random.default_rng(seed)
    outer = rng.integers(0, 4, entries)
    inner = rng.integers(0, 4, int(outer.sum()))
    values = rng.normal(1.0, 3.0, int(inner.sum()))
    words = rng.choice(WORDS, int(outer.sum())).tolist()
    squares = rng.integers(0, 3, int(inner.sum()))
    small = rng.normal(1.0, 3.0, int(squares.sum())).astype(np.float32)
    square = ak.unflatten(ak.unflatten(small, squares), inner)
    columns = {
        "entry": np.arange(entries, dtype=np.int32),
        "x": rng.normal(1.0, 3.0, entries),
        "i": rng.integers(-3, 4, entries).astype(np.int64),
        "u": rng.choice(np.array(_ENDS, np.uint64), entries),
        "l": rng.choice(np.array([-(2**63), -1, 0, 2**53 + 1, 2**63 - 1], np.int64), entries),
        "s": ak.Array(rng.choice(WORDS, entries).tolist()),
        "names": ak.unflatten(ak.Array(words), outer),
        "us": ak.unflatten(rng.choice(np.array(_ENDS, np.uint64), int(outer.sum())), outer),
        "deep": ak.unflatten(ak.unflatten(values, inner), outer),
        "cube": ak.unflatten(square, outer),
        "pts": ak.unflatten(rng.normal(1.0, 3.0, int(outer.sum())), outer),
    }
    with uproot.recreate(path) as file:
        file.mkrntuple("Events", ak.Array(columns))


def events(path: Path) -> list[Event]:
    """What is in the file."""
    with uproot.open(path) as file:
        return [Event(row) for row in file["Events"].arrays().to_list()]


class _Writer:
    def __init__(self, draw: Callable[..., Any]) -> None:
        self._draw = draw

    def pick(self, *options: str) -> str:
        return str(self._draw(st.sampled_from(options)))

    def word(self, depth: int) -> str:
        """A string."""
        ways = ["s", f'"{self.pick(*WORDS)}"', "word", "fill_missing(names[0], s)"]
        ways.append(f'fill_missing(names[{self.pick("0", "1", "-1")}], "none")')
        if depth > 0:
            a, b = self.word(depth - 1), self.word(depth - 1)
            ways.append(f"({a} if {self.condition(depth - 1)} else {b})")
        return self.pick(*ways)

    def condition(self, depth: int) -> str:
        ops = ("==", "!=", "<", "<=", ">", ">=")
        whole = ("u", "l", "i", "0", "9223372036854775807", "18446744073709551615", "-1", "two")
        ways = [
            f"({self.pick('s', 'names[0]')} {self.pick(*ops)} {self.pick('s', 'word', repr('b'))})",
            f"(s {self.pick('in', 'not in')} ['a', 'mu', 'b'])",
            f"({self.pick('s', 'word', repr('ab'))} {self.pick('in', 'not in')} names)",
            f"({self.pick('u', 'l', 'i')} {self.pick(*ops)} {self.pick(*whole)})",
            f"(u {self.pick('in', 'not in')} [0, 9223372036854775808, 18446744073709551615])",
            f"(u {self.pick('in', 'not in')} us)",
            "(x > cut)",
            f"any(v {self.pick(*ops)} word for v in names)",
            f"any(any(y > {self.pick('cut', '0.37')} for y in v) for v in deep)",
            f"all(len(v) {self.pick('>', '<')} {self.pick('two', '1')} for v in deep)",
            f"any(v {self.pick(*ops)} u for v in us)",
        ]
        if depth > 0:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            ways += [f"({a} and {b})", f"({a} or {b})", f"(not {a})"]
        return self.pick(*ways)

    def number(self, depth: int) -> str:
        ways = [
            "len(names)",
            "sum(1 for v in deep)",
            "(x * two)",
            "sum(sum(v) for v in deep)",
            f"sum({self.pick('max', 'min', 'sum', 'len')}(v) for v in deep)",
            "max([sum(v) for v in deep])",
            f"sum(len(v) for v in deep if len(v) > {self.pick('0', '1', 'two')})",
            "sum(y for v in deep for y in v if y > cut)",
            f"sum(t * x for t in [{self.pick('0.5', '1')}, 1.5, 2] if t > cut)",
            f"sum(t * i for t in [{self.pick('-1', '1')}, 3, 2] if t > cut)",
            f"sum(1 for v in names if v == {self.word(0)})",
            f"sum(1 for v in sorted(names) if v < {self.word(0)})",
            f"sum(1 for v in concat(names, names) if v == {self.word(0)})",
            "sum((y if len(v) > 1 else -y) for v in deep for y in v)",
            f"(deep[{self.pick('0', '1', '-1')}])[{self.pick('0', '-1', '1')}]",
        ]
        if depth > 0:
            a, b = self.number(depth - 1), self.number(depth - 1)
            ways += [f"({a} + {b})", f"({a} * 1.0 if {self.condition(depth - 1)} else {b} * 1.0)"]
        return self.pick(*ways)

    def listed(self, depth: int) -> str:
        inner = self.pick("y > cut", "len(v) > 1", "s in names", "u > l", "word == s", "u in us")
        ways = [
            "[sum(v) for v in deep]",
            f"[y * two for v in deep for y in v if {inner}]",
            "[len(v) for v in deep]",
            f"[(1 if v == {self.word(0)} else 2) for v in names]",
            "[(1 if v > l else 3) for v in us]",
        ]
        return self.pick(*ways)


@st.composite
def numbers(draw: Callable[..., Any], depth: int = 1) -> str:
    """One number per event."""
    return _Writer(draw).number(depth)


@st.composite
def conditions(draw: Callable[..., Any], depth: int = 2) -> str:
    """One condition per event."""
    return _Writer(draw).condition(depth)


@st.composite
def lists(draw: Callable[..., Any], depth: int = 1) -> str:
    """A list of numbers per event."""
    return _Writer(draw).listed(depth)
