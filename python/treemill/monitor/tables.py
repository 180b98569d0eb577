"""Tables for people: the branches of a tree."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..branches import Branch

__all__ = ["print_branches"]

_ORDER = {"core": 0, "uproot": 1, "no": 2}


def print_branches(
    title: str, branches: Iterable[Branch], aliases: Mapping[str, str] | None = None
) -> None:
    """Name, C++ type, how it reads, who reads it (the core, or uproot, which is slower), and sizes,
    one branch a line; those that nobody reads last, with the reason. Then the tree's aliases."""
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
    for branch in sorted(rows, key=lambda b: _ORDER[b.how]):
        style = "" if branch.readable else "dim"
        table.add_row(
            Text(branch.name, style=style),
            Text(branch.cpp_type, style=style),
            Text(branch.reads_as, style=style),
            Text("" if branch.kind == "group" else branch.how, style=style),
            size(branch.total_bytes),
            size(branch.zip_bytes),
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


def _widest(rows: list[Branch]) -> int:
    widths = [
        max((len(text) for text in column), default=0)
        for column in zip(*((b.name, b.cpp_type, b.reads_as) for b in rows), strict=True)
    ]
    return max(sum(widths) + 40, 80)


def size(count: int) -> str:
    """Bytes in few characters."""
    for unit, letters in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {letters}"
    return f"{count} B"
