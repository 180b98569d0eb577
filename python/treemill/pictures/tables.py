"""Tables of numbers and texts, for terminals and for LaTeX."""

from __future__ import annotations

import math
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console

__all__ = [
    "BranchRow",
    "amount",
    "percent",
    "plain",
    "print_branches",
    "size",
    "table",
    "with_error",
]

# Numbers in tables: amounts, their errors, and shares. Pure: standard library only.

_ALL_DIGITS = 1e5, 1e15
"""The numbers between which all digits before the point are written, and none behind it."""
_LARGE_ERROR, _SMALL = 1e7, 1e-3
"""Plain digits say little if the error is larger than the first, or both numbers are smaller than
the second: then a power of ten is taken out."""
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def amount(value: float, thousands: str = "") -> str:
    """A count or a sum of weights. `thousands`: what separates them."""
    low, high = _ALL_DIGITS
    if isinstance(value, int):
        return f"{value:{thousands}}"
    return f"{value:{thousands}.0f}" if low <= abs(value) < high else f"{value:{thousands}.6g}"


def with_error(value: float, error: float) -> str:
    """A number and its error, which has two digits and decides how many the number has behind the
    point."""
    if not (math.isfinite(value) and math.isfinite(error) and error > 0):
        return f"{amount(value, ',')} ± {amount(error)}"
    larger = max(abs(value), error)
    if error >= _LARGE_ERROR or larger < _SMALL:
        power = _power(larger)
        one, other = _aligned(value / 10.0**power, error / 10.0**power)
        return f"({one} ± {other})×10{str(power).translate(_RAISED)}"  # noqa: RUF001
    one, other = _aligned(value, error)
    return f"{one} ± {other}"


def percent(part: float) -> str:
    """A share, such as an efficiency; a dash for NaN, which is a share of nothing."""
    return "-" if math.isnan(part) else f"{100 * part:.2f} %"


def _power(value: float) -> int:
    return math.floor(math.log10(value))


def _aligned(value: float, error: float) -> tuple[str, str]:
    behind = 1 - _power(error)
    shown = max(behind, 0)
    return f"{value:,.{shown}f}", f"{round(error, behind):,.{shown}f}"


# Tables for LaTeX, from texts. Pure: standard library only.

_FORMULAS = "αβγδεζηθικλμνξπρστυφχψωµΓΔΘΛΞΠΣΦΨΩ≤≥≠≈±×·→∞∈ℓ"  # noqa: RUF001
_COMMANDS = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon varphi chi psi omega mu Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega "
    "leq geq neq approx pm times cdot to infty in ell"
)
"""What LaTeX calls these signs, which it has in formulas only. The other Greek letters look like
Latin ones, and have no names."""
_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    **{sign: f"${sign}$" for sign in "<>"},
    **{sign: rf"$\{name}$" for sign, name in zip(_FORMULAS, _COMMANDS.split(), strict=True)},
    **{sign: f"$^{{{n}}}$" for sign, n in zip("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789", strict=True)},
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def escaped(text: str) -> str:
    """A text as LaTeX prints it."""
    return "".join(_SIGNS.get(sign, sign) for sign in text)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A `tabular` of these texts, with lines of the package booktabs. The first column is of words,
    the others of numbers."""
    lines = [" & ".join(map(escaped, each)) + r" \\" for each in (head, *rows)]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{l{'r' * (len(head) - 1)}}}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


# Tables of branches for a terminal, and tables of text in general.

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
    follow. A terminal that has fewer lines shows them by its pager (`less`)."""
    from rich.console import Console

    rows = sorted(branches, key=lambda branch: _ORDER[branch.how])
    console = Console(highlight=False)
    whole = not console.is_terminal
    if not whole and len(rows) > console.height and sys.stdin.isatty():
        os.environ.setdefault("LESS", "FRX")  # as git does: with colours, and without a new screen
        paging: AbstractContextManager[object] = console.pager(styles=True)
    else:
        paging = nullcontext()
    with paging:
        _print(console, title, rows, aliases or {}, whole)


