"""What counts as a histogram in pictures, the picture of one histogram with its variations, and
what is noted of a histogram beside its bins. Knows no booking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from .._system.files import picture_file
from ..errors import QueryError, check_flag, check_text, warn
from ..pictures.histogram_labels import edges_of

if TYPE_CHECKING:
    import hist
    from hist import Hist
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = [
    "bins_of",
    "cancelled_of",
    "checked",
    "distinct",
    "fills_of",
    "is_stack",
    "label_of",
    "note_cancelled",
    "note_fills",
    "plot_variations",
    "ratio_kind",
    "saved",
    "warn_without_errors",
]

# The bins of histograms, for those that are added or compared bin by bin. Knows no file and no
# plot.


def bins_of(histogram: Hist) -> list[list[object]]:
    """What the bins of each axis are: edges, or the values of an axis that is not continuous.
    Names, labels and flow bins do not count."""
    return [
        [*edges_of(axis)] if axis.traits.continuous else [axis.value(i) for i in range(axis.size)]
        for axis in histogram.axes
    ]


_LONG = 60
"""Characters of what an error says of an object."""


def checked(value: object) -> hist.Hist:
    """Makes a histogram of hist's from one of hist or boost-histogram. Raises QueryError for
    anything else."""
    if not hasattr(value, "axes") or isinstance(value, list | tuple) or is_stack(value):
        said = repr(value)
        said = said if len(said) <= _LONG else f"{said[: _LONG - 1]}…"
        raise QueryError(f"{said} is not a histogram")
    from hist import Hist, NamedHist

    histogram: hist.Hist = value
    # boost-histogram's axes have no labels; a NamedHist is not projected by numbers.
    if not hasattr(value, "show") or isinstance(value, NamedHist):
        histogram = Hist(value)
    if histogram.storage_type.__name__ == "MultiCell":
        raise QueryError(
            "histograms of storage MultiCell, with several numbers in a bin, are not drawn"
        )
    return histogram


def is_stack(given: object) -> TypeGuard[hist.Stack]:
    """Whether it is a hist.Stack, whose histograms share their axes."""
    kind = type(given)
    return kind.__module__.split(".")[0] == "hist" and kind.__name__ == "Stack"


def label_of(value: object) -> str:
    """A histogram's name, or what its axes show; empty if neither is known."""
    axes = getattr(value, "axes", ())
    labels = [str(getattr(axis, "label", "") or getattr(axis, "name", "")) for axis in axes]
    return str(getattr(value, "name", None) or " : ".join(labels[::-1]))


def distinct(labels: Iterable[str]) -> list[str]:
    """The labels, each of which is there once: one that is empty, or was there before, gets its
    number."""
    found: list[str] = []
    for number, label in enumerate(labels, 1):
        while not label or label in found:
            label = f"{label} ({number})".strip()
        found.append(label)
    return found


def warn_without_errors(histograms: Mapping[str, hist.Hist]) -> list[str]:
    """The names of histograms that have lost their statistical errors, of which it warns the caller
    of the caller's caller."""
    names = [name for name, each in histograms.items() if each.variances() is None]
    if names:
        warn(
            f"the statistical errors of {', '.join(map(repr, names))} are not known, and are left "
            "out: histograms with the storage Double lose them if they are weighted or scaled; "
            'fill them with storage="Weight"'
        )
    return names


def saved(figure: Figure, path: str | PathLike[str] | None) -> Figure:
    """Writes the figure to a file if there is a path, and gives it back."""
    if path is not None:
        with picture_file(path) as (picture, form):
            figure.savefig(picture, format=form)
    return figure


def ratio_kind(ratio: bool | str) -> str:
    """The kind of a ratio's errors; empty: there is no panel of ratios."""
    from ..pictures.ratios import EFFICIENCY, INDEPENDENT  # start-up

    if isinstance(ratio, bool):
        return INDEPENDENT if ratio else ""
    if not isinstance(ratio, str) or ratio != EFFICIENCY:
        raise QueryError(f'ratio= is True, False or "{EFFICIENCY}", not {ratio!r}')
    return EFFICIENCY


