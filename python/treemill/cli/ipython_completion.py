"""Columns' names within expressions, for IPython's completion: `%load_ext treemill`, and then
`events.filter("nMuon > 1 and Mu` and the tabulator.

Knows IPython's list of matchers, and of treemill's objects that they have columns.
"""

from __future__ import annotations

import re
from typing import Any

from ..query.node import Bookable

__all__ = ["load"]

# A call of a method of some name's, whose last string is still open; calls before it may be closed.
_CLOSED = r"(?:[^\"']|\"[^\"]*\"|'[^']*')*"
_OPEN = re.compile(rf"(?:^|[^\w.])([^\W\d]\w*)\s*\.{_CLOSED}[\"'][^\"']*$")


def load(ipython: Any) -> None:
    """Adds the matcher to a shell."""
    completer = ipython.Completer

    def columns(text: str) -> list[str]:
        """Those that begin with what stands before the cursor."""
        return _found(ipython.user_ns, completer.text_until_cursor, text)

    completer.custom_matchers.append(columns)


def _found(names: dict[str, Any], line: str, text: str) -> list[str]:
    call = _OPEN.search(line)
    holder = None if call is None else names.get(call[1])
    if not isinstance(holder, Bookable):
        return []
    return [name for name in holder._names() if name.startswith(text)]