def _print(
    console: Console,
    title: str,
    rows: Sequence[BranchRow],
    aliases: Mapping[str, str],
    whole: bool,
) -> None:
    """Prints what `print_branches` does. `whole`: no line is folded."""
    from rich.segment import Segment, Segments
    from rich.style import Style
    from rich.text import Text

    console.print(Text(title, style="bold"), soft_wrap=whole)
    # rich gets lines that are laid out: its own tables render each cell several times, which takes
    # most of the time if a tree has thousands of branches.
    styles = {style: Style.parse(style) for style in ("", "bold", "dim")}
    lines = _lines(rows, None if whole else console.width)
    segments = (Segment(text, styles[style]) for text, style in lines)
    console.print(Segments(segments), crop=False, end="")
    for name, text in aliases.items():
        console.print(Text(f"alias {name} = {text}"), soft_wrap=whole)
    slow = sum(b.how == "uproot" for b in rows)
    if slow:
        console.print(Text(f"{slow} of {len(rows)} branches are read by uproot, slower", "dim"))
    unread = sum(b.how == "no" for b in rows)
    if unread:
        console.print(Text(f"{unread} of {len(rows)} branches cannot be read", style="dim"))


_HEAD = ("branch", "C++ type", "reads as", "how", "size", "in file", "title")
_SIZES, _TITLES = (4, 5), 6
_FOLDED = ((1, 2, _TITLES), (0,))
"""The columns whose texts take several lines in a narrow terminal: the names only if the others
are at their narrowest."""
_NARROWEST = 8
_BETWEEN = "  "


def _lines(rows: Sequence[BranchRow], width: int | None) -> Iterator[tuple[str, str]]:
    """Pieces of the table's lines, and rich's names of their styles. `width`: of the terminal; None
    gives one line per branch, however long it is."""
    columns = len(_HEAD) if any(map(_title, rows)) else _TITLES
    cells = [_HEAD[:columns], *(_cells(branch)[:columns] for branch in rows)]
    widths = [max(map(_wide, column)) for column in zip(*cells, strict=True)]
    if width is not None:
        _narrow(widths, width - len(_BETWEEN) * (columns - 1))
    styles = ["bold", *("" if branch.readable else "dim" for branch in rows)]
    for row, (texts, style) in enumerate(zip(cells, styles, strict=True)):
        for line in _folded(texts, widths):
            padded = [_padded(*cell) for cell in zip(line, widths, range(columns), strict=True)]
            yield _BETWEEN.join(padded[:_TITLES]), style
            titles = "".join(_BETWEEN + text for text in padded[_TITLES:])
            yield titles.rstrip() + "\n", "dim" if row else style


def _cells(branch: BranchRow) -> tuple[str, ...]:
    how = "" if branch.kind == "group" else branch.how
    texts = (branch.name, branch.cpp_type, branch.reads_as, how)
    cells = (*texts, size(branch.total_bytes), size(branch.zip_bytes), _title(branch))
    return tuple(text if text.isprintable() else _printable(text) for text in cells)


def _printable(text: str) -> str:
    """Without signs that would move a terminal's cursor or change its colours."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _wide(text: str) -> int:
    """The width in a terminal."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # start-up

    return cell_len(text)


def _narrow(widths: list[int], most: int) -> None:
    """Takes what is too wide from the widest of the columns that may fold."""
    for folded in _FOLDED:
        may = [column for column in folded if column < len(widths)]
        while sum(widths) > most:
            widest = max(may, key=widths.__getitem__)
            if widths[widest] <= _NARROWEST:
                break
            widths[widest] -= 1


def _folded(texts: Sequence[str], widths: Sequence[int]) -> Iterable[Sequence[str]]:
    """The lines of one row."""
    if all(_wide(text) <= width for text, width in zip(texts, widths, strict=True)):
        return [texts]
    folded = [_wrapped(text, width) for text, width in zip(texts, widths, strict=True)]
    return zip_longest(*folded, fillvalue="")


@lru_cache(1000)
def _wrapped(text: str, width: int) -> list[str]:
    """Between words where it can be."""
    from rich.text import Text  # start-up

    lines = Text(text).wrap(_console(), width, overflow="fold")
    return [line.plain for line in lines]


@cache
def _console() -> Console:
    """What rich wants for wrapping. One for all cells: making it looks through the environment."""
    from rich.console import Console  # start-up

    return Console()


def _padded(text: str, width: int, column: int) -> str:
    space = " " * (width - _wide(text))
    return space + text if column in _SIZES else text + space


def _title(branch: BranchRow) -> str:
    """The title; empty if it is only the branch's name, or its leaves, `Muon_pt[nMuon]/F`."""
    title = " ".join(branch.title.split())
    return "" if _LEAVES.fullmatch(title) else title


def size(count: int) -> str:
    """A number of bytes in few characters."""
    for unit, letters in ((10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if count >= unit:
            return f"{count / unit:.1f} {letters}"
    return f"{count} B"
