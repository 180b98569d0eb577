"""`treemill.plot`, which is a function that has others: `treemill.plot.stack`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar, cast

from ..errors import QueryError, check_flag, check_text, listed
from ..public_api import short_errors
from ..query.booking import Booking
from .by_dataset import ByDataset, is_measured
from .histograms import bins_of, checked, distinct, is_stack, label_of, saved, warn_without_errors
from .showing import plot as _plot
from .variations import NOMINAL, Variations, split, systematic

if TYPE_CHECKING:
    from hist import Hist
    from matplotlib.figure import Figure

    from ..pictures.picture_parts import Band
    from .showing import Drawn, Histograms

__all__ = ["plot"]

# `treemill.plot.stack`: in which forms users have processes and data, and what is uncertain in
# their sum. pictures/ draws them.

_DATA = "data"
"""The name of data that are not named otherwise."""


@short_errors
def stack(
    results: Histograms,
    path: str | PathLike[str] | None = None,
    *,
    data: str | Drawn | None = _DATA,
    signal: str | Iterable[str] = (),
    ratio: bool = False,
    systematics: bool = True,
    title: str = "",
    log: bool = False,
    colors: Mapping[str, str] | None = None,
) -> Figure:
    """Draw processes on top of each other, data as points, and the uncertainty as a band.

    If data are numbers of events, their errors are the 68 % intervals for the mean of a Poisson
    distribution, also in bins without events. The errors of weighted data are the square roots of
    their variances.

    Parameters
    ----------
    results
        A mapping from names to histograms, `Variations` or bookings, the first at the bottom; the
        value of a booking on a fileset; a hist.Stack; or one histogram, or `Variations`, with a
        first axis of categories. Histograms of a hist.Stack without names, or with equal names, get
        numbers. A name has the same colour in all pictures of the program.
    path
        The file of the picture, in the format that the suffix names.
    data
        The name of the data among the results, or a histogram of data. If you do not give it, data
        are the histograms with the names "data" and "data_obs", and the samples whose metadata say
        so (`is_data`, `is_mc`, `process`), as for `templates`; several are added up, and data may
        be absent. None: all results are processes.
    signal
        Names of results that are drawn as lines and are not a part of the sum.
    ratio
        If true, a panel below has the ratio of data to the sum of the processes.
    systematics
        If true, the band has variations as well as statistical errors. Each variation applies to
        all processes together. The differences from the sum are added in quadrature, separately for
        upward and downward differences.
    title
        The title above the picture.
    log
        If true, the scale is logarithmic, and the smallest process is at the bottom, where it can
        be seen.
    colors
        A mapping from names to matplotlib's colours, for some or all results.

    Returns
    -------
    matplotlib.figure.Figure
        The picture, which notebooks show.

    Raises
    ------
    QueryError
        If a result is not a histogram; if `data` or `signal` names a result that does not exist; if
        contents are not finite; if the histograms have different bins or more than one dimension;
        if the results have no process; if a ratio has no data; or if matplotlib cannot draw a
        formula.
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
    from ..pictures.stacks import Stack, stacked  # start-up

    check_text("title", title)
    for name, flag in (("ratio", ratio), ("systematics", systematics), ("log", log)):
        check_flag(name, flag)
    if colors is not None and not isinstance(colors, Mapping):
        raise QueryError(f"colors is a mapping of names to colours, not {colors!r:.60}")
    results = results.value if isinstance(results, Booking) else results
    named = _named(results)
    points = _data(named, data, results.metadata if isinstance(results, ByDataset) else {})
    lines = listed("signal", signal)
    signals = {name: _taken(named, name, "signal").nominal for name in lines}
    if not named:
        raise QueryError("stack() needs a process besides data and signals")
    if ratio and points is None:
        raise QueryError(f"ratio=True needs data, but the results have no {data!r}")
    processes = {name: each.nominal for name, each in named.items()}
    drawn = named if systematics else _alone(processes)
    _check(drawn | _alone(signals), points)
    unknown = warn_without_errors(processes | dict([points] if points else []))
    band = _band(drawn.values(), any(name not in unknown for name in processes))
    shown = Stack(processes, band, points, signals, colors or {})
    return saved(stacked(shown, title, log, ratio), path)


def _named(value: object) -> dict[str, Variations[Hist]]:
    """Histograms by the legend's words, each with its variations."""
    if is_stack(value):
        each = [*value]
        return dict(zip(distinct(map(label_of, each)), map(_variations, each), strict=True))
    if isinstance(value, Mapping) and not isinstance(value, Variations):
        names = distinct(map(str, value))
        return {name: _of(name, each) for name, each in zip(names, value.values(), strict=True)}
    values = _variations(value)
    by = split(values, 0)
    if not by:
        raise QueryError(
            "stack() takes a mapping of names to histograms, or a histogram whose first axis has "
            "categories"
        )
    return {name: systematic(each) for name, each in by.items()}


