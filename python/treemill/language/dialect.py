"""Whose words an expression is written in: those of the language itself, or those of TTreeFormula,
as TTree::Draw and TTree::SetAlias take them. Data only: what a dialect's words become is said by
the modules that translate them.
"""

from __future__ import annotations

from ..frozen import frozen

__all__ = ["ALIAS", "DRAW", "LANGUAGE", "Dialect"]


@frozen
class Dialect:
    """What the signs of an expression mean."""

    formula: bool = False
    """Whether `^` is the power, `%` C's remainder, and `&` and `|` bind more loosely than
    comparisons, as in TTreeFormula. If not, signs mean what they do in Python."""
    has_entries: bool = False
    """Whether `Entries$` is known."""
    has_chains: bool = True
    """Whether `a < b < c` is read as Python reads it. If not, it is refused, because TTreeFormula
    reads `(a < b) < c`."""


LANGUAGE = Dialect()
"""What users write in queries."""
DRAW = Dialect(formula=True, has_entries=True)
"""What users write in drawings, as for TTree::Draw."""
ALIAS = Dialect(formula=True, has_chains=False)
"""What stands in files, written by TTree::SetAlias."""
