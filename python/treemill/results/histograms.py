"""What counts as a histogram in pictures, and the picture of one histogram with its variations.
Knows no booking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, TypeGuard

from .._system.files import picture_file
from ..errors import QueryError, check_flag, check_text, warn

if TYPE_CHECKING:
    import hist
    import numpy as np
    from hist import Hist
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = [
    "bins_of",
    "checked",
    "distinct",
    "is_stack",
    "label_of",
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
        [float(edge) for edge in axis.edges]
        if axis.traits.continuous
        else [axis.value(i) for i in range(axis.size)]
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