def plot_variations(
    values: Mapping[str, object],
    band: Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]],
    path: str | PathLike[str] | None,
    kind: str,
    title: str,
    log: bool,
    ratio: bool,
) -> Figure:
    """See Variations.plot. `band`: gives the lower and the upper end in each bin."""
    from ..pictures import pictures  # start-up
    from ..pictures.ratios import COMMON  # start-up

    check_text("title", title)
    check_flag("log", log)
    check_flag("ratio", ratio)
    if not isinstance(kind, str) or kind not in ("band", "lines"):
        raise QueryError(f'kind is "band" or "lines", not {kind!r}')
    named = {name: checked(each) for name, each in values.items()}
    # Variations are of the nominal histogram's events, whose errors they share.
    errors = COMMON if ratio else ""
    if kind == "lines" or len(named) == 1:
        return saved(pictures.overlaid(named, title, log, errors), path)
    shaded = pictures.Band(*band(), "variations")
    nominal = {"nominal": named["nominal"]}
    return saved(pictures.overlaid(nominal, title, log, errors, shaded), path)


# How many values are in a histogram: sums of weights do not say, and ROOT's histograms have the
# number. It is noted with the histogram, and holds until other things are in its bins. So are the
# sums of a profile whose weights cancel: hist has means, and there is none.

_NOTE = "@fills"
"""The attribute of the histogram. UHI's form leaves out attributes that begin so."""
_CANCELLED = "@cancelled"
_FIELDS = {
    "count": ("count", None),
    "sum_of_weights": ("sum_of_weights", "sum_of_weights_squared"),
    "value": ("value", "variance"),
}
"""The fields that hold sums of weights and of their squares, by a field that the storage has."""


def note_fills(histogram: Hist, number: float, view: NDArray[Any] | None = None) -> None:
    """Notes how many values are in the bins that the histogram has now. `view`: these with the flow
    bins, if the caller has them: to ask for them takes as long as half of making a histogram."""
    view = histogram.view(flow=True) if view is None else view
    histogram.__dict__[_NOTE] = (float(number), _sums(view))


def fills_of(histogram: Hist) -> float:
    """The number of values in a histogram. If it is not known, it is the effective number of each
    bin, which is the number if a bin's weights are equal, and at least one for a bin that has
    something.
    """
    number, sums = histogram.__dict__.get(_NOTE, (0.0, None))
    view = histogram.view(flow=True)
    if sums == _sums(view):
        return float(number)
    weights, squares = _weights(view)
    if squares is None:
        there, numbers = weights != 0, np.abs(weights)
    else:
        there = squares != 0
        numbers = np.divide(weights**2, squares, out=np.zeros(weights.shape), where=there)
    return float(np.where(numbers[there] > 1, numbers[there], 1.0).sum())


def note_cancelled(
    histogram: Hist, sums: Callable[[], tuple[NDArray[np.float64], NDArray[np.float64]]]
) -> None:
    """Notes the weighted sums of a profile's sample and its squares, which `sums` gives, if weights
    of a bin cancel."""
    weights, squares = _weights(histogram.view(flow=True))
    if squares is not None and ((weights == 0) & (squares != 0)).any():
        bins = weights.copy(), squares.copy()
        histogram.__dict__[_CANCELLED] = bins, sums()


def cancelled_of(histogram: Hist) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Both sums of each bin; None if they are not known for what is in the bins."""
    bins, sums = histogram.__dict__.get(_CANCELLED, (None, None))
    if bins is None:
        return None
    weights, squares = _weights(histogram.view(flow=True))
    if squares is None or not all(map(np.array_equal, bins, (weights, squares))):
        return None
    return sums  # type: ignore[no-any-return]


def _sums(view: NDArray[Any]) -> list[float]:
    """What the bins hold, in a few numbers: histograms keep their attributes when they are added,
    cut or filled."""
    return [float(each.sum()) for each in _weights(view) if each is not None]


def _weights(view: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
    """Sums of weights by bin, and of their squares if there are weights."""
    found = next((_FIELDS[name] for name in _FIELDS if name in (view.dtype.names or ())), None)
    if found is None:
        return np.asarray(view, float), None
    weights, squares = found
    of_squares = None if squares is None else np.asarray(view[squares], float)
    return np.asarray(view[weights], float), of_squares
