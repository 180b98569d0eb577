"""Tables for people: the branches of a tree."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

__all__ = ["plain", "print_branches", "size"]

# A list of leaves, as ROOT has it for titles of branches: "x", "pt[n]/F", "a/I:b[3]/F".
_LEAF = r"[\w.#]+(\[[^\]]*\])*(/[A-Za-z])?"
_LEAVES = re.compile(rf"({_LEAF}(:{_LEAF})*)?")
_ORDER = {"core": 0, "uproot": 1, "no": 2}


class _Branch(Protocol):
    """What is said of a branch."""

    @property
    def name(self) -> str: ...
    @property
    def cpp_type(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def reads_as(self) -> str: ...
    @property
    def how(self) -> str: ...
    @property
    def readable(self) -> bool: ...
    @property
    def reason(self) -> str | None: ...
    @property
    def total_bytes(self) -> int: ...
    @property
    def zip_bytes(self) -> int: ...


def plain(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as lines of text, numbers to the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = ["  ".join(f"{c:>{w}}" for c, w in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([texts[0], "  ".join("─" * width for width in widths), *texts[1:]])


def print_branches(
    title: str, branches: Iterable[_Branch], aliases: Mapping[str, str] | None = None
) -> None:
    """Name, C++ type, how it reads, who reads it (the core, or uproot, which is slower), and sizes,
    one branch a line; those that nobody reads last, with the reason; titles, where there are some
    that say more than ROOT writes by itself. Then the tree's aliases."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, title_justify="left", header_style="bold")
    table.add_column("branch", overflow="fold", no_wrap=True)
    table.add_column("C++ type", overflow="fold")
    table.add_column("reads as", overflow="fold")
    table.add_column("how", no_wrap=True)
    table.add_column("size", justify="right", no_wrap=True)
    table.add_column("in file", justify="right", no_wrap=True)
    rows = list(branches)
    titled = any(map(_title, rows))
    if titled:
        table.add_column("title", overflow="fold")
    for branch in sorted(rows, key=lambda b: _ORDER[b.how]):
        style = "" if branch.readable else "dim"
        table.add_row(
            Text(branch.name, style=style),
            Text(branch.cpp_type, style=style),
            Text(branch.reads_as, style=style),
            Text("" if branch.kind == "group" else branch.how, style=style),
            size(branch.total_bytes),
            size(branch.zip_bytes),
            *([Text(_title(branch), style="dim")] if titled else []),
        )
    console = Console()
    if not console.is_terminal:
        # Nothing is folded in a file or a pipe, where somebody may grep.
        console = Console(width=4 + _widest(rows), highlight=False)
    console.print(Text(title, style="bold"))
    console.print(table)
    for name, text in (aliases or {}).items():
        console.print(Text(f"alias {name} = {text}"))
    slow = sum(b.how == "uproot" for b in rows)
    if slow:
        console.print(Text(f"{slow} of {len(rows)} branches are read by uproot, slower", "dim"))
    unread = sum(b.how == "no" for b in rows)
    if unread:
        console.print(Text(f"{unread} of {len(rows)} branches cannot be read", style="dim"))


def _widest(rows: list[_Branch]) -> int:
    texts = ((b.name, b.cpp_type, b.reads_as, _title(b)) for b in rows)
    widths = [max((len(text) for text in column), default=0) for column in zip(*texts, strict=True)]
    return max(sum(widths) + 40, 80)


def _title(branch: _Branch) -> str:
    """Its title, unless that is the list of its leaves, `Muon_pt[nMuon]/F`, or its name."""
    title = branch.title.strip()
    return "" if _LEAVES.fullmatch(title) else title


def size(count: int) -> str:
    """Bytes in few characters."""
    for unit, letters in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {letters}"
    return f"{count} B"
