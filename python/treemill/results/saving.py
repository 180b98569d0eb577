"""`save` and `load`: results to a file, and back, in the format that the file's suffix names."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import TYPE_CHECKING, Any, NamedTuple

from .._system.files import whole_file
from ..errors import UnsupportedError, local_path, writing
from ..public_api import short_errors
from ..query.booking import compute
from . import hdf5_file, json_file, root_file
from .result_tree import ResultTree, rebuilt, result_tree

if TYPE_CHECKING:
    from .result_tree import Results

__all__ = ["load", "save"]


class _Format(NamedTuple):
    write: Callable[[ResultTree, str], None]
    read: Callable[[str], ResultTree]


_JSON = _Format(json_file.write, json_file.read)
_HDF5 = _Format(hdf5_file.write, hdf5_file.read)
_FORMATS = {
    ".root": _Format(root_file.write, root_file.read),
    ".h5": _HDF5,
    ".hdf5": _HDF5,
    ".json": _JSON,
    ".json.gz": _JSON,
}


def _format(path: str) -> _Format:
    for suffix, known_format in _FORMATS.items():
        if path.endswith(suffix):
            return known_format
    known = " ".join(_FORMATS)
    raise UnsupportedError(f"results are in files {known}, and {path} is none of them")


@short_errors
def save(results: Results, path: str | PathLike[str]) -> None:
    """Write results to one file, from which `load` makes the same results again.

    Parameters
    ----------
    results
        A histogram of hist or boost-histogram, a number, a text, an array of NumPy or awkward, a
        cut flow, `Variations`, or mappings and lists of these, of any depth. Bookings are computed,
        all of them in one pass.
    path
        The file. The suffix says in which format: `.root` (ROOT's histograms in folders, which ROOT
        and uproot read), `.h5` (needs h5py) or `.json.gz` and `.json`, both in UHI's form, which
        hist and boost-histogram read. An older file is replaced when the new one is complete.

    Raises
    ------
    UnsupportedError
        For what the format cannot hold, with its place in the results.
    SourceError
        If the file cannot be written.

    Examples
    --------
    >>> met, n = tm.run(events.hist("MET_pt", bins=(50, 0, 200)), events.count())
    >>> tm.save({"met": met, "events": n}, "results.json.gz")
    >>> tm.load("results.json.gz")["events"]
    1000
    """
    path = local_path(path)
    form = _format(path)
    compute(results)
    content = result_tree(results)
    with writing(path), whole_file(path) as whole:
        form.write(content, whole)


@short_errors
def load(path: str | PathLike[str]) -> Any:
    """Read the results that `save` wrote, or histograms that other programs wrote.

    Parameters
    ----------
    path
        A file on this machine with one of the suffixes that `save` knows. Other programs'
        files give histograms in nested dictionaries: ROOT's by folder, UHI's as hist writes them.

    Returns
    -------
    object
        What was saved. Numbers of NumPy are Python's, mappings are dictionaries, and histograms are
        hist's.

    Raises
    ------
    SourceError
        If there is no such file.
    FormatError
        If it is damaged, or of another kind.

    Examples
    --------
    >>> tm.save({"met": events.hist("MET_pt", bins=(50, 0, 200))}, "results.root")
    >>> tm.load("results.root")["met"].axes[0].size
    50
    """
    path = local_path(path)
    return rebuilt(_format(path).read(path))
