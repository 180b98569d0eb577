"""Legends that cover nothing: they are inside of a panel if they find room there, else beside it.
Knows matplotlib's legends only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from .picture_words import shortened

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import Container
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend as MatplotlibLegend

__all__ = ["Legend"]

_PAD = 0.25
"""Inches between a panel and the legend beside it."""


@dataclass(frozen=True)
class Legend:
    """What a legend says, and the room that it has inside of its panel."""

    place: Axes
    entries: Sequence[tuple[Artist | Container, str]]
    room: float = 0.5
    """The share of the panel's height that it may take."""
    columns: Sequence[int] = (1, 2)
    """How many columns it may have inside of the panel. The first number with which it fits is
    taken."""
    corner: str = "best"

    @property
    def names(self) -> list[str]:
        """The names of the entries, as users gave them."""
        return [name for _, name in self.entries]

    def draw(self) -> None:
        """Adds the legend to the picture, which must have been laid out. If it is beside the panel,
        the figure becomes wider, and the panel stays as it is."""
        figure, panel = cast("Figure", self.place.figure), self.place.get_window_extent()
        for columns in self.columns:
            width, height = self._drawn(self.place, columns, self.corner)
            if width <= panel.width and height <= self.room * panel.height:
                return
        cast("MatplotlibLegend", self.place.get_legend()).remove()
        inches, dpi = figure.get_size_inches(), figure.dpi
        for columns in range(1, len(self.entries) + 1):
            width, height = self._drawn(figure, columns, "outside right upper")
            if height <= dpi * inches[1]:
                break
            figure.legends[0].remove()
        figure.set_size_inches(inches[0] + width / dpi + _PAD, inches[1])

    def _drawn(self, place: Axes | Figure, columns: int, corner: str) -> tuple[float, float]:
        """Draws the legend, and returns its width and height in pixels."""
        drawn = [cast("Artist", artist) for artist, _ in self.entries]
        legend = place.legend(drawn, ["?"] * len(drawn), ncols=columns, loc=corner)
        # matplotlib leaves out entries whose names are empty or begin with "_", unless they are
        # named afterwards.
        for text, name in zip(legend.get_texts(), shortened(self.names), strict=True):
            text.set_text(name)
        box = legend.get_window_extent()
        return box.width, box.height
