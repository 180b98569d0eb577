"""Tables for LaTeX, from texts. Pure: standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["escaped", "table"]

_SIGNS = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "±": r"$\pm$",
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
