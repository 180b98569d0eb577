"""Completes the names of columns within expressions in IPython: `%load_ext treemill`, and then
`events.filter("nMuon > 1 and Mu` and the tab key.

Knows IPython's list of matchers, and that treemill's objects have columns.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Protocol

from ..query.node import Bookable

__all__ = ["load"]

# A name and the call of a method, whose last string is still open. Earlier strings are closed.
_CLOSED = r"(?:[^\"']|\"[^\"]*\"|'[^']*')*"
_OPEN = re.compile(rf"(?:^|[^\w.])([^\W\d]\w*)\s*\.{_CLOSED}[\"'][^\"']*$")


class Completer(Protocol):
    """IPython's completer, the part that this module needs."""

    custom_matchers: list[Callable[[str], list[str]]]
    text_until_cursor: str


class Shell(Protocol):
    """IPython's shell, the part that this module needs."""

    Completer: Completer
    user_ns: dict[str, object]


def load(ipython: Shell) -> None:
    """Adds the matcher to a shell."""
    completer = ipython.Completer

    def columns(text: str) -> list[str]:
        """The names of columns that begin with `text`."""
        return _found(ipython.user_ns, completer.text_until_cursor, text)

    completer.custom_matchers.append(columns)


def _found(names: Mapping[str, object], line: str, text: str) -> list[str]:
    call = _OPEN.search(line)
    holder = None if call is None else names.get(call[1])
    if not isinstance(holder, Bookable):
        return []
    return [name for name in holder._names() if name.startswith(text)]
