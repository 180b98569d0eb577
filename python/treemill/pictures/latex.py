"""Tables for LaTeX, from texts. Pure: standard library only."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

__all__ = ["escaped", "table"]

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
