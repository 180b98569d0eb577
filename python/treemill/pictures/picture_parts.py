"""The parts of pictures of histograms: the style, edges, errors, bands, ranges and titles. Knows
hist.Hist and matplotlib's axes only.
"""

from __future__ import annotations

import math
import re
import textwrap
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, cast

from .._system.process import in_notebook
from ..errors import QueryError
from .histogram_labels import edges_of, is_profile, outside, quantity, with_ends

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.container import Container
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend as MatplotlibLegend
    from matplotlib.text import Text

__all__ = [
    "Band",
    "Legend",
    "PlotStyle",
    "check_formulas",
    "contents_label",
    "draw_band",
    "drawing",
    "drawn_edges",
    "errors_of",
    "finished",
    "frame",
    "of_processes",
    "set_title",
    "set_vertical",
    "shortened",
    "styles",
]

# How the histograms of one picture are told apart: colours, then hatches or dashes. Knows names
# only.

_TEN = (
    *("#3f90da", "#ffa90e", "#bd1f01", "#94a4a2", "#832db6"),
    *("#a96b59", "#e76300", "#b9ac70", "#717581", "#92dadd"),
)
"""The ten colours of M. Petroff (arXiv:2107.02270), which CMS recommends for more than six things.
Readers who are colour-blind can tell them apart."""
_HATCHES = ("", "....", "xxxx", "----", "oooo", "||||", "****")
"""The band of what is uncertain has the slashes."""
_DASHES = ("-", "--", ":", "-.")


@dataclass(frozen=True)
class PlotStyle:
    """How one histogram is drawn."""

    color: str
    hatch: str = ""
    """What lies over the colour of an area that would look like another one."""
    dashes: str = "-"
    """The same for a line."""


def styles(names: Iterable[str], usual: Sequence[str]) -> dict[str, PlotStyle]:
    """A look for each name by its place. `usual`: the colours of the style, which are used if they
    are enough."""
    names = list(names)
    colors = usual if len(names) <= len(usual) else _TEN
    return {name: _look(number, colors) for number, name in enumerate(names)}


def _look(number: int, colors: Sequence[str]) -> PlotStyle:
    round_, place = divmod(number, len(colors))
    hatch, dashes = _HATCHES[round_ % len(_HATCHES)], _DASHES[round_ % len(_DASHES)]
    return PlotStyle(colors[place], hatch, dashes)


class Palette:
    """Gives names styles, and remembers their colours: a process has the same colour in all
    pictures, whatever others are in them."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}
        """The place of each name's colour, the last drawn name last."""
        self._lock = threading.Lock()

    def styles(
        self, names: Iterable[str], chosen: Mapping[str, str] | None = None
    ) -> dict[str, PlotStyle]:
        """A look for each name. `chosen`: the user's colours for some names."""
        names, chosen = list(names), chosen or {}
        with self._lock:
            return self._looks(names, chosen)

    def _looks(self, names: list[str], chosen: Mapping[str, str]) -> dict[str, PlotStyle]:
        own = [name for name in names if name not in chosen]
        places: dict[str, int] = {}
        for name in own:
            place = self._known.get(name)
            if place is not None and place not in places.values():
                places[name] = place
        # The rest take colours that no name has, then those whose names were drawn longest ago.
        others = dict.fromkeys(self._known.values())
        unused = [place for place in range(len(_TEN)) if place not in others]
        free = [place for place in (*unused, *others) if place not in places.values()]
        left = [name for name in own if name not in places]
        places |= dict(zip(left, free, strict=False))
        for name in own:
            if name in places:
                self._known.pop(name, None)
                self._known[name] = places[name]
        # There are more names than colours.
        beyond = {name: len(_TEN) + i for i, name in enumerate(left[len(free) :])}
        numbers = places | beyond
        return {
            name: PlotStyle(chosen[name]) if name in chosen else _look(numbers[name], _TEN)
            for name in names
        }


of_processes = Palette().styles
"""The looks of processes in all pictures of this program."""


# The words of a picture: formulas that matplotlib cannot draw are named, long names are
# shortened, and labels that would be cut off or overlap are wrapped or turned. Knows matplotlib's
# texts only.

_LONG = 40
"""Characters of a name, which is shortened if it has more."""
_HEAD = 2 / 3
"""The share of a shortened name that its beginning has: most names differ there."""
_LINES = 3
"""The most lines of an axis' label."""


