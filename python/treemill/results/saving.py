"""`save` and `load`: results to a file, and back, in the format that the file's suffix names."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from os import PathLike
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from .._system.files import whole_file
from ..errors import (
    FormatError,
    MissingPackageError,
    SourceError,
    UnsupportedError,
    local_path,
    warn,
    writing,
)
from ..public_api import short_errors
from ..query.booking import compute
from . import json_file, root_file
from .result_tree import (
    ResultGroup,
    ResultLeaf,
    ResultTree,
    described,
    first_few,
    from_description,
    rebuilt,
    result_tree,
    unsupported,
)

if TYPE_CHECKING:
    from h5py import Dataset, Group

    from .result_tree import Results

__all__ = ["load", "save"]

# Results in HDF5, by h5py: mappings are groups, histograms are in UHI's form, arrays and numbers
# are data sets. Other programs' histograms in UHI's form are read, too.

_MARK = "treemill"
_FILE = "treemill_results"
_FORMAT = 1
_ONE = "value"
"""The name of results that are no mapping."""


def _h5py() -> ModuleType:
    try:
        return importlib.import_module("h5py")
    except ImportError as error:
        raise MissingPackageError(
            "HDF5 files need h5py: pip install 'treemill[hdf5]'; .json.gz needs nothing"
        ) from error


def write_hdf5(results: ResultTree, path: str) -> None:
    """Write the results. The file is made in memory: HDF5 does not survive that a file cannot be
    written to."""
    with _h5py().File(path, "w", driver="core", backing_store=False, track_order=True) as file:
        file.attrs[_FILE] = _FORMAT
        if isinstance(results, ResultGroup) or results.kind == "histogram":
            with _naming(""):
                _fill(file, results, "")
        else:
            file.attrs[_MARK] = "one"
            _put(file, _ONE, results, _ONE)
        file.flush()
        data = file.id.get_file_image()
    with open(path, "wb") as stored:
        stored.write(data)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Turns what h5py says about metadata, texts with a zero and the like into an error with the
    place in the results."""
    try:
        yield
    except (TypeError, ValueError) as error:
        what = f"of which HDF5 does not hold something ({error})"
        raise unsupported(path, what, "a .json.gz file holds it") from error


def _put(parent: Group, name: str, results: ResultTree, path: str) -> None:
    with _naming(path):
        _add(parent, name, results, path)


def _add(parent: Group, name: str, results: ResultTree, path: str) -> None:
    """Add an object to a group. The name is one of ours: a slash would be a group of HDF5's."""
    own = _escaped(name)
    if isinstance(results, ResultGroup) or results.kind == "histogram":
        _fill(parent.create_group(own, track_order=True), results, path)
        return
    h5py, value = _h5py(), results.value
    if results.kind == "nothing":
        parent[own] = h5py.Empty("f8")
        return
    if results.kind == "number" and isinstance(value, int) and not -(2**63) <= value < 2**64:
        raise unsupported(path, "a whole number of more than 64 bits", "a .json.gz file holds it")
    if results.kind == "array" and value.dtype.kind == "U":
        parent.create_dataset(own, data=value.astype(object), dtype=h5py.string_dtype())
        return
    large = results.kind == "array" and value.size > 1000
    parent.create_dataset(own, data=value, compression="gzip" if large else None)


def _fill(group: Group, results: ResultTree, path: str) -> None:
    if isinstance(results, ResultLeaf):
        from uhi.io import hdf5

        hdf5.write(group, described(results.value, path))
        return
    if results.kind != "mapping":
        group.attrs[_MARK] = results.kind
        group.attrs["facts"] = json.dumps(results.facts)
    for name, each in results.items.items():
        _put(group, name, each, f"{path}/{name}" if path else name)


def read_hdf5(path: str) -> ResultTree:
    """Read what `write` or another program wrote. Raises FormatError for what is not HDF5."""
    h5py = _h5py()
    try:
        with open(path, "rb"):
            pass
    except OSError as error:
        raise SourceError(f"cannot read: {error.strerror or error}", file=path) from error
    try:
        with h5py.File(path, "r") as file:
            own = _FILE in file.attrs
            left: list[str] = []
            one = file.attrs.get(_MARK) == "one"
            results = _got(file[_ONE] if one else file, own, left)
    except (OSError, KeyError, TypeError, ValueError, RuntimeError) as error:
        raise FormatError(f"not a file of results in HDF5: {error}", file=path) from error
    if left:
        warn(f"{path}: left out {first_few(left)}; the others are loaded")
    return results


