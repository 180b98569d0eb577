"""Tables of branches for a terminal, and tables of text in general."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

__all__ = ["BranchRow", "plain", "print_branches", "size"]

# A list of leaves, as ROOT writes it into the titles of branches: "x", "pt[n]/F", "a/I:b[3]/F".
_LEAF = r"[\w.#]+(\[[^\]]*\])*(/[A-Za-z])?"
_LEAVES = re.compile(rf"({_LEAF}(:{_LEAF})*)?")
_ORDER = {"core": 0, "uproot": 1, "no": 2}


class BranchRow(Protocol):
    """What a table says of one branch."""

    @property
    def name(self) -> str:
        """The branch's name."""

    @property
    def cpp_type(self) -> str:
        """The branch's C++ type."""

    @property
    def title(self) -> str:
        """The branch's title, as ROOT wrote it."""

    @property
    def kind(self) -> str:
        """ "group" if it only has branches of its own."""

    @property
    def reads_as(self) -> str:
        """The type that it reads as."""

    @property
    def how(self) -> str:
        """The branch's reader: "core", "uproot" or "no"."""

    @property
    def readable(self) -> bool:
        """True if it can be read."""

    @property
    def reason(self) -> str | None:
        """Why it cannot be read by the core."""

    @property
    def total_bytes(self) -> int:
        """Bytes in memory."""

    @property
    def zip_bytes(self) -> int:
        """Bytes in the file."""


def plain(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Lays out a table as lines of text, aligned to the right."""
    lines = [list(head), *map(list, rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    texts = ["  ".join(f"{c:>{w}}" for c, w in zip(line, widths, strict=True)) for line in lines]
    return "\n".join([texts[0], "  ".join("─" * width for width in widths), *texts[1:]])


def print_branches(
    title: str, branches: Iterable[BranchRow], aliases: Mapping[str, str] | None = None
) -> None:
    """Prints a line for each branch: its name, its C++ type, the type that it reads as, its reader
    (the core, or uproot, which is slower) and its sizes. Unreadable branches come last. A column of
    titles is added if one of them says more than ROOT writes by itself. The tree's aliases
    follow."""
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
        # A file or a pipe gets one line per branch, which grep can find.
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


def _widest(rows: list[BranchRow]) -> int:
    texts = ((b.name, b.cpp_type, b.reads_as, _title(b)) for b in rows)
    widths = [max((len(text) for text in column), default=0) for column in zip(*texts, strict=True)]
    return max(sum(widths) + 40, 80)


def _title(branch: BranchRow) -> str:
    """The title; empty if it is only the branch's name, or its leaves, `Muon_pt[nMuon]/F`."""
    title = branch.title.strip()
    return "" if _LEAVES.fullmatch(title) else title


def size(count: int) -> str:
    """A number of bytes in few characters."""
    for unit, letters in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {letters}"
    return f"{count} B"
