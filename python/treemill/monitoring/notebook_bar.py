"""The progress bar of notebooks: one output, drawn anew by each update, with a bar and a picture.
The only module that imports IPython."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from ..pictures.html import picture
from .progress import Progress
from .progress_bar import numbers

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["NotebookBar"]


class NotebookBar:
    """A bar below the running cell."""

    def __init__(self) -> None:
        from IPython.display import HTML
        from IPython.display import display as show

        self._html = HTML
        self._handle = show(HTML(""), display_id=True)
        self._picture = ""

    def draw(self, name: str, histogram: Hist) -> None:
        """Sets the picture below the bar, which the next update shows."""
        self._picture = picture(name, histogram)

    def update(self, progress: Progress) -> None:
        """Draws the bar with these numbers."""
        bar = f'<progress value="{progress.entries}" max="{max(progress.expected, 1)}"></progress>'
        words = html.escape(f"{progress.phase}: {numbers(progress)}")
        self._handle.update(self._html(f"<div>{bar} {words}</div>{self._picture}"))

    def close(self) -> None:
        """Ends the display. The last state stays below the cell."""