def shortened(names: Sequence[str], length: int = _LONG) -> list[str]:
    """Long names without their middles, which are as short as they can be without becoming equal.
    Formulas are left as they are."""
    for most in range(length, max(map(len, names), default=0), length // 2):
        short = [_without_middle(name, most) for name in names]
        if len(set(short)) == len(set(names)):
            return short
    return list(names)


def _without_middle(name: str, length: int) -> str:
    if len(name) <= length or _is_formula(name):
        return name
    head = round(_HEAD * length)
    return f"{name[:head]}…{name[head + 1 - length :]}"


def _is_formula(text: str) -> bool:
    from matplotlib.cbook import is_math_text

    return bool(is_math_text(text))


def check_formulas(texts: Iterable[str]) -> None:
    """Raises QueryError for a text whose formula matplotlib cannot draw. matplotlib's own error
    does not say which text that is."""
    from matplotlib.mathtext import MathTextParser

    parser = MathTextParser("path")
    lines = (line for text in texts for line in text.split("\n"))  # each is drawn by itself
    for text in filter(_is_formula, lines):
        try:
            parser.parse(text)
        except ValueError as error:
            # matplotlib says it below a picture of the text, and with places in it.
            said = str(error).strip().splitlines()[-1].rpartition("Exception: ")[2]
            raise QueryError(
                f"matplotlib cannot draw the formula in {text!r} ({said.split(', found ')[0]}): "
                r"correct it, or write \$ for a dollar sign"
            ) from None


def fit_words(figure: Figure) -> bool:
    """Turns names below bins that overlap, and wraps labels that are longer than their axes. The
    figure must have been laid out. True if something has changed."""
    changed = [change(place) for place in figure.axes for change in (_turn, _wrap)]
    return any(changed)


def _turn(place: Axes) -> bool:
    labels = [each for each in place.get_xticklabels() if each.get_visible() and each.get_text()]
    spans = sorted((box.x0, box.x1) for box in (each.get_window_extent() for each in labels))
    if all(left < right for (_, left), (right, _) in pairwise(spans)):
        return False
    for label in labels:
        label.set(rotation=45, ha="right")
    return True


def _wrap(place: Axes) -> bool:
    panel = place.get_window_extent()
    across = place.xaxis.label, place.xaxis.label.get_window_extent().width, panel.width
    up = place.yaxis.label, place.yaxis.label.get_window_extent().height, panel.height
    changed = [_shorten(*each) for each in (across, up)]
    return any(changed)


def _shorten(label: Text, length: float, room: float) -> bool:
    """Breaks a label into lines of this length; a formula becomes smaller, as it has no words."""
    if length <= room:
        return False
    text = label.get_text()
    if _is_formula(text):
        label.set_fontsize(float(label.get_fontsize()) * room / length)
    else:
        width = int(len(text) * room / length)
        label.set_text("\n".join(textwrap.wrap(text, width, max_lines=_LINES, placeholder=" …")))
    return True


# Legends that cover nothing: they are inside of a panel if they find room there, else beside it.
# Knows matplotlib's legends only.

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


if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np
    from boost_histogram.axis import Axis
    from hist import Hist
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis as Marks
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    Edges = Sequence[float] | NDArray[np.float64]


_UNIT = re.compile(r"(?<=[\s$])\[([^\[\]]+)\]$")
"""The unit at a label's end, after a space: `Muon_pt[0]` ends with an index."""
_LONG_NAME = 24
"""Characters of a category's name below its bin."""


@dataclass(frozen=True)
class Band:
    """An area around the first histogram: from `low` to `high` in each bin."""

    low: Edges
    high: Edges
    label: str


@contextmanager
def drawing(size: int) -> Iterator[ModuleType]:
    """Gives pyplot, in mplhep's style, with sizes of its own: mplhep's suit one large picture."""
    import matplotlib

    if not in_notebook():  # a notebook shows the user's own pictures with another backend
        matplotlib.use("Agg", force=False)
    import matplotlib.pyplot as plt
    import mplhep

    own: dict[str, object] = {"font.size": size, "figure.dpi": 100, "legend.fontsize": 0.8 * size}
    # Words are drawn when the picture is shown, without this style. The style's own set of fonts
    # for formulas would be looked for in the user's settings then, and matplotlib would say that
    # one is missing. Words would be measured with the style's other fonts, and drawn with the
    # user's.
    own |= {"mathtext.fontset": "dejavusans"}
    own |= {"font.sans-serif": matplotlib.rcParams["font.sans-serif"]}
    with plt.style.context([mplhep.style.ROOT, own]):
        yield plt


def frame(plt: ModuleType, first: Hist, ratio: bool) -> tuple[Figure, Axes, Axes, Edges]:
    """A figure of one panel, or with `ratio` of two, for histograms with the bins of `first`: the
    figure, its upper and its lowest panel, and the edges of the bins."""
    figure, places = plt.subplots(
        2 if ratio else 1,
        1,
        figsize=(7.2, 6.4 if ratio else 4.8),
        sharex=True,
        squeeze=False,
        layout="constrained",
        height_ratios=[3, 1] if ratio else [1],
    )
    main, last = places[0, 0], places[-1, 0]
    return figure, main, last, drawn_edges(first.axes[0], last)


def finished(plt: ModuleType, figure: Figure, legend: Legend | None = None) -> Figure:
    """Makes words and the legend fit, closes the figure for pyplot and gives it back. Raises
    QueryError for a formula that cannot be drawn."""
    from matplotlib.text import Text

    said = [each.get_text() for each in figure.findobj(Text)]
    check_formulas([*said, *(legend.names if legend else ())])
    # What fits is known when there is a layout. Ticks take their style when they are first drawn,
    # so that each change of the layout is followed by another one while the style is active.
    figure.draw_without_rendering()
    if fit_words(figure):
        figure.draw_without_rendering()
    if legend is not None:
        legend.draw()
        figure.draw_without_rendering()
    plt.close(figure)
    return figure


def drawn_edges(axis: Axis, place: Axes, direction: str = "x") -> Edges:
    """The edges at which bins are drawn. Bins of whole numbers and categories are centred on the
    number or the name, and bins without an end get one."""
    marks = place.xaxis if direction == "x" else place.yaxis
    import numpy as np

    edges: NDArray[np.float64]
    if axis.traits.continuous:
        edges = np.array(edges_of(axis))
        return _with_ends(edges, marks)
    if axis.traits.ordered and type(axis).__name__ == "Integer":
        edges = axis.edges - 0.5
        return edges
    names = [str(axis.value(i)) for i in range(axis.size)]
    marks.set_ticks(range(axis.size), shortened(names, _LONG_NAME))
    marks.set_ticks([], minor=True)
    return [i - 0.5 for i in range(axis.size + 1)]


def _with_ends(edges: NDArray[np.float64], marks: Marks) -> Edges:
    """Finite edges. The tick of an infinite bin says that it is infinite."""
    import numpy as np

    infinite = np.isinf(edges)
    if not infinite.any():
        return edges
    inner, drawn = edges[~infinite], np.array(with_ends(edges.tolist()))
    low, high = (inner[0], inner[-1]) if len(inner) else (0.0, 0.0)
    ticks = marks.get_major_locator().tick_values(low, high) if low < high else inner
    named = {float(tick): f"{tick:g}" for tick in ticks if low <= tick <= high}
    named |= {x: r"$-\infty$" if x < low else r"$\infty$" for x in map(float, drawn[infinite])}
    marks.set_ticks([*named], [*named.values()])
    marks.set_ticks([], minor=True)
    return drawn


def errors_of(histogram: Hist) -> list[float]:
    """The square root of each bin's variance; 0 if that is not known. Of a mean it is the spread
    over the root of the effective number of entries, whatever the scale of the weights."""
    variances = histogram.variances()
    if variances is None:
        return [0.0] * len(histogram.values())
    if (
        histogram.storage_type.__name__ == "WeightedMean"
    ):  # boost-histogram: over the sum of weights
        weights = histogram.view()["sum_of_weights"]
        numbers = histogram.counts()
        variances = [
            v * w / n if n > 0 else 0.0 for v, w, n in zip(variances, weights, numbers, strict=True)
        ]
    return [math.sqrt(v) if v > 0 and math.isfinite(v) else 0.0 for v in map(float, variances)]


def draw_band(place: Axes, edges: Edges, band: Band, low: Edges, high: Edges) -> Artist:
    """Draws the area between `low` and `high`."""
    return place.stairs(
        high, edges, baseline=low, fill=True, color="0.7", alpha=0.6, linewidth=0, label=band.label
    )


def set_vertical(place: Axes, histograms: Iterable[Hist], log: bool) -> None:
    """Sets the vertical range: from 0, or from below the smallest content if `log`."""
    shown = [float(v) for h in histograms for v in h.values() if math.isfinite(v)]
    positive = [value for value in shown if value > 0]
    if log and positive:
        place.set_yscale("log")
        place.set_ylim(min(positive) / 2, max(positive) * 2)
    elif not any(is_profile(histogram) for histogram in histograms):
        place.set_ylim(bottom=min(0.0, min(shown, default=0.0)))


def set_title(place: Axes, title: str, histogram: Hist) -> None:
    """Sets the title, with a line that says what the picture does not show."""
    size = float(place.title.get_fontsize()) * 0.75
    lines = textwrap.wrap(title, 62, max_lines=3, placeholder=" …")
    beyond = "" if histogram is None else outside(histogram)
    if beyond:
        lines.append(f"not shown: {beyond}")
    if lines:
        place.set_title("\n".join(lines), fontsize=size, loc="left")


def contents_label(histogram: Hist) -> str:
    """Returns what the vertical axis shows, and for bins of which width, if all have the same."""
    what = quantity(histogram)
    axis = histogram.axes[0]
    if histogram.ndim > 1 or is_profile(histogram) or not axis.traits.continuous:
        return what
    edges = edges_of(axis)
    width = abs(edges[-1] - edges[0]) / axis.size
    if math.isinf(width) or not all(
        math.isclose(abs(b - a), width, rel_tol=1e-6) for a, b in pairwise(edges)
    ):
        return what
    unit = _UNIT.search(axis.label)
    if unit is None:
        return what if width == 1 else f"{what} / {width:.3g}"
    return f"{what} / {width:.3g} {unit[1]}"
