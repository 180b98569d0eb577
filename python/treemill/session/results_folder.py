"""`treemill.remember`: where the results of runs are remembered, by the user's word or the
environment's. Knows no run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from .._system.cache import size_of

if TYPE_CHECKING:
    from ..checkpoint.results import Results

__all__ = ["remember", "results_folder", "results_in"]

_VARIABLE = "TREEMILL_REMEMBER"
_given: list[Results | None] = []
"""What the user has said last; none: the environment counts."""
_known: dict[str, Results] = {}
"""The folder that the environment names."""


def remember(folder: str | os.PathLike[str] | None, *, limit: int | str | None = None) -> None:
    """Remember the results of runs in a folder, and compute only results that are not there.

    The folder has a result for each booking and file. A run takes from the folder the results that
    belong to the same data and the same booking, with everything on which the booking depends, and
    computes the others. `report.remembered` says how many, and why. Without a call, the environment
    variable `TREEMILL_REMEMBER` names the folder. Without both, treemill remembers nothing.

    Parameters
    ----------
    folder
        The folder, which is made if it does not exist. Processes and hosts may share it. None:
        remember nothing from now on.
    limit
        The largest size of the folder in bytes, as a number or as "50 GB". The results that were
        used least recently are removed. None: 20 GB.

    Raises
    ------
    SourceError
        If the folder cannot be used, or other users may write to it.
    QueryError
        If the limit is not valid.

    Examples
    --------
    >>> tm.remember("results")
    >>> n = events.filter("nMuon >= 2").count().value
    >>> n == tm.dataset(events.files, "Events").filter("nMuon >= 2").count().value
    True
    >>> tm.report().remembered.found
    1
    >>> tm.remember(None)
    """
    most = None if limit is None else size_of(limit)
    _given[:] = [None if folder is None else results_in(folder, most)]


def results_folder() -> Results | None:
    """The folder that results are remembered in; None: they are not."""
    if _given:
        return _given[0]
    path = os.environ.get(_VARIABLE)
    if not path:
        return None
    if path not in _known:
        _known[path] = results_in(path)
    return _known[path]


def results_in(folder: str | os.PathLike[str], limit: int | None = None) -> Results:
    """The results in a folder. Raises as `remember`."""
    from ..checkpoint.results import Results  # start-up: most runs remember nothing

    return Results(folder, limit)
