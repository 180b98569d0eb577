"""Branches that the core cannot read, read by uproot: slower, and only where uproot says that it
knows the type. The only module that reads with uproot, which it imports when it is needed.

Knows one tree of one file, and what was found out of such branches in the dataset's other files;
knows nothing of datasets and queries.
"""

from __future__ import annotations

import threading
from typing import Any

from ..errors import SourceError, TreemillError, UnsupportedError

__all__ = ["Fallback", "Known"]

Known = dict[tuple[str, str], Any]
"""By a branch's path and C++ type: no entries of it as a core.Column, None where uproot does not
know the type. Opening a file takes uproot long; what one has told need not be asked of the next."""


class Fallback:
    """The tree of one file, for uproot. Opened at the first question. Thread-safe: uproot's reading
    holds the GIL, so nothing is lost by one at a time."""

    def __init__(self, path: str, tree: str, known: Known | None = None) -> None:
        """`tree`: its name with directories and cycle. `known`: shared by files of one dataset."""
        self._path = path
        self._tree = tree
        self._known: Known = {} if known is None else known
        self._lock = threading.Lock()
        self._found: dict[str, Any] | None = None

    def can(self, branch: str, cpp_type: str) -> bool:
        """Whether uproot says that it can read this branch, of this path (`parent/child`)."""
        return self._empty(branch, cpp_type) is not None

    def _empty(self, branch: str, cpp_type: str) -> Any:
        """No entries of it, of the type that all have; None where uproot does not know it."""
        key = branch, cpp_type
        if key not in self._known:
            try:
                with self._lock:
                    self._known[key] = _empty(self._branches().get(branch))
            except TreemillError:
                raise
            except Exception:
                self._known[key] = None
        return self._known[key]

    def read(self, branch: str, cpp_type: str, start: int, stop: int) -> Any:
        """Entries `[start, stop)` as a core.Column, of one kind whatever the entries. Raises
        UnsupportedError, with the branch and its C++ type, where uproot cannot."""
        empty = self._empty(branch, cpp_type)
        if start == stop and empty is not None:
            return empty
        try:
            with self._lock:
                return _read(self._branches()[branch], empty, start, stop)
        except (MemoryError, TreemillError):
            raise
        except Exception as error:  # uproot raises all kinds
            words = (str(error).strip().splitlines() or [""])[0]
            raise UnsupportedError(
                f"neither treemill nor uproot can read {cpp_type} of branch {branch}; "
                f"uproot: {type(error).__name__}: {words}",
                file=self._path,
                branch=branch,
                entries=(start, stop),
            ) from error

    def _branches(self) -> dict[str, Any]:
        """uproot's branches by path."""
        if self._found is None:
            import uproot

            try:
                # No caches: columns are kept by whoever asked for them.
                file = uproot.open(self._path, object_cache=None, array_cache=None)
            except OSError as error:
                raise SourceError(f"{error}: {self._path}", file=self._path) from None
            found: dict[str, Any] = {}
            for branch in file[self._tree].branches:
                _collect(branch, "", found)
            self._found = found
        return self._found


def _empty(branch: Any) -> Any:
    """No entries of uproot's branch; None where there is none, or uproot does not know its type."""
    if branch is None or not _is_known(branch.interpretation):
        return None
    from ..arrays.columns import column_of  # heavy: numpy

    # Of no entries uproot may not know the type; the form does.
    form = branch.interpretation.awkward_form(branch.file)
    return column_of(form.length_zero_array())


def _read(branch: Any, empty: Any, start: int, stop: int) -> Any:
    from ..arrays.columns import column_of, kind_of  # heavy: numpy
    from ..arrays.common_type import cast  # heavy: numpy

    array = branch.array(entry_start=start, entry_stop=stop, library="ak")
    if len(array) != stop - start:
        raise ValueError(f"{len(array)} entries instead of {stop - start}")
    made = column_of(array)
    return made if empty is None else cast(made, kind_of(empty))


def _collect(branch: Any, prefix: str, known: dict[str, Any]) -> None:
    path = prefix + branch.name
    known.setdefault(path, branch)
    for child in branch.branches:
        _collect(child, f"{path}/", known)


def _is_known(interpretation: Any) -> bool:
    """Whether uproot has an interpretation, and it is one of data, not of a group of branches."""
    from uproot.interpretation.grouped import AsGrouped
    from uproot.interpretation.identify import UnknownInterpretation

    return not isinstance(interpretation, (UnknownInterpretation, AsGrouped))
