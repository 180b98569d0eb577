"""What counts as a histogram in pictures, and the picture of one histogram in its variations. Knows
no booking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from typing import Any

__all__ = ["checked", "is_stack", "plot_variations", "saved"]


def checked(found: Any) -> Any:
    """A histogram of hist, made of one of hist or boost-histogram; TypeError for anything else."""
    if not hasattr(found, "axes") or isinstance(found, list | tuple) or is_stack(found):
        raise TypeError(f"{found!r} is not a histogram")
    if not hasattr(found, "show"):  # boost-histogram's, whose axes have no labels
        import hist

        found = hist.Hist(found)
    if found.storage_type.__name__ == "MultiCell":
        raise TypeError(
            "histograms of storage MultiCell, with several numbers in a bin, are not drawn"
        )
    return found


def is_stack(given: Any) -> bool:
    """Whether it is a hist.Stack, whose histograms have their axes in common."""
    kind = type(given)
    return kind.__module__.split(".")[0] == "hist" and kind.__name__ == "Stack"


def saved(figure: Any, path: str | PathLike[str] | None) -> Any:
    """The figure, also written to a file if there is a path."""
    if path is not None:
        figure.savefig(path)
    return figure


def plot_variations(
    values: Mapping[str, Any],
    band: Callable[[], tuple[Any, Any]],
    path: str | PathLike[str] | None,
    kind: str,
    title: str,
    log: bool,
    ratio: bool,
) -> Any:
    """See Variations.plot. `band`: the lowest and the highest of them in each bin."""
    from ..monitor import pictures  # start-up

    if kind not in ("band", "lines"):
        raise ValueError(f'kind is "band" or "lines", not {kind!r}')
    named = {name: checked(each) for name, each in values.items()}
    if kind == "lines" or len(named) == 1:
        return saved(pictures.overlaid(named, title, log, ratio), path)
    shaded = pictures.Band(*band(), "variations")
    nominal = {"nominal": named["nominal"]}
    return saved(pictures.overlaid(nominal, title, log, ratio, shaded), path)
