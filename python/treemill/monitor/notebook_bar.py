"""A running query in a notebook: one output that is drawn anew, a bar and a picture. The only
module that imports IPython."""

from __future__ import annotations

import html
from typing import Any

from .html import picture
from .progress import Progress
from .progress_bar import numbers

__all__ = ["NotebookBar"]


class NotebookBar:
    """Draws when told to, under the cell that is running."""

    def __init__(self) -> None:
        from IPython.display import HTML
        from IPython.display import display as show

        self._html = HTML
        self._handle = show(HTML(""), display_id=True)
        self._picture = ""

    def draw(self, name: str, histogram: Any) -> None:
        """The picture under the bar, from the next update on."""
        self._picture = picture(name, histogram)

    def update(self, progress: Progress) -> None:
        """Shows these numbers."""
        bar = f'<progress value="{progress.entries}" max="{max(progress.expected, 1)}"></progress>'
        words = html.escape(f"{progress.phase}: {numbers(progress)}")
        self._handle.update(self._html(f"<div>{bar} {words}</div>{self._picture}"))

    def close(self) -> None:
        """Leaves the last state there."""
