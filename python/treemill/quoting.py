"""Names of columns as expressions spell them: words with dots as they are, all others in backticks,
as in SQL; names that are near to one that is not there. Standard library only.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["is_plain", "near", "quoted", "unquoted"]

_LONGEST = 200
"""Letters of a name that anybody may have mistyped."""

_SPELLED = {"true", "false"}
"""What else than Python's own words is no name."""


def is_plain(name: str) -> bool:
    """Whether an expression may name it without backticks."""
    parts = name.split(".")
    return all(
        part.isidentifier() and not keyword.iskeyword(part) and part not in _SPELLED
        for part in parts
    ) and not any(part.startswith("_") for part in parts[1:])


def near(name: str, names: Iterable[str]) -> list[str]:
    """Those that may have been meant, at most three; none for a name that is too long."""
    if len(name) > _LONGEST:
        return []
    return get_close_matches(name, [each for each in names if len(each) <= 2 * _LONGEST], 3)


def quoted(name: str) -> str:
    """A column's name as an expression spells it: `MET_pt`, `` `Muon#0.index` ``."""
    return name if is_plain(name) else f"`{name}`"


def unquoted(text: str) -> str | None:
    """The name that is spelled, in backticks or without; None where it is none."""
    inner = text[1:-1]
    if len(text) > 2 and text[0] == text[-1] == "`" and not set(inner) & set("`\n"):
        return inner
    return text if is_plain(text) else None
