"""What nodes draw and list at once (looks.py), made: the histogram that is filled and shown, the
entries and statistics that are printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .drawing import drawn
from .listing import Description, described, first_entries, scanned
from .looks import Drawing
from .monitor.display import in_notebook, show
from .query import Node
from .wanted import named_columns

__all__ = ["AtOnce"]


class AtOnce:
    """See `Looks`."""

    def draw(self, node: Node, wanted: Drawing) -> Any:
        """Fills one histogram and draws it: in a terminal as text; notebooks do by themselves."""
        made = drawn(node, wanted)
        if not (made.quiet or in_notebook()):
            show(made.histogram, made.title, wanted.log)
        return made.histogram

    def scan(self, node: Node, columns: Sequence[str], where: str | None, count: int) -> None:
        """Prints the first entries."""
        print(scanned(node, columns, where, count))

    def head(self, node: Node, columns: Any, count: int) -> Any:
        """The first entries, as an awkward array."""
        return first_entries(node, named_columns(columns, node._names), count)

    def describe(self, node: Node, columns: Sequence[str]) -> Description:
        """Columns in numbers."""
        return described(node, columns)

    def html(self, title: str, value: Any) -> str:
        """What a booking computed, for a notebook."""
        from .monitor.html import of_value

        return of_value(title, value)