def _members(group: Group, left: list[str] | None) -> Iterator[tuple[str, Group | Dataset]]:
    """What a group holds, by name. Links that point nowhere and types are noted in `left`; without
    it the former raise KeyError."""
    h5py = _h5py()
    for name in group:
        where = f"{group.name}/{name}".lstrip("/")
        try:
            stored = group[name]
        except KeyError:
            link = group.get(name, getlink=True)
            if left is None or isinstance(link, h5py.HardLink):
                raise
            left.append(f"{where} (a link that points nowhere)")
            continue
        if left is not None and isinstance(stored, h5py.Datatype):
            left.append(f"{where} (a type)")
            continue
        yield name, stored


def _got(stored: Group | Dataset, own: bool, left: list[str]) -> ResultTree:
    """The outline of a group or of a data set. `own`: whether treemill wrote the file. `left` gets
    the places of what is left out of mappings."""
    if hasattr(stored, "keys"):
        if "uhi_schema" in stored.attrs:
            from uhi.io import hdf5

            return ResultLeaf("histogram", from_description(dict(hdf5.read(stored))))
        kind = stored.attrs.get(_MARK, "mapping") if own else "mapping"
        facts = json.loads(stored.attrs["facts"]) if own and "facts" in stored.attrs else {}
        named = {
            _plain(name) if own else name: _got(each, own, left)
            for name, each in _members(stored, left if kind == "mapping" else None)
        }
        return ResultGroup(kind, named, facts)
    if stored.shape is None:
        return ResultLeaf("nothing", None)
    text = _h5py().check_string_dtype(stored.dtype) is not None
    value = stored.asstr()[()] if text else stored[()]
    if stored.shape == ():
        return ResultLeaf("text", str(value)) if text else ResultLeaf("number", value.item())
    return ResultLeaf("array", value.astype(str) if text else value)


def _escaped(name: str) -> str:
    """A name without what HDF5 reads as a path."""
    text = name.replace("%", "%25").replace("/", "%2F").replace("\0", "%00")
    return text.replace(".", "%2E") if not text.strip(".") and text else text or "%"


def _plain(name: str) -> str:
    if name == "%":
        return ""
    for code, sign in (("%2F", "/"), ("%2E", "."), ("%00", "\0"), ("%25", "%")):
        name = name.replace(code, sign)
    return name


class _Format(NamedTuple):
    write: Callable[[ResultTree, str], None]
    read: Callable[[str], ResultTree]


_JSON = _Format(json_file.write, json_file.read)
_HDF5 = _Format(write_hdf5, read_hdf5)
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
        cut flow, `Variations`, or mappings and lists of these at any depth. One pass computes all
        bookings among them.
    path
        The file. The suffix selects the format: `.root` (ROOT's histograms in folders, which ROOT
        and uproot read), `.h5` (needs h5py) or `.json.gz` and `.json`, both in UHI's form, which
        hist and boost-histogram read. The new file replaces an older one when it is complete.

    Raises
    ------
    UnsupportedError
        If the format cannot hold a result; the error names its place in the results.
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
        A file on this machine with one of the suffixes that `save` knows. Files of other programs
        give histograms in nested dictionaries: ROOT files by folder, UHI's files as hist writes
        them.

    Returns
    -------
    object
        The saved results. NumPy numbers become Python numbers, mappings become dictionaries, and
        histograms become hist's.

    Raises
    ------
    SourceError
        If there is no such file.
    FormatError
        If the file is damaged, or is of another kind.

    Examples
    --------
    >>> tm.save({"met": events.hist("MET_pt", bins=(50, 0, 200))}, "results.root")
    >>> tm.load("results.root")["met"].axes[0].size
    50
    """
    path = local_path(path)
    return rebuilt(_format(path).read(path))
