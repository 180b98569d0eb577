"""The progress bar of terminals, drawn by rich: events, events/s, MB/s, workers, time left, and a
histogram below it.
"""

from __future__ import annotations

import html
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from rich.progress import BarColumn, TaskProgressColumn, TextColumn
from rich.progress import Progress as RichProgress
from rich.text import Text

from ..pictures.html import picture
from ..pictures.text_histogram import text
from .progress import Progress

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["NotebookBar", "ProgressBar", "numbers"]


class _WithPicture(RichProgress):
    picture = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.picture:
            yield Text(self.picture, no_wrap=True, overflow="crop")


class ProgressBar:
    """A bar on standard error. It is drawn by `update`; it has no thread of its own."""

    def __init__(self, passing: bool = False) -> None:
        """`passing` removes the bar from the screen at the end."""
        self._rich = _WithPicture(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            TaskProgressColumn(),
            TextColumn("{task.fields[numbers]}"),
            console=Console(stderr=True),
            auto_refresh=False,
            expand=True,
            transient=passing,
        )
        self._task = self._rich.add_task("", total=None, numbers="")
        self._rich.start()

    def draw(self, name: str, histogram: Hist) -> None:
        """Sets the histogram below the bar, which the next update shows."""
        self._rich.picture = text(histogram, name, self._rich.console.width)

    def update(self, progress: Progress) -> None:
        """Draws the bar with these numbers."""
        self._rich.update(
            self._task,
            description=progress.phase,
            total=max(progress.expected, 1),
            completed=progress.entries,
            numbers=numbers(progress),
        )
        self._rich.refresh()

    def close(self) -> None:
        """Ends the display. The last state stays on the screen unless the bar is `passing`."""
        self._rich.stop()


def numbers(progress: Progress) -> str:
    """The numbers next to the bar."""
    parts = [
        f"{_short(progress.entries)} events",
        f"{_short(progress.events_per_second)} events/s",
        f"{progress.megabytes_per_second:.1f} MB/s",
    ]
    if progress.bytes_from_cache:
        parts.append(f"{_short(progress.bytes_from_cache)}B from memory")
    if progress.workers:
        parts.append(f"{progress.workers} worker{'s' * (progress.workers > 1)}")
    left = progress.seconds_left
    if progress.workers and left is not None:
        parts.append(f"ETA {_clock(left)}")
    else:
        parts.append(f"{progress.seconds:.1f} s")
    return "  ".join(parts)


def _short(number: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if number >= size:
            return f"{number / size:.2f}{letter}"
    return f"{number:.0f}"


def _clock(seconds: float) -> str:
    whole = int(seconds + 0.5)
    hours, rest = divmod(whole, 3600)
    minutes, rest = divmod(rest, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


# The progress bar of notebooks: one output, redrawn by each update, with a bar and a picture.
# The only module that imports IPython.


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