def _of(name: str, value: object) -> Variations[Hist]:
    if isinstance(value, Mapping) and not isinstance(value, Variations):
        raise QueryError(
            f"{name!r} is a mapping of {', '.join(map(str, value))}, and stack() draws one mapping "
            "of histograms: give it this one, or another one, by itself"
        )
    try:
        return _variations(value)
    except QueryError as error:
        raise QueryError(f"{name!r} cannot be stacked: {error}") from None


def _variations(value: object) -> Variations[Hist]:
    if isinstance(value, Booking):
        value = value.value
    values = value if isinstance(value, Variations) else Variations({NOMINAL: value})
    return systematic(values.map(checked))


def _alone(histograms: Mapping[str, Hist]) -> dict[str, Variations[Hist]]:
    """Histograms without their variations."""
    return {name: Variations({NOMINAL: each}) for name, each in histograms.items()}


def _data(
    named: dict[str, Variations[Hist]],
    data: object,
    metadata: Mapping[str, Mapping[str, object]],
) -> tuple[str, Hist] | None:
    """The data with their name, taken out of the histograms."""
    if data is None:
        return None
    if isinstance(data, str):
        if data == _DATA:
            names = [name for name in named if is_measured(name, metadata.get(name, {}))]
            if not names:
                return None
            measured = {name: named.pop(name).nominal for name in names}
            _check(_alone(measured), None)  # those that are added have the same bins
            first, *more = measured.values()
            return names[0] if not more else _DATA, sum(more, first)
        return data, _taken(named, data, "data").nominal
    return _DATA, _of(_DATA, data).nominal


def _taken(named: dict[str, Variations[Hist]], name: str, word: str) -> Variations[Hist]:
    """The histogram of this name, taken out of the others."""
    if name not in named:
        raise QueryError(f"no histogram {name!r} for {word}=: the names are {', '.join(named)}")
    return named.pop(name)


def _check(named: Mapping[str, Variations[Hist]], data: tuple[str, Hist] | None) -> None:
    from ..pictures.histogram_labels import is_profile  # start-up

    every = [(name, word, each) for name, of in named.items() for word, each in of.items()]
    every += [(data[0], NOMINAL, data[1])] if data else []
    first, _, standard = every[0]
    for name, variation, each in every:
        if each.ndim != 1 or is_profile(each):
            what = "is a profile" if is_profile(each) else f"has {each.ndim} dimensions"
            raise QueryError(
                f"stack() takes histograms of one dimension, and no profiles: {name!r} {what}"
            )
        if bins_of(each) != bins_of(standard):
            raise QueryError(
                f"histograms with different bins cannot be stacked: {first!r} has the axis "
                f"{standard.axes[0]!r:.100}, and {name!r} has {each.axes[0]!r:.100}"
            )
        _check_contents(each, name if variation == NOMINAL else f"{name}, {variation}")


def _check_contents(histogram: Hist, name: str) -> None:
    import numpy as np

    wrong = np.flatnonzero(~np.isfinite(np.asarray(histogram.values(), float)))
    if len(wrong):
        raise QueryError(
            f"the contents of {name!r} are not finite in {len(wrong)} of its bins (the first is "
            f"number {wrong[0]}), so that no sum can be drawn: look at the weights of its events"
        )


def _band(processes: Iterable[Variations[Hist]], statistical: bool) -> Band | None:
    """Around the sum: its statistical errors, if some are known, and the differences of variations
    of the sum."""
    import numpy as np

    from ..pictures.picture_parts import Band, errors_of  # start-up

    each = [*processes]
    names = dict.fromkeys(name for one in each for name in one)
    sources = {"stat.": statistical, "syst.": len(names) > 1}
    if not any(sources.values()):
        return None
    sums = {
        name: sum(np.array(one.get(name, one.nominal).values(), float) for one in each)
        for name in names
    }
    squares = sum(np.array(errors_of(one.nominal)) ** 2 for one in each)
    middle = sums[NOMINAL]
    off = [total - middle for total in sums.values()]
    low = np.sqrt(squares + sum(np.minimum(one, 0.0) ** 2 for one in off))
    high = np.sqrt(squares + sum(np.maximum(one, 0.0) ** 2 for one in off))
    label = " + ".join(word for word, is_there in sources.items() if is_there)
    return Band(middle - low, middle + high, label)


_P = ParamSpec("_P")
_Stack = TypeVar("_Stack")
_Stack_co = TypeVar("_Stack_co", covariant=True)


class _Plot(Protocol[_P, _Stack_co]):
    """A function that draws, with another one that stacks."""

    __name__: str

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> Figure: ...

    @property
    def stack(self) -> _Stack_co: ...


def _with(plot: Callable[_P, Figure], stack: _Stack) -> _Plot[_P, _Stack]:
    # The function itself, so that help() and signatures are those of functions.
    plot.stack = stack  # type: ignore[attr-defined]
    return cast("_Plot[_P, _Stack]", plot)


plot = _with(_plot, stack)
