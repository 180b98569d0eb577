"""Branches that the core cannot read, read by uproot: slower, and only where uproot says that it
knows the type. The only module that reads with uproot, which it imports when it is needed.

Knows one tree of one file; knows nothing of datasets and queries.
"""

from __future__ import annotations

import threading
from typing import Any

from .errors import SourceError, TreemillError, UnsupportedError

__all__ = ["Fallback"]


class Fallback:
    """The tree of one file, for uproot. Opened at the first question. Thread-safe: uproot's reading
    holds the GIL, so nothing is lost by one at a time."""

    def __init__(self, path: str, tree: str) -> None:
        """`tree`: its name with directories and cycle."""
        self._path = path
        self._tree = tree
        self._lock = threading.Lock()
        self._known: dict[str, Any] | None = None

    def can(self, branch: str) -> bool:
        """Whether uproot says that it can read this branch, of this path (`parent/child`)."""
        try:
            with self._lock:
                found = self._branches().get(branch)
                return found is not None and _is_known(found.interpretation)
        except TreemillError:
            raise
        except Exception:
            return False

    def read(self, branch: str, cpp_type: str, start: int, stop: int) -> Any:
        """Entries `[start, stop)` as a pyarrow.Array, of one type whatever the entries. Raises
        UnsupportedError, with the branch and its C++ type, where uproot cannot."""
        try:
            with self._lock:
                return self._read(self._branches()[branch], start, stop)
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

    def _read(self, branch: Any, start: int, stop: int) -> Any:
        import awkward as ak

        # Of no entries uproot may not know the type; the form does.
        form = branch.interpretation.awkward_form(branch.file)
        empty = ak.to_arrow(form.length_zero_array(), extensionarray=False)
        if start == stop:
            return empty
        array = branch.array(entry_start=start, entry_stop=stop, library="ak")
        if len(array) != stop - start:
            raise ValueError(f"{len(array)} entries instead of {stop - start}")
        made = ak.to_arrow(array, extensionarray=False)
        return made if made.type == empty.type else made.cast(empty.type)

    def _branches(self) -> dict[str, Any]:
        """uproot's branches by path."""
        if self._known is None:
            import uproot

            try:
                # No caches: columns are kept by whoever asked for them.
                file = uproot.open(self._path, object_cache=None, array_cache=None)
            except OSError as error:
                raise SourceError(f"{error}: {self._path}", file=self._path) from None
            known: dict[str, Any] = {}
            for branch in file[self._tree].branches:
                _collect(branch, "", known)
            self._known = known
        return self._known


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
