"""Names of columns as expressions spell them: words with dots as they are, all other names in
backticks; and names that are similar to one that does not exist. Standard library only.
"""

from __future__ import annotations

import keyword
from collections.abc import Iterable

__all__ = ["is_plain", "near", "quoted", "unquoted"]

_LONGEST = 200
"""Letters of a name that may be a typing error."""

_SPELLED = {"true", "false"}
"""Words that are not names, in addition to Python's keywords."""


def is_plain(name: str) -> bool:
    """True if an expression may name it without backticks."""
    parts = name.split(".")
    return all(
        part.isidentifier() and not keyword.iskeyword(part) and part not in _SPELLED
        for part in parts
    ) and not any(part.startswith("_") for part in parts[1:])


def near(name: str, names: Iterable[str]) -> list[str]:
    """Gives up to three names that may have been meant; none for a name that is too long."""
    if len(name) > _LONGEST:
        return []
    from difflib import get_close_matches  # start-up

    return get_close_matches(name, [each for each in names if len(each) <= 2 * _LONGEST], 3)


def quoted(name: str) -> str:
    """A column's name as an expression spells it: `MET_pt`, `` `Muon#0.index` ``."""
    return name if is_plain(name) else f"`{name}`"


def unquoted(text: str) -> str | None:
    """The name that a text spells, in backticks or without; None if the text is not a name."""
    inner = text[1:-1]
    if len(text) > 2 and text[0] == text[-1] == "`" and not set(inner) & set("`\n"):
        return inner
    return text if is_plain(text) else None
