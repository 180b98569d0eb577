"""Random expressions over lists that are one in the other, up to three deep: loops within loops
over them, whole lists as elements, slices, single lists. They name `x`, `pts` (a list), `deep` (of
lists) and `cube` (of lists of lists).
"""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

_COLUMNS = (("pts", 1), ("deep", 2), ("cube", 3))
Names = tuple[tuple[str, int], ...]
"""Names that are known, with how many lists each has one in the other."""


class _Writer:
    def __init__(self, draw: Callable[..., Any]) -> None:
        self._draw = draw

    def pick(self, *options: Any) -> Any:
        return self._draw(st.sampled_from(options))

    def source(self, names: Names, least: int = 1) -> tuple[str, int]:
        """Something to go through."""
        name, rank = self.pick(*((n, r) for n, r in names if r >= least))
        way = self.pick("plain", "plain", "slice", "one", "places")
        if way == "slice":
            return f"{name}[{self.pick(':2', '1:', '::-1', '-1:', ':0')}]", rank
        if way == "places":
            return f"{name}[[{self.pick('0', '1, 0', '-1, 0, 0', '1, 2')}]]", rank
        if way == "one" and rank > least:
            return f"{name}[{self.pick('0', '1', '-1')}]", rank - 1
        return name, rank

    def loops(self, names: Names, least: int = 1) -> tuple[str, Names]:
        """`for … in … if …` once to three times, and what is known behind them."""
        text = ""
        for _ in range(self.pick(1, 1, 2, 2, 3)):
            items, rank = self.source(names, least)
            name = "abcdefgh"[len(names) - len(_COLUMNS)]
            names = (*names, (name, rank - 1))
            text += f" for {name} in {items}"
            if self.pick(True, False):
                text += f" if {self.condition(names)}"
        return text, names

    def number(self, names: Names, depth: int = 0) -> str:
        ways = ["x", self.pick("1.7", "-0.3")]
        ways += [name for name, rank in names if rank == 0] * 3
        ways += [f"{self.pick('sum', 'len')}({name})" for name, rank in names if rank == 1] * 2
        if depth > 0 and len(names) < len(_COLUMNS) + 4:
            ways += [self.reduced(names, depth - 1)] * 3
            ways += [f"({self.number(names)} * {self.number(names, depth - 1)})"]
        return str(self.pick(*ways))

    def reduced(self, names: Names, depth: int) -> str:
        loops, inner = self.loops(names)
        name = self.pick("sum", "sum", "max", "min", "count")
        return f"{name}({self.number(inner, depth)} * 1.0{loops})"

    def condition(self, names: Names) -> str:
        ways = [f"{self.number(names)} {self.pick('>', '<')} {self.pick('0.37', '1.91', '-2.3')}"]
        ways += [f"len({name}) {self.pick('>', '<')} {self.pick('1', '2')}" for name, _ in names]
        ways += [f"any(y > 1.91 for y in {name})" for name, rank in names if rank == 1]
        ways += [f"any(len(y) > 1 for y in {name})" for name, rank in names if rank == 2]
        # The length of lists of lists is that of each of these in the language, not in Python.
        deep = {name for name, rank in names if rank != 1}
        return str(self.pick(*(w for w in ways if not any(f"len({name})" in w for name in deep))))

    def listed(self, names: Names, depth: int) -> str:
        loops, inner = self.loops(names)
        ways = [f"{self.number(inner, depth)} * 1.0"]
        ways += [name for name, rank in inner if rank > 0] * 2
        if depth > 0 and len(inner) < len(_COLUMNS) + 4:
            ways += [self.listed(inner, depth - 1)] * 2
        return f"[{self.pick(*ways)}{loops}]"


@st.composite
def numbers(draw: Callable[..., Any]) -> str:
    """One number per event."""
    return _Writer(draw).reduced(_COLUMNS, 1)


@st.composite
def lists(draw: Callable[..., Any]) -> str:
    """Lists per event, one in the other."""
    return _Writer(draw).listed(_COLUMNS, 1)


@st.composite
def conditions(draw: Callable[..., Any]) -> str:
    """One condition per event."""
    writer = _Writer(draw)
    return f"{writer.reduced(_COLUMNS, 0)} > {writer.pick('0.37', '-2.3', '4.1')}"
