"""`treemill.plot.stack`: in which forms users have processes and data, and what is uncertain in
their sum. monitor/ draws them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING

from ..faces import short_errors
from ..query.booking import Booking
from .categories import split, systematic
from .histograms import checked, is_stack, saved
from .variations import NOMINAL, Variations

if TYPE_CHECKING:
    from hist import Hist
    from matplotlib.figure import Figure

    from ..monitor.picture_parts import Band

__all__ = ["stack"]


@short_errors
def stack(
    results: object,
    path: str | PathLike[str] | None = None,
    *,
    data: object = "data",
    signal: str | Iterable[str] = (),
    ratio: bool = False,
    systematics: bool = True,
    title: str = "",
    log: bool = False,
    colors: Mapping[str, str] | None = None,
) -> Figure:
    """Draw processes on top of each other, data as points, and what is uncertain as a band.

    Parameters
    ----------
    results
        A mapping of names to histograms, `Variations` or bookings, the first at the bottom; the
        value of a booking on a fileset; a hist.Stack; or one histogram, or `Variations`, with a
        first axis of categories.
    path
        The file of the picture, in the format that the suffix names.
    data
        The name of the data among them, which may be absent, or a histogram of data. None: all are
        processes.
    signal
        Names that are drawn as lines, and are not part of the sum.
    ratio
        Whether a panel below has data over the sum of the processes.
    systematics
        Whether the band has variations as well as statistical errors. Each variation is of all
        processes together; their differences to the sum are added in quadrature, upward and
        downward ones separately.
    title
        The title above the picture.
    log
        If true, the scale is logarithmic.
    colors
        matplotlib's colours by name, for some or all.

    Returns
    -------
    matplotlib.figure.Figure
        Notebooks show it.

    Raises
    ------
    TypeError
        For objects that are not histograms.
    ValueError
        If the histograms have different bins or more than one dimension, if there is no process, if
        `signal` names none of them, or if a ratio has no data.
    ImportError
        If matplotlib or mplhep is missing.

    Examples
    --------
    >>> varied = events.vary("MET_pt", {"up": "MET_pt * 1.1", "down": "MET_pt * 0.9"})
    >>> few = varied.filter("nMuon < 2").hist("MET_pt", bins=(20, 0, 100))
    >>> many = varied.filter("nMuon >= 2").hist("MET_pt", bins=(20, 0, 100))
    >>> found = events.hist("MET_pt", bins=(20, 0, 100))
    >>> results = {"one muon": few, "two muons": many, "data": found}
    >>> figure = tm.plot.stack(results, "stack.png", data="data", ratio=True)
    """
    from ..monitor.stacks import Stack, stacked  # start-up

    named = _named(results)
    points = _data(named, data)
    lines = (signal,) if isinstance(signal, str) else tuple(signal)
    for name in lines:
        if name not in named:
            raise ValueError(f"no histogram {name!r} for signal=: there are {', '.join(named)}")
    signals = {name: named.pop(name).nominal for name in lines}
    if not named:
        raise ValueError("stack() needs a process besides data and signals")
    if ratio and points is None:
        raise ValueError(f"ratio=True needs data, and {data!r} is not there")
    processes = {name: each.nominal for name, each in named.items()}
    _check([*processes.values(), *signals.values(), *([points[1]] if points else [])])
    band = _band(named.values(), systematics)
    shown = Stack(processes, band, points, signals, colors or {})
    return saved(stacked(shown, title, log, ratio), path)


def _named(value: object) -> dict[str, Variations[Hist]]:
    """Histograms by the legend's words, each with its variations."""
    if isinstance(value, Booking):
        value = value.value
    if is_stack(value):
        return {str(each.name): _variations(each) for each in value}
    if isinstance(value, Mapping) and not isinstance(value, Variations):
        return {str(name): _variations(each) for name, each in value.items()}
    values = _variations(value)
    by = split(values, 0)
    if not by:
        raise TypeError(
            "stack() takes a mapping of names to histograms, or a histogram whose first axis has "
            "categories"
        )
    return {name: systematic(each) for name, each in by.items()}


def _variations(value: object) -> Variations[Hist]:
    if isinstance(value, Booking):
        value = value.value
    values = value if isinstance(value, Variations) else Variations({NOMINAL: value})
    return systematic(values.map(checked))


def _data(named: dict[str, Variations[Hist]], data: object) -> tuple[str, Hist] | None:
    """The data with their name, taken out of the histograms."""
    if data is None:
        return None
    if isinstance(data, str):
        histograms = named.pop(data, None)
        return None if histograms is None else (data, histograms.nominal)
    return "data", _variations(data).nominal


def _check(histograms: list[Hist]) -> None:
    from ..monitor.histogram_labels import is_profile  # start-up

    first = histograms[0]
    for each in histograms:
        if each.ndim != 1 or is_profile(each):
            raise ValueError("stack() takes histograms of one dimension, and no profiles")
        if _bins(each) != _bins(first):
            raise ValueError("histograms with different bins cannot be stacked")


def _bins(histogram: Hist) -> list[object]:
    axis = histogram.axes[0]
    if axis.traits.continuous:
        return [float(edge) for edge in axis.edges]
    return [axis.value(i) for i in range(axis.size)]


def _band(processes: Iterable[Variations[Hist]], systematics: bool) -> Band:
    """Around the sum: its statistical errors, and the differences of variations of the sum."""
    import numpy as np

    from ..monitor.picture_parts import Band, errors_of  # start-up

    each = [*processes]
    names = dict.fromkeys(name for one in each for name in one) if systematics else {NOMINAL: None}
    sums = {
        name: sum(np.array(one.get(name, one.nominal).values(), float) for one in each)
        for name in names
    }
    squares = sum(np.array(errors_of(one.nominal)) ** 2 for one in each)
    middle = sums[NOMINAL]
    off = [total - middle for total in sums.values()]
    low = np.sqrt(squares + sum(np.minimum(one, 0.0) ** 2 for one in off))
    high = np.sqrt(squares + sum(np.maximum(one, 0.0) ** 2 for one in off))
    label = "stat. + syst." if len(names) > 1 else "stat."
    return Band(middle - low, middle + high, label)
