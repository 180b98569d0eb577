"""The functions by which users show histograms: as text in a terminal, as pictures. Knows in which
forms users have histograms; pictures/ draws them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeAlias

from ..errors import QueryError, check_flag, check_text
from ..public_api import short_errors
from ..query.booking import Booking
from .histograms import (
    checked,
    distinct,
    is_stack,
    label_of,
    plot_variations,
    ratio_kind,
    saved,
    warn_without_errors,
)
from .variations import Variations

if TYPE_CHECKING:
    import boost_histogram
    import hist
    from matplotlib.figure import Figure

    Drawn: TypeAlias = boost_histogram.Histogram | Booking[Any] | Variations[Any]
    """A histogram, one with its variations, or a booking of either."""
    Histograms: TypeAlias = Drawn | hist.Stack | Mapping[Any, "Histograms"] | Sequence["Histograms"]
    """Histograms by name, as users have them: results, nested as deep as they like."""

__all__ = ["plot", "show"]


@short_errors
def show(histogram: Drawn, title: str = "", log: bool = False) -> None:
    """Print a histogram as text, as wide as the terminal.

    Parameters
    ----------
    histogram
        A histogram of hist or boost-histogram, or a booking, which is computed if it has no value
        yet. Of `Variations`, the nominal histogram is printed.
    title
        The title; without it, a booking has its own title.
    log
        If true, the scale is logarithmic.

    Raises
    ------
    QueryError
        For objects that are not histograms.

    Examples
    --------
    >>> tm.show(events.hist("MET_pt", bins=(5, 0, 100)))  # doctest: +ELLIPSIS
    MET_pt...
    """
    from ..pictures.text_histogram import show as show_text  # start-up

    check_text("title", title)
    check_flag("log", log)
    title = title or _title(histogram)
    show_text(_histogram(histogram), title, log)


@short_errors
def plot(
    histograms: Histograms,
    path: str | PathLike[str] | None = None,
    *,
    title: str = "",
    log: bool = False,
    ratio: bool | str = False,
) -> Figure:
    """Draw one or several histograms into one picture, several with a legend.

    Parameters
    ----------
    histograms
        A histogram, a list of them, a hist.Stack, or a mapping from the texts of the legend to
        histograms, each as for `show`. Histograms without names, or with equal names, get numbers.
        A single `Variations` is drawn as the nominal histogram with a band for the variations.
    path
        The file of the picture, in the format that the suffix names.
    title
        The title above the picture.
    log
        If true, the scale is logarithmic.
    ratio
        If true, a panel below has the ratios to the first histogram, for histograms of different
        events: points have their own errors, and a band has the errors of the first histogram.
        "efficiency": for histograms of a part of the first one's events, with binomial errors. The
        histograms of a `Variations` have the same events, so their ratios have no statistical
        errors.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, which notebooks show.

    Raises
    ------
    QueryError
        If an object is not a histogram; if several histograms have different axes or more than one
        dimension; if `ratio` is "efficiency" and a histogram cannot be a part of the first one; or
        if matplotlib cannot draw a formula.
    ImportError
        If matplotlib or mplhep is missing.

    Examples
    --------
    >>> first = tm.run(events.hist("MET_pt", bins=(50, 0, 200)))
    >>> figure = tm.plot({"all": first, "again": first}, "met.png", ratio=True)
    """
    from ..pictures import pictures  # start-up

    check_text("title", title)
    check_flag("log", log)
    kind = ratio_kind(ratio)
    named = _named(histograms)
    if not named:
        raise QueryError("plot() needs a histogram")
    (first, *_), count = named.values(), len(named)
    title = title or (_title(histograms) if count == 1 else "")
    value = histograms.value if isinstance(histograms, Booking) else histograms
    if isinstance(value, Variations):
        return plot_variations(
            value, value.band, path, "band", title or _title(histograms), log, bool(ratio)
        )
    if count == 1 and first.ndim > 1:
        figure = pictures.paneled([first], [title], log)
    else:
        if ratio and count > 1:
            warn_without_errors(named)
        figure = pictures.overlaid(named, title, log, kind)
    return saved(figure, path)


def _named(value: object) -> dict[str, hist.Hist]:
    """Histograms by the legend's words."""
    if isinstance(value, Booking):
        value = value.value
    if isinstance(value, Mapping):
        labels, values = map(str, value), [*value.values()]
    elif isinstance(value, (list, tuple)) or is_stack(value):
        values = [*value]
        labels = map(_label, values)
    else:
        return {_label(value): _histogram(value)}
    return dict(zip(distinct(labels), map(_histogram, values), strict=True))


def _histogram(given: object) -> hist.Hist:
    value = given.value if isinstance(given, Booking) else given
    return checked(value.nominal if isinstance(value, Variations) else value)


def _title(given: object) -> str:
    return given.title if isinstance(given, Booking) else ""


def _label(value: object) -> str:
    return value.title if isinstance(value, Booking) else label_of(value)
