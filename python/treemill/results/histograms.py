"""What counts as a histogram in pictures, and the picture of one histogram with its variations.
Knows no booking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    import hist
    import numpy as np
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["checked", "is_stack", "plot_variations", "saved"]


def checked(value: object) -> hist.Hist:
    """Makes a histogram of hist's from one of hist or boost-histogram. Raises TypeError for
    anything else."""
    if not hasattr(value, "axes") or isinstance(value, list | tuple) or is_stack(value):
        raise TypeError(f"{value!r} is not a histogram")
    from hist import Hist, NamedHist

    histogram: hist.Hist = value
    # boost-histogram's axes have no labels; a NamedHist is not projected by numbers.
    if not hasattr(value, "show") or isinstance(value, NamedHist):
        histogram = Hist(value)
    if histogram.storage_type.__name__ == "MultiCell":
        raise TypeError(
            "histograms of storage MultiCell, with several numbers in a bin, are not drawn"
        )
    return histogram


def is_stack(given: object) -> TypeGuard[hist.Stack]:
    """Whether it is a hist.Stack, whose histograms share their axes."""
    kind = type(given)
    return kind.__module__.split(".")[0] == "hist" and kind.__name__ == "Stack"


def saved(figure: Figure, path: str | PathLike[str] | None) -> Figure:
    """Writes the figure to a file if there is a path, and gives it back."""
    if path is not None:
        figure.savefig(path)
    return figure


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
    from ..monitor import pictures  # start-up

    if kind not in ("band", "lines"):
        raise ValueError(f'kind is "band" or "lines", not {kind!r}')
    named = {name: checked(each) for name, each in values.items()}
    if kind == "lines" or len(named) == 1:
        return saved(pictures.overlaid(named, title, log, ratio), path)
    shaded = pictures.Band(*band(), "variations")
    nominal = {"nominal": named["nominal"]}
    return saved(pictures.overlaid(nominal, title, log, ratio, shaded), path)
